// Moves change places with concatenations. What is expected is what the pass of Tenstorrent's compiler
// (jax-tt-plugin 0.1.3) makes of the functions.

// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true" %s | FileCheck %s

// CHECK-LABEL: func.func @concat_last
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.concat"(%arg0, %arg1) <{dim = 1 : si32}> : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x6x4x5xf32>
func.func @concat_last(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.concat"(%0, %1) <{dim = 3 : si32}> : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x6xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x6xf32>) -> tensor<2x6x4x5xf32>
  return %3 : tensor<2x6x4x5xf32>
}

// CHECK-LABEL: func.func @concat_below
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.concat"(%arg0, %arg1) <{dim = 1 : si32}> : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x6x4x5xf32>) -> tensor<2x4x5x6xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4x5x6xf32>
func.func @concat_below(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x4x5x6xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.concat"(%0, %1) <{dim = 3 : si32}> : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x6xf32>
  return %2 : tensor<2x4x5x6xf32>
}

// CHECK-LABEL: func.func @concat_of_one
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.concat"([[V0]], %arg1) <{dim = 1 : si32}> : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x8x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x8x5x3xf32>
func.func @concat_of_one(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x4x5x3xf32>) -> tensor<2x8x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.concat"(%0, %arg1) <{dim = 1 : si32}> : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x8x5x3xf32>
  return %1 : tensor<2x8x5x3xf32>
}

// CHECK-LABEL: func.func @concat_of_one_and_back
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.concat"(%arg0, [[V0]]) <{dim = 2 : si32}> : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x8x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x8x5xf32>
func.func @concat_of_one_and_back(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x4x5x3xf32>) -> tensor<2x3x8x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.concat"(%0, %arg1) <{dim = 1 : si32}> : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x8x5x3xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x8x5x3xf32>) -> tensor<2x3x8x5xf32>
  return %2 : tensor<2x3x8x5xf32>
}

// CHECK-LABEL: func.func @concat_reshape_not_below
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.concat"([[V0]], [[V1]]) <{dim = 1 : si32}> : (tensor<2x3x20xf32>, tensor<2x3x20xf32>) -> tensor<2x6x20xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x6x20xf32>
func.func @concat_reshape_not_below(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x6x20xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  %1 = "ttir.reshape"(%arg1) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  %2 = "ttir.concat"(%0, %1) <{dim = 1 : si32}> : (tensor<2x3x20xf32>, tensor<2x3x20xf32>) -> tensor<2x6x20xf32>
  return %2 : tensor<2x6x20xf32>
}

// CHECK-LABEL: func.func @concat_reshape_above
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.concat"([[V0]], [[V1]]) <{dim = 1 : si32}> : (tensor<2x3x20xf32>, tensor<2x3x20xf32>) -> tensor<2x6x20xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x6x20xf32>
func.func @concat_reshape_above(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x6x20xf32> {
  %0 = "ttir.concat"(%arg0, %arg1) <{dim = 1 : si32}> : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 6 : i32, 20 : i32]}> : (tensor<2x6x4x5xf32>) -> tensor<2x6x20xf32>
  return %1 : tensor<2x6x20xf32>
}

// CHECK-LABEL: func.func @concat_reshape_stays
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.concat"(%arg0, %arg1) <{dim = 1 : si32}> : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [12 : i32, 4 : i32, 5 : i32]}> : (tensor<2x6x4x5xf32>) -> tensor<12x4x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<12x4x5xf32>
func.func @concat_reshape_stays(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<12x4x5xf32> {
  %0 = "ttir.concat"(%arg0, %arg1) <{dim = 1 : si32}> : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x6x4x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [12 : i32, 4 : i32, 5 : i32]}> : (tensor<2x6x4x5xf32>) -> tensor<12x4x5xf32>
  return %1 : tensor<12x4x5xf32>
}

// CHECK-LABEL: func.func @concat_reshape_and_back
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.concat"(%arg0, %arg1) <{dim = 2 : si32}> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x8xf32>
func.func @concat_reshape_and_back(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = "ttir.reshape"(%arg1) <{shape = [6 : i32, 4 : i32]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %2 = "ttir.concat"(%0, %1) <{dim = 1 : si32}> : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
  %3 = "ttir.reshape"(%2) <{shape = [2 : i32, 3 : i32, 8 : i32]}> : (tensor<6x8xf32>) -> tensor<2x3x8xf32>
  return %3 : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @concat_reshape_unit
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [6 : i32, 1 : i32, 4 : i32]}> : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [6 : i32, 1 : i32, 4 : i32]}> : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.concat"([[V0]], [[V1]]) <{dim = 0 : si32}> : (tensor<6x1x4xf32>, tensor<6x1x4xf32>) -> tensor<12x1x4xf32>
// CHECK-NEXT: return [[V2]] : tensor<12x1x4xf32>
func.func @concat_reshape_unit(%arg0: tensor<6x4xf32>, %arg1: tensor<6x4xf32>) -> tensor<12x1x4xf32> {
  %0 = "ttir.concat"(%arg0, %arg1) <{dim = 0 : si32}> : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<12x4xf32>
  %1 = "ttir.reshape"(%0) <{shape = [12 : i32, 1 : i32, 4 : i32]}> : (tensor<12x4xf32>) -> tensor<12x1x4xf32>
  return %1 : tensor<12x1x4xf32>
}

// CHECK-LABEL: func.func @concat_constant
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.full"() <{fill_value = 1.500000e+00 : f32, shape = array<i32: 2, 4, 5, 3>}> : () -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.concat"([[V1]], [[V0]]) <{dim = 1 : si32}> : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x8x5x3xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x8x5x3xf32>
func.func @concat_constant(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x8x5x3xf32> {
  %0 = "ttir.full"() <{fill_value = 1.500000e+00 : f32, shape = array<i32: 2, 4, 5, 3>}> : () -> tensor<2x4x5x3xf32>
  %1 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.concat"(%1, %0) <{dim = 1 : si32}> : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x8x5x3xf32>
  return %2 : tensor<2x8x5x3xf32>
}
