// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Weights and biases that are prepared for convolutions that they do not fit.

func.func @case_0(%w: tensor<32x16x9xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Weight must be a 4D tensor}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x16x9xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_1(%w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Only `OIHW` weights format is currently supported}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "HWIO"}> : (tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_2(%w: tensor<31x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected output channels attribute (32) to match the first dimension of the weight tensor (31)}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<31x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_3(%w: tensor<32x8x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected input channels attribute (16) to match the number of input channels per group (8)}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x8x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_4(%w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected kernel size attribute to be a 2D tensor}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_5(%w: tensor<32x16x5x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected kernel height attribute (3) to match the third dimension of the weight tensor (5)}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x16x5x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_6(%w: tensor<32x16x3x1xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected kernel width attribute (3) to match the fourth dimension of the weight tensor (1)}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x16x3x1xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_7(%w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected stride attribute to be a 2D tensor}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1>, weights_format = "OIHW"}> : (tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_8(%w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected dilation attribute to be a 2D tensor}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_9(%w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_weights' op Expected padding attribute to be a 2D tensor}}
  %r = "ttnn.prepare_conv2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_10(%w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv_transpose2d_weights' op Only `IOHW` weights format is currently supported}}
  %r = "ttnn.prepare_conv_transpose2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, mirror_kernel = true, out_channels = 32 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : (tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_11(%w: tensor<32x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv_transpose2d_weights' op Expected input channels attribute (16) to match the first dimension of the weight tensor (32)}}
  %r = "ttnn.prepare_conv_transpose2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, mirror_kernel = true, out_channels = 32 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "IOHW"}> : (tensor<32x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_12(%w: tensor<16x16x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv_transpose2d_weights' op Expected output channels attribute (32) to match the number of output channels per group (16)}}
  %r = "ttnn.prepare_conv_transpose2d_weights"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = false, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, mirror_kernel = true, out_channels = 32 : i32, output_padding = array<i32: 0, 0>, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>, weights_format = "IOHW"}> : (tensor<16x16x3x3xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_13(%w: tensor<1x1x1x31xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_bias' op Expected output channels attribute (32) to match the number of output channels in the bias tensor (31)}}
  %r = "ttnn.prepare_conv2d_bias"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x1x31xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_14(%w: tensor<1x1x1x32xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_bias' op Kernel size attribute must have two values, got: 1}}
  %r = "ttnn.prepare_conv2d_bias"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x1x32xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_15(%w: tensor<1x1x1x32xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_bias' op Stride attribute must have two values, got: 3}}
  %r = "ttnn.prepare_conv2d_bias"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1, 1>}> : (tensor<1x1x1x32xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_16(%w: tensor<1x1x1x32xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_bias' op Padding attribute must have two or four values, got: 1}}
  %r = "ttnn.prepare_conv2d_bias"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x1x32xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_17(%w: tensor<1x1x1x32xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv2d_bias' op Dilation attribute must have two values, got: 1}}
  %r = "ttnn.prepare_conv2d_bias"(%w, %d) <{batch_size = 1 : i32, dilation = array<i32: 1>, groups = 1 : i32, in_channels = 16 : i32, input_dtype = #ttcore.supportedDataTypes<f32>, input_height = 8 : i32, input_memory_config = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 8 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 1, 1>}> : (tensor<1x1x1x32xf32>, !ttnn.device) -> tensor<1x1x144x32xf32>
  return
}

// -----

func.func @case_18(%w: tensor<8x3x3x9xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op Weight must be a 5D tensor}}
  %r = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 32 : i32, c_in_block = 32 : i32, groups = 1 : i32}> : (tensor<8x3x3x9xf32>, !ttnn.device) -> tensor<864x8xf32>
  return
}

// -----

func.func @case_19(%w: tensor<8x3x3x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op Result must be a 2D tensor}}
  %r = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 32 : i32, c_in_block = 32 : i32, groups = 1 : i32}> : (tensor<8x3x3x3x3xf32>, !ttnn.device) -> tensor<1x864x8xf32>
  return
}

// -----

func.func @case_20(%w: tensor<8x3x3x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op Groups must be positive}}
  %r = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 32 : i32, c_in_block = 32 : i32, groups = 0 : i32}> : (tensor<8x3x3x3x3xf32>, !ttnn.device) -> tensor<864x8xf32>
  return
}

// -----

func.func @case_21(%w: tensor<8x3x3x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op Alignment must be positive}}
  %r = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 0 : i32, c_in_block = 32 : i32, groups = 1 : i32}> : (tensor<8x3x3x3x3xf32>, !ttnn.device) -> tensor<864x8xf32>
  return
}

// -----

func.func @case_22(%w: tensor<8x3x3x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op Expected result first dimension (81) to match prepared conv3d weight flattened dimension (864)}}
  %r = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 32 : i32, c_in_block = 32 : i32, groups = 1 : i32}> : (tensor<8x3x3x3x3xf32>, !ttnn.device) -> tensor<81x8xf32>
  return
}

// -----

func.func @case_23(%w: tensor<8x3x3x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op C_in_block (12) must divide aligned input channels (32)}}
  %r = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 32 : i32, c_in_block = 12 : i32, groups = 1 : i32}> : (tensor<8x3x3x3x3xf32>, !ttnn.device) -> tensor<864x8xf32>
  return
}

// -----

func.func @case_24(%w: tensor<8x3x3x3x3xf32>, %d: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.prepare_conv3d_weights' op Expected result second dimension (9) to match output channels (8)}}
  %r = "ttnn.prepare_conv3d_weights"(%w, %d) <{alignment = 32 : i32, c_in_block = 32 : i32, groups = 1 : i32}> : (tensor<8x3x3x3x3xf32>, !ttnn.device) -> tensor<864x9xf32>
  return
}
