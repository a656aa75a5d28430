// Operations of stablehlo and what they become in ttir, in the form of tt-mlir.
// RUN: ttmlir-opt --convert-stablehlo-to-ttir=spelling=2024 %s | FileCheck %s
// RUN: ttmlir-opt --stablehlo-to-ttir-pipeline=spelling=2024 %s | FileCheck %s
// RUN: ttmlir-opt --convert-stablehlo-to-ttir=spelling=2024 --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOC

// What JAX says about a module and its functions stays.
// CHECK: #any_device_tile = #tt.operand_constraint<
// CHECK: module @jit_f attributes {mhlo.num_partitions = 1 : i32}
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  // CHECK-LABEL: func.func public @product(
  // CHECK-SAME: %[[A:.*]]: tensor<33x70xf32>, %[[B:.*]]: tensor<33x70xf32>) -> (tensor<33x70xf32> {jax.result_info = "result"})
  // CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<33x70xf32>
  // CHECK-NEXT: %[[R:.*]] = "ttir.multiply"(%[[A]], %[[B]], %[[EMPTY]]) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  // CHECK-NEXT: return %[[R]]
  // LOC-LABEL: func.func public @product(
  // LOC: tensor.empty() {{.*}}loc("the product")
  // LOC: "ttir.multiply"{{.*}} loc("the product")
  func.func public @product(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> (tensor<33x70xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %a, %b : tensor<33x70xf32> loc("the product")
    return %0 : tensor<33x70xf32>
  }

  // CHECK-LABEL: func.func @elementwise(
  // CHECK: "ttir.abs"{{.*}}array<i32: 1, 1>, operand_constraints = [#any_device_tile, #any_device_tile]
  // CHECK: "ttir.exp"
  // CHECK: "ttir.neg"
  // CHECK: "ttir.add"
  // CHECK: "ttir.subtract"
  // CHECK: "ttir.div"
  // CHECK: "ttir.maximum"
  // CHECK: "ttir.ge"{{.*}} -> tensor<5x7xi1>
  // CHECK: "ttir.where"
  // CHECK-NOT: stablehlo
  func.func @elementwise(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.abs %a : tensor<5x7xf32>
    %1 = stablehlo.exponential %0 : tensor<5x7xf32>
    %2 = stablehlo.negate %1 : tensor<5x7xf32>
    %3 = stablehlo.add %2, %a : tensor<5x7xf32>
    %4 = stablehlo.subtract %3, %a : tensor<5x7xf32>
    %5 = stablehlo.divide %4, %a : tensor<5x7xf32>
    %6 = stablehlo.maximum %5, %a : tensor<5x7xf32>
    %7 = stablehlo.compare GE, %6, %a, FLOAT : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
    %8 = stablehlo.select %7, %6, %a : tensor<5x7xi1>, tensor<5x7xf32>
    return %8 : tensor<5x7xf32>
  }

  // Bits and truth values have operations of their own.
  // CHECK-LABEL: func.func @bits(
  // CHECK: "ttir.bitwise_and"{{.*}} -> tensor<3xi32>
  // CHECK: "ttir.logical_and"{{.*}} -> tensor<3xi1>
  // CHECK: "ttir.bitwise_not"{{.*}} -> tensor<3xi32>
  // CHECK: "ttir.logical_not"{{.*}} -> tensor<3xi1>
  func.func @bits(%a: tensor<3xi32>, %b: tensor<3xi1>) -> (tensor<3xi32>, tensor<3xi1>) {
    %0 = stablehlo.and %a, %a : tensor<3xi32>
    %1 = stablehlo.and %b, %b : tensor<3xi1>
    %2 = stablehlo.not %0 : tensor<3xi32>
    %3 = stablehlo.not %1 : tensor<3xi1>
    return %2, %3 : tensor<3xi32>, tensor<3xi1>
  }

  // Numbers that a clamp names become parameters; other bounds are operands.
  // CHECK-LABEL: func.func @clamps(
  // CHECK-NOT: ttir.constant
  // CHECK: "ttir.clamp"(%arg0, %{{.*}}) <{max = 6.000000e+00 : f32, min = 0.000000e+00 : f32,
  // CHECK: "ttir.maximum"(%{{.*}}, %arg1, %{{.*}}) {{.*}} : (tensor<5x7xf32>, tensor<f32>, tensor<5x7xf32>)
  // CHECK: "ttir.minimum"
  func.func @clamps(%a: tensor<5x7xf32>, %low: tensor<f32>, %high: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %six = stablehlo.constant dense<6.0> : tensor<f32>
    %0 = stablehlo.clamp %zero, %a, %six : (tensor<f32>, tensor<5x7xf32>, tensor<f32>) -> tensor<5x7xf32>
    %1 = "stablehlo.clamp"(%low, %0, %high) : (tensor<f32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    return %1 : tensor<5x7xf32>
  }

  // CHECK-LABEL: func.func @transposes(
  // CHECK: "ttir.transpose"(%arg0, %{{.*}}) <{dim0 = 1 : si32, dim1 = 0 : si32, operand_constraints = [#any_device_tile, #any_device_tile]}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  // CHECK: "ttir.permute"(%arg1, %{{.*}}) <{{.*}}permutation = array<i64: 1, 2, 0>}>
  // CHECK: "ttir.transpose"(%arg1, %{{.*}}) <{dim0 = 2 : si32, dim1 = 0 : si32,
  func.func @transposes(%a: tensor<33x70xf32>, %b: tensor<3x5x7xf32>) -> (tensor<70x33xf32>, tensor<5x7x3xf32>, tensor<7x5x3xf32>) {
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<33x70xf32>) -> tensor<70x33xf32>
    %1 = stablehlo.transpose %b, dims = [1, 2, 0] : (tensor<3x5x7xf32>) -> tensor<5x7x3xf32>
    %2 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<3x5x7xf32>) -> tensor<7x5x3xf32>
    return %0, %1, %2 : tensor<70x33xf32>, tensor<5x7x3xf32>, tensor<7x5x3xf32>
  }

  // CHECK-LABEL: func.func @broadcasts(
  // CHECK: "ttir.broadcast"(%arg0, %{{.*}}) <{dimension = [1], operand_constraints = [#any_device_tile, #any_device_tile]}> : (tensor<70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  // CHECK: "ttir.broadcast"(%arg1, %{{.*}}) <{dimension = [],
  // CHECK: "ttir.reshape"(%arg0, %{{.*}}) <{{.*}}shape = [1 : i32, 70 : i32]}>
  func.func @broadcasts(%a: tensor<70xf32>, %b: tensor<f32>) -> (tensor<33x70xf32>, tensor<33x70xf32>, tensor<1x70xf32>) {
    %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<70xf32>) -> tensor<33x70xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<33x70xf32>
    %2 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<70xf32>) -> tensor<1x70xf32>
    return %0, %1, %2 : tensor<33x70xf32>, tensor<33x70xf32>, tensor<1x70xf32>
  }

  // CHECK-LABEL: func.func @creation(
  // CHECK: "ttir.constant"() <{value = dense<[1.5{{.*}}, -2.0{{.*}}]> : tensor<2xf32>}> : () -> tensor<2xf32>
  // CHECK: "ttir.arange"() <{arange_dimension = 1 : i64, end = 5 : si64, start = 0 : si64, step = 1 : si64}> : () -> tensor<3x5xi32>
  func.func @creation() -> (tensor<2xf32>, tensor<3x5xi32>) {
    %0 = stablehlo.constant dense<[1.5, -2.0]> : tensor<2xf32>
    %1 = stablehlo.iota dim = 1 : tensor<3x5xi32>
    return %0, %1 : tensor<2xf32>, tensor<3x5xi32>
  }

  // CHECK-LABEL: func.func @parts(
  // CHECK: "ttir.slice"(%arg0, %{{.*}}) <{begins = [1 : i32, 0 : i32], ends = [3 : i32, 7 : i32], operand_constraints = {{.*}}, step = [1 : i32, 2 : i32]}>
  // CHECK: "ttir.concat"(%{{.*}}, %{{.*}}, %{{.*}}) <{dim = 0 : si32,
  // CHECK: "ttir.pad"(%{{.*}}) <{{.*}}padding = array<i32: 0, 0, 1, 2>, value = 5.000000e-01 : f32}>
  // CHECK: "ttir.reverse"(%{{.*}}) <{dimensions = array<i64: 0>,
  func.func @parts(%a: tensor<5x7xf32>) -> tensor<4x7xf32> {
    %0 = stablehlo.slice %a [1:3, 0:7:2] : (tensor<5x7xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.concatenate %0, %0, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %2 = stablehlo.pad %1, %half, low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x7xf32>
    %3 = stablehlo.reverse %2, dims = [0] : tensor<4x7xf32>
    return %3 : tensor<4x7xf32>
  }

  // A neutral initial value leaves nothing behind; another one is taken in afterwards.
  // CHECK-LABEL: func.func @reductions(
  // CHECK-NEXT: tensor.empty() : tensor<64xf32>
  // CHECK-NEXT: "ttir.sum"(%arg0, %{{.*}}) <{dim_arg = [1 : i32], keep_dim = false, operand_constraints = [#any_device_tile, #any_device_tile]}> : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: %[[INIT:.*]] = "ttir.constant"() <{value = dense<1.000000e+00> : tensor<f32>}>
  // CHECK: %[[MAX:.*]] = "ttir.max"(%arg0, %{{.*}}) <{dim_arg = [0 : i32, 1 : i32], keep_dim = false,
  // CHECK: "ttir.maximum"(%[[MAX]], %[[INIT]],
  func.func @reductions(%a: tensor<64x128xf32>) -> (tensor<64xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %1 = stablehlo.reduce(%a init: %one) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<f32>
    return %0, %1 : tensor<64xf32>, tensor<f32>
  }

  // CHECK-LABEL: func.func @kinds_of_reductions(
  // CHECK: "ttir.min"
  // CHECK: "ttir.prod"
  // CHECK: "ttir.reduce_and"
  // CHECK: "ttir.reduce_or"
  func.func @kinds_of_reductions(%a: tensor<3x5xi32>, %b: tensor<3x5xi1>) -> (tensor<5xi32>, tensor<5xi32>, tensor<3xi1>, tensor<3xi1>) {
    %highest = stablehlo.constant dense<2147483647> : tensor<i32>
    %0 = stablehlo.reduce(%a init: %highest) applies stablehlo.minimum across dimensions = [0] : (tensor<3x5xi32>, tensor<i32>) -> tensor<5xi32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.reduce(%a init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<3x5xi32>, tensor<i32>) -> tensor<5xi32>
    %true = stablehlo.constant dense<true> : tensor<i1>
    %2 = stablehlo.reduce(%b init: %true) applies stablehlo.and across dimensions = [1] : (tensor<3x5xi1>, tensor<i1>) -> tensor<3xi1>
    %false = stablehlo.constant dense<false> : tensor<i1>
    %3 = stablehlo.reduce(%b init: %false) applies stablehlo.or across dimensions = [1] : (tensor<3x5xi1>, tensor<i1>) -> tensor<3xi1>
    return %0, %1, %2, %3 : tensor<5xi32>, tensor<5xi32>, tensor<3xi1>, tensor<3xi1>
  }
}
