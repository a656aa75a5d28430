// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Losses, and gradients of softmax and of embeddings. The module says that it is of a later year.

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x5x7xbf16>, %a1: tensor<2x5xui32>) {
  // expected-error@+1 {{'ttnn.cross_entropy_fw' op input must be a 4D tensor (N, 1, H, W), got rank 3}}
  %r = "ttnn.cross_entropy_fw"(%a0, %a1) : (tensor<2x5x7xbf16>, tensor<2x5xui32>) -> tensor<2x5x1xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x3x5x7xbf16>, %a1: tensor<2x5xui32>) {
  // expected-error@+1 {{'ttnn.cross_entropy_fw' op input dim 1 must be 1, got 3}}
  %r = "ttnn.cross_entropy_fw"(%a0, %a1) : (tensor<2x3x5x7xbf16>, tensor<2x5xui32>) -> tensor<2x3x5x1xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x5x7xbf16>, %a1: tensor<5xui32>) {
  // expected-error@+1 {{'ttnn.cross_entropy_fw' op target must be a 2D tensor (N, H), got rank 1}}
  %r = "ttnn.cross_entropy_fw"(%a0, %a1) : (tensor<2x1x5x7xbf16>, tensor<5xui32>) -> tensor<2x1x5x1xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x5x7xbf16>, %a1: tensor<3x5xui32>) {
  // expected-error@+1 {{'ttnn.cross_entropy_fw' op target dim 0 (3) must match input dim 0 (2)}}
  %r = "ttnn.cross_entropy_fw"(%a0, %a1) : (tensor<2x1x5x7xbf16>, tensor<3x5xui32>) -> tensor<2x1x5x1xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x5x7xbf16>, %a1: tensor<2x7xui32>) {
  // expected-error@+1 {{'ttnn.cross_entropy_fw' op target dim 1 (7) must match input dim 2 (5)}}
  %r = "ttnn.cross_entropy_fw"(%a0, %a1) : (tensor<2x1x5x7xbf16>, tensor<2x7xui32>) -> tensor<2x1x5x1xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x5x7xbf16>, %a1: tensor<2x5xbf16>) {
  // expected-error@+1 {{'ttnn.cross_entropy_fw' op target must have an integer element type, got 'bf16'}}
  %r = "ttnn.cross_entropy_fw"(%a0, %a1) : (tensor<2x1x5x7xbf16>, tensor<2x5xbf16>) -> tensor<2x1x5x1xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x5x7xbf16>, %a1: tensor<2x5xui32>) {
  // expected-error@+1 {{'ttnn.cross_entropy_fw' op result shape must be input shape with the last dimension set to 1, expected 2, 1, 5, 1, got 2, 1, 5, 7}}
  %r = "ttnn.cross_entropy_fw"(%a0, %a1) : (tensor<2x1x5x7xbf16>, tensor<2x5xui32>) -> tensor<2x1x5x7xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x5x7xbf16>, %a1: tensor<2x5xui32>, %a2: tensor<1x1xbf16>) {
  // expected-error@+1 {{'ttnn.cross_entropy_bw' op grad must be a (1, 1, 1, 1) tensor, got 1, 1}}
  %r = "ttnn.cross_entropy_bw"(%a0, %a1, %a2) <{scaler = 1.0 : f32}> : (tensor<2x1x5x7xbf16>, tensor<2x5xui32>, tensor<1x1xbf16>) -> tensor<2x1x5x7xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x5x7xbf16>, %a1: tensor<2x5xui32>, %a2: tensor<1x1x1x1xbf16>) {
  // expected-error@+1 {{'ttnn.cross_entropy_bw' op result shape must match input shape, expected 2, 1, 5, 7, got 2, 1, 5, 1}}
  %r = "ttnn.cross_entropy_bw"(%a0, %a1, %a2) <{scaler = 1.0 : f32}> : (tensor<2x1x5x7xbf16>, tensor<2x5xui32>, tensor<1x1x1x1xbf16>) -> tensor<2x1x5x1xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<7xbf16>, %a1: tensor<7xbf16>) {
  // expected-error@+1 {{'ttnn.softmax_backward' op softmax_output must have rank at least 2}}
  %r = "ttnn.softmax_backward"(%a0, %a1) <{dimension = 0 : si32}> : (tensor<7xbf16>, tensor<7xbf16>) -> tensor<7xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<5x7xbf16>, %a1: tensor<7x5xbf16>) {
  // expected-error@+1 {{'ttnn.softmax_backward' op grad shape must match softmax_output shape}}
  %r = "ttnn.softmax_backward"(%a0, %a1) <{dimension = 1 : si32}> : (tensor<5x7xbf16>, tensor<7x5xbf16>) -> tensor<5x7xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<5x7xbf16>, %a1: tensor<5x7xbf16>) {
  // expected-error@+1 {{'ttnn.softmax_backward' op result element type must match softmax_output element type}}
  %r = "ttnn.softmax_backward"(%a0, %a1) <{dimension = 1 : si32}> : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xf32>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<5x7xf16>, %a1: tensor<5x7xf16>) {
  // expected-error@+1 {{'ttnn.softmax_backward' op only bf16 and f32 element types are supported}}
  %r = "ttnn.softmax_backward"(%a0, %a1) <{dimension = 1 : si32}> : (tensor<5x7xf16>, tensor<5x7xf16>) -> tensor<5x7xf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<5x7xbf16>, %a1: tensor<5x7xbf16>) {
  // expected-error@+1 {{'ttnn.softmax_backward' op dimension must select the last dimension}}
  %r = "ttnn.softmax_backward"(%a0, %a1) <{dimension = 0 : si32}> : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<2x5x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient must be a 4D tensor}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<2x1x1x32xui32>, tensor<40x32xbf16>, tensor<2x5x32xbf16>) -> tensor<40x32xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x2x5x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient must be in the form (1, 1, R, C)}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<2x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x2x5x32xbf16>) -> tensor<40x32xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x5x32xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient dim 2 must equal index_shape[0] * index_shape[-1]}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<2x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x5x32xbf16>) -> tensor<40x32xbf16>
  return
}
}

// -----

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
func.func @main(%a0: tensor<2x1x1x32xui32>, %a1: tensor<40x32xbf16>, %a2: tensor<1x1x64x33xbf16>) {
  // expected-error@+1 {{'ttnn.embedding_bw' op Input gradient second dimension must match the second dimension of the weight tensor}}
  %r = "ttnn.embedding_bw"(%a0, %a1, %a2) : (tensor<2x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x64x33xbf16>) -> tensor<40x32xbf16>
  return
}
}
