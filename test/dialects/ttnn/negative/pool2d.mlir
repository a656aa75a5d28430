// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Pools of ttnn whose parameters do not agree with their image.

func.func @case_0(%a: tensor<1x1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op Padding must have 2 or 4 elements. Received 3 elements.}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_1(%a: tensor<1x1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op Kernel height 9 is greater than input height 8. This ttnn.max_pool2d configuration is invalid.}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 9, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_2(%a: tensor<1x1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op Kernel width 9 is greater than input width 8. This ttnn.max_pool2d configuration is invalid.}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 9>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_3(%a: tensor<1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op Input tensor rank must be 4. Received input with rank 3. Shape: (1, 64, 16).}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_4(%a: tensor<1x8x8x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op ttnn.max_pool2d input must be in the form (1, 1, N*H*W, C). Received shape (1, 8, 8, 16).}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x8x8x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_5(%a: tensor<1x1x60x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op ttnn.max_pool2d shape (1, 1, 60, 16) at dim -2 must be equal to N*H*W. However the attributes given are N=1, H=8, W=8. 1*8*8 != 60.}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x60x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_6(%a: tensor<1x1x64x8xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op ttnn.max_pool2d shape (1, 1, 64, 8) at dim -3 must be equal to C. However the attribute given is C=16. 8 != 16}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x8xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_7(%a: tensor<1x1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.avg_pool2d' op Padding must have 2 or 4 elements. Received 3 elements.}}
  %r = "ttnn.avg_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, count_include_pad = true, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_8(%a: tensor<1x1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.avg_pool2d' op Kernel height 9 is greater than input height 8. This ttnn.avg_pool2d configuration is invalid.}}
  %r = "ttnn.avg_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, count_include_pad = true, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 9, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_9(%a: tensor<1x1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.avg_pool2d' op Kernel width 9 is greater than input width 8. This ttnn.avg_pool2d configuration is invalid.}}
  %r = "ttnn.avg_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, count_include_pad = true, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 9>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_10(%a: tensor<1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.avg_pool2d' op Input tensor rank must be 4. Received input with rank 3. Shape: (1, 64, 16).}}
  %r = "ttnn.avg_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, count_include_pad = true, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_11(%a: tensor<1x8x8x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.avg_pool2d' op ttnn.avg_pool2d input must be in the form (1, 1, N*H*W, C). Received shape (1, 8, 8, 16).}}
  %r = "ttnn.avg_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, count_include_pad = true, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x8x8x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_12(%a: tensor<1x1x60x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.avg_pool2d' op ttnn.avg_pool2d shape (1, 1, 60, 16) at dim -2 must be equal to N*H*W. However the attributes given are N=1, H=8, W=8. 1*8*8 != 60.}}
  %r = "ttnn.avg_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, count_include_pad = true, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x60x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_13(%a: tensor<1x1x64x8xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.avg_pool2d' op ttnn.avg_pool2d shape (1, 1, 64, 8) at dim -3 must be equal to C. However the attribute given is C=16. 8 != 16}}
  %r = "ttnn.avg_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, count_include_pad = true, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x8xbf16>) -> tensor<1x1x16x16xbf16>
  return
}

// -----

func.func @case_0(%a: tensor<1x1x64x16xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.max_pool2d' op Expected integer or pair of integers, got tuple of size 3 for kernel_size}}
  %r = "ttnn.max_pool2d"(%a) <{batch_size = 1 : si32, ceil_mode = false, channels = 16 : si32, config_tensors_in_dram = false, dilation = array<i32: 1, 1>, input_height = 8 : si32, input_width = 8 : si32, kernel_size = array<i32: 2, 2, 2>, padding = array<i32: 0, 0>, reallocate_halo_output = true, stride = array<i32: 2, 2>}> : (tensor<1x1x64x16xbf16>) -> tensor<1x1x16x16xbf16>
  return
}
