// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these operations.

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x2xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x10x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input's last dim must be divisible by TILE_WIDTH}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x2xui32>, tensor<40x32xbf16>, tensor<1x1x10x32xbf16>) -> tensor<40x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x10x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input index tensor must be a 4D tensor}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x10x32xbf16>) -> tensor<40x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x2x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x10x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input index tensor dims 1 and 2 must be 1, got shape (B, ?, ?, N) where ? must be 1}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x2x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x10x32xbf16>) -> tensor<40x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x160x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient must be a 4D tensor}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x160x32xbf16>) -> tensor<40x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x2x160x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient must be in the form (1, 1, R, C)}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x2x160x32xbf16>) -> tensor<40x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x161x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient dim 2 must equal index_shape[0] * index_shape[-1]}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x161x32xbf16>) -> tensor<40x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x160x33xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient second dimension must match the second dimension of the weight tensor}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x160x33xbf16>) -> tensor<40x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x160x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op expected output shape of (1, 1, 40, 32) but got (41, 32)}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x160x32xbf16>) -> tensor<41x32xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x160x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient and output must have the same dtype}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<5x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x160x32xbf16>) -> tensor<40x32xf32>
  return
}
