// Reductions keep what they reduce; a reshape takes it away.

// RUN: ttmlir-opt --ttir-reduction-force-keep-dim %s | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-NEXT: %[[SUM:.*]] = "ttir.sum"(%arg0) <{dim_arg = [-1 : i32], keep_dim = true}> : (tensor<4x33x70xf32>) -> tensor<4x33x1xf32>
// CHECK-NEXT: "ttir.reshape"(%[[SUM]]) <{shape = [4 : i32, 33 : i32]}> : (tensor<4x33x1xf32>) -> tensor<4x33xf32>
func.func @sum(%arg0: tensor<4x33x70xf32>) -> tensor<4x33xf32> {
  %0 = "ttir.sum"(%arg0) <{dim_arg = [-1 : i32], keep_dim = false}> : (tensor<4x33x70xf32>) -> tensor<4x33xf32>
  return %0 : tensor<4x33xf32>
}

// CHECK-LABEL: func.func @max_of_two
// CHECK-NEXT: "ttir.max"(%arg0) <{dim_arg = [0 : i32, 2 : i32], keep_dim = true}> : (tensor<4x33x70xf32>) -> tensor<1x33x1xf32>
// CHECK-NEXT: "ttir.reshape"
func.func @max_of_two(%arg0: tensor<4x33x70xf32>) -> tensor<33xf32> {
  %0 = "ttir.max"(%arg0) <{dim_arg = [0 : i32, 2 : i32], keep_dim = false}> : (tensor<4x33x70xf32>) -> tensor<33xf32>
  return %0 : tensor<33xf32>
}

// CHECK-LABEL: func.func @all
// CHECK-NEXT: "ttir.mean"(%arg0) <{keep_dim = true}> : (tensor<33x70xf32>) -> tensor<1x1xf32>
func.func @all(%arg0: tensor<33x70xf32>) -> tensor<f32> {
  %0 = "ttir.mean"(%arg0) <{keep_dim = false}> : (tensor<33x70xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @index
// CHECK-NEXT: "ttir.argmax"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<33x70xf32>) -> tensor<33x1xi32>
func.func @index(%arg0: tensor<33x70xf32>) -> tensor<33xi32> {
  %0 = "ttir.argmax"(%arg0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<33x70xf32>) -> tensor<33xi32>
  return %0 : tensor<33xi32>
}

// CHECK-LABEL: func.func @kept
// CHECK-NEXT: "ttir.sum"
// CHECK-NEXT: return
func.func @kept(%arg0: tensor<33x70xf32>) -> tensor<33x1xf32> {
  %0 = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<33x70xf32>) -> tensor<33x1xf32>
  return %0 : tensor<33x1xf32>
}
