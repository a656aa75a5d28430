// Attention is products, softmax and a mask; one with a window stays.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=enable-const-eval=false %s | FileCheck %s

// CHECK-LABEL: func.func @causal(
// CHECK-NOT: scaled_dot_product_attention
// CHECK: "ttnn.transpose"{{.*}}dim0 = -2 : si32, dim1 = -1 : si32
// CHECK: "ttnn.matmul"
// CHECK: "ttnn.full"{{.*}}fill_value = 1.250000e-01
// CHECK: "ttnn.multiply"
// CHECK: "ttnn.arange"{{.*}}end = 32 : si64
// CHECK: "ttnn.gt"
// CHECK: "ttnn.full"{{.*}}fill_value = 0xFF800000
// CHECK: "ttnn.where"
// CHECK: "ttnn.add"
// CHECK: "ttnn.softmax"{{.*}}dimension = -1 : si32, numericStable = true
// CHECK: "ttnn.matmul"
func.func @causal(%q: tensor<1x4x32x64xbf16>, %k: tensor<1x4x32x64xbf16>, %v: tensor<1x4x32x64xbf16>) -> tensor<1x4x32x64xbf16> {
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>,
      scale = 1.250000e-01 : f32}>
      : (tensor<1x4x32x64xbf16>, tensor<1x4x32x64xbf16>, tensor<1x4x32x64xbf16>) -> tensor<1x4x32x64xbf16>
  return %0 : tensor<1x4x32x64xbf16>
}

// CHECK-LABEL: func.func @masked(
// CHECK-NOT: ttnn.where
// CHECK: "ttnn.matmul"
// CHECK: "ttnn.multiply"
// CHECK: "ttnn.add"
// CHECK: "ttnn.softmax"
// CHECK: "ttnn.matmul"
func.func @masked(%q: tensor<1x4x32x64xbf16>, %k: tensor<1x4x32x64xbf16>, %v: tensor<1x4x32x64xbf16>, %m: tensor<1x1x32x32xbf16>) -> tensor<1x4x32x64xbf16> {
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v, %m) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>,
      scale = 1.250000e-01 : f32}>
      : (tensor<1x4x32x64xbf16>, tensor<1x4x32x64xbf16>, tensor<1x4x32x64xbf16>, tensor<1x1x32x32xbf16>) -> tensor<1x4x32x64xbf16>
  return %0 : tensor<1x4x32x64xbf16>
}

// CHECK-LABEL: func.func @shared_heads(
// CHECK: "ttnn.repeat_interleave"{{.*}}dim = 1 : si32, repeats = 2 : ui32
// CHECK: "ttnn.repeat_interleave"
// CHECK: "ttnn.matmul"
// CHECK: "ttnn.softmax"
func.func @shared_heads(%q: tensor<1x4x32x64xbf16>, %k: tensor<1x2x32x64xbf16>, %v: tensor<1x2x32x64xbf16>) -> tensor<1x4x32x64xbf16> {
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
      : (tensor<1x4x32x64xbf16>, tensor<1x2x32x64xbf16>, tensor<1x2x32x64xbf16>) -> tensor<1x4x32x64xbf16>
  return %0 : tensor<1x4x32x64xbf16>
}

// CHECK-LABEL: func.func @window(
// CHECK: "ttnn.scaled_dot_product_attention"{{.*}}sliding_window_size = 8
func.func @window(%q: tensor<1x4x32x64xbf16>, %k: tensor<1x4x32x64xbf16>, %v: tensor<1x4x32x64xbf16>) -> tensor<1x4x32x64xbf16> {
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>,
      sliding_window_size = 8 : ui32}>
      : (tensor<1x4x32x64xbf16>, tensor<1x4x32x64xbf16>, tensor<1x4x32x64xbf16>) -> tensor<1x4x32x64xbf16>
  return %0 : tensor<1x4x32x64xbf16>
}
