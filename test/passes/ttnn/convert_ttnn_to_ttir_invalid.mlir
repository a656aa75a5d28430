// What cannot become a kernel is refused.
// RUN: ttmlir-opt --convert-ttnn-to-ttir --split-input-file --verify-diagnostics %s

#dram = #ttnn.buffer_type<dram>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @moves(%x: tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles> {
  // expected-error @+1 {{failed to legalize operation 'ttnn.to_memory_config': only operations that compute are marked with 'ttnn.hoist_generic_via_d2m'}}
  %0 = "ttnn.to_memory_config"(%x) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  return %0 : tensor<32x32xbf16, #tiles>
}

// -----

#dram = #ttnn.buffer_type<dram>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @no_layout(%x: tensor<32x32xbf16>) -> tensor<32x32xbf16, #tiles> {
  // expected-error @+1 {{failed to legalize operation 'ttnn.exp': the tensor tensor<32x32xbf16> has no layout; give it a '#ttnn.ttnn_layout'}}
  %0 = "ttnn.exp"(%x) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16>) -> tensor<32x32xbf16, #tiles>
  return %0 : tensor<32x32xbf16, #tiles>
}
