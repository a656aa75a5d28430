// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Rotations by positions whose cosines, sines or matrices do not fit.

func.func @case_0(%a0: tensor<1x8x32x64xbf16>, %a1: tensor<1x1x32x64xbf16>, %a2: tensor<1x1x32x64xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding' op cos and sin tensor dtypes must match.}}
  %r = "ttnn.rotary_embedding"(%a0, %a1, %a2) : (tensor<1x8x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x32x64xf32>) -> tensor<1x8x32x64xbf16>
  return
}

// -----

func.func @case_1(%a0: tensor<1x8x32x64xbf16>, %a1: tensor<1x1x32x64xbf16>, %a2: tensor<1x1x64x64xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding' op cos and sin tensor shapes must match.}}
  %r = "ttnn.rotary_embedding"(%a0, %a1, %a2) : (tensor<1x8x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x64x64xbf16>) -> tensor<1x8x32x64xbf16>
  return
}

// -----

func.func @case_2(%a0: tensor<8x32x64xbf16>, %a1: tensor<1x1x32x64xbf16>, %a2: tensor<1x1x32x64xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding' op all input and output tensors must be 4D tensors.}}
  %r = "ttnn.rotary_embedding"(%a0, %a1, %a2) : (tensor<8x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x32x64xbf16>) -> tensor<8x32x64xbf16>
  return
}

// -----

func.func @case_3(%a0: tensor<1x8x32x64xbf16>, %a1: tensor<1x1x32x64xf32>, %a2: tensor<1x1x32x64xf32>, %a3: tensor<1x1x32x32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding_llama' op all input tensors must be bfloat16 type.}}
  %r = "ttnn.rotary_embedding_llama"(%a0, %a1, %a2, %a3) <{is_decode_mode = false}> : (tensor<1x8x32x64xbf16>, tensor<1x1x32x64xf32>, tensor<1x1x32x64xf32>, tensor<1x1x32x32xbf16>) -> tensor<1x8x32x64xbf16>
  return
}

// -----

func.func @case_4(%a0: tensor<1x8x32x64xbf16>, %a1: tensor<1x1x32x64xbf16>, %a2: tensor<1x1x64x64xbf16>, %a3: tensor<1x1x32x32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding_llama' op cos and sin tensors must have the same shape.}}
  %r = "ttnn.rotary_embedding_llama"(%a0, %a1, %a2, %a3) <{is_decode_mode = false}> : (tensor<1x8x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x64x64xbf16>, tensor<1x1x32x32xbf16>) -> tensor<1x8x32x64xbf16>
  return
}

// -----

func.func @case_5(%a0: tensor<1x8x32x512xbf16>, %a1: tensor<1x1x32x512xbf16>, %a2: tensor<1x1x32x512xbf16>, %a3: tensor<1x1x32x32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding_llama' op head dimension must be ≤ 256, got 512.}}
  %r = "ttnn.rotary_embedding_llama"(%a0, %a1, %a2, %a3) <{is_decode_mode = false}> : (tensor<1x8x32x512xbf16>, tensor<1x1x32x512xbf16>, tensor<1x1x32x512xbf16>, tensor<1x1x32x32xbf16>) -> tensor<1x8x32x512xbf16>
  return
}

// -----

func.func @case_6(%a0: tensor<1x8x32x64xbf16>, %a1: tensor<1x1x32x64xbf16>, %a2: tensor<1x1x32x64xbf16>, %a3: tensor<32x32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding_llama' op transformation matrix must be at least 4D tensor.}}
  %r = "ttnn.rotary_embedding_llama"(%a0, %a1, %a2, %a3) <{is_decode_mode = false}> : (tensor<1x8x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<32x32xbf16>) -> tensor<1x8x32x64xbf16>
  return
}

// -----

func.func @case_7(%a0: tensor<1x8x32x64xbf16>, %a1: tensor<1x1x32x64xbf16>, %a2: tensor<1x1x32x64xbf16>, %a3: tensor<1x1x32x32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding_llama' op output shape must match input shape.}}
  %r = "ttnn.rotary_embedding_llama"(%a0, %a1, %a2, %a3) <{is_decode_mode = false}> : (tensor<1x8x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x32x32xbf16>) -> tensor<1x8x64x64xbf16>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#rows_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #dram>, <interleaved>>
func.func @case_8(%a0: tensor<1x8x32x64xbf16, #rows_layout>, %a1: tensor<1x1x32x64xbf16>, %a2: tensor<1x1x32x64xbf16>, %a3: tensor<1x1x32x32xbf16>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rotary_embedding_llama' op all input tensors must have tiled layout.}}
  %r = "ttnn.rotary_embedding_llama"(%a0, %a1, %a2, %a3) <{is_decode_mode = false}> : (tensor<1x8x32x64xbf16, #rows_layout>, tensor<1x1x32x64xbf16>, tensor<1x1x32x64xbf16>, tensor<1x1x32x32xbf16>) -> tensor<1x8x32x64xbf16>
  return
}
