// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these operations.

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op input must be a 5D tensor [N, D, H, W, C]}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<4x27x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op weight must be either a 5D tensor [O, C/G, kD, kH, kW] (raw) or a 2D tensor [kD*kH*kW*C_in, O] (prepared)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<4x27x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op result must be a 5D tensor [N, D_out, H_out, W_out, O]}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op groups must be >= 1, got: 0}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 0 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op kernel_size must have 3 values, got: 2}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op kernel_size values must be >= 1, got: (3, 0, 3)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 0, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op stride must have 3 values, got: 1}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op stride values must be > 0, got: (1, 0, 1)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 0, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op padding must have 3 values, got: 2}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op padding values must be >= 0, got: (0, -1, 0)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, -1, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op dilation must have 3 values, got: 4}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op dilation values must be >= 1, got: (0, 1, 1)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 0, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op padding_mode must be 'zeros' or 'replicate', got: reflect}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "reflect", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op out_channels (8) must be divisible by groups (3)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 3 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<107x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op weight flattened dimension (107) must equal kD*kH*kW*C_in (108)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<107x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<8x4x3x2x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op weight kernel dimensions (3, 2, 3) must match kernel_size (3, 3, 3)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<8x4x3x2x3xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<8x4x3x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op in_channels (4) must equal the weight's input channels per group (4) * groups (1) aligned to 32 (32)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<8x4x3x3x3xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<7x32x3x3x3xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op output channels (8) must match weight output channels (7)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 32 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<7x32x3x3x3xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: tensor<8xf32>, %a3: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op bias must be a 2D tensor [1, O]}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2, %a3) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, tensor<8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: tensor<2x8xf32>, %a3: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op bias first dimension must be 1, got 2}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2, %a3) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, tensor<2x8xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: tensor<1x7xf32>, %a3: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op bias output channels (7) must match weight output channels (8)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2, %a3) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, tensor<1x7xf32>, !ttnn.device) -> tensor<1x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op output batch size (2) must match input batch size (1)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<2x6x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op output depth (7) does not match calculated depth (6)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x7x8x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op output height (9) does not match calculated height (8)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x9x10x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op output width (11) does not match calculated width (10)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x11x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x8x10x12x4xf32>, %a1: tensor<108x8xf32>, %a2: !ttnn.device) {
  // expected-error@+1 {{'ttnn.conv3d' op output channels (9) must match weight output channels (8)}}
  %r = "ttnn.conv3d"(%a0, %a1, %a2) <{batch_size = 1 : i32, dilation = array<i32: 1, 1, 1>, groups = 1 : i32, in_channels = 4 : i32, input_depth = 8 : i32, input_height = 10 : i32, input_width = 12 : i32, kernel_size = array<i32: 3, 3, 3>, out_channels = 8 : i32, padding = array<i32: 0, 0, 0>, padding_mode = "zeros", stride = array<i32: 1, 1, 1>}> : (tensor<1x8x10x12x4xf32>, tensor<108x8xf32>, !ttnn.device) -> tensor<1x6x8x10x9xf32>
  return
}
