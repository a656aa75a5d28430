// Canonical forms of ttir operations of 2026.
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

// Moves that move nothing.
// CHECK-LABEL: func.func @identities(
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0
func.func @identities(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = "ttir.concat"(%a) <{dim = 1 : si32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.slice_static"(%a) <{begins = [0 : i32, 0 : i32], ends = [4 : i32, 8 : i32], step = [1 : i32, 1 : i32]}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.repeat"(%a) <{repeat_dimensions = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.repeat_interleave"(%a) <{dim = 0 : si32, repeats = 1 : ui32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A square is its own order of dimensions only where nothing is exchanged; a half turn is not.
// CHECK-LABEL: func.func @not_identities(
// CHECK-NEXT: "ttir.permute"(%arg0) <{permutation = array<i64: 1, 0>}>
// CHECK-NEXT: "ttir.reverse"(%arg0) <{dimensions = array<i64: 0>}>
// CHECK-NEXT: "ttir.sum"(%arg0)
// CHECK-NEXT: return
func.func @not_identities(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<1x1xf32>) {
  %0 = "ttir.transpose"(%a) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "ttir.reverse"(%a) <{dimensions = array<i64: 0, 1>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.reverse"(%1) <{dimensions = array<i64: 1>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.sum"(%a) <{dim_arg = [0 : i32, 1 : i32], keep_dim = true}> : (tensor<8x8xf32>) -> tensor<1x1xf32>
  return %0, %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<1x1xf32>
}

// Dimensions of extent 1 come and go by a reshape, and stay where something is summed over them.
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%arg0) <{shape = [4 : i32, 8 : i32]}>
// CHECK-NEXT: %[[S:.*]] = "ttir.sum"(%arg0)
// CHECK-NEXT: return %[[R]], %[[S]], %arg0
func.func @narrow(%a: tensor<4x1x8xf32>) -> (tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x1x8xf32>) {
  %0 = "ttir.squeeze"(%a) <{dim = 1 : si32}> : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  %2 = "ttir.unsqueeze"(%0) <{dim = 1 : si32}> : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  %3 = "ttir.cumsum"(%2) <{dim = 1 : i64}> : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  return %0, %1, %3 : tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x1x8xf32>
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

// CHECK-LABEL: func.func @products(
// CHECK-NEXT: %[[S:.*]] = "ttir.full"() <{fill_value = 8 : i32, shape = array<i32: 1>}>
// CHECK-NEXT: %[[M:.*]] = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}>
// CHECK-NEXT: %[[P:.*]] = "ttir.prod"(%arg0) <{keep_dim = false}>
// CHECK-NEXT: return %[[M]], %[[P]], %[[S]]
func.func @products(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) -> (tensor<4x6xf32>, tensor<f32>, tensor<1xui32>) {
  %0 = "ttir.linear"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1, 0>, transpose_b = true}> : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %1 = "ttir.prod"(%a) <{dim_arg = [0 : i32, 1 : i32], keep_dim = false}> : (tensor<4x8xf32>) -> tensor<f32>
  %2 = "ttir.get_dimension_size"(%a) <{dimension = 1 : i32}> : (tensor<4x8xf32>) -> tensor<1xui32>
  return %0, %1, %2 : tensor<4x6xf32>, tensor<f32>, tensor<1xui32>
}

// A window of one element that steps over all of them.
// CHECK-LABEL: func.func @windows(
// CHECK-NEXT: %[[P:.*]] = "ttir.avg_pool2d"
// CHECK-NEXT: return %arg0, %[[P]]
func.func @windows(%a: tensor<1x4x4x32xf32>) -> (tensor<1x4x4x32xf32>, tensor<1x6x6x32xf32>) {
  %0 = "ttir.max_pool2d"(%a) <{ceil_mode = false, dilation = 1 : i32, kernel = array<i32: 1, 1>, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x4x4x32xf32>) -> tensor<1x4x4x32xf32>
  %1 = "ttir.avg_pool2d"(%a) <{ceil_mode = false, count_include_pad = true, dilation = 1 : i32, kernel = 1 : i32, padding = 1 : i32, stride = 1 : i32}> : (tensor<1x4x4x32xf32>) -> tensor<1x6x6x32xf32>
  return %0, %1 : tensor<1x4x4x32xf32>, tensor<1x6x6x32xf32>
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
