// What has no place among calls of ttnn is refused.
// RUN: ttmlir-opt --ttir-load-system-desc --convert-d2m-to-ttnn --split-input-file --verify-diagnostics %s

#ttnn_l1 = #ttnn.buffer_type<l1>
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn_l1>, <interleaved>>
#dram = #ttcore.memory_space<dram>
!tensor = tensor<32x32xf32, #layout>
!buffer = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.interleaved<4096x4096>, #dram>
func.func @in_l1(%a: !tensor) {
  // expected-error @+1 {{'ttir.ttnn_metal_layout_cast' op has a tensor of ttnn that is not in tiles in DRAM, }}
  %x = ttir.ttnn_metal_layout_cast %a : !tensor -> !buffer
  return
}

// -----

#dram = #ttcore.memory_space<dram>
!buffer = memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.interleaved<4096x4096>, #dram>
func.func @host(%a: memref<32x32xf32>) {
  %x = memref.alloc() {address = 1024 : i64, alignment = 32 : i64} : !buffer
  // expected-error @+1 {{'d2m.to_layout' op moves a tensor of the host; functions of ttnn take tensors on the device}}
  d2m.to_layout %a, %x : memref<32x32xf32> into !buffer
  return
}

// -----

#l1 = #ttcore.memory_space<l1>
#dram = #ttcore.memory_space<dram>
!tile = !ttcore.tile<32x32, f32>
!buffer = memref<1x1x1x1x!tile, #ttcore.interleaved<4096x4096>, #dram>
!cb = memref<1x1x1x1x!tile, #ttcore.shard<4096x4096>, #l1>
!view = memref<1x1x1x1x!tile, #ttcore.view<map(4)>, #dram>
func.func @no_tensor(%x: !buffer, %c: !cb) {
  %s = "d2m.stream_layout"(%x, %c) : (!buffer, !cb) -> !view
  // expected-error @+1 {{'d2m.generic' op has a buffer that 'memref.alloc' has not made, nor a cast of a tensor}}
  d2m.generic {block_factors = [], grid = #ttcore.grid<1x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute, @compute0>]} ins() outs(%s : !view)
  return
}
func.func private @compute0() attributes {ttkernel.thread = #ttkernel.thread<tensix>} {
  return
}
