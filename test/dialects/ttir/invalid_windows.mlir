// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What convolutions, poolings and batch normalization refuse.

func.func @f(%a: tensor<4x6x5xf32>, %c: tensor<1x2x3x5xf32>) {
  // expected-error@+1 {{op Input must be a 4D tensor, but its shape is (4, 6, 5).}}
  %r = "ttir.avg_pool2d"(%a, %c) <{ceil_mode = false, count_include_pad = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [], padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<4x6x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x6x5xf32>, %c: tensor<1x2x4x5xf32>) {
  // expected-error@+1 {{op Output shape (1, 2, 4, 5) must be (1, 2, 3, 5).}}
  %r = "ttir.avg_pool2d"(%a, %c) <{ceil_mode = false, count_include_pad = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [], padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x6x5xf32>, tensor<1x2x4x5xf32>) -> tensor<1x2x4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x6x5xf32>, %c: tensor<1x2x3x5xf32>) {
  // expected-error@+1 {{op kernel, stride and dilation of the height must be positive}}
  %r = "ttir.avg_pool2d"(%a, %c) <{ceil_mode = false, count_include_pad = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [], padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 0 : si32, stride_width = 2 : si32}> : (tensor<1x4x6x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x6x5xf32>, %c: tensor<1x2x3x5xf32>) {
  // expected-error@+1 {{op padding of the width must not be negative}}
  %r = "ttir.avg_pool2d"(%a, %c) <{ceil_mode = false, count_include_pad = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [], padding_bottom = 0 : si32, padding_left = -1 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x6x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x6x5xf32>, %c: tensor<1x2x3x5xf32>) {
  // expected-error@+1 {{op the window reaches over 5 elements, more than the height 4 and its padding of 0 and 0}}
  %r = "ttir.avg_pool2d"(%a, %c) <{ceil_mode = false, count_include_pad = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 5 : si32, kernel_width = 2 : si32, operand_constraints = [], padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x6x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<6x5x3xf32>, %c: tensor<1x9x6x5xf32>) {
  // expected-error@+1 {{op Weight must be a 4D tensor}}
  %r = "ttir.conv_transpose2d"(%a, %w, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<6x5x3xf32>, tensor<1x9x6x5xf32>) -> tensor<1x9x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<6x5x3x2xf32>, %c: tensor<1x9x6x5xf32>) {
  // expected-error@+1 {{op 6 input channels cannot be split into 4 groups}}
  %r = "ttir.conv_transpose2d"(%a, %w, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 4 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<6x5x3x2xf32>, tensor<1x9x6x5xf32>) -> tensor<1x9x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<5x6x3x2xf32>, %c: tensor<1x9x6x5xf32>) {
  // expected-error@+1 {{op the weight is for 5 input channels, but the image has 6}}
  %r = "ttir.conv_transpose2d"(%a, %w, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<5x6x3x2xf32>, tensor<1x9x6x5xf32>) -> tensor<1x9x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<6x5x3x2xf32>, %c: tensor<1x9x6x5xf32>) {
  // expected-error@+1 {{op stride and dilation of the height must be positive}}
  %r = "ttir.conv_transpose2d"(%a, %w, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 0 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<6x5x3x2xf32>, tensor<1x9x6x5xf32>) -> tensor<1x9x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<6x5x3x2xf32>, %c: tensor<1x9x6x5xf32>) {
  // expected-error@+1 {{op padding of the height must not be negative}}
  %r = "ttir.conv_transpose2d"(%a, %w, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = -1 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<6x5x3x2xf32>, tensor<1x9x6x5xf32>) -> tensor<1x9x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<6x5x3x2xf32>, %c: tensor<1x9x6x5xf32>) {
  // expected-error@+1 {{op padding leaves nothing of the height}}
  %r = "ttir.conv_transpose2d"(%a, %w, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = 5 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 4 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<6x5x3x2xf32>, tensor<1x9x6x5xf32>) -> tensor<1x9x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<6x5x3x2xf32>, %b: tensor<1x1x1x6xf32>, %c: tensor<1x9x6x5xf32>) {
  // expected-error@+1 {{op the bias must have 5 elements, one per output channel}}
  %r = "ttir.conv_transpose2d"(%a, %w, %b, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<6x5x3x2xf32>, tensor<1x1x1x6xf32>, tensor<1x9x6x5xf32>) -> tensor<1x9x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x3x6xf32>, %w: tensor<6x5x3x2xf32>, %c: tensor<1x8x6x5xf32>) {
  // expected-error@+1 {{op Output shape (1, 8, 6, 5) must be (1, 9, 6, 5).}}
  %r = "ttir.conv_transpose2d"(%a, %w, %c) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [], output_padding_height = 0 : si32, output_padding_width = 0 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x3x6xf32>, tensor<6x5x3x2xf32>, tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op dimension numbers "[b, 0, f]x[0, i, o]" must have the form "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]" with every dimension named once}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op dimension numbers "[b, 0, f]x[0, i, i]->[b, 0, f]" must have}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, i]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4x1xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op input and weight must have the 3 dimensions that the dimension numbers name}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4x1xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op feature_group_count and batch_group_count must be positive, and one of them 1}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 3 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 2 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op 4 input features must be 2 groups of the weight's 4}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 2 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op a batch of 3 cannot be split into 2 groups}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 2 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x1x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op 6 output features cannot be split into 4 groups}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 4 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x1x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %b: tensor<5xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op the bias must have 6 elements, one per output feature}}
  %r = "ttir.convolution"(%a, %w, %b, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<5xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op window_strides must have one entry for each of the 1 spatial dimensions}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1, 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op padding must have two entries for each of the 1 spatial dimensions}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 1>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op input dilation of spatial dimension 0 must be positive}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 0>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x8x6xf32>) {
  // expected-error@+1 {{op the window reaches over 2 elements, more than the spatial dimension 0 1 and its padding of 0 and 0}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: -8, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x8x6xf32>) -> tensor<3x8x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9x4xf32>, %w: tensor<2x4x6xf32>, %c: tensor<3x9x6xf32>) {
  // expected-error@+1 {{op Output shape (3, 9, 6) must be (3, 8, 6).}}
  %r = "ttir.convolution"(%a, %w, %c) <{batch_group_count = 1 : i64, dimension_numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]", feature_group_count = 1 : i64, input_dilation = array<i64: 1>, operand_constraints = [], padding = array<i64: 0, 0>, weight_dilation = array<i64: 1>, window_reversal = array<i1: false>, window_strides = array<i64: 1>}> : (tensor<3x9x4xf32>, tensor<2x4x6xf32>, tensor<3x9x6xf32>) -> tensor<3x9x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9xf32>, %c: tensor<3x4xf32>) {
  // expected-error@+1 {{op pooling method "median" must be one of max, min, sum, average, product, and, or}}
  %r = "ttir.pooling"(%a, %c) <{base_dilations = array<i64: 1, 1>, operand_constraints = [], padding = array<i64: 0, 0, 0, 0>, pooling_method = "median", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> : (tensor<3x9xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9xf32>, %c: tensor<3x4xf32>) {
  // expected-error@+1 {{op window_dimensions must have one entry for each of the 2 dimensions}}
  %r = "ttir.pooling"(%a, %c) <{base_dilations = array<i64: 1, 1>, operand_constraints = [], padding = array<i64: 0, 0, 0, 0>, pooling_method = "max", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 1, 2>}> : (tensor<3x9xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9xf32>, %c: tensor<3x4xf32>) {
  // expected-error@+1 {{op padding must have two entries for each of the 2 dimensions}}
  %r = "ttir.pooling"(%a, %c) <{base_dilations = array<i64: 1, 1>, operand_constraints = [], padding = array<i64: 0, 0>, pooling_method = "max", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> : (tensor<3x9xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9xf32>, %c: tensor<3x4xf32>) {
  // expected-error@+1 {{op base dilation of dimension 1 must be positive}}
  %r = "ttir.pooling"(%a, %c) <{base_dilations = array<i64: 1, 0>, operand_constraints = [], padding = array<i64: 0, 0, 0, 0>, pooling_method = "max", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> : (tensor<3x9xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @f(%a: tensor<3x9xf32>, %c: tensor<3x5xf32>) {
  // expected-error@+1 {{op Output shape (3, 5) must be (3, 4).}}
  %r = "ttir.pooling"(%a, %c) <{base_dilations = array<i64: 1, 1>, operand_constraints = [], padding = array<i64: 0, 0, 0, 0>, pooling_method = "max", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> : (tensor<3x9xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<3x5xf32>, %b: tensor<5xf32>, %v: tensor<5xf32>, %c: tensor<3x5xf32>) {
  // expected-error@+1 {{op Dimension 2 is out of range for rank 2.}}
  %r = "ttir.batch_norm_inference"(%a, %b, %b, %b, %v, %c) <{dimension = 2 : si32, epsilon = 0.5 : f32, operand_constraints = []}> : (tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<3x5xf32>, %b: tensor<5xf32>, %v: tensor<3xf32>, %c: tensor<3x5xf32>) {
  // expected-error@+1 {{op Scale, offset, mean and variance must have one dimension of extent 5, the extent of the input's dimension 1.}}
  %r = "ttir.batch_norm_inference"(%a, %b, %b, %b, %v, %c) <{dimension = 1 : si32, epsilon = 0.5 : f32, operand_constraints = []}> : (tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @max_pool2d_output(%a: tensor<1x4x4x1xf32>, %b: tensor<1x3x2x1xf32>) {
  // expected-error@+1 {{op Output shape (1, 3, 2, 1) must be (1, 2, 2, 1).}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, padding_bottom = 1 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<1x4x4x1xf32>, tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32>
  return
}

// -----

func.func @max_pool2d_stride(%a: tensor<1x4x4x1xf32>, %b: tensor<1x2x2x1xf32>) {
  // expected-error@+1 {{op kernel, stride and dilation of the height must be positive}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, padding_bottom = 1 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 0 : si32, stride_width = 2 : si32}> : (tensor<1x4x4x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
