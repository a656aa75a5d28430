// Moves change places with broadcasts. What is expected is what the pass of Tenstorrent's compiler
// (jax-tt-plugin 0.1.3) makes of the functions.

// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true" %s | FileCheck %s

// CHECK-LABEL: func.func @permute
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x1x4x5xf32>) -> tensor<2x4x5x1xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 1, 1, 1, 3>}> : (tensor<2x4x5x1xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4x5x3xf32>
func.func @permute(%arg0: tensor<2x1x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 3, 1, 1>}> : (tensor<2x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  return %1 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @reshape_beside
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [2 : i32, 1 : i32, 20 : i32]}> : (tensor<2x1x4x5xf32>) -> tensor<2x1x20xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 1, 3, 1>}> : (tensor<2x1x20xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x20xf32>
func.func @reshape_beside(%arg0: tensor<2x1x4x5xf32>) -> tensor<2x3x20xf32> {
  %0 = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 3, 1, 1>}> : (tensor<2x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  return %1 : tensor<2x3x20xf32>
}

// CHECK-LABEL: func.func @reshape_cuts_repeated
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [1 : i32, 1 : i32, 4 : i32, 5 : i32]}> : (tensor<1x20xf32>) -> tensor<1x1x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 2, 3, 1, 1>}> : (tensor<1x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x4x5xf32>
func.func @reshape_cuts_repeated(%arg0: tensor<1x20xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 6, 1>}> : (tensor<1x20xf32>) -> tensor<6x20xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x20xf32>) -> tensor<2x3x4x5xf32>
  return %1 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @reshape_joins_repeated
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 2, 1, 1>}> : (tensor<1x3x20xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x20xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x20xf32>
func.func @reshape_joins_repeated(%arg0: tensor<1x3x20xf32>) -> tensor<6x20xf32> {
  %0 = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 2, 1, 1>}> : (tensor<1x3x20xf32>) -> tensor<2x3x20xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x20xf32>) -> tensor<6x20xf32>
  return %1 : tensor<6x20xf32>
}

// CHECK-LABEL: func.func @then_unary
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 3, 1, 1>}> : (tensor<2x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.exp"([[V0]]) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.reshape"([[V1]]) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: return [[V2]] : tensor<6x20xf32>
func.func @then_unary(%arg0: tensor<2x1x4x5xf32>) -> tensor<6x20xf32> {
  %0 = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 3, 1, 1>}> : (tensor<2x1x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
  %2 = "ttir.exp"(%1) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %2 : tensor<6x20xf32>
}

// CHECK-LABEL: func.func @reshape_joins_all_repeated
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [1 : i32, 4 : i32]}> : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 6, 1>}> : (tensor<1x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x4xf32>
func.func @reshape_joins_all_repeated(%arg0: tensor<1x1x4xf32>) -> tensor<6x4xf32> {
  %0 = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 2, 3, 1>}> : (tensor<1x1x4xf32>) -> tensor<2x3x4xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @reshape_joins_two
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 3, 1, 5>}> : (tensor<2x1x4x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x20xf32>
func.func @reshape_joins_two(%arg0: tensor<2x1x4x1xf32>) -> tensor<2x3x20xf32> {
  %0 = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 3, 1, 5>}> : (tensor<2x1x4x1xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  return %1 : tensor<2x3x20xf32>
}

// CHECK-LABEL: func.func @permute_not_below
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<1x4x2xf32>) -> tensor<2x1x4xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 1, 3, 1>}> : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x4xf32>
func.func @permute_not_below(%arg0: tensor<1x4x2xf32>) -> tensor<2x3x4xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 2, 0, 1>}> : (tensor<1x4x2xf32>) -> tensor<2x1x4xf32>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 1, 3, 1>}> : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}
