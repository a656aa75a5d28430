// REQUIRES: mlir-opt
// RUN: grep -v "^//" %s > %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: mlir-opt-19 --mlir-print-op-generic %t.mlir > %t.generic.mlir
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | diff %t.generic.mlir -
// RUN: ttmlir-opt %t.generic.mlir | diff %t.mlir -
module {
  func.func @f(%arg0: tensor<1x8x9x3xf32>, %arg1: tensor<4x3x3x3xf32>, %arg2: tensor<4xf32>, %arg3: tensor<i1>, %arg4: tensor<1x2x3xf32>, %arg5: tensor<1x3x5xf32>, %arg6: tensor<1x2xi32>, %arg7: tensor<3xf32>, %arg8: tensor<2x3xi1>, %arg9: tensor<513xf32>, %arg10: tensor<2x3xf32>, %arg11: tensor<2xf32>, %arg12: tensor<3x3x3x2xf32>, %arg13: tensor<6xf32>, %arg14: tensor<3x2xi32>, %arg15: tensor<f32>, %arg16: tensor<2x3xi8>, %arg17: tensor<1x4x5x6x2xf32>, %arg18: tensor<1x2x2x2x2xf32>, %arg19: tensor<1xf32>) -> tensor<1x6x7x4xf32> {
    %0 = tosa.conv2d %arg0, %arg1, %arg2 {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x6x7x4xf32>
    %1 = tosa.avg_pool2d %arg0 {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>) -> tensor<1x7x8x3xf32>
    %2 = tosa.matmul %arg4, %arg5 : (tensor<1x2x3xf32>, tensor<1x3x5xf32>) -> tensor<1x2x5xf32>
    %3 = "tosa.const"() <{value = dense<[0, 2, 1]> : tensor<3xi32>}> : () -> tensor<3xi32>
    %4 = tosa.transpose %arg4, %3 : (tensor<1x2x3xf32>, tensor<3xi32>) -> tensor<1x3x2xf32>
    %5 = tosa.reshape %arg4 {new_shape = array<i64: 3, 2>} : (tensor<1x2x3xf32>) -> tensor<3x2xf32>
    %6 = tosa.gather %arg4, %arg6 : (tensor<1x2x3xf32>, tensor<1x2xi32>) -> tensor<1x2x3xf32>
    %7 = tosa.cond_if %arg3 -> (tensor<1x2x3xf32>) {
      tosa.yield %arg4 : tensor<1x2x3xf32>
    } else {
      tosa.yield %arg4 : tensor<1x2x3xf32>
    }
    %8:2 = tosa.while_loop (%arg20 = %arg4, %arg21 = %arg3) : (tensor<1x2x3xf32>, tensor<i1>) -> (tensor<1x2x3xf32>, tensor<i1>) {
      tosa.yield %arg21 : tensor<i1>
    } do {
    ^bb0(%arg20: tensor<1x2x3xf32>, %arg21: tensor<i1>):
      tosa.yield %arg20, %arg21 : tensor<1x2x3xf32>, tensor<i1>
    }
    %9 = tosa.concat %arg4, %arg4 {axis = 1 : i32} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x4x3xf32>
    %10 = tosa.custom %arg4 {domain_name = "b", implementation_attrs = "c", operator_name = "a"} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    tosa.variable @v = dense<1.000000e+00> : tensor<3xf32>
    tosa.variable.write @v, %arg7 : tensor<3xf32>
    %11 = tosa.variable.read @v : tensor<3xf32>
    %12 = tosa.resize %arg0 {border = array<i64: 1, 1>, mode = "BILINEAR", offset = array<i64: -1, -1>, scale = array<i64: 4, 2, 4, 2>} : (tensor<1x8x9x3xf32>) -> tensor<1x?x?x3xf32>
    %13 = tosa.slice %arg4 {size = array<i64: 1, 1, 2>, start = array<i64: 0, 1, 0>} : (tensor<1x2x3xf32>) -> tensor<1x1x2xf32>
    %14 = tosa.argmax %arg4 {axis = 2 : i32} : (tensor<1x2x3xf32>) -> tensor<1x2xi32>
    %15 = tosa.reduce_all %arg8 {axis = 0 : i32} : (tensor<2x3xi1>) -> tensor<1x3xi1>
    %16 = tosa.reduce_any %arg8 {axis = 0 : i32} : (tensor<2x3xi1>) -> tensor<1x3xi1>
    %17 = tosa.reduce_max %arg4 {axis = 1 : i32} : (tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
    %18 = tosa.reduce_min %arg4 {axis = 1 : i32} : (tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
    %19 = tosa.reduce_prod %arg4 {axis = 1 : i32} : (tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
    %20 = tosa.reduce_sum %arg4 {axis = 1 : i32} : (tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
    %21 = tosa.reverse %arg4 {axis = 1 : i32} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %22 = tosa.tile %arg4 {multiples = array<i64: 2, 1, 3>} : (tensor<1x2x3xf32>) -> tensor<2x2x9xf32>
    %23 = tosa.scatter %arg4, %arg6, %arg4 : (tensor<1x2x3xf32>, tensor<1x2xi32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %24 = tosa.table %arg7, %arg9 : (tensor<3xf32>, tensor<513xf32>) -> tensor<3xf32>
    %25 = tosa.fully_connected %arg10, %arg10, %arg11 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    %26 = tosa.depthwise_conv2d %arg0, %arg12, %arg13 {dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>, tensor<3x3x3x2xf32>, tensor<6xf32>) -> tensor<1x8x9x6xf32>
    %27 = tosa.transpose_conv2d %arg0, %arg1, %arg2 {out_pad = array<i64: 0, 0, 0, 0>, out_shape = array<i64: 1, 10, 11, 4>, stride = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x10x11x4xf32>
    %28 = tosa.max_pool2d %arg0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>) -> tensor<1x7x8x3xf32>
    %29 = tosa.pad %arg4, %arg14 : (tensor<1x2x3xf32>, tensor<3x2xi32>) -> tensor<1x3x4xf32>
    %30 = tosa.pad %arg4, %arg14, %arg15 {quantization_info = #tosa.pad_quant<input_zp = 2>} : (tensor<1x2x3xf32>, tensor<3x2xi32>, tensor<f32>) -> tensor<1x3x4xf32>
    %31 = tosa.negate %arg16 {quantization_info = #tosa.unary_quant<input_zp = -1, output_zp = 2>} : (tensor<2x3xi8>) -> tensor<2x3xi8>
    %32 = tosa.conv3d %arg17, %arg18, %arg19 {dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>} : (tensor<1x4x5x6x2xf32>, tensor<1x2x2x2x2xf32>, tensor<1xf32>) -> tensor<1x3x4x5x1xf32>
    %33 = tosa.rescale %arg16 {double_round = true, input_zp = 0 : i32, multiplier = array<i32: 19689>, output_zp = -1 : i32, per_channel = false, scale32 = true, shift = array<i8: 15>} : (tensor<2x3xi8>) -> tensor<2x3xi8>
    return %0 : tensor<1x6x7x4xf32>
  }
}

