// REQUIRES: mlir-opt
// RUN: grep -v "^//" %s > %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: mlir-opt-19 --mlir-print-op-generic %t.mlir > %t.generic.mlir
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | diff %t.generic.mlir -
// RUN: ttmlir-opt %t.generic.mlir | diff %t.mlir -
module {
  func.func @f(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2x3xi1>, %arg3: tensor<2x3xi32>) {
    %0 = tosa.abs %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = tosa.bitwise_not %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = tosa.ceil %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = tosa.clz %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = tosa.cos %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = tosa.exp %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %6 = tosa.floor %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %7 = tosa.log %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %8 = tosa.negate %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %9 = tosa.reciprocal %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %10 = tosa.rsqrt %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %11 = tosa.sigmoid %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %12 = tosa.sin %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %13 = tosa.tanh %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %14 = tosa.erf %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %15 = tosa.identity %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %16 = tosa.add %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %17 = tosa.bitwise_and %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %18 = tosa.bitwise_or %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %19 = tosa.bitwise_xor %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %20 = tosa.logical_left_shift %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %21 = tosa.logical_right_shift %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %22 = tosa.maximum %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %23 = tosa.minimum %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %24 = tosa.pow %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %25 = tosa.sub %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %26 = tosa.equal %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    %27 = tosa.greater %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    %28 = tosa.greater_equal %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    %29 = tosa.logical_and %arg2, %arg2 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
    %30 = tosa.logical_or %arg2, %arg2 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
    %31 = tosa.logical_xor %arg2, %arg2 : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
    %32 = tosa.logical_not %arg2 : (tensor<2x3xi1>) -> tensor<2x3xi1>
    %33 = tosa.int_div %arg3, %arg3 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %34 = tosa.arithmetic_right_shift %arg3, %arg3 {round = true} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %35 = tosa.mul %arg3, %arg3 {shift = 2 : i8} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %36 = tosa.clamp %arg0 {max_fp = 1.000000e+00 : f32, max_int = 1 : i64, min_fp = 0.000000e+00 : f32, min_int = 0 : i64, test.mark} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %37 = tosa.select %arg2, %arg0, %arg1 : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %38 = tosa.cast %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %39 = "tosa.const"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}> : () -> tensor<2xf32>
    return
  }
}

