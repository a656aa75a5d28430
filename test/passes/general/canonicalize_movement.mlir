// Canonical forms of operations that move elements of ttir of 2026.
// RUN: ttmlir-opt --canonicalize %s | FileCheck %s

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
// CHECK-NEXT: %[[C:.*]] = "ttir.cumsum"(%arg0)
// CHECK-NEXT: return %[[R]], %[[S]], %[[C]]
func.func @narrow(%a: tensor<4x1x8xf32>) -> (tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x1x8xf32>) {
  %0 = "ttir.squeeze"(%a) <{dim = 1 : si32}> : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  %2 = "ttir.unsqueeze"(%0) <{dim = 1 : si32}> : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  %3 = "ttir.cumsum"(%2) <{dim = 1 : i64}> : (tensor<4x1x8xf32>) -> tensor<4x1x8xf32>
  return %0, %1, %3 : tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x1x8xf32>
}
