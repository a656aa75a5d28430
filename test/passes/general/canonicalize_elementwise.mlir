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
