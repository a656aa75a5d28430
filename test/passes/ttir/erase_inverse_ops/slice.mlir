// Moves change places with slices. What is expected is what the pass of Tenstorrent's compiler
// (jax-tt-plugin 0.1.3) makes of the functions.

// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true" %s | FileCheck %s

// CHECK-LABEL: func.func @slice_below
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 1 : i32, 0 : i32], ends = [2 : i32, 3 : i32, 3 : i32, 5 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x2x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x2x5xf32>) -> tensor<2x2x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x2x5x3xf32>
func.func @slice_below(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x2x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 3 : i32, 5 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x4x5x3xf32>) -> tensor<2x2x5x3xf32>
  return %1 : tensor<2x2x5x3xf32>
}

// CHECK-LABEL: func.func @slice_joined
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 3 : i32, 4 : i32, 5 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x2x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [2 : i32, 2 : i32, 20 : i32]}> : (tensor<2x2x4x5xf32>) -> tensor<2x2x20xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x2x20xf32>
func.func @slice_joined(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x2x20xf32> {
  %0 = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 3 : i32, 4 : i32, 5 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x2x4x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 2 : i32, 20 : i32]}> : (tensor<2x2x4x5xf32>) -> tensor<2x2x20xf32>
  return %1 : tensor<2x2x20xf32>
}

// CHECK-LABEL: func.func @slice_with_steps
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 1 : i32, 0 : i32], ends = [2 : i32, 3 : i32, 3 : i32, 5 : i32], step = [1 : i32, 1 : i32, 1 : i32, 2 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x2x3xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x2x3xf32>
func.func @slice_with_steps(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x2x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 3 : i32, 5 : i32, 3 : i32], step = [1 : i32, 1 : i32, 2 : i32, 1 : i32]}> : (tensor<2x4x5x3xf32>) -> tensor<2x2x3x3xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x2x3x3xf32>) -> tensor<2x3x2x3xf32>
  return %2 : tensor<2x3x2x3xf32>
}

// CHECK-LABEL: func.func @slice_reshape_unit
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg0) <{shape = [6 : i32, 1 : i32, 4 : i32]}> : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.slice_static"([[V0]]) <{begins = [1 : i32, 0 : i32, 0 : i32], ends = [3 : i32, 1 : i32, 4 : i32], step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<6x1x4xf32>) -> tensor<2x1x4xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x1x4xf32>
func.func @slice_reshape_unit(%arg0: tensor<6x4xf32>) -> tensor<2x1x4xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 1 : i32, 4 : i32]}> : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [1 : i32, 0 : i32, 0 : i32], ends = [3 : i32, 1 : i32, 4 : i32], step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<6x1x4xf32>) -> tensor<2x1x4xf32>
  return %1 : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @slices_of_one
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.slice_static"([[V0]]) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 2 : i32, 5 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x4x5x3xf32>) -> tensor<2x2x5x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.slice_static"([[V0]]) <{begins = [0 : i32, 2 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 4 : i32, 5 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x4x5x3xf32>) -> tensor<2x2x5x3xf32>
// CHECK-NEXT: return [[V1]], [[V2]] : tensor<2x2x5x3xf32>, tensor<2x2x5x3xf32>
func.func @slices_of_one(%arg0: tensor<2x3x4x5xf32>) -> (tensor<2x2x5x3xf32>, tensor<2x2x5x3xf32>) {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 2 : i32, 5 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x4x5x3xf32>) -> tensor<2x2x5x3xf32>
  %2 = "ttir.slice_static"(%0) <{begins = [0 : i32, 2 : i32, 0 : i32, 0 : i32], ends = [2 : i32, 4 : i32, 5 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x4x5x3xf32>) -> tensor<2x2x5x3xf32>
  return %1, %2 : tensor<2x2x5x3xf32>, tensor<2x2x5x3xf32>
}

// CHECK-LABEL: func.func @slice_reshape_lead
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 0 : i32, 1 : i32], ends = [2 : i32, 3 : i32, 4 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x2xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 4 : i32, 2 : i32]}> : (tensor<2x3x4x2xf32>) -> tensor<6x4x2xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x4x2xf32>
func.func @slice_reshape_lead(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x4x2xf32> {
  %0 = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 0 : i32, 1 : i32], ends = [2 : i32, 3 : i32, 4 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x2xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32, 4 : i32, 2 : i32]}> : (tensor<2x3x4x2xf32>) -> tensor<6x4x2xf32>
  return %1 : tensor<6x4x2xf32>
}

// CHECK-LABEL: func.func @slice_reshape_below
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 0 : i32, 1 : i32], ends = [2 : i32, 3 : i32, 4 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x2xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 4 : i32, 2 : i32]}> : (tensor<2x3x4x2xf32>) -> tensor<6x4x2xf32>
// CHECK-NEXT: return [[V1]] : tensor<6x4x2xf32>
func.func @slice_reshape_below(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x4x2xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x4x5xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 0 : i32, 1 : i32], ends = [6 : i32, 4 : i32, 3 : i32], step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<6x4x5xf32>) -> tensor<6x4x2xf32>
  return %1 : tensor<6x4x2xf32>
}
