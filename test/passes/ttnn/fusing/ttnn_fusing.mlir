// What products, convolutions and operations of two tensors compute besides.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func @before(
// CHECK-NOT: "ttnn.exp"
// CHECK: "ttnn.add"{{.*}}input_tensor_a_activations = [#ttnn.unary_with_param<op_type = exp>], input_tensor_b_activations = []
func.func @before(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%a)
      : (tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.add"(%0, %b)
      : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// CHECK-LABEL: func.func @second(
// CHECK-NOT: "ttnn.tanh"
// CHECK: "ttnn.subtract"{{.*}}input_tensor_a_activations = [], input_tensor_b_activations = [#ttnn.unary_with_param<op_type = tanh>]
func.func @second(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.tanh"(%b)
      : (tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.subtract"(%a, %0)
      : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// CHECK-LABEL: func.func @after(
// CHECK: "ttnn.multiply"{{.*}}activations = [#ttnn.unary_with_param<op_type = sqrt>]
// CHECK-NOT: "ttnn.sqrt"
// CHECK: return
func.func @after(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.multiply"(%a, %b)
      : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.sqrt"(%0)
      : (tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// CHECK-LABEL: func.func @used_twice(
// CHECK: "ttnn.exp"
// CHECK: "ttnn.add"
func.func @used_twice(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%a)
      : (tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.add"(%0, %b)
      : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %2 = "ttir.maximum"(%1, %0)
      : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %2 : tensor<33x70xf32>
}

// CHECK-LABEL: func.func @narrowed(
// CHECK: "ttnn.add"{{.*}} -> tensor<33x70xbf16
// CHECK-NOT: ttnn.typecast
// CHECK: return
func.func @narrowed(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xbf16> {
  %0 = "ttir.add"(%a, %b)
      : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.typecast"(%0) <{conservative_folding = false}>
      : (tensor<33x70xf32>) -> tensor<33x70xbf16>
  return %1 : tensor<33x70xbf16>
}

// CHECK-LABEL: func.func @product_and_sigmoid(
// CHECK: "ttnn.matmul"{{.*}}activation = "sigmoid"
// CHECK-NOT: "ttnn.sigmoid"
// CHECK: return
func.func @product_and_sigmoid(%a: tensor<32x64xbf16>, %b: tensor<64x96xbf16>) -> tensor<32x96xbf16> {
  %0 = "ttir.matmul"(%a, %b)
      : (tensor<32x64xbf16>, tensor<64x96xbf16>) -> tensor<32x96xbf16>
  %1 = "ttir.sigmoid"(%0)
      : (tensor<32x96xbf16>) -> tensor<32x96xbf16>
  return %1 : tensor<32x96xbf16>
}

// CHECK-LABEL: func.func @product_and_silu(
// CHECK: "ttnn.matmul"{{.*}}activation = "silu"
// CHECK-NOT: "ttnn.silu"
// CHECK: return
func.func @product_and_silu(%a: tensor<32x64xbf16>, %b: tensor<64x96xbf16>) -> tensor<32x96xbf16> {
  %0 = "ttir.matmul"(%a, %b)
      : (tensor<32x64xbf16>, tensor<64x96xbf16>) -> tensor<32x96xbf16>
  %1 = "ttir.silu"(%0)
      : (tensor<32x96xbf16>) -> tensor<32x96xbf16>
  return %1 : tensor<32x96xbf16>
}

// CHECK-LABEL: func.func @product_and_gelu(
// CHECK: "ttnn.matmul"{{.*}}activation = "gelu"
// CHECK-NOT: "ttnn.gelu"
// CHECK: return
func.func @product_and_gelu(%a: tensor<32x64xbf16>, %b: tensor<64x96xbf16>) -> tensor<32x96xbf16> {
  %0 = "ttir.matmul"(%a, %b)
      : (tensor<32x64xbf16>, tensor<64x96xbf16>) -> tensor<32x96xbf16>
  %1 = "ttir.gelu"(%0)
      : (tensor<32x96xbf16>) -> tensor<32x96xbf16>
  return %1 : tensor<32x96xbf16>
}

// CHECK-LABEL: func.func @product_and_relu(
// CHECK: "ttnn.matmul"
// CHECK: "ttnn.relu"
func.func @product_and_relu(%a: tensor<32x64xbf16>, %b: tensor<64x96xbf16>) -> tensor<32x96xbf16> {
  %0 = "ttir.matmul"(%a, %b)
      : (tensor<32x64xbf16>, tensor<64x96xbf16>) -> tensor<32x96xbf16>
  %1 = "ttir.relu"(%0)
      : (tensor<32x96xbf16>) -> tensor<32x96xbf16>
  return %1 : tensor<32x96xbf16>
}

// CHECK-LABEL: func.func @convolution_and_relu(
// CHECK: "ttnn.conv2d"{{.*}}weights_dtype = bf16, activation = <op_type = relu>
// CHECK-NOT: "ttnn.relu"
// CHECK: return
func.func @convolution_and_relu(%a: tensor<1x16x16x8xbf16>, %w: tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16> {
  %0 = "ttir.conv2d"(%a, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32,
      height_dim = 1 : i64, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>,
      width_dim = 2 : i64}>
      : (tensor<1x16x16x8xbf16>, tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16>
  %1 = "ttir.relu"(%0)
      : (tensor<1x16x16x16xbf16>) -> tensor<1x16x16x16xbf16>
  return %1 : tensor<1x16x16x16xbf16>
}

// CHECK-LABEL: func.func @convolution_and_relu6(
// CHECK: "ttnn.conv2d"{{.*}}weights_dtype = bf16, activation = <op_type = relu6>
// CHECK-NOT: "ttnn.relu6"
// CHECK: return
func.func @convolution_and_relu6(%a: tensor<1x16x16x8xbf16>, %w: tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16> {
  %0 = "ttir.conv2d"(%a, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32,
      height_dim = 1 : i64, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>,
      width_dim = 2 : i64}>
      : (tensor<1x16x16x8xbf16>, tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16>
  %1 = "ttir.relu6"(%0)
      : (tensor<1x16x16x16xbf16>) -> tensor<1x16x16x16xbf16>
  return %1 : tensor<1x16x16x16xbf16>
}

// CHECK-LABEL: func.func @convolution_and_silu(
// CHECK: "ttnn.conv2d"{{.*}}weights_dtype = bf16, activation = <op_type = silu>
// CHECK-NOT: "ttnn.silu"
// CHECK: return
func.func @convolution_and_silu(%a: tensor<1x16x16x8xbf16>, %w: tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16> {
  %0 = "ttir.conv2d"(%a, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32,
      height_dim = 1 : i64, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>,
      width_dim = 2 : i64}>
      : (tensor<1x16x16x8xbf16>, tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16>
  %1 = "ttir.silu"(%0)
      : (tensor<1x16x16x16xbf16>) -> tensor<1x16x16x16xbf16>
  return %1 : tensor<1x16x16x16xbf16>
}

// CHECK-LABEL: func.func @convolution_and_sigmoid(
// CHECK: "ttnn.conv2d"{{.*}}weights_dtype = bf16, activation = <op_type = sigmoid>
// CHECK-NOT: "ttnn.sigmoid"
// CHECK: return
func.func @convolution_and_sigmoid(%a: tensor<1x16x16x8xbf16>, %w: tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16> {
  %0 = "ttir.conv2d"(%a, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32,
      height_dim = 1 : i64, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>,
      width_dim = 2 : i64}>
      : (tensor<1x16x16x8xbf16>, tensor<16x8x3x3xbf16>) -> tensor<1x16x16x16xbf16>
  %1 = "ttir.sigmoid"(%0)
      : (tensor<1x16x16x16xbf16>) -> tensor<1x16x16x16xbf16>
  return %1 : tensor<1x16x16x16xbf16>
}
