// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s | ttmlir-opt - | FileCheck %s
// The spelling of 2026: views with maps of their own, threads that do all, circular buffers by
// number, blocks by index, and generics side by side.

#dram = #ttcore.memory_space<dram>
#l1 = #ttcore.memory_space<l1>
// CHECK-DAG: #[[LAYOUT:layout[0-9]*]] = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = dense<[{{\[}}0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
#layout = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
#map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SWAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>
#swap = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>
#parallel = #ttcore.iterator_type<parallel>
!tile = !ttcore.tile<32x32, bf16>
!whole = tensor<2x2x1x2x!tile, #layout>
!block = tensor<1x2x!tile>
!remote = memref<2x2x1x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>
!local = memref<1x2x!tile, #ttcore.cb_layout<4096x2048, 2>, #l1>
!shard = memref<1x2x!tile, #l1>

// CHECK-LABEL: func.func private @layouts
// CHECK-SAME: #ttcore.view<4>
func.func private @layouts(memref<2x2x1x2x!tile, #ttcore.view<4>, #l1>) attributes {padding = #ttcore.oob_val<zero>}

// CHECK-LABEL: func.func @view
func.func @view(%arg0: !whole) -> tensor<2x2x2x1x!tile, #layout> {
  // CHECK: %[[VIEW:.*]] = d2m.view_layout %arg0 remapping = #[[SWAP]] : tensor<2x2x1x2x!ttcore.tile<32x32, bf16>, #[[LAYOUT]]> -> tensor<2x2x2x1x!ttcore.tile<32x32, bf16>, #[[LAYOUT]]>
  %0 = d2m.view_layout %arg0 remapping = #swap : !whole -> tensor<2x2x2x1x!tile, #layout>
  return %0 : tensor<2x2x2x1x!tile, #layout>
}

// CHECK-LABEL: func.func @host
func.func @host(%arg0: tensor<64x128xbf16>, %arg1: tensor<2x2x32x64xbf16, #layout>) -> tensor<64x128xbf16> {
  // CHECK: d2m.to_device %arg0, %arg1 layout = #[[LAYOUT]] : tensor<64x128xbf16> into tensor<2x2x32x64xbf16, #[[LAYOUT]]> -> tensor<2x2x32x64xbf16, #[[LAYOUT]]>
  %0 = d2m.to_device %arg0, %arg1 layout = #layout : tensor<64x128xbf16> into tensor<2x2x32x64xbf16, #layout> -> tensor<2x2x32x64xbf16, #layout>
  // CHECK: d2m.to_host
  %1 = d2m.to_host %0, %arg0 layout = #layout : tensor<2x2x32x64xbf16, #layout> into tensor<64x128xbf16> -> tensor<64x128xbf16>
  return %1 : tensor<64x128xbf16>
}

// CHECK-LABEL: func.func @unified
func.func @unified(%arg0: !whole, %sem: !d2m.global_semaphore) -> !whole {
  %out = d2m.empty() : !whole
  // CHECK: d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, {{.*}}threads = [#d2m.thread<unified>]}
  // CHECK-NEXT: ins(%arg0 : tensor
  // CHECK-NEXT: outs(%{{.*}} : tensor
  // CHECK-NEXT: additionalArgs(%arg1 : !d2m.global_semaphore)
  %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<unified>]}
      ins(%arg0 : !whole)
      outs(%out : !whole)
      additionalArgs(%sem : !d2m.global_semaphore) {
    // CHECK: %[[I:.*]] = d2m.block_index(0) : index
    %i = d2m.block_index(0) : index
    %j = d2m.block_index(1) : index
    %buffer = tensor.empty() : !block
    // CHECK: d2m.remote_load %{{.*}} %arg0[%[[I]], %{{.*}}] : tensor<1x2x!ttcore.tile<32x32, bf16>>, tensor<2x2x1x2x!ttcore.tile<32x32, bf16>, #[[LAYOUT]]> -> tensor<1x2x!ttcore.tile<32x32, bf16>>
    %x = d2m.remote_load %buffer %arg0[%i, %j] : !block, !whole -> !block
    // CHECK: d2m.remote_store %{{.*}}[%[[I]], %{{.*}}] %{{.*}} : tensor<2x2x1x2x!ttcore.tile<32x32, bf16>, #[[LAYOUT]]>, tensor<1x2x!ttcore.tile<32x32, bf16>> -> tensor<2x2x1x2x!ttcore.tile<32x32, bf16>, #[[LAYOUT]]>
    %y = d2m.remote_store %out[%i, %j] %x : !whole, !block -> !whole
    d2m.yield %y : (!whole)
  } : !whole
  return %0 : !whole
}

// CHECK-LABEL: func.func @threads
func.func @threads(%arg0: !remote, %arg1: !remote) {
  // CHECK: threads = [#d2m.thread<datamovement, dm_core = 0>, #d2m.thread<compute>, #d2m.thread<datamovement, dm_core = 1>]
  d2m.generic {block_factors = [], grid = #ttcore.grid<2x2>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<datamovement, dm_core = 0>, #d2m.thread<compute>, #d2m.thread<datamovement, dm_core = 1>]}
      ins(%arg0 : !remote)
      outs(%arg1 : !remote) {
    %c0 = arith.constant 0 : index
    // CHECK: %[[CB:.*]] = d2m.get_cb(0) : !d2m.cb<memref<1x2x!ttcore.tile<32x32, bf16>, #l1>>
    %cb = d2m.get_cb(0) : !d2m.cb<!shard>
    // CHECK: d2m.get_block_factor(0) : index
    %n = d2m.get_block_factor(0) : index
    // CHECK: d2m.block_offset(1) : index
    %o = d2m.block_offset(1) : index
    // CHECK: d2m.mesh_position(0) : index
    %p = d2m.mesh_position(0) : index
    // CHECK: d2m.remote_load %arg0[%{{.*}}, %{{.*}}] into %[[CB]] mcore[%{{.*}}, %{{.*}}] mshape[%{{.*}}, %{{.*}}] : memref<2x2x1x2x!ttcore.tile<32x32, bf16>, #ttcore.shard<4096x2048, 1>, #l1> into !d2m.cb<memref<1x2x!ttcore.tile<32x32, bf16>, #l1>>
    d2m.remote_load %arg0[%c0, %o] into %cb mcore[%c0, %c0] mshape[%n, %n] : !remote into !d2m.cb<!shard>
    // CHECK: d2m.remote_load {{.*}} mcast[%{{.*}}] :
    d2m.remote_load %arg0[%c0, %o] into %cb mcast[%c0] : !remote into !d2m.cb<!shard>
    // CHECK: d2m.push %[[CB]] : !d2m.cb<
    d2m.push %cb : <!shard>
  }, {
    %in = d2m.get_cb(0) : !d2m.cb<!shard>
    %x = d2m.wait %in : <!shard> -> !shard
    // CHECK: d2m.pop %{{.*}} : !d2m.cb<
    d2m.pop %in : !d2m.cb<!shard>
  }, {
    %c0 = arith.constant 0 : index
    %out = d2m.get_cb(1) : !d2m.cb<!shard>
    // CHECK: d2m.remote_store %arg1[%{{.*}}, %{{.*}}] from %{{.*}} : memref<{{.*}}> from !d2m.cb<
    d2m.remote_store %arg1[%c0, %c0] from %out : !remote from !d2m.cb<!shard>
  }
  return
}

// CHECK-LABEL: func.func @spatial
func.func @spatial(%arg0: !remote, %arg1: !remote, %arg2: !remote) {
  // CHECK: d2m.spatial {grid_ranges = [#ttcore.core_range<(0,0), (1,1)>, #ttcore.core_range<(2,2), (3,3)>]}
  // CHECK-NEXT: ins(%arg0 :
  // CHECK-NEXT: outs(%arg1, %arg2 :
  d2m.spatial {grid_ranges = [#ttcore.core_range<(0, 0), (1, 1)>, #ttcore.core_range<(2,2), (3,3)>]}
      ins(%arg0 : !remote)
      outs(%arg1, %arg2 : !remote, !remote) {
    // CHECK: d2m.spatial_yield
    d2m.spatial_yield
  }, {
    d2m.spatial_yield
  }
  return
}

// CHECK-LABEL: func.func @alias
func.func @alias(%arg0: !remote) {
  // CHECK: d2m.operand_alias %arg0 : memref<2x2x1x2x!ttcore.tile<32x32, bf16>, #ttcore.shard<4096x2048, 1>, #l1> -> memref<1x2x!ttcore.tile<32x32, bf16>, #ttcore.cb_layout<4096x2048, 2>, #l1>
  %0 = d2m.operand_alias %arg0 : !remote -> !local
  return
}
