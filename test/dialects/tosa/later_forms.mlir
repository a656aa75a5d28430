// Text of MLIR after version 19: shapes and zero points as operands, modes as words. Read, and written
// back with the modes as attributes.
// RUN: grep -v "^//" %s | sed 's/nan_mode = PROPAGATE/nan_mode = #tosa.nan_mode<PROPAGATE>/' > %t.mlir
// RUN: ttmlir-opt %s | diff %t.mlir -
// RUN: ttmlir-opt --mlir-print-op-generic %s | ttmlir-opt | diff %t.mlir -
module {
  func.func @f(%arg0: tensor<1x8x9x3xf32>, %arg1: tensor<4x3x3x3xf32>, %arg2: tensor<4xf32>, %arg3: tensor<1x2x3xf32>, %arg4: tensor<1x3x5xf32>) -> tensor<1x6x7x4xf32> {
    %0 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}> : () -> tensor<1xf32>
    %1 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %2 = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %3 = tosa.const_shape {values = dense<[0, 0, 1, 2, 0, 1]> : tensor<6xindex>} : () -> !tosa.shape<6>
    %4 = tosa.conv2d %arg0, %arg1, %arg2, %0, %0 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x7x4xf32>
    %5 = tosa.avg_pool2d %arg0, %0, %0 {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x8x3xf32>
    %6 = tosa.matmul %arg3, %arg4, %0, %0 : (tensor<1x2x3xf32>, tensor<1x3x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x5xf32>
    %7 = tosa.transpose %arg3 {perms = array<i32: 0, 2, 1>} : (tensor<1x2x3xf32>) -> tensor<1x3x2xf32>
    %8 = tosa.reshape %arg3, %2 : (tensor<1x2x3xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
    %9 = tosa.mul %arg3, %arg3, %1 : (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1xi8>) -> tensor<1x2x3xf32>
    %10 = tosa.clamp %arg3 {max_val = 6.000000e+00 : f32, min_val = 0.000000e+00 : f32, nan_mode = PROPAGATE} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %11 = tosa.reduce_max %arg3 {axis = 1 : i32, nan_mode = #tosa.nan_mode<PROPAGATE>} : (tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
    %12 = tosa.maximum %arg3, %arg3 {nan_mode = "PROPAGATE"} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %13 = tosa.pad %arg3, %3, %0 : (tensor<1x2x3xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<1x5x4xf32>
    %14 = tosa.negate %arg3, %0, %0 : (tensor<1x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3xf32>
    %15 = tosa.reduce_product %arg3 {axis = 1 : i32} : (tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
    return %4 : tensor<1x6x7x4xf32>
  }
}

