// Canonical forms of products and windows of ttir of 2026.
// RUN: ttmlir-opt --canonicalize %s | FileCheck %s

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
