// Rows and narrow floats for windows, float32 for sums of halves; weights are those of the host.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func @largest(
// CHECK: "ttnn.argmax"(%arg0) <{dim = 1 : si32, keep_dim = false}> : {{.*}} -> tensor<5xui32
// CHECK: "ttnn.to_layout"{{.*}} -> tensor<5xui32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<5xsi32
func.func @largest(%a: tensor<5x33xf32>) -> tensor<5xi32> {
  %0 = "ttir.argmax"(%a) <{dim_arg = [1 : i32], keep_dim = false}>
      : (tensor<5x33xf32>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

// CHECK-LABEL: func.func @sums_of_halves(
// CHECK: "ttnn.to_layout"(%arg0) : {{.*}} -> tensor<33x70xf32
// CHECK: "ttnn.sum"{{.*}} -> tensor<33xf32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33xf16
func.func @sums_of_halves(%a: tensor<33x70xf16>) -> tensor<33xf16> {
  %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = false}>
      : (tensor<33x70xf16>) -> tensor<33xf16>
  return %0 : tensor<33xf16>
}

// CHECK-LABEL: func.func @max_pool(
// CHECK: "ttnn.reshape"{{.*}} -> tensor<1x1x1024x8xf32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<1x1x1024x8xbf16
// CHECK: "ttnn.to_layout"{{.*}} -> tensor<1x1x1024x8xbf16
// CHECK: "ttnn.max_pool2d"{{.*}} -> tensor<1x1x256x8xbf16
// CHECK: "ttnn.to_layout"{{.*}} -> tensor<1x1x256x8xf32
// CHECK: "ttnn.reshape"{{.*}} -> tensor<1x16x16x8xf32
func.func @max_pool(%a: tensor<1x32x32x8xf32>) -> tensor<1x16x16x8xf32> {
  %0 = "ttir.max_pool2d"(%a) <{ceil_mode = false, dilation = array<i32: 1, 1>, kernel = array<i32: 2, 2>,
      padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>}>
      : (tensor<1x32x32x8xf32>) -> tensor<1x16x16x8xf32>
  return %0 : tensor<1x16x16x8xf32>
}

// CHECK-LABEL: func.func @convolution(
// CHECK: "ttnn.conv2d"(%{{.*}}, %arg1, %{{.*}}){{.*}}enable_kernel_stride_folding = false, config_tensors_in_dram = true
// CHECK: "ttnn.reshape"{{.*}} -> tensor<1x9x11x7xf32
func.func @convolution(%a: tensor<1x9x11x5xf32>, %w: tensor<7x5x3x3xf32>) -> tensor<1x9x11x7xf32> {
  %0 = "ttir.conv2d"(%a, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32,
      height_dim = 1 : i64, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>,
      width_dim = 2 : i64}>
      : (tensor<1x9x11x5xf32>, tensor<7x5x3x3xf32>) -> tensor<1x9x11x7xf32>
  return %0 : tensor<1x9x11x7xf32>
}

// CHECK-LABEL: func.func @max_pool_and_places(
// CHECK: "ttnn.to_layout"{{.*}} -> tensor<1x1x60x32xbf16
// CHECK: "ttnn.max_pool2d_with_indices"{{.*}} -> (tensor<1x1x15x32xbf16, {{.*}}>, tensor<1x1x15x32xui16
// CHECK: "ttnn.typecast"{{.*}} -> tensor<1x1x15x32xsi32
func.func @max_pool_and_places(%a: tensor<1x6x10x32xbf16>)
    -> (tensor<1x3x5x32xbf16>, tensor<1x3x5x32xsi32>) {
  %0:2 = "ttir.max_pool2d_with_indices"(%a) <{ceil_mode = false, dilation = array<i32: 1, 1>,
      kernel = array<i32: 2, 2>, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>}>
      : (tensor<1x6x10x32xbf16>) -> (tensor<1x3x5x32xbf16>, tensor<1x3x5x32xsi32>)
  return %0#0, %0#1 : tensor<1x3x5x32xbf16>, tensor<1x3x5x32xsi32>
}
