// Poolings get flat images, and uneven padding becomes an operation of its own.
// RUN: ttmlir-opt --ttir-sliding-window-2d-fix-shapes %s | FileCheck %s
// RUN: ttmlir-opt --ttir-sliding-window-2d-fix-shapes --ttir-sliding-window-2d-fix-shapes %s | FileCheck %s

#any_device = #tt.operand_constraint<any_device>

// CHECK-LABEL: func.func @pool(
// CHECK-NEXT: %[[E0:.*]] = tensor.empty() : tensor<1x1x72x5xbf16>
// CHECK-NEXT: %[[FLAT:.*]] = "ttir.reshape"(%{{.*}}, %[[E0]]) <{operand_constraints = [#any_device, #any_device], shape = [1 : i32, 1 : i32, 72 : i32, 5 : i32]}> : (tensor<3x4x6x5xbf16>, tensor<1x1x72x5xbf16>) -> tensor<1x1x72x5xbf16>
// CHECK-NEXT: %[[E1:.*]] = tensor.empty() : tensor<1x1x18x5xbf16>
// CHECK-NEXT: %[[POOL:.*]] = "ttir.max_pool2d"(%[[FLAT]], %[[E1]]) <{
// CHECK-SAME: original_height = 4 : si32, original_width = 6 : si32
// CHECK-NEXT: %[[E2:.*]] = tensor.empty() : tensor<3x2x3x5xbf16>
// CHECK-NEXT: %[[BACK:.*]] = "ttir.reshape"(%[[POOL]], %[[E2]])
// CHECK-NEXT: return %[[BACK]]
func.func @pool(%image: tensor<3x4x6x5xbf16>) -> tensor<3x2x3x5xbf16> {
  %0 = tensor.empty() : tensor<3x2x3x5xbf16>
  %1 = "ttir.max_pool2d"(%image, %0) <{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [#any_device, #any_device], padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<3x4x6x5xbf16>, tensor<3x2x3x5xbf16>) -> tensor<3x2x3x5xbf16>
  return %1 : tensor<3x2x3x5xbf16>
}

// A flat image stays as it is.
// CHECK-LABEL: func.func @flat(
// CHECK-NOT: reshape
// CHECK: return
func.func @flat(%image: tensor<1x1x72x5xf32>) -> tensor<1x1x18x5xf32> {
  %0 = tensor.empty() : tensor<1x1x18x5xf32>
  %1 = "ttir.max_pool2d"(%image, %0) <{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [#any_device, #any_device], original_height = 4 : si32, original_width = 6 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x1x72x5xf32>, tensor<1x1x18x5xf32>) -> tensor<1x1x18x5xf32>
  return %1 : tensor<1x1x18x5xf32>
}

// Images one after the other are taken apart before they are padded; padding is below any number.
// CHECK-LABEL: func.func @uneven_flat(
// CHECK: "ttir.reshape"{{.*}} -> tensor<3x4x6x5xf32>
// CHECK: "ttir.pad"{{.*}}padding = array<i32: 0, 0, 1, 0, 0, 2, 0, 0>, value = 0xFF800000 : f32}> {{.*}} -> tensor<3x5x8x5xf32>
// CHECK: "ttir.reshape"{{.*}} -> tensor<1x1x120x5xf32>
// CHECK: "ttir.max_pool2d"
// CHECK-SAME: original_height = 5 : si32, original_width = 8 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32
// CHECK-SAME: -> tensor<1x1x24x5xf32>
func.func @uneven_flat(%image: tensor<1x1x72x5xf32>) -> tensor<1x1x24x5xf32> {
  %0 = tensor.empty() : tensor<1x1x24x5xf32>
  %1 = "ttir.max_pool2d"(%image, %0) <{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [#any_device, #any_device], original_height = 4 : si32, original_width = 6 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 2 : si32, padding_top = 1 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x1x72x5xf32>, tensor<1x1x24x5xf32>) -> tensor<1x1x24x5xf32>
  return %1 : tensor<1x1x24x5xf32>
}

// A convolution is padded with zeros; even padding stays with it.
// CHECK-LABEL: func.func @convolutions(
// CHECK: %[[PADDED:.*]] = "ttir.pad"(%{{.*}}padding = array<i32: 0, 0, 0, 1, 2, 0, 0, 0>, value = 0.000000e+00 : f32}> {{.*}} -> tensor<2x6x8x3xf32>
// CHECK: "ttir.conv2d"(%[[PADDED]], %{{.*}}padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32
// CHECK-NOT: "ttir.pad"
// CHECK: "ttir.conv2d"{{.*}}padding_bottom = 0 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 0 : si32
func.func @convolutions(%image: tensor<2x5x6x3xf32>, %weight: tensor<4x3x2x3xf32>) -> (tensor<2x5x6x4xf32>, tensor<2x4x6x4xf32>) {
  %0 = tensor.empty() : tensor<2x5x6x4xf32>
  %1 = "ttir.conv2d"(%image, %weight, %0) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device], padding_bottom = 1 : si32, padding_left = 2 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<2x5x6x3xf32>, tensor<4x3x2x3xf32>, tensor<2x5x6x4xf32>) -> tensor<2x5x6x4xf32>
  %2 = tensor.empty() : tensor<2x4x6x4xf32>
  %3 = "ttir.conv2d"(%image, %weight, %2) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device], padding_bottom = 0 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<2x5x6x3xf32>, tensor<4x3x2x3xf32>, tensor<2x4x6x4xf32>) -> tensor<2x4x6x4xf32>
  return %1, %3 : tensor<2x5x6x4xf32>, tensor<2x4x6x4xf32>
}

// Destinations that nothing uses vanish, and equal constants become one at the top.
// CHECK-LABEL: func.func @cleaned(
// CHECK-NEXT: %[[C:.*]] = "ttir.constant"
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @cleaned() -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = tensor.empty() : tensor<3xf32>
  %1 = "ttir.constant"() <{value = dense<1.5> : tensor<3xf32>}> : () -> tensor<3xf32>
  %2 = "ttir.constant"() <{value = dense<[1.5, 1.5, 1.5]> : tensor<3xf32>}> : () -> tensor<3xf32>
  return %1, %2 : tensor<3xf32>, tensor<3xf32>
}
