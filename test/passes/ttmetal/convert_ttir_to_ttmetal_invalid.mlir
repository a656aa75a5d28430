// What has no kernel, and what to do about it.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-allocate --convert-ttir-to-ttmetal --split-input-file --verify-diagnostics %s

#l1_ = #tt.memory_space<l1>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #l1_>>
#any = #tt.operand_constraint<any_device_tile>
func.func @exp(%a: tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles> {
  %0 = tensor.empty() : tensor<64x96xf32, #tiles>
  // expected-error @+1 {{'ttir.exp' op has no kernel; kernels are made of elementwise operations with one result (by ttir-generic=elementwise=true), ttir.broadcast and ttir.to_layout; use ttir-to-ttmetal-pipeline for most other operations, or ttir-to-ttnn-backend-pipeline}}
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<64x96xf32, #tiles>, tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles>
  return %1 : tensor<64x96xf32, #tiles>
}

// -----

#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1_>>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #l1_>>
func.func @unpadded(%a: tensor<33x70xf32, #rows>) -> tensor<33x70xf32, #tiles> {
  %0 = tensor.empty() : tensor<33x70xf32, #tiles>
  // expected-error @+1 {{'ttir.to_layout' op a shard of 33x70 is not the 2x3 tiles of the other layout; let the memref of the rows be 64x96, the rest being padding}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<33x70xf32, #rows>, tensor<33x70xf32, #tiles>) -> tensor<33x70xf32, #tiles>
  return %1 : tensor<33x70xf32, #tiles>
}

// -----

#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #l1_>>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x3>, memref<2x1x!tt.tile<32x32, f32>, #l1_>>
func.func @compound(%a: tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #tiles> {
  %0 = tensor.empty() : tensor<64x96xf32, #tiles>
  // expected-error @+1 {{'ttir.to_layout' op changes the elements and the grid; run ttir-split-compound-layout before ttir-allocate}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #rows>, tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles>
  return %1 : tensor<64x96xf32, #tiles>
}

// -----

#l1_ = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #system>>
#halves = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x1>, memref<32x96xf32, #l1_>>
func.func @upload(%a: tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #halves> {
  %0 = tensor.empty() : tensor<64x96xf32, #halves>
  // expected-error @+1 {{'ttir.to_layout' op moves between host and device and changes the layout as well; do one after the other, as ttir-split-compound-layout does}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #rows>, tensor<64x96xf32, #halves>) -> tensor<64x96xf32, #halves>
  return %1 : tensor<64x96xf32, #halves>
}

// -----

#system = #tt.memory_space<system>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #system>>
func.func @on_host(%a: tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #rows> {
  %0 = tensor.empty() : tensor<64x96xf32, #rows>
  // expected-error @+1 {{'ttir.to_layout' op moves from host to host; use the tensor where it is}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #rows>, tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #rows>
  return %1 : tensor<64x96xf32, #rows>
}

// -----

#dram = #tt.memory_space<dram>
#l1_ = #tt.memory_space<l1>
#far = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #dram>, interleaved>
#near = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #l1_>>
func.func @interleaved(%a: tensor<64x96xf32, #far>) -> tensor<64x96xf32, #near> {
  %0 = tensor.empty() : tensor<64x96xf32, #near>
  // expected-error @+1 {{'ttir.to_layout' op changes the memory layout from interleaved to none; kernels find shards by the grid alone, so let both layouts have the same one}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #far>, tensor<64x96xf32, #near>) -> tensor<64x96xf32, #near>
  return %1 : tensor<64x96xf32, #near>
}

// -----

#dram = #tt.memory_space<dram>
#far = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #dram>>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #dram>>
func.func @in_dram(%a: tensor<64x96xf32, #far>) -> tensor<64x96xf32, #tiles> {
  %0 = tensor.empty() : tensor<64x96xf32, #tiles>
  // expected-error @+1 {{'ttir.to_layout' op changes elements in dram; kernels do so in l1, so move the tensor there before}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #far>, tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles>
  return %1 : tensor<64x96xf32, #tiles>
}

// -----

#dram = #tt.memory_space<dram>
#one = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #dram>>
#two = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x1>, memref<32x96xf32, #dram>>
func.func @dram_to_dram(%a: tensor<64x96xf32, #one>) -> tensor<64x96xf32, #two> {
  %0 = tensor.empty() : tensor<64x96xf32, #two>
  // expected-error @+1 {{'ttir.to_layout' op one of the two tensors is in L1: move it from DRAM to L1 first}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #one>, tensor<64x96xf32, #two>) -> tensor<64x96xf32, #two>
  return %1 : tensor<64x96xf32, #two>
}

// -----

#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #l1_>>
#shorts = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, bf16>, #l1_>>
func.func @narrow(%a: tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #shorts> {
  %0 = tensor.empty() : tensor<64x96xf32, #shorts>
  // expected-error @+1 {{'ttir.to_layout' op changes numbers from f32 to bf16 while it tiles; run ttir-split-compound-layout=formats-on-tiles=true before ttir-allocate}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #rows>, tensor<64x96xf32, #shorts>) -> tensor<64x96xf32, #shorts>
  return %1 : tensor<64x96xf32, #shorts>
}

// -----

#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xbf16, #l1_>>
#block = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, bfp_bf8>, #l1_>>
func.func @block_floats(%a: tensor<64x96xbf16, #rows>) -> tensor<64x96xbf16, #block> {
  %0 = tensor.empty() : tensor<64x96xbf16, #block>
  // expected-error @+1 {{'ttir.to_layout' op tiles are !tt.tile<32x32, bfp_bf8>; kernels make tiles of 32x32 of f32, f16, bf16, u32, u16, u8}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xbf16, #rows>, tensor<64x96xbf16, #block>) -> tensor<64x96xbf16, #block>
  return %1 : tensor<64x96xbf16, #block>
}

// -----

#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #l1_>>
func.func private @g(%a: tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #rows>
func.func @calls(%a: tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #rows> {
  // expected-error @+1 {{'func.call' op calls a function, which has its tensors at the same addresses; run inline, which takes functions of one block that do not call themselves}}
  %0 = call @g(%a) : (tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #rows>
  return %0 : tensor<64x96xf32, #rows>
}
