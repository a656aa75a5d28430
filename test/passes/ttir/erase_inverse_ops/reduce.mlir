// Moves change places with reductions. What is expected is what the pass of Tenstorrent's compiler
// (jax-tt-plugin 0.1.3) makes of the functions.

// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true" %s | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x5x3xf32>
func.func @sum(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<2x4x5x3xf32>) -> tensor<2x5x3xf32>
  return %1 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @max_of_moved
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.max"(%arg0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x4x5xf32>
func.func @max_of_moved(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.max"(%0) <{dim_arg = [3 : i32], keep_dim = false}> : (tensor<2x4x5x3xf32>) -> tensor<2x4x5xf32>
  return %1 : tensor<2x4x5xf32>
}

// CHECK-LABEL: func.func @sum_keeps
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x5xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x1x5xf32>
func.func @sum_keeps(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x1x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<2x4x5x3xf32>) -> tensor<2x1x5x3xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x1x5x3xf32>) -> tensor<2x3x1x5xf32>
  return %2 : tensor<2x3x1x5xf32>
}

// CHECK-LABEL: func.func @sum_above
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x5x3xf32>
func.func @sum_above(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x5x3xf32> {
  %0 = "ttir.sum"(%arg0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  return %1 : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @sum_reshape
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 5 : i32]}> : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x5xf32>
func.func @sum_reshape(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x5xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<6x4x5xf32>) -> tensor<6x5xf32>
  return %1 : tensor<6x5xf32>
}

// CHECK-LABEL: func.func @sum_of_joined
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.sum"([[V0]]) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3x20xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3xf32>
func.func @sum_of_joined(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3x20xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sum_reshape_stays
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [3 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x4xf32>
func.func @sum_reshape_stays(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x4xf32> {
  %0 = "ttir.sum"(%arg0) <{dim_arg = [3 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @sum_reshape_and_back
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [3 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x4xf32>
func.func @sum_reshape_and_back(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x4xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<6x4x5xf32>) -> tensor<6x4xf32>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 3 : i32, 4 : i32]}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @sum_of_unit
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<6x5xf32>) -> tensor<6xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 1 : i32]}> : (tensor<6xf32>) -> tensor<6x1xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x1xf32>
func.func @sum_of_unit(%arg0: tensor<6x5xf32>) -> tensor<6x1xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 1 : i32, 5 : i32]}> : (tensor<6x5xf32>) -> tensor<6x1x5xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<6x1x5xf32>) -> tensor<6x1xf32>
  return %1 : tensor<6x1xf32>
}

// CHECK-LABEL: func.func @sum_of_two
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.sum"(%arg0) <{dim_arg = [1 : i32, 2 : i32], keep_dim = false}> : (tensor<6x4x5xf32>) -> tensor<6xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [2 : i32, 3 : i32]}> : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3xf32>
func.func @sum_of_two(%arg0: tensor<6x4x5xf32>) -> tensor<2x3xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [2 : i32, 3 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sum_of_cut
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.sum"([[V0]]) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4x5xf32>
func.func @sum_of_cut(%arg0: tensor<6x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5xf32>
  return %1 : tensor<2x4x5xf32>
}

// CHECK-LABEL: func.func @min_reshape
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.min"(%arg0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 5 : i32]}> : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x5xf32>
func.func @min_reshape(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x5xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %1 = "ttir.min"(%0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<6x4x5xf32>) -> tensor<6x5xf32>
  return %1 : tensor<6x5xf32>
}
