// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these operations.

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x4x33x64xf32>, %a1: tensor<1x4x32x64xf32>, %a2: tensor<1x4x32x64xf32>) {
  // expected-error@+1 {{'ttnn.sdpa_fw' op query sequence dimension (dim 2) must be a multiple of TILE_HEIGHT (32), but got 33}}
  %r = "ttnn.sdpa_fw"(%a0, %a1, %a2) <{mask_type = #ttcore.attention_mask_type<causal>}> : (tensor<1x4x33x64xf32>, tensor<1x4x32x64xf32>, tensor<1x4x32x64xf32>) -> tensor<1x4x33x64xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x4x32x64xf32>, %a1: tensor<1x4x32x65xf32>, %a2: tensor<1x4x32x64xf32>) {
  // expected-error@+1 {{'ttnn.sdpa_fw' op key head dimension (dim 3) must be a multiple of TILE_WIDTH (32), but got 65}}
  %r = "ttnn.sdpa_fw"(%a0, %a1, %a2) <{mask_type = #ttcore.attention_mask_type<causal>}> : (tensor<1x4x32x64xf32>, tensor<1x4x32x65xf32>, tensor<1x4x32x64xf32>) -> tensor<1x4x32x64xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<2x8x32x64xf32>, %a1: tensor<7x2x32x64xbf16>, %a2: tensor<7x2x32x64xf32>, %a3: tensor<2x4xsi32>, %a4: tensor<1xsi32>, %a5: tensor<2x8x32x64xf32>) {
  // expected-error@+1 {{'ttir.chunked_scaled_dot_product_attention' op Query, key, and value must have the same element type.}}
  %r = "ttir.chunked_scaled_dot_product_attention"(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<2x8x32x64xf32>, tensor<7x2x32x64xbf16>, tensor<7x2x32x64xf32>, tensor<2x4xsi32>, tensor<1xsi32>, tensor<2x8x32x64xf32>) -> tensor<2x8x32x64xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<2x8x32x64xsi32>, %a1: tensor<7x2x32x64xsi32>, %a2: tensor<7x2x32x64xsi32>, %a3: tensor<2x4xsi32>, %a4: tensor<1xsi32>, %a5: tensor<2x8x32x64xsi32>) {
  // expected-error@+1 {{'ttir.chunked_scaled_dot_product_attention' op Query, key, and value must be float tensors.}}
  %r = "ttir.chunked_scaled_dot_product_attention"(%a0, %a1, %a2, %a3, %a4, %a5) : (tensor<2x8x32x64xsi32>, tensor<7x2x32x64xsi32>, tensor<7x2x32x64xsi32>, tensor<2x4xsi32>, tensor<1xsi32>, tensor<2x8x32x64xsi32>) -> tensor<2x8x32x64xsi32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<2x8x32x64xf32>, %a1: tensor<7x2x32x64xf32>, %a2: tensor<7x2x32x64xbf16>, %a3: tensor<2x4xsi32>, %a4: tensor<1xsi32>) {
  // expected-error@+1 {{'ttnn.chunked_scaled_dot_product_attention' op Key and value must have the same shape and data type.}}
  %r = "ttnn.chunked_scaled_dot_product_attention"(%a0, %a1, %a2, %a3, %a4) : (tensor<2x8x32x64xf32>, tensor<7x2x32x64xf32>, tensor<7x2x32x64xbf16>, tensor<2x4xsi32>, tensor<1xsi32>) -> tensor<2x8x32x64xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<32x64xf32>, %a1: tensor<32x64xsi32>, %a2: tensor<32xui32>, %a3: tensor<32xf32>, %a4: tensor<32xf32>) {
  // expected-error@+1 {{'ttir.sampling' op result must be 1D [batch]}}
  %r = "ttir.sampling"(%a0, %a1, %a2, %a3, %a4) : (tensor<32x64xf32>, tensor<32x64xsi32>, tensor<32xui32>, tensor<32xf32>, tensor<32xf32>) -> tensor<33xui32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x1x32x64xf32>, %a1: tensor<1x1x32x64xsi32>, %a2: tensor<32xui32>, %a3: tensor<32xf32>, %a4: tensor<32xf32>) {
  // expected-error@+1 {{'ttnn.sampling' op result must be 4D [1, 1, 1, batch]}}
  %r = "ttnn.sampling"(%a0, %a1, %a2, %a3, %a4) : (tensor<1x1x32x64xf32>, tensor<1x1x32x64xsi32>, tensor<32xui32>, tensor<32xf32>, tensor<32xf32>) -> tensor<1x1x1x31xui32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<4x5xf32>, %a1: tensor<4x5xf32>) {
  // expected-error@+1 {{'ttir.tt_lang_op' op expected type of operand #1 ('tensor<4x5xf32>') to match type of corresponding result ('tensor<4x6xf32>')}}
  %r = "ttir.tt_lang_op"(%a0, %a1) <{arg_roles = "in,out", kernel_id = "k", version_tag = "1"}> : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x6xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<4x5xf32>) {
  // expected-error@+1 {{'ttir.collective_broadcast' op replica_groups must be a 2D array}}
  %r = "ttir.collective_broadcast"(%a0) <{replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<4x5xf32>) {
  // expected-error@+1 {{'ttir.collective_broadcast' op replica_groups values must be positive}}
  %r = "ttir.collective_broadcast"(%a0) <{replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
