// What the verifiers of ttir of 2026 refuse, in the words of tt-mlir 19c86fca45.
// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

func.func @concat_rank(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error@+1 {{'ttir.concat' op All input tensors must have the same rank.}}
  %0 = "ttir.concat"(%a, %b) <{dim = 0 : si32}> : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_sum(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{Output tensor dimension 0 does not match the sum of input tensor dimensions: 7 vs. 6.}}
  %0 = "ttir.concat"(%a, %b) <{dim = 0 : si32}> : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @reshape(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{Input tensor number of elements 6 and output tensor number of elements 8 must be the same}}
  %0 = "ttir.reshape"(%a) <{shape = [2 : i32, 4 : i32]}> : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @permute(%a: tensor<2x3x4xf32>) {
  // expected-error@+1 {{Expected result shape (4, 3, 2), got (4, 2, 3)}}
  %0 = "ttir.permute"(%a) <{permutation = array<i64: 2, 1, 0>}> : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<1x3xf32>) {
  // expected-error@+1 {{Input tensor shape (1,3) index 0 does not broadcast to output (4,3) using broadcast value 5}}
  %0 = "ttir.broadcast"(%a) <{broadcast_dimensions = array<i64: 5, 1>}> : (tensor<1x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @repeat(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{Repeat dimension at index 1 must be greater than 0.}}
  %0 = "ttir.repeat"(%a) <{repeat_dimensions = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice(%a: tensor<8x3xf32>) {
  // expected-error@+1 {{For positive step, begin index must be less than or equal to end index for dimension 0. Got begin: 6 (-2), end: 4, step: 1, input shape: (8, 3)}}
  %0 = "ttir.slice_static"(%a) <{begins = [-2 : i32, 0 : i32], ends = [4 : i32, 3 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_extent(%a: tensor<8x3xf32>) {
  // expected-error@+1 {{Mismatch in dimension 0 of the output tensor: expected size 4, but got 3}}
  %0 = "ttir.slice_static"(%a) <{begins = [0 : i32, 0 : i32], ends = [8 : i32, 3 : i32], step = [2 : i32, 1 : i32]}> : (tensor<8x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @pad(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{Output tensor shape (4,3) must match the inferred shape: (3,4)}}
  %0 = "ttir.pad"(%a) <{padding = array<i32: 1, 0, 0, 1>, value = 0.0 : f32}> : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @sum_twice(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{Reduce dimensions are not unique}}
  %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32, -1 : i32], keep_dim = false}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @sum_shape(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{Expected output shape (2, 1), got (2)}}
  %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{Input A[-1](3) and B[-2](4) must have matching inner dimensions}}
  %0 = "ttir.matmul"(%a, %b) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_batches(%a: tensor<2x2x3xf32>, %b: tensor<4x3x5xf32>) {
  // expected-error@+1 {{Batch dimensions of input A(2) and B(4) are not broadcast compatible}}
  %0 = "ttir.matmul"(%a, %b) : (tensor<2x2x3xf32>, tensor<4x3x5xf32>) -> tensor<4x2x5xf32>
  return
}

// -----

func.func @convolution(%a: tensor<1x8x8x6xf32>, %w: tensor<4x5x3x3xf32>) {
  // expected-error@+1 {{The number of input channels per group (6) must match the number of input channels in the weight tensor (5).}}
  %0 = "ttir.conv2d"(%a, %w) <{dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x8x8x6xf32>, tensor<4x5x3x3xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @convolution_output(%a: tensor<1x8x8x6xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error@+1 {{The output tensor height and width dimension (6, 7) do not match the expected dimensions (6, 6).}}
  %0 = "ttir.conv2d"(%a, %w) <{dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x8x8x6xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x7x4xf32>
  return
}

// -----

func.func @flattened(%a: tensor<1x1x64x6xf32>) {
  // expected-error@+1 {{the input tensor's flattened dimension (64) does not match the product of batch_size * input_height * input_width from FlattenedCompatInfo (1 * 8 * 9 = 72)}}
  %0 = "ttir.max_pool2d"(%a) <{ceil_mode = false, dilation = 1 : i32, flattened_compat_info = #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 9>, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<1x1x64x6xf32>) -> tensor<1x1x16x6xf32>
  return
}

// -----

func.func @attention(%q: tensor<1x4x32x64xf32>, %k: tensor<1x3x32x64xf32>) {
  // expected-error@+1 {{Query num heads must be divisible by key/value num heads}}
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %k) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<1x4x32x64xf32>, tensor<1x3x32x64xf32>, tensor<1x3x32x64xf32>) -> tensor<1x4x32x64xf32>
  return
}

// -----

func.func @cache(%c: tensor<1x4x32x64xf32>, %x: tensor<1x4x33x64xf32>) {
  // expected-error@+1 {{Got cache dim 2 size = 32, input dim 2 size = 33}}
  "ttir.fill_cache"(%c, %x) <{batch_offset = 0 : i32}> : (tensor<1x4x32x64xf32>, tensor<1x4x33x64xf32>) -> ()
  return
}

// -----

func.func @gather(%a: tensor<4x5xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{Input tensor and index tensor must have the same rank. Got input rank = 2, index rank = 1}}
  %0 = "ttir.gather"(%a, %i) <{dim = 0 : i32}> : (tensor<4x5xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @norm(%a: tensor<4x5xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{weight tensor shape must match normalized_shape}}
  %0 = "ttir.rms_norm"(%a, %w) <{normalized_shape = array<i64: 5>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x5xf32>, tensor<4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @collective(%a: tensor<4x5xf32>) {
  // expected-error@+1 {{Invalid reduction type for all reduce op.}}
  %0 = "ttir.all_reduce"(%a) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<std>}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @router(%x: tensor<32x64xbf16>, %w: tensor<64x128xbf16>, %b: tensor<32x128xbf16>) {
  // expected-error@+1 {{expert_indices dim 1 (8) must equal k (4)}}
  %0:2 = "ttir.topk_router_gpt"(%x, %w, %b) <{k = 4 : i32, num_experts = 128 : i32}> : (tensor<32x64xbf16>, tensor<64x128xbf16>, tensor<32x128xbf16>) -> (tensor<32x8xui16>, tensor<32x4xbf16>)
  return
}

// -----

func.func @kernel(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{`arg_roles` must list all "in" operands before any "out" operand}}
  %0 = "ttir.tt_lang_op"(%x, %x) <{arg_roles = "out,in", kernel_id = "k", version_tag = "1"}> : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @mixed_axis(%a: tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>) {
  // expected-error@+1 {{'ttir.requantize' op Input and output element types must both be per-axis or both be per-tensor quantized types, but got '!quant.uniform<i8:f32}}
  %0 = "ttir.requantize"(%a) : (tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3, 0.25:4}>>
  return
}

// -----

func.func @mixed_tensor(%a: tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3, 0.25:4}>>) {
  // expected-error@+1 {{'ttir.requantize' op Input and output element types must both be per-axis or both be per-tensor quantized types, but got '!quant.uniform<i8:f32}}
  %0 = "ttir.requantize"(%a) : (tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3, 0.25:4}>>) -> tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>
  return
}

// -----

func.func @complex_constant() {
  // expected-error@+1 {{'ttir.constant' op value attribute must be of int or float type.}}
  %0 = "ttir.constant"() <{value = dense<(1.0, 2.0)> : tensor<3xcomplex<f32>>}> : () -> tensor<3xcomplex<f32>>
  return
}

// -----

func.func @no_input(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{'ttir.rms_norm' op operand group 'input' requires 1 element, but found 0}}
  %0 = "ttir.rms_norm"(%w) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 8>, operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<8xf32>) -> tensor<4x8xf32>
  return
}
