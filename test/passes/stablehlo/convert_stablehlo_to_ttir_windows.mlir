// Convolutions, poolings and batch normalization keep their attributes in the general forms of ttir.
// RUN: ttmlir-opt --convert-stablehlo-to-ttir=spelling=2024 %s | FileCheck %s

// CHECK-LABEL: func.func @convolution(
// CHECK: "ttir.convolution"(%arg0, %arg1, %{{.*}}) <{batch_group_count = 1 : i64,
// CHECK-SAME: dimension_numbers = "[b, f, 0, 1]x[0, 1, i, o]->[b, 0, 1, f]", feature_group_count = 2 : i64, input_dilation = array<i64: 1, 2>
// CHECK-SAME: padding = array<i64: 1, 0, 2, -1>, weight_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}>
func.func @convolution(%image: tensor<3x4x9x5xf32>, %weight: tensor<3x2x2x6xf32>) -> tensor<3x4x9x6xf32> {
  %0 = "stablehlo.convolution"(%image, %weight) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, lhs_dilation = array<i64: 1, 2>, padding = dense<[[1, 0], [2, -1]]> : tensor<2x2xi64>, window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}> : (tensor<3x4x9x5xf32>, tensor<3x2x2x6xf32>) -> tensor<3x4x9x6xf32>
  return %0 : tensor<3x4x9x6xf32>
}

// CHECK-LABEL: func.func @pooling(
// CHECK: "ttir.pooling"(%arg0, %{{.*}}) <{base_dilations = array<i64: 1, 1>,
// CHECK-SAME: padding = array<i64: 0, 0, 1, 0>, pooling_method = "max", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}>
// CHECK-NOT: ttir.maximum
// CHECK: return
func.func @pooling(%a: tensor<3x33xf32>) -> tensor<3x17xf32> {
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %init) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<3x33xf32>, tensor<f32>) -> tensor<3x17xf32>
  return %0 : tensor<3x17xf32>
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK: "ttir.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1, %{{.*}}) <{dimension = 1 : si32, epsilon = 2.500000e-01 : f32
func.func @batch_norm(%a: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %0 = "stablehlo.batch_norm_inference"(%a, %b, %b, %b, %b) <{epsilon = 0.25 : f32, feature_index = 1 : i64}> : (tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
