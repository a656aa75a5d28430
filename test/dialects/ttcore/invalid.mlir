// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Layouts that do not fit together, and types whose shapes do not fit their layouts.

// expected-error@+1 {{dim_alignments size (1) must match logical_shape rank (2)}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32, collapsed_intervals = dense<[[0, 1]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{dim_alignments[0] must be positive, got 0}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 0x32, collapsed_intervals = dense<[[0, 1]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{expected ascending intervals of 2 dimensions that do not overlap, got [1, -1)}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[1, -1]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{collapsed_intervals must be a 2D array, got rank 1}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[0, 1]> : tensor<2xi64>, undef, l1>

// -----

// expected-error@+1 {{expected ::mlir::tt::ttcore::MemorySpace to be one of: system, mmio, dram, l1, dst}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1]]> : tensor<1x2xi64>, undef, l2>

// -----

// expected-error@+1 {{the index map of a layout gives the coordinates of a grid and a shard, got '(d0) -> (d0)'}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1]]> : tensor<1x2xi64>, undef, l1, index_map = (d0) -> (d0)>

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
// expected-error@+1 {{a tensor with this layout has a static shape of 4 dimensions, grid and shard, got '2x3'}}
func.func private @rank(tensor<2x3x!ttcore.tile<32x32, bf16>, #layout>)

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
// expected-error@+1 {{a grid of 1x2 does not divide 2x3 tiles}}
func.func private @grid(tensor<1x2x2x2x!ttcore.tile<32x32, bf16>, #layout>)

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
// expected-error@+1 {{on a grid of 2x1, a tensor with this layout has shards of 1x3, got 2x3}}
func.func private @shard(tensor<2x1x2x3x!ttcore.tile<32x32, bf16>, #layout>)

// -----

#layout = #ttcore.metal_layout<logical_shape = 33x96, dim_alignments = 1x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
// expected-error@+1 {{physical extents 33x96 do not divide into tiles of 32x32; align the last two dimensions to tiles}}
func.func private @tiles(tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>)

// -----

#layout = #ttcore.metal_layout<logical_shape = 96, dim_alignments = 32, collapsed_intervals = dense<> : tensor<0x2xi64>, undef, l1>
// expected-error@+1 {{a tensor of tiles has two physical dimensions or more}}
func.func private @vector(tensor<1x3x!ttcore.tile<32x32, bf16>, #layout>)

// -----

// expected-error@+1 {{a memref with a device layout has a static shape of even rank, grid and shard, got '1x2x3'}}
func.func private @odd(memref<1x2x3xf32, #ttcore.view<map(3)>>)

// -----

// expected-error@+1 {{expected 2 strides, one for each dimension of the shard, got 1}}
func.func private @strides(memref<1x1x2x3xf32, #ttcore.shard<4>>)

// -----

// expected-error@+1 {{expected one buffer or more}}
func.func private @buffers(memref<1x1x2x3xf32, #ttcore.shard<12x4, 0>>)

// -----

// expected-error@+1 {{an interleaved memref has a grid of ones, got '2x1'}}
func.func private @interleaved(memref<2x1x2x3xf32, #ttcore.interleaved<12x4>>)

// -----

// expected-error@+1 {{expected a map of 4 dimensions, got 2}}
func.func private @view(memref<1x1x2x3xf32, #ttcore.view<map(2)>>)

// -----

// expected-error@+1 {{expected 1 strides, got 2}}
func.func private @host(memref<33xf32, #ttcore.host_layout<logical_shape = 33, host_strides = 96x1, host_volume = 6144>>)

// -----

// expected-error@+1 {{expected a memref of rank 2, got 1}}
func.func private @host_rank(memref<33xf32, #ttcore.host_layout<logical_shape = 33x70, host_strides = 96x1, host_volume = 6144>>)

// -----

// expected-error@+2 {{failed to parse TT_IteratorTypeAttr parameter 'value' which is to be a `::mlir::tt::IteratorType`}}
// expected-error@+1 {{expected ::mlir::tt::IteratorType to be one of: parallel, systolic, broadcast, reduction}}
#kind = #ttcore.iterator_type<sequential>

// -----

// expected-error@+1 {{op Expected exactly one ModuleOp but found 0}}
ttcore.device_module {
}

// -----

// expected-error@+1 {{collapsed_intervals must have pairs (second dim size 2), got 3}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1, 2]]> : tensor<1x3xi64>, undef, l1>

// -----

// expected-error@+1 {{collapsed_intervals start index -3 (normalized: -1) is out of bounds for logical_shape rank 2}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[-3, 1]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{collapsed_intervals start index 2 (normalized: 2) is out of bounds for logical_shape rank 2}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[2, 2]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{collapsed_intervals end index -4 (normalized: -2) is out of bounds for logical_shape rank 2}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, -4]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{collapsed_intervals end index 3 (normalized: 3) is out of bounds for logical_shape rank 2}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 3]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{collapsed_intervals start (1) must not exceed end (-2)}}
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[1, -2]]> : tensor<1x2xi64>, undef, l1>

// -----

// expected-error@+1 {{expected positive worker grid dimensions}}
#device = #ttcore.device<workerGrid = #ttcore.grid<0x8, (d0, d1) -> (0, d0, d1)>, dramGrid = #ttcore.grid<1x12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, d1, d2 + s5), meshShape = 1x1, chipIds = [0]>

// -----

// expected-error@+1 {{expected positive dram grid dimensions}}
#device = #ttcore.device<workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, dramGrid = #ttcore.grid<1x0>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, d1, d2 + s5), meshShape = 1x1, chipIds = [0]>

// -----

// expected-error@+1 {{expected 2D dram grid, got 1D}}
#device = #ttcore.device<workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, dramGrid = #ttcore.grid<12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, d1, d2 + s5), meshShape = 1x1, chipIds = [0]>

// -----

// expected-error@+1 {{expected meshTopology size to match meshShape rank}}
#device = #ttcore.device<workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, dramGrid = #ttcore.grid<1x12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, d1, d2 + s5), meshShape = 1x2, chipIds = [0, 1], meshTopology = [linear]>

// -----

// expected-error@+1 {{Start coordinates #ttcore<core_coord 2x0> must be less than or equal to end coordinates #ttcore<core_coord 1x3>}}
module attributes {cores = #ttcore.core_range<(2,0), (1,3)>} {}

// -----

// expected-error@+1 {{Start coordinates #ttcore<core_coord 0x3> must be less than or equal to end coordinates #ttcore<core_coord 2x1>}}
module attributes {cores = #ttcore.core_range<(0,3), (2,1)>} {}

// -----

// expected-error@+1 {{start coordinates #ttcore<core_coord -1x0> must be non-negative}}
module attributes {cores = #ttcore.core_range<(-1,0), (1,3)>} {}

// -----

// expected-error@+1 {{end coordinates #ttcore<core_coord 1x-3> must be non-negative}}
module attributes {cores = #ttcore.core_range<(0,0), (1,-3)>} {}
