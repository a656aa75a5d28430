// Functions that take and return tensors of the device.
// RUN: ttmlir-opt --ttcore-one-shot-bufferize %s | FileCheck %s

#l1 = #ttcore.metal_layout<logical_shape = 40x100, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
#dram = #ttcore.metal_layout<logical_shape = 40x100, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, dram, sharded>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
!tile = !ttcore.tile<32x32, f32>
!shard = tensor<2x4x!tile>
!in = tensor<1x1x2x4x!tile, #dram>
!out = tensor<1x1x2x4x!tile, #l1>

// The caller's buffer for the output stays as it was: what is written goes to one that begins with
// its contents.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %arg0: memref<1x1x2x4x!ttcore.tile<32x32, f32>, #ttcore.interleaved<16384x4096>, #dram>
// CHECK-SAME: %arg1: memref<1x1x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
// CHECK-SAME: -> memref<1x1x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
func.func @exp(%x: !in, %y: !out) -> !out {
  // CHECK: %[[OUT:.*]] = memref.alloc() : memref<1x1x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096>, #l1>
  // CHECK: d2m.generic
  // CHECK-NEXT: ins(%arg1 :
  // CHECK-NEXT: outs(%[[OUT]] :
  // CHECK: d2m.generic
  // CHECK-NEXT: ins(%arg0 :
  // CHECK-NEXT: outs(%[[OUT]] :
  // CHECK: ^compute0(%cb0: !d2m.cb<memref<2x4x!ttcore.tile<32x32, f32>, #l1>>
  // CHECK: d2m.tile_exp
  %r = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
      ins(%x : !in) outs(%y : !out) {
  ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>):
    %i = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
    %o = d2m.reserve %cb1 : !d2m.cb<!shard> -> !shard
    %l = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%i : !shard) outs(%o : !shard) {
    ^bb0(%t: !tile, %u: !tile):
      %v = "d2m.tile_exp"(%t) : (!tile) -> !tile
      linalg.yield %v : !tile
    } -> !shard
    d2m.yield %l : (!shard)
  } : !out
  // CHECK: return %[[OUT]]
  return %r : !out
}
