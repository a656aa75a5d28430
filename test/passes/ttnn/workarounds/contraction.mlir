// Products of as many matrices on both sides.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func @weights_for_each_head(
// CHECK: "ttnn.reshape"(%{{.*}}) <{shape = [1 : i32, 4 : i32, 8 : i32, 14 : i32]}>
// CHECK: "ttnn.repeat"(%{{.*}}) <{repeat_dims = #ttnn.shape<2x1x1x1>}>
// CHECK: "ttnn.matmul"{{.*}}reuse_program_config
func.func @weights_for_each_head(%a: tensor<2x4x7x8xf32>, %b: tensor<4x8x14xf32>)
    -> tensor<2x4x7x14xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<2x4x7x8xf32>, tensor<4x8x14xf32>) -> tensor<2x4x7x14xf32>
  return %0 : tensor<2x4x7x14xf32>
}

// CHECK-LABEL: func.func @both(
// CHECK: "ttnn.repeat"(%{{.*}}) <{repeat_dims = #ttnn.shape<1x4x1x1>}>
// CHECK: "ttnn.repeat"(%{{.*}}) <{repeat_dims = #ttnn.shape<2x1x1x1>}>
// CHECK: "ttnn.matmul"
func.func @both(%a: tensor<2x1x7x8xf32>, %b: tensor<1x4x8x14xf32>) -> tensor<2x4x7x14xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<2x1x7x8xf32>, tensor<1x4x8x14xf32>) -> tensor<2x4x7x14xf32>
  return %0 : tensor<2x4x7x14xf32>
}

// The library repeats one matrix.
// CHECK-LABEL: func.func @one_matrix(
// CHECK-NOT: ttnn.repeat
// CHECK: return
func.func @one_matrix(%a: tensor<2x4x7x8xf32>, %b: tensor<8x14xf32>) -> tensor<2x4x7x14xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<2x4x7x8xf32>, tensor<8x14xf32>) -> tensor<2x4x7x14xf32>
  return %0 : tensor<2x4x7x14xf32>
}

// To products of several matrices it adds no bias; one with more dimensions gives the sum them.
// CHECK-LABEL: func.func @bias(
// CHECK: "ttnn.matmul"
// CHECK: "ttnn.add"({{.*}}tensor<1x10xf32{{.*}} -> tensor<4x2x10xf32
// CHECK-NOT: ttnn.linear
// CHECK-LABEL: func.func @bias_of_one_matrix(
// CHECK-NOT: ttnn.reshape
// CHECK: "ttnn.linear"({{.*}}tensor<1x10xf32
func.func @bias(%a: tensor<4x2x8xf32>, %b: tensor<4x8x10xf32>, %c: tensor<1x10xf32>)
    -> tensor<4x2x10xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<4x2x8xf32>, tensor<4x8x10xf32>) -> tensor<4x2x10xf32>
  %1 = "ttir.reshape"(%c) <{shape = [1 : i32, 1 : i32, 10 : i32]}> : (tensor<1x10xf32>) -> tensor<1x1x10xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<4x2x10xf32>, tensor<1x1x10xf32>) -> tensor<4x2x10xf32>
  return %2 : tensor<4x2x10xf32>
}

func.func @bias_of_one_matrix(%a: tensor<4x2x8xf32>, %b: tensor<8x10xf32>, %c: tensor<1x10xf32>)
    -> tensor<4x2x10xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<4x2x8xf32>, tensor<8x10xf32>) -> tensor<4x2x10xf32>
  %1 = "ttir.reshape"(%c) <{shape = [1 : i32, 1 : i32, 10 : i32]}> : (tensor<1x10xf32>) -> tensor<1x1x10xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<4x2x10xf32>, tensor<1x1x10xf32>) -> tensor<4x2x10xf32>
  return %2 : tensor<4x2x10xf32>
}
