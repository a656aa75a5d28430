// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Statistics of norms and gradients of ttnn whose tensors do not fit.

func.func @case_0(%a0: tensor<64xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.layer_norm_pre_all_gather' op input tensor must have rank >= 2}}
  %r = "ttnn.layer_norm_pre_all_gather"(%a0) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<64xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @case_1(%a0: tensor<1x32x64xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.layer_norm_pre_all_gather' op input and output must have the same rank}}
  %r = "ttnn.layer_norm_pre_all_gather"(%a0) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @case_2(%a0: tensor<32x128xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.layer_norm_pre_all_gather' op output last dimension must be 64 (2 * TILE_WIDTH) for layernorm partial statistics, got 32}}
  %r = "ttnn.layer_norm_pre_all_gather"(%a0) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<32x128xf32>) -> tensor<32x32xf32>
  return
}

// -----

func.func @case_3(%a0: tensor<32x128xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.layer_norm_pre_all_gather' op output dimension 0 (64) must match input dimension (32)}}
  %r = "ttnn.layer_norm_pre_all_gather"(%a0) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<32x128xf32>) -> tensor<64x64xf32>
  return
}

// -----

func.func @case_4(%a0: tensor<1x32x64xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rms_norm_pre_all_gather' op input rank must match the output rank}}
  %r = "ttnn.rms_norm_pre_all_gather"(%a0) : (tensor<1x32x64xf32>) -> tensor<32x32xf32>
  return
}

// -----

func.func @case_5(%a0: tensor<64xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rms_norm_pre_all_gather' op input tensor must have rank greater than 1}}
  %r = "ttnn.rms_norm_pre_all_gather"(%a0) : (tensor<64xf32>) -> tensor<32xf32>
  return
}

// -----

func.func @case_6(%a0: tensor<1x64x128xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.rms_norm_pre_all_gather' op output dimension 1 (32) must match input dimension (64)}}
  %r = "ttnn.rms_norm_pre_all_gather"(%a0) : (tensor<1x64x128xf32>) -> tensor<1x32x32xf32>
  return
}

// -----

func.func @case_7(%a0: tensor<4x8xf32>, %a1: tensor<4x8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.gelu_bw' op approximate attribute must be either 'none' or 'tanh', but got 'fast'}}
  %r = "ttnn.gelu_bw"(%a0, %a1) <{approximate = "fast"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case_8(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.gelu_bw' op gradient tensor (lhs) must have rank 2, 3, or 4, but got rank 1}}
  %r = "ttnn.gelu_bw"(%a0, %a1) <{approximate = "none"}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @case_9(%a0: tensor<4x8xf32>, %a1: tensor<1x4x8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.gelu_bw' op gradient tensor (lhs) and input tensor (rhs) must have the same rank, but got lhs rank 2 and rhs rank 3}}
  %r = "ttnn.gelu_bw"(%a0, %a1) <{approximate = "none"}> : (tensor<4x8xf32>, tensor<1x4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @case_10(%a0: tensor<4x8xf32>, %a1: tensor<4x8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.gelu_bw' op result tensor must have rank 2, 3, or 4, but got rank 5}}
  %r = "ttnn.gelu_bw"(%a0, %a1) <{approximate = "none"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<1x1x1x4x8xf32>
  return
}

// -----

func.func @case_11(%a0: tensor<4x8xf32>, %a1: tensor<4x8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.gelu_bw' op input tensors and result tensor must have the same rank, but got input rank 2 and result rank 3}}
  %r = "ttnn.gelu_bw"(%a0, %a1) <{approximate = "none"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<1x4x8xf32>
  return
}
