// Operands of elementwise operations get the shape of the result. What is expected is what the pass
// of Tenstorrent's compiler (jax-tt-plugin 0.1.3) makes of the functions.

// RUN: ttmlir-opt --ttir-explicate-tms %s | FileCheck %s

// CHECK-LABEL: func.func @beside_permute
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 3 : i32]}> : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.broadcast"([[V1]]) <{broadcast_dimensions = array<i64: 2, 4, 5, 1>}> : (tensor<1x1x1x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.add"([[V0]], [[V2]]) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V3]] : tensor<2x4x5x3xf32>
func.func @beside_permute(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<3xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 3 : i32]}> : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<2x4x5x3xf32>, tensor<1x1x1x3xf32>) -> tensor<2x4x5x3xf32>
  return %2 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @add
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 5 : i32]}> : (tensor<5xf32>) -> tensor<1x1x1x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 2, 3, 4, 1>}> : (tensor<1x1x1x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.add"(%arg0, [[V1]]) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x3x4x5xf32>
func.func @add(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 5 : i32]}> : (tensor<5xf32>) -> tensor<1x1x1x5xf32>
  %1 = "ttir.add"(%arg0, %0) : (tensor<2x3x4x5xf32>, tensor<1x1x1x5xf32>) -> tensor<2x3x4x5xf32>
  return %1 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @both
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 3 : i32, 1 : i32, 1 : i32]}> : (tensor<3x1xf32>) -> tensor<1x3x1x1xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"(%arg0) <{broadcast_dimensions = array<i64: 1, 3, 1, 1>}> : (tensor<2x1x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 2, 1, 4, 5>}> : (tensor<1x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.add"([[V1]], [[V2]]) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V3]] : tensor<2x3x4x5xf32>
func.func @both(%arg0: tensor<2x1x4x5xf32>, %arg1: tensor<3x1xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 3 : i32, 1 : i32, 1 : i32]}> : (tensor<3x1xf32>) -> tensor<1x3x1x1xf32>
  %1 = "ttir.add"(%arg0, %0) : (tensor<2x1x4x5xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  return %1 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @select
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 5 : i32]}> : (tensor<5xf32>) -> tensor<1x1x1x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 2, 3, 4, 1>}> : (tensor<1x1x1x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.gt"([[V1]], %arg0) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xbf16>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.reshape"(%arg2) <{shape = [1 : i32, 1 : i32, 4 : i32, 1 : i32]}> : (tensor<4x1xf32>) -> tensor<1x1x4x1xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = "ttir.broadcast"([[V3]]) <{broadcast_dimensions = array<i64: 2, 3, 1, 5>}> : (tensor<1x1x4x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V5:%[0-9]+]] = "ttir.where"([[V2]], [[V4]], %arg0) : (tensor<2x3x4x5xbf16>, tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V5]] : tensor<2x3x4x5xf32>
func.func @select(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<4x1xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 5 : i32]}> : (tensor<5xf32>) -> tensor<1x1x1x5xf32>
  %1 = "ttir.gt"(%0, %arg0) : (tensor<1x1x1x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xbf16>
  %2 = "ttir.reshape"(%arg2) <{shape = [1 : i32, 1 : i32, 4 : i32, 1 : i32]}> : (tensor<4x1xf32>) -> tensor<1x1x4x1xf32>
  %3 = "ttir.where"(%1, %2, %arg0) : (tensor<2x3x4x5xbf16>, tensor<1x1x4x1xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %3 : tensor<2x3x4x5xf32>
}
