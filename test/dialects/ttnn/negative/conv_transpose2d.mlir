// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Transposed convolutions of ttnn whose parameters do not agree with their tensors.

func.func @case_0(%a: tensor<35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Input must be a 4D tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_1(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Output must be a 4D tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<117x6xf32>
  return
}

// -----

func.func @case_2(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x9xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Weight must be a 4D tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x9xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_3(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Input channels attribute must match the last dimension of the input tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 8 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_4(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Output channels attribute match the last dimension of the output tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 8 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_5(%a: tensor<2x5x7x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Batch size attribute must match the first dimension of the input tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<2x5x7x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_6(%a: tensor<1x7x7x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Input height attribute must match the second dimension of the input tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x7x7x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_7(%a: tensor<1x5x5x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Input width attribute must match the third dimension of the input tensor}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x5x5x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_8(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Attribute 'stride' contains a value less than: 1}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 0, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_9(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Attribute 'padding' contains a value less than: 0}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: -1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_10(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Attribute 'output padding' contains a value less than: 0}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, -1>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_11(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Attribute 'dilation' contains a value less than: 1}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 0>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_12(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Number of input channels from input tensor must be divisible by the number of groups. Got 4 input channels and 3 groups.}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 3 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_13(%a: tensor<1x1x35x4xf32>, %w: tensor<8x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Number of input channels from input tensor must match the first dimension of the weight tensor. Got 4 input channels and 8 in the weight tensor.}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<8x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_14(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Number of output channels per group must match the second dimension of the weight tensor. Got 3 output channels per group and 6 in the weight tensor.}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 2 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_15(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Padding must have 4 elements. Received 3 elements.}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}

// -----

func.func @case_16(%a: tensor<1x1x35x4xf32>, %w: tensor<4x6x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv_transpose2d' op Given input size per channel: (5 x 7). Calculated output size per channel: (-9 x -5). Output size is too small}}
  %r = "ttnn.conv_transpose2d"(%a, %w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_height = 5 : i32, input_width = 7 : i32, kernel_size = array<i32: 3, 3>, out_channels = 6 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 10, 10, 10, 10>, stride = array<i32: 2, 2>}> : (tensor<1x1x35x4xf32>, tensor<4x6x3x3xf32>, !ttnn.device) -> tensor<1x1x117x6xf32>
  return
}
