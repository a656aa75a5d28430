// Operations of tosa and what they become in ttir.
// RUN: ttmlir-opt --convert-tosa-to-ttir=spelling=2024 %s | FileCheck %s
// RUN: ttmlir-opt --convert-tosa-to-ttir=spelling=2024 --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOC
// RUN: ttmlir-opt --convert-tosa-to-ttir=spelling=2024 --convert-tosa-to-ttir=spelling=2024 %s | FileCheck %s

// Every operand accepts a tile on the device, and the destination has the type of the result.
// CHECK: #any_device_tile = #tt.operand_constraint<
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[A:.*]]: tensor<33x70xf32>, %[[B:.*]]: tensor<1x70xf32>) -> tensor<33x70xf32>
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty() : tensor<33x70xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.multiply"(%[[A]], %[[B]], %[[EMPTY]]) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
// CHECK-NEXT: return %[[R]]
// LOC-LABEL: func.func @product(
// LOC: tensor.empty() {{.*}}loc("the product")
// LOC: "ttir.multiply"{{.*}} loc("the product")
func.func @product(%a: tensor<33x70xf32>, %b: tensor<1x70xf32>) -> tensor<33x70xf32> {
  %0 = tosa.mul %a, %b {shift = 0 : i8} : (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xf32> loc("the product")
  return %0 : tensor<33x70xf32>
}

// CHECK-LABEL: func.func @unary(
// CHECK: "ttir.abs"{{.*}}array<i32: 1, 1>, operand_constraints = [#any_device_tile, #any_device_tile]
// CHECK: "ttir.neg"
// CHECK: "ttir.ceil"
// CHECK: "ttir.cos"
// CHECK: "ttir.erf"
// CHECK: "ttir.exp"
// CHECK: "ttir.floor"
// CHECK: "ttir.log"
// CHECK: "ttir.reciprocal"
// CHECK: "ttir.rsqrt"
// CHECK: "ttir.sigmoid"
// CHECK: "ttir.sin"
// CHECK: "ttir.tanh"
// CHECK-NOT: tosa
func.func @unary(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = tosa.abs %a : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = tosa.negate %0 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = tosa.ceil %1 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = tosa.cos %2 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %4 = tosa.erf %3 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %5 = tosa.exp %4 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %6 = tosa.floor %5 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %7 = tosa.log %6 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %8 = tosa.reciprocal %7 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %9 = tosa.rsqrt %8 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %10 = tosa.sigmoid %9 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %11 = tosa.sin %10 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %12 = tosa.tanh %11 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return %12 : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @binary(
// CHECK: "ttir.add"
// CHECK: "ttir.subtract"
// CHECK: "ttir.maximum"
// CHECK: "ttir.minimum"
// CHECK: "ttir.pow"
// CHECK: tensor.empty() : tensor<5x7xi1>
// CHECK-NEXT: "ttir.ge"{{.*}} -> tensor<5x7xi1>
// CHECK: "ttir.gt"{{.*}} -> tensor<5x7xi1>
// CHECK: "ttir.eq"{{.*}} -> tensor<5x7xi1>
// CHECK: "ttir.logical_and"
// CHECK: "ttir.logical_or"
// CHECK: "ttir.logical_xor"
// CHECK: "ttir.logical_not"
// CHECK: "ttir.where"{{.*}}array<i32: 3, 1>
func.func @binary(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = tosa.add %a, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = tosa.sub %0, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = tosa.maximum %1, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = tosa.minimum %2, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %4 = tosa.pow %3, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %5 = tosa.greater_equal %4, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
  %6 = tosa.greater %4, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
  %7 = tosa.equal %4, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
  %8 = tosa.logical_and %5, %6 : (tensor<5x7xi1>, tensor<5x7xi1>) -> tensor<5x7xi1>
  %9 = tosa.logical_or %8, %7 : (tensor<5x7xi1>, tensor<5x7xi1>) -> tensor<5x7xi1>
  %10 = tosa.logical_xor %9, %7 : (tensor<5x7xi1>, tensor<5x7xi1>) -> tensor<5x7xi1>
  %11 = tosa.logical_not %10 : (tensor<5x7xi1>) -> tensor<5x7xi1>
  %12 = tosa.select %11, %4, %a : (tensor<5x7xi1>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %12 : tensor<5x7xf32>
}

// Narrow integers become as wide as their product before they are multiplied.
// CHECK-LABEL: func.func @integers(
// CHECK: %[[WIDE:.*]] = "ttir.typecast"(%{{.*}}, %{{.*}}) {{.*}} (tensor<5x7xi8>, tensor<5x7xi32>) -> tensor<5x7xi32>
// CHECK: %[[ROW:.*]] = "ttir.typecast"(%{{.*}}, %{{.*}}) {{.*}} (tensor<1x7xi8>, tensor<1x7xi32>) -> tensor<1x7xi32>
// CHECK: "ttir.multiply"(%[[WIDE]], %[[ROW]], %{{.*}}) {{.*}} -> tensor<5x7xi32>
// CHECK: "ttir.div"
// CHECK: "ttir.bitwise_and"
// CHECK: "ttir.bitwise_or"
// CHECK: "ttir.bitwise_xor"
// CHECK: "ttir.bitwise_not"
// CHECK: "ttir.typecast"{{.*}} -> tensor<5x7xf32>
func.func @integers(%a: tensor<5x7xi8>, %b: tensor<1x7xi8>) -> tensor<5x7xf32> {
  %0 = tosa.mul %a, %b {shift = 0 : i8} : (tensor<5x7xi8>, tensor<1x7xi8>) -> tensor<5x7xi32>
  %1 = tosa.int_div %0, %0 : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  %2 = tosa.bitwise_and %0, %1 : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  %3 = tosa.bitwise_or %0, %2 : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  %4 = tosa.bitwise_xor %0, %3 : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  %5 = tosa.bitwise_not %4 : (tensor<5x7xi32>) -> tensor<5x7xi32>
  %6 = tosa.cast %5 : (tensor<5x7xi32>) -> tensor<5x7xf32>
  return %6 : tensor<5x7xf32>
}

// Of the bounds, those for the input's kind of numbers count.
// CHECK-LABEL: func.func @clamp(
// CHECK: "ttir.clamp"(%{{.*}}, %{{.*}}) <{max = 6.000000e+00 : f32, min = -5.000000e-01 : f32
// CHECK: "ttir.clamp"(%{{.*}}, %{{.*}}) <{max = 2.14748365E+9 : f32, min = -3.000000e+00 : f32
func.func @clamp(%a: tensor<5x7xbf16>, %b: tensor<5x7xi32>) -> (tensor<5x7xbf16>, tensor<5x7xi32>) {
  %0 = tosa.clamp %a {min_fp = -0.5 : bf16, max_fp = 6.0 : bf16, min_int = 0 : i64, max_int = 1 : i64} : (tensor<5x7xbf16>) -> tensor<5x7xbf16>
  %1 = tosa.clamp %b {min_fp = 0.0 : f32, max_fp = 6.0 : f32, min_int = -3 : i64, max_int = 2147483647 : i64} : (tensor<5x7xi32>) -> tensor<5x7xi32>
  return %0, %1 : tensor<5x7xbf16>, tensor<5x7xi32>
}

// CHECK-LABEL: func.func @constant(
// CHECK-NEXT: "ttir.constant"() <{value = dense<{{\[}}1.500000e+00, -2.000000e+00]> : tensor<2xf32>}> : () -> tensor<2xf32>
// LOC-LABEL: func.func @constant(
// LOC: "ttir.constant"{{.*}} loc("the constant")
func.func @constant() -> tensor<2xf32> {
  %0 = "tosa.const"() <{value = dense<[1.5, -2.0]> : tensor<2xf32>}> : () -> tensor<2xf32> loc("the constant")
  return %0 : tensor<2xf32>
}

// What is ttir or func already stays.
// CHECK-LABEL: func.func @rest(
// CHECK-NEXT: call @constant
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: "ttir.relu"{{.*}}operand_constraints = [#operand_constraint, #operand_constraint]
func.func @rest() -> tensor<2xf32> {
  %0 = call @constant() : () -> tensor<2xf32>
  %1 = tensor.empty() : tensor<2xf32>
  %2 = "ttir.relu"(%0, %1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tt.operand_constraint<system>, #tt.operand_constraint<system>]}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
