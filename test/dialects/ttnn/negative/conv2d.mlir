// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Convolutions of ttnn whose parameters do not agree with their tensors.

func.func @case_0(%a: tensor<64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Input must be a 4D tensor}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_1(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Weight must be a 4D tensor}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_2(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Stride attribute values must be greater than 0, got: (0, 1)}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 0, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_3(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Dilation attribute values must be greater than 0, got: (1, 0)}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 0>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_4(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Padding attribute values must be greater than or equal to 0, got: (1, -1, 1, 1)}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, -1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_5(%a: tensor<1x1x60x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op The input tensor's flattened dimension (60) does not match the product of batch_size_attr * input_height_attr * input_width_attr (1 * 8 * 8 = 64).}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x60x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_6(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Expected output channels attribute (64) to match the output channels in the weight tensor (32).}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 64 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_7(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Expected input channels / groups attribute (16/2) = 8 to match the number of input channels per group in the weight tensor (16).}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 2 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_8(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Expected kernel height attribute (5) to match the kernel height in the weight tensor (3).}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 5, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_9(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op Expected kernel width attribute (1) to match the kernel width in the weight tensor (3).}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 1>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_10(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op The output tensor's flattened dimension (64) does not match the product of batch_size * output_height * output_width (1 * 6 * 6 = 36).}}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x32xf32>
  return
}

// -----

func.func @case_11(%a: tensor<1x1x64x16xf32>, %w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv2d' op The number of output channels from the output tensor (31) must match the number of output channels in the weight tensor (32). }}
  %r = "ttnn.conv2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_height = 8 : i32, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x64x16xf32>, tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x64x31xf32>
  return
}
