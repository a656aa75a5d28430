// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these operations.

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x4x64x32xui32>, %a1: tensor<1x4x8x32xbf16>) {
  // expected-error@+1 {{'ttir.fill_cache' op Cache and input tensors must have the same dtype. Got cache dtype = u32, input dtype = bf16}}
  "ttir.fill_cache"(%a0, %a1) <{batch_offset = 0 : i32}> : (tensor<1x4x64x32xui32>, tensor<1x4x8x32xbf16>) -> ()
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x4x64x32xbf16>, %a1: tensor<1x4x8x32xi32>) {
  // expected-error@+1 {{'ttnn.fill_cache' op Cache and input tensors must have the same dtype. Got cache dtype = bf16, input dtype = si32}}
  "ttnn.fill_cache"(%a0, %a1) <{batch_offset = 0 : i32}> : (tensor<1x4x64x32xbf16>, tensor<1x4x8x32xi32>) -> ()
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x5x64x32xbf16>, %a1: tensor<1x4x1x32xbf16>, %a2: tensor<1xi32>) {
  // expected-error@+1 {{'ttir.update_cache' op Cache tensor shape must match input tensor shape on dims 1 and 3. Got cache shape (1, 5, 64, 32), input shape ()1x4x1x32)}}
  "ttir.update_cache"(%a0, %a1, %a2) <{batch_offset = 0 : i32}> : (tensor<1x5x64x32xbf16>, tensor<1x4x1x32xbf16>, tensor<1xi32>) -> ()
  return
}
