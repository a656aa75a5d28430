// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s
// What norms of training and linear attention are refused for.

func.func @forward(%x: tensor<1x1x32x64xf32>, %w: tensor<1x1x1x64xf32>) {
  %0:3 = "ttnn.layernorm_fw"(%x, %w, %w) <{return_mean_rstd = true}> : (tensor<1x1x32x64xf32>, tensor<1x1x1x64xf32>, tensor<1x1x1x64xf32>) -> (tensor<1x1x32x64xf32>, tensor<1x1x32x1xf32>, tensor<1x1x32x1xf32>)
  // expected-error @+1 {{mean and rstd results must be present iff return_mean_rstd is true}}
  %1 = "ttnn.layernorm_fw"(%x, %w, %w) <{return_mean_rstd = true, resultSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<1x1x32x64xf32>, tensor<1x1x1x64xf32>, tensor<1x1x1x64xf32>) -> tensor<1x1x32x64xf32>
  return
}

// -----
func.func @scale(%x: tensor<1x1x32x64xf32>, %w: tensor<1x1x1x32xf32>, %m: tensor<1x1x32x1xf32>) {
  // expected-error @+1 {{gamma must have shape (1, 1, 1, 64)}}
  %0:3 = "ttnn.layernorm_bw"(%x, %w, %m, %m, %x) : (tensor<1x1x32x64xf32>, tensor<1x1x1x32xf32>, tensor<1x1x32x1xf32>, tensor<1x1x32x1xf32>, tensor<1x1x32x64xf32>) -> (tensor<1x1x32x64xf32>, tensor<1x1x1x32xf32>, tensor<1x1x1x32xf32>)
  return
}

// -----
func.func @root(%x: tensor<1x1x32x64xf32>, %w: tensor<1x1x1x64xf32>, %m: tensor<1x1x1x1xf32>) {
  // expected-error @+1 {{rms must have shape (B, N, S, 1)}}
  %0:2 = "ttnn.rmsnorm_bw"(%x, %w, %m, %x) : (tensor<1x1x32x64xf32>, tensor<1x1x1x64xf32>, tensor<1x1x1x1xf32>, tensor<1x1x32x64xf32>) -> (tensor<1x1x32x64xf32>, tensor<1x1x1x64xf32>)
  return
}

// -----
func.func @chunks(%q: tensor<1x64x2x64xf32>, %v: tensor<1x64x4x64xf32>, %g: tensor<1x64x4xf32>) {
  // expected-error @+1 {{chunk_size must be a positive multiple of 32}}
  %0 = "ttnn.chunk_gated_delta_rule"(%q, %q, %v, %g, %g) <{chunk_size = 48 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>}> : (tensor<1x64x2x64xf32>, tensor<1x64x2x64xf32>, tensor<1x64x4x64xf32>, tensor<1x64x4xf32>, tensor<1x64x4xf32>) -> tensor<1x64x4x64xf32>
  return
}

// -----
func.func @no_function(%x: tensor<4xf32>) {
  // expected-error @+1 {{Could not find D2M function '@kernels' in parent module.}}
  %0 = "ttnn.d2m_subgraph"(%x, %x) <{d2m_func = @kernels, operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
