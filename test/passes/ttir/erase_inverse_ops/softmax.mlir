// Moves change places with softmax. What is expected is what the pass of Tenstorrent's compiler
// (jax-tt-plugin 0.1.3) makes of the functions.

// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true" %s | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.softmax"(%arg0) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x4x5xf32>
func.func @softmax(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 2 : si32, numericStable = true}> : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  return %1 : tensor<6x4x5xf32>
}

// CHECK-LABEL: func.func @softmax_permuted
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.softmax"([[V0]]) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.permute"([[V1]]) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x3x4x5xf32>
func.func @softmax_permuted(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @softmax_and_back
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.softmax"(%arg0) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x4x5xf32>
func.func @softmax_and_back(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 2 : si32, numericStable = true}> : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @softmax_of_joined
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.softmax"(%arg0) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x20xf32>
func.func @softmax_of_joined(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32> {
  %0 = "ttir.softmax"(%arg0) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 3 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  return %1 : tensor<2x3x20xf32>
}

// CHECK-LABEL: func.func @softmax_inner
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.softmax"(%arg0) <{dimension = 1 : si32, numericStable = true}> : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x4x5xf32>
func.func @softmax_inner(%arg0: tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 2 : si32, numericStable = true}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %1 : tensor<2x3x4x5xf32>
}
