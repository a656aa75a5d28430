// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Heads, samples, orders and products of ttnn whose shapes do not fit.

func.func @case_0(%a0: tensor<1x32x768xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op input tensor must be a 4D tensor}}
  %r:3 = "ttnn.nlp_create_qkv_heads_decode"(%a0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}> : (tensor<1x32x768xf32>) -> (tensor<1x32x8x64xf32>, tensor<1x32x2x64xf32>, tensor<1x32x2x64xf32>)
  return
}

// -----

func.func @case_1(%a0: tensor<2x1x32x768xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op input tensor dimension 0 must be 1, got 2}}
  %r:3 = "ttnn.nlp_create_qkv_heads_decode"(%a0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}> : (tensor<2x1x32x768xf32>) -> (tensor<1x32x8x64xf32>, tensor<1x32x2x64xf32>, tensor<1x32x2x64xf32>)
  return
}

// -----

func.func @case_2(%a0: tensor<1x3x32x768xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op input tensor dimension 1 must be 1, got 3}}
  %r:3 = "ttnn.nlp_create_qkv_heads_decode"(%a0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}> : (tensor<1x3x32x768xf32>) -> (tensor<1x32x8x64xf32>, tensor<1x32x2x64xf32>, tensor<1x32x2x64xf32>)
  return
}

// -----

func.func @case_3(%a0: tensor<1x1x32x768xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op key tensor must be a 4D tensor}}
  %r:3 = "ttnn.nlp_create_qkv_heads_decode"(%a0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}> : (tensor<1x1x32x768xf32>) -> (tensor<1x32x8x64xf32>, tensor<32x2x64xf32>, tensor<1x32x2x64xf32>)
  return
}

// -----

func.func @case_4(%a0: tensor<1x1x32x768xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op both or neither of batch_offset and slice_size must be set}}
  %r:3 = "ttnn.nlp_create_qkv_heads_decode"(%a0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32, slice_size = 8 : ui32}> : (tensor<1x1x32x768xf32>) -> (tensor<1x32x8x64xf32>, tensor<1x32x2x64xf32>, tensor<1x32x2x64xf32>)
  return
}

// -----

func.func @case_5(%a0: tensor<1x1x32x768xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op expected query shape (1, 32, 8, 64), got (1, 32, 4, 64)}}
  %r:3 = "ttnn.nlp_create_qkv_heads_decode"(%a0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}> : (tensor<1x1x32x768xf32>) -> (tensor<1x32x4x64xf32>, tensor<1x32x2x64xf32>, tensor<1x32x2x64xf32>)
  return
}

// -----

func.func @case_6(%a0: tensor<1x1x32x768xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.nlp_create_qkv_heads_decode' op expected value shape (1, 32, 2, 64), got (1, 32, 2, 32)}}
  %r:3 = "ttnn.nlp_create_qkv_heads_decode"(%a0) <{num_heads = 8 : ui32, num_kv_heads = 2 : ui32}> : (tensor<1x1x32x768xf32>) -> (tensor<1x32x8x64xf32>, tensor<1x32x2x64xf32>, tensor<1x32x2x32xf32>)
  return
}

// -----

func.func @case_7(%a0: tensor<1x8x32x64xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.concatenate_heads' op input and output tensors must have the same dtype, got input dtype = f32, output dtype = bf16}}
  %r = "ttnn.concatenate_heads"(%a0) : (tensor<1x8x32x64xf32>) -> tensor<1x32x512xbf16>
  return
}

// -----

func.func @case_8(%a0: tensor<1x1x64x64xbf16>, %a1: tensor<1x1x64x64xsi32>, %a2: tensor<64xui32>, %a3: tensor<64xbf16>, %a4: tensor<64xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.sampling' op batch (64) must be in [1, 32] (kernel limit)}}
  %r = "ttnn.sampling"(%a0, %a1, %a2, %a3, %a4) : (tensor<1x1x64x64xbf16>, tensor<1x1x64x64xsi32>, tensor<64xui32>, tensor<64xbf16>, tensor<64xbf16>) -> tensor<1x1x1x64xui32>
  return
}

// -----

func.func @case_9(%a0: tensor<1x1x32x64xbf16>, %a1: tensor<1x1x32x64xsi32>, %a2: tensor<32xui32>, %a3: tensor<32xbf16>, %a4: tensor<32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.sampling' op result rank (1) must match expected rank (4) for input_values rank 4}}
  %r = "ttnn.sampling"(%a0, %a1, %a2, %a3, %a4) : (tensor<1x1x32x64xbf16>, tensor<1x1x32x64xsi32>, tensor<32xui32>, tensor<32xbf16>, tensor<32xbf16>) -> tensor<32xui32>
  return
}

// -----

func.func @case_10(%a0: tensor<1x1x32x64xbf16>, %a1: tensor<1x1x32x64xsi32>, %a2: tensor<32xui32>, %a3: tensor<32xbf16>, %a4: tensor<32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.sampling' op result must be 4D [1, 1, 1, batch]}}
  %r = "ttnn.sampling"(%a0, %a1, %a2, %a3, %a4) : (tensor<1x1x32x64xbf16>, tensor<1x1x32x64xsi32>, tensor<32xui32>, tensor<32xbf16>, tensor<32xbf16>) -> tensor<1x2x1x32xui32>
  return
}

// -----

func.func @case_11(%a0: tensor<1x1x32x64xbf16>, %a1: tensor<1x1x32x64xsi32>, %a2: tensor<32xui32>, %a3: tensor<32xbf16>, %a4: tensor<32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.sampling' op result must be 4D [1, 1, 1, batch]}}
  %r = "ttnn.sampling"(%a0, %a1, %a2, %a3, %a4) : (tensor<1x1x32x64xbf16>, tensor<1x1x32x64xsi32>, tensor<32xui32>, tensor<32xbf16>, tensor<32xbf16>) -> tensor<1x1x1x16xui32>
  return
}

// -----

func.func @case_12(%a0: tensor<4x8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.sort' op Expected integer data type for indices but got 'f32'}}
  %r:2 = "ttnn.sort"(%a0) <{dim = 1 : si8, descending = false, stable = false}> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// -----

func.func @case_13(%a0: tensor<4x8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.pow_scalar' op exponent must be non-negative; but got -2.0}}
  %r = "ttnn.pow_scalar"(%a0) <{rhs = -2.0 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case_14(%a0: tensor<4x8xf32>, %a1: tensor<8x4xf32>, %a2: tensor<4xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.linear' op Output shape(4,8) must match the broadcasted shape(4,4)}}
  %r = "ttnn.linear"(%a0, %a1, %a2) : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case_15(%a0: tensor<4x8xf32>, %a1: tensor<8x5xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.matmul' op SwiGLU matmul requires an even output width}}
  %r = "ttnn.matmul"(%a0, %a1) {ttnn.fused_swiglu} : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @case_16(%a0: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rand' op 'low' value must be < 'high' value}}
  %r = "ttnn.rand"(%a0) <{size = #ttnn.shape<4x8>, low = 1.0 : f32, high = 0.0 : f32, seed = 0 : ui32}> : (!ttnn.device) -> tensor<4x8xf32>
  return
}

// -----

func.func @case_17(%a0: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rand' op size argument does not match with output tensor shape. [Size = (8, 4), output tensor shape = (4, 8)]}}
  %r = "ttnn.rand"(%a0) <{size = #ttnn.shape<8x4>, low = 0.0 : f32, high = 1.0 : f32, seed = 0 : ui32}> : (!ttnn.device) -> tensor<4x8xf32>
  return
}
