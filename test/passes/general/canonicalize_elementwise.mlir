// Canonical forms of elementwise operations of ttir of 2026.
// RUN: ttmlir-opt --canonicalize %s | FileCheck %s

// What is applied twice is applied once, or not at all.
// CHECK-LABEL: func.func @repeated(
// CHECK-NEXT: %[[F:.*]] = "ttir.floor"(%arg0)
// CHECK-NEXT: %[[M:.*]] = "ttir.maximum"(%arg0, %arg0)
// CHECK-NEXT: return %arg0, %[[F]], %arg0, %[[M]]
func.func @repeated(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = "ttir.neg"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.neg"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.floor"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.floor"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "ttir.minimum"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = "ttir.maximum"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %3, %4, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// Casts that nobody wants kept are one; others where the first is exact.
// CHECK-LABEL: func.func @casts(
// CHECK-NEXT: %[[A:.*]] = "ttir.typecast"(%arg0) <{conservative_folding = false}> : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %[[B:.*]] = "ttir.typecast"(%arg0) <{conservative_folding = true}> : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT: %[[C:.*]] = "ttir.typecast"(%[[B]]) <{conservative_folding = true}> : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[A]], %[[C]], %arg1
func.func @casts(%a: tensor<4xf32>, %b: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xbf16>) {
  %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<4xf32>) -> tensor<4xi32>
  %1 = "ttir.typecast"(%0) <{conservative_folding = false}> : (tensor<4xi32>) -> tensor<4xbf16>
  %2 = "ttir.typecast"(%a) <{conservative_folding = true}> : (tensor<4xf32>) -> tensor<4xi32>
  %3 = "ttir.typecast"(%2) <{conservative_folding = true}> : (tensor<4xi32>) -> tensor<4xf32>
  %4 = "ttir.typecast"(%b) <{conservative_folding = true}> : (tensor<4xbf16>) -> tensor<4xf32>
  %5 = "ttir.typecast"(%4) <{conservative_folding = true}> : (tensor<4xf32>) -> tensor<4xbf16>
  return %1, %3, %5 : tensor<4xbf16>, tensor<4xf32>, tensor<4xbf16>
}

// CHECK-LABEL: func.func @ranges(
// CHECK-NEXT: %[[C:.*]] = "ttir.clamp_scalar"(%arg0) <{max = 6.000000e+00 : f32, min = 1.000000e+00 : f32}>
// CHECK-NEXT: return %[[C]]
func.func @ranges(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.constant"() <{value = dense<0.5> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  %1 = "ttir.full"() <{fill_value = 6.0 : f32, shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
  %2 = "ttir.clamp_tensor"(%a, %0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.clamp_scalar"(%2) <{max = 9.0 : f32, min = 1.0 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @choices(
// CHECK-NEXT: %[[G:.*]] = "ttir.ge"(%arg1, %arg0)
// CHECK-NEXT: return %arg0, %arg1, %[[G]]
func.func @choices(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xi1>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>) {
  %0 = "ttir.where"(%c, %a, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.zeros"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xi1>
  %2 = "ttir.where"(%1, %a, %b) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.le"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  return %0, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>
}

// Constants of one number are computed where tt-mlir computes them.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[Z:.*]] = "ttir.zeros"()
// CHECK-NEXT: %[[F:.*]] = "ttir.full"() <{fill_value = 3.000000e+00 : f32, shape = array<i32: 4, 8>}>
// CHECK-NEXT: %[[T:.*]] = "ttir.tanh"(%[[Z]])
// CHECK-NEXT: return %[[F]], %[[T]]
func.func @constants() -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = "ttir.full"() <{fill_value = 9.0 : f32, shape = array<i32: 1, 8>}> : () -> tensor<1x8xf32>
  %1 = "ttir.repeat"(%0) <{repeat_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.sqrt"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.zeros"() <{shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
  %4 = "ttir.tanh"(%3) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2, %4 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Integers begin anew beyond their range; division cuts off, remainders have the sign of the dividend.
// The answers are those of tt-mlir 19c86fca45, but for the remainder.
// CHECK-LABEL: func.func @integers(
// CHECK-DAG: %[[WRAP:.*]] = "ttir.full"() <{fill_value = -2147483644 : i32, shape = array<i32: 5, 7>}>
// CHECK-DAG: %[[DIV:.*]] = "ttir.full"() <{fill_value = -4 : i32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xsi32>
// CHECK-DAG: %[[REM:.*]] = "ttir.full"() <{fill_value = -1 : i32,
// CHECK-DAG: %[[LEFT:.*]] = "ttir.full"() <{fill_value = -104 : i32,
// CHECK-DAG: %[[RIGHT:.*]] = "ttir.full"() <{fill_value = 536870910 : i32,
// CHECK-DAG: %[[SUM:.*]] = "ttir.constant"() <{value = dense<[2, 7, 6]> : tensor<3xsi32>}>
// CHECK-DAG: %[[POW:.*]] = "ttir.pow"
// CHECK-DAG: %[[ZERO:.*]] = "ttir.div"(%{{.*}}, %{{.*}}) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
// CHECK: return %[[WRAP]], %[[DIV]], %[[REM]], %[[LEFT]], %[[RIGHT]], %[[SUM]], %[[POW]], %[[ZERO]]
func.func @integers() -> (tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<3xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>) {
  %max = "ttir.constant"() <{value = dense<2147483647> : tensor<5x7xsi32>}> : () -> tensor<5x7xsi32>
  %five = "ttir.constant"() <{value = dense<5> : tensor<5x7xsi32>}> : () -> tensor<5x7xsi32>
  %three = "ttir.constant"() <{value = dense<3> : tensor<5x7xsi32>}> : () -> tensor<5x7xsi32>
  %minus = "ttir.constant"() <{value = dense<-13> : tensor<5x7xsi32>}> : () -> tensor<5x7xsi32>
  %none = "ttir.constant"() <{value = dense<0> : tensor<5x7xsi32>}> : () -> tensor<5x7xsi32>
  %a = "ttir.constant"() <{value = dense<[1, 2, 3]> : tensor<3xsi32>}> : () -> tensor<3xsi32>
  %b = "ttir.constant"() <{value = dense<[1, 5, 3]> : tensor<3xsi32>}> : () -> tensor<3xsi32>
  %0 = "ttir.add"(%max, %five) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  %1 = "ttir.div"(%minus, %three) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  %2 = "ttir.remainder"(%minus, %three) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  %3 = "ttir.logical_left_shift"(%minus, %three) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  %4 = "ttir.logical_right_shift"(%minus, %three) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  %5 = "ttir.add"(%a, %b) : (tensor<3xsi32>, tensor<3xsi32>) -> tensor<3xsi32>
  %6 = "ttir.pow"(%five, %three) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  %7 = "ttir.div"(%minus, %none) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>, tensor<3xsi32>, tensor<5x7xsi32>, tensor<5x7xsi32>
}

// CHECK-LABEL: func.func @bits(
// CHECK-DAG: %[[AND:.*]] = "ttir.full"() <{fill_value = 4 : i32,
// CHECK-DAG: %[[NOT:.*]] = "ttir.full"() <{fill_value = -14 : i32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xui32>
// CHECK-DAG: %[[SHIFT:.*]] = "ttir.full"() <{fill_value = 268435455 : i32,
// CHECK-DAG: %[[NONE:.*]] = "ttir.zeros"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xui32>
// CHECK: return %[[AND]], %[[NOT]], %[[SHIFT]], %[[NONE]]
func.func @bits(%x: tensor<5x7xui32>) -> (tensor<5x7xui32>, tensor<5x7xui32>, tensor<5x7xui32>, tensor<5x7xui32>) {
  %large = "ttir.full"() <{fill_value = -3 : i32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xui32>
  %four = "ttir.full"() <{fill_value = 4 : i32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xui32>
  %odd = "ttir.full"() <{fill_value = 13 : i32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xui32>
  %0 = "ttir.bitwise_and"(%four, %odd) : (tensor<5x7xui32>, tensor<5x7xui32>) -> tensor<5x7xui32>
  %1 = "ttir.bitwise_not"(%odd) : (tensor<5x7xui32>) -> tensor<5x7xui32>
  %2 = "ttir.logical_right_shift"(%large, %four) : (tensor<5x7xui32>, tensor<5x7xui32>) -> tensor<5x7xui32>
  %3 = "ttir.bitwise_xor"(%x, %x) : (tensor<5x7xui32>, tensor<5x7xui32>) -> tensor<5x7xui32>
  return %0, %1, %2, %3 : tensor<5x7xui32>, tensor<5x7xui32>, tensor<5x7xui32>, tensor<5x7xui32>
}

// Equality of constants and of equal integers is known; orders of constants stay, and NaN is none.
// CHECK-LABEL: func.func @truths(
// CHECK-DAG: %[[NO:.*]] = "ttir.zeros"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xbf16>
// CHECK-DAG: %[[YES:.*]] = "ttir.ones"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xbf16>
// CHECK-DAG: %[[SELF:.*]] = "ttir.eq"(%arg1, %arg1)
// CHECK-DAG: %[[ORDER:.*]] = "ttir.gt"
// CHECK: return %[[NO]], %[[YES]], %[[YES]], %[[SELF]], %[[ORDER]], %[[NO]]
func.func @truths(%i: tensor<5x7xsi32>, %x: tensor<5x7xf32>) -> (tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>) {
  %a = "ttir.full"() <{fill_value = 3.0 : f32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
  %b = "ttir.full"() <{fill_value = 5.0 : f32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
  %0 = "ttir.eq"(%a, %b) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xbf16>
  %1 = "ttir.ne"(%a, %b) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xbf16>
  %2 = "ttir.eq"(%i, %i) : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xbf16>
  %3 = "ttir.eq"(%x, %x) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xbf16>
  %4 = "ttir.gt"(%a, %b) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xbf16>
  %5 = "ttir.logical_not"(%1) : (tensor<5x7xbf16>) -> tensor<5x7xbf16>
  return %0, %1, %2, %3, %4, %5 : tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>, tensor<5x7xbf16>
}

// A constant decides what is true, or leaves truth values as they are; other numbers become truths.
// CHECK-LABEL: func.func @decided(
// CHECK-DAG: %[[NO:.*]] = "ttir.zeros"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
// CHECK-DAG: %[[YES:.*]] = "ttir.ones"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
// CHECK-DAG: %[[KEPT:.*]] = "ttir.logical_and"
// CHECK: return %[[NO]], %[[YES]], %[[KEPT]], %arg1, %arg1
func.func @decided(%x: tensor<5x7xf32>, %t: tensor<5x7xi1>) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xi1>, tensor<5x7xi1>) {
  %zero = "ttir.zeros"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
  %two = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
  %true = "ttir.ones"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xi1>
  %false = "ttir.zeros"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xi1>
  %0 = "ttir.logical_and"(%x, %zero) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = "ttir.logical_or"(%two, %x) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = "ttir.logical_and"(%x, %two) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = "ttir.logical_and"(%true, %t) : (tensor<5x7xi1>, tensor<5x7xi1>) -> tensor<5x7xi1>
  %4 = "ttir.logical_or"(%t, %false) : (tensor<5x7xi1>, tensor<5x7xi1>) -> tensor<5x7xi1>
  return %0, %1, %2, %3, %4 : tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xi1>, tensor<5x7xi1>
}

// Sums of constants are known; a product of zeros and ones is the least, others stay.
// CHECK-LABEL: func.func @reduced_constants(
// CHECK-DAG: %[[ROW:.*]] = "ttir.full"() <{fill_value = 2.100000e+01 : f32, shape = array<i32: 5, 1>}> : () -> tensor<5x1xf32>
// CHECK-DAG: %[[ALL:.*]] = "ttir.full"() <{fill_value = 105 : i32, shape = array<i32>}> : () -> tensor<si32>
// CHECK-DAG: %[[LEAST:.*]] = "ttir.min"{{.*}} <{dim_arg = [1 : i32], keep_dim = false}>
// CHECK-DAG: %[[PRODUCT:.*]] = "ttir.prod"
// CHECK: return %[[ROW]], %[[ALL]], %[[LEAST]], %[[PRODUCT]]
func.func @reduced_constants() -> (tensor<5x1xf32>, tensor<si32>, tensor<5xf32>, tensor<5xf32>) {
  %a = "ttir.full"() <{fill_value = 3.0 : f32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
  %b = "ttir.full"() <{fill_value = 3 : i32, shape = array<i32: 5, 7>}> : () -> tensor<5x7xsi32>
  %one = "ttir.ones"() <{shape = array<i32: 5, 7>}> : () -> tensor<5x7xf32>
  %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<5x7xf32>) -> tensor<5x1xf32>
  %1 = "ttir.sum"(%b) <{keep_dim = false}> : (tensor<5x7xsi32>) -> tensor<si32>
  %2 = "ttir.prod"(%one) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<5x7xf32>) -> tensor<5xf32>
  %3 = "ttir.prod"(%a) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<5x7xf32>) -> tensor<5xf32>
  return %0, %1, %2, %3 : tensor<5x1xf32>, tensor<si32>, tensor<5xf32>, tensor<5xf32>
}

// Quotients by zero stay, and casts to another type by a range.
// CHECK-LABEL: func.func @undivided(
// CHECK-DAG: "ttir.reciprocal"
// CHECK-DAG: "ttir.rsqrt"
// CHECK-DAG: "ttir.div"
// CHECK-DAG: "ttir.clamp_scalar"
// CHECK: return
func.func @undivided() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xsi32>) {
  %zero = "ttir.zeros"() <{shape = array<i32: 3>}> : () -> tensor<3xf32>
  %five = "ttir.full"() <{fill_value = 5 : i32, shape = array<i32: 3>}> : () -> tensor<3xi32>
  %0 = "ttir.reciprocal"(%zero) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = "ttir.rsqrt"(%zero) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = "ttir.div"(%zero, %zero) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = "ttir.clamp_scalar"(%five) <{max = 28 : i32, min = 0 : i32}> : (tensor<3xi32>) -> tensor<3xsi32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xsi32>
}

// Of one number it is the largest, and groups of one device have nothing to send.
// CHECK-LABEL: func.func @alone(
// CHECK-NEXT: %[[PLACES:.*]] = "ttir.zeros"() <{shape = array<i32: 4, 1, 8>}> : () -> tensor<4x1x8xi32>
// CHECK-NEXT: return %arg0, %[[PLACES]], %arg0
func.func @alone(%x: tensor<4x1x8xf32>) -> (tensor<4x1x8xf32>, tensor<4x1x8xi32>, tensor<4x1x8xf32>) {
  %0:2 = "ttir.topk"(%x) <{dim = -2 : i32, k = 1 : i32, largest = true, sorted = true}> : (tensor<4x1x8xf32>) -> (tensor<4x1x8xf32>, tensor<4x1x8xi32>)
  %1 = "ttir.collective_broadcast"(%x) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  return %0#0, %0#1, %1 : tensor<4x1x8xf32>, tensor<4x1x8xi32>, tensor<4x1x8xf32>
}
