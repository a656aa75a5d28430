// General convolutions and poolings become those of images that ttnn has.
// RUN: ttmlir-opt --ttir-decomposition %s | FileCheck %s

#any = #tt.operand_constraint<any_device_tile>

// NCHW images become NHWC and back; a weight of output features, input features, height, width stays.
// CHECK-LABEL: func.func @convolution(
// CHECK: %[[IMAGE:.*]] = "ttir.permute"(%arg0, %{{.*}}) <{operand_constraints = {{.*}}, permutation = array<i64: 0, 2, 3, 1>}>
// CHECK: %[[RESULT:.*]] = "ttir.conv2d"(%[[IMAGE]], %arg1, %{{.*}}) <{
// CHECK-SAME: groups = 2 : si32
// CHECK-SAME: padding_bottom = 0 : si32, padding_left = 2 : si32, padding_right = 2 : si32, padding_top = 1 : si32, stride_height = 2 : si32, stride_width = 1 : si32}>
// CHECK: "ttir.permute"(%[[RESULT]], %{{.*}}) <{operand_constraints = {{.*}}, permutation = array<i64: 0, 3, 1, 2>}>
func.func @convolution(%image: tensor<3x4x9x5xf32>, %weight: tensor<6x2x3x2xf32>) -> tensor<3x6x4x8xf32> {
  %0 = tensor.empty() : tensor<3x6x4x8xf32>
  %1 = "ttir.convolution"(%image, %weight, %0) <{batch_group_count = 1 : i64, dimension_numbers = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]", feature_group_count = 2 : i64, input_dilation = array<i64: 1, 1>, operand_constraints = [#any, #any, #any], padding = array<i64: 1, 0, 2, 2>, weight_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}> : (tensor<3x4x9x5xf32>, tensor<6x2x3x2xf32>, tensor<3x6x4x8xf32>) -> tensor<3x6x4x8xf32>
  return %1 : tensor<3x6x4x8xf32>
}

// CHECK-LABEL: func.func @transposed(
// CHECK-NOT: ttir.reverse
// CHECK: "ttir.conv_transpose2d"(%arg0, %{{.*}}, %{{.*}}) <{
// CHECK-SAME: padding_bottom = 1 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 3 : si32}>
func.func @transposed(%image: tensor<1x4x3x5xf32>, %weight: tensor<2x3x5x6xf32>) -> tensor<1x7x9x6xf32> {
  %0 = tensor.empty() : tensor<1x7x9x6xf32>
  %1 = "ttir.convolution"(%image, %weight, %0) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 2, 3>, operand_constraints = [#any, #any, #any], padding = array<i64: 1, 0, 2, 2>, weight_dilation = array<i64: 1, 1>, window_reversal = array<i1: true, true>, window_strides = array<i64: 1, 1>}> : (tensor<1x4x3x5xf32>, tensor<2x3x5x6xf32>, tensor<1x7x9x6xf32>) -> tensor<1x7x9x6xf32>
  return %1 : tensor<1x7x9x6xf32>
}

// CHECK-LABEL: func.func @pooling(
// CHECK: "ttir.max_pool2d"(%arg0, %{{.*}}) <{ceil_mode = false,
// CHECK-SAME: kernel_height = 3 : si32, kernel_width = 2 : si32
// CHECK-SAME: padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 1 : si32, padding_top = 1 : si32
func.func @pooling(%a: tensor<2x8x9x5xf32>) -> tensor<2x4x5x5xf32> {
  %0 = tensor.empty() : tensor<2x4x5x5xf32>
  %1 = "ttir.pooling"(%a, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, operand_constraints = [#any, #any], padding = array<i64: 0, 0, 1, 0, 0, 1, 0, 0>, pooling_method = "max", window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> : (tensor<2x8x9x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  return %1 : tensor<2x4x5x5xf32>
}

// CHECK-LABEL: func.func @running_sum(
// CHECK: "ttir.cumsum"(%arg0, %{{.*}}) <{dim = 1 : si32
func.func @running_sum(%a: tensor<2x33xi32>) -> tensor<2x33xi32> {
  %0 = tensor.empty() : tensor<2x33xi32>
  %1 = "ttir.pooling"(%a, %0) <{base_dilations = array<i64: 1, 1>, operand_constraints = [#any, #any], padding = array<i64: 0, 0, 32, 0>, pooling_method = "sum", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 33>, window_strides = array<i64: 1, 1>}> : (tensor<2x33xi32>, tensor<2x33xi32>) -> tensor<2x33xi32>
  return %1 : tensor<2x33xi32>
}
