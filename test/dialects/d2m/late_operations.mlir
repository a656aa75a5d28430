// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -

// Operations of 2026 beside those on blocks: masks, semaphores, scratch memory, other cores.

#l1 = #ttcore.memory_space<l1>
#layout = #ttcore.metal_layout<logical_shape = 50x50, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
#map = affine_map<(d0, d1) -> (d0, d1)>
!tile = !ttcore.tile<32x32, bf16>
!whole = tensor<1x1x2x2x!tile, #layout>
!remote = memref<1x1x2x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>
!local = memref<2x2x!tile, #l1>
!one = memref<1x1x!tile, #l1>

// CHECK-LABEL: func.func @mask
func.func @mask(%arg0: !whole, %arg1: !whole) -> !whole {
  // CHECK: d2m.mask %arg0, %arg1 logical_shape = [50, 50] fill_value = <neginf> : tensor<1x1x2x2x!ttcore.tile<32x32, bf16>, #layout> into tensor<1x1x2x2x!ttcore.tile<32x32, bf16>, #layout> -> tensor<1x1x2x2x!ttcore.tile<32x32, bf16>, #layout>
  %0 = d2m.mask %arg0, %arg1 logical_shape = [50, 50] fill_value = <neginf> : !whole into !whole -> !whole
  // CHECK: d2m.mask %0, %arg1 logical_shape = [50, 50] fill_value = <zero>
  %1 = "d2m.mask"(%0, %arg1) <{logical_shape = array<i64: 50, 50>, fill_value = #ttcore.oob_val<zero>}> : (!whole, !whole) -> !whole
  return %1 : !whole
}

// CHECK-LABEL: func.func @semaphores
func.func @semaphores(%arg0: !whole) {
  // CHECK: %[[GLOBAL:.*]] = d2m.create_global_semaphore(%arg0) {value = 0 : ui32} : tensor<1x1x2x2x!ttcore.tile<32x32, bf16>, #layout> -> !d2m.global_semaphore
  %0 = d2m.create_global_semaphore(%arg0) {value = 0 : ui32} : !whole -> !d2m.global_semaphore
  // CHECK: d2m.reset_global_semaphore(%[[GLOBAL]]) {value = 2 : ui32} : !d2m.global_semaphore
  d2m.reset_global_semaphore(%0) {value = 2 : ui32} : !d2m.global_semaphore
  // CHECK: d2m.create_local_semaphore {initial_value = 1 : ui32} : !d2m.local_semaphore
  %1 = d2m.create_local_semaphore {initial_value = 1 : ui32} : !d2m.local_semaphore
  return
}

// CHECK-LABEL: func.func @mover
func.func @mover(%local: !d2m.local_semaphore, %old: !d2m.semaphore, %global: !d2m.global_semaphore, %a: !local, %b: !local, %whole: !remote) attributes {d2m.thread = #d2m.thread<datamovement>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: d2m.semaphore_wait %arg0, %{{.*}} reset %{{.*}} : !d2m.local_semaphore
  d2m.semaphore_wait %local, %c1 reset %c0 : !d2m.local_semaphore
  // CHECK: d2m.semaphore_set %arg0, %{{.*}}, core[%{{.*}}, %{{.*}}] mcast[%{{.*}}, %{{.*}}] : !d2m.local_semaphore
  d2m.semaphore_set %local, %c1, core[%c0, %c0] mcast[%c1, %c1] : !d2m.local_semaphore
  // CHECK: d2m.semaphore_inc %arg1, %{{.*}}, core[%{{.*}}, %{{.*}}]{{$}}
  d2m.semaphore_inc %old, %c1, core[%c0, %c1]
  // CHECK: "d2m.device_synchronize"(%arg2, %{{.*}}) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (!d2m.global_semaphore, index, index, index) -> ()
  "d2m.device_synchronize"(%global, %c1, %c0, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (!d2m.global_semaphore, index, index, index) -> ()
  // CHECK: "d2m.core_read"(%arg3, %arg4, %{{.*}}, %{{.*}}) : ({{.*}}) -> !d2m.mem_tx
  %0 = "d2m.core_read"(%a, %b, %c0, %c1) : (!local, !local, index, index) -> !d2m.mem_tx
  d2m.dma_wait %0
  // CHECK: "d2m.core_write"(%arg3, %arg4, %{{.*}}, %{{.*}}) : ({{.*}}) -> !d2m.mem_tx
  %1 = "d2m.core_write"(%a, %b, %c0, %c1) : (!local, !local, index, index) -> !d2m.mem_tx
  d2m.dma_wait %1
  // CHECK: d2m.dma_read %arg5[%{{.*}}, %{{.*}}], %arg3, <0> : ({{.*}}) -> !d2m.mem_tx
  %2 = d2m.dma_read %whole[%c0, %c1], %a, <0> : (!remote, !local) -> !d2m.mem_tx
  d2m.dma_wait %2
  // CHECK: d2m.dma_write %arg3, %arg5[%{{.*}}, %{{.*}}], <0> : ({{.*}}) -> !d2m.mem_tx
  %3 = d2m.dma_write %a, %whole[%c0, %c1], <0> : (!local, !remote) -> !d2m.mem_tx
  d2m.dma_wait %3
  // CHECK: "d2m.local_copy"(%arg3, %arg4) <{indexing_maps = [#map, #map]}> : ({{.*}}) -> ()
  "d2m.local_copy"(%a, %b) <{indexing_maps = [#map, #map]}> : (!local, !local) -> ()
  return
}

// CHECK-LABEL: func.func @compute
func.func @compute(%a: !local, %b: !local, %row: !one, %column: !one) attributes {d2m.thread = #d2m.thread<compute>} {
  %n = arith.constant 18 : index
  %true = arith.constant true
  // CHECK: d2m.scratch_init %arg0 : memref<2x2x!ttcore.tile<32x32, bf16>, #l1>
  d2m.scratch_init %a : !local
  // CHECK: d2m.scratch_allocate {slot = 1 : i64} : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
  %0 = d2m.scratch_allocate {slot = 1 : i64} : !one
  // CHECK: d2m.await %arg0 : (memref<2x2x!ttcore.tile<32x32, bf16>, #l1>)
  d2m.await %a : (!local)
  // CHECK: "d2m.write_row_mask_tile"(%{{.*}}, %arg2)
  "d2m.write_row_mask_tile"(%n, %row) : (index, !one) -> ()
  // CHECK: "d2m.write_col_mask_tile"(%{{.*}}, %arg3)
  "d2m.write_col_mask_tile"(%n, %column) : (index, !one) -> ()
  // CHECK: "d2m.block_mask"(%arg0, %arg1, %arg2, %arg3, %{{.*}}, %{{.*}}) <{fill_value = #ttcore.oob_val<inf>}>
  "d2m.block_mask"(%a, %b, %row, %column, %n, %n) <{fill_value = #ttcore.oob_val<inf>}> : (!local, !local, !one, !one, index, index) -> ()
  // CHECK: "d2m.fill_arange_tile"(%arg2)
  "d2m.fill_arange_tile"(%row) : (!one) -> ()
  // CHECK: "d2m.arange_block"(%arg2, %arg1) <{num_elements = 50 : i64, start = 0 : i64, step = 2 : i64}>
  "d2m.arange_block"(%row, %b) <{num_elements = 50 : i64, start = 0 : i64, step = 2 : i64}> : (!one, !local) -> ()
  // CHECK: "d2m.set_l1_accumulate"(%{{.*}}) : (i1) -> ()
  "d2m.set_l1_accumulate"(%true) : (i1) -> ()
  // CHECK: "d2m.unpack_stall_on_pack"() : () -> ()
  "d2m.unpack_stall_on_pack"() : () -> ()
  return
}

// CHECK-LABEL: func.func @tiles
func.func @tiles(%a: !tile, %b: !tile, %number: f32) -> !tile attributes {d2m.thread = #d2m.thread<compute>} {
  // CHECK: "d2m.tile_softsign"(%arg0) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
  %0 = "d2m.tile_softsign"(%a) : (!tile) -> !tile
  // CHECK: "d2m.tile_selu"(%0) <{alpha = 1.750000e+00 : f32, scale = 1.062500e+00 : f32}>
  %1 = "d2m.tile_selu"(%0) <{alpha = 1.75 : f32, scale = 1.0625 : f32}> : (!tile) -> !tile
  // CHECK: "d2m.tile_frac"(%1)
  %2 = "d2m.tile_frac"(%1) : (!tile) -> !tile
  // CHECK: "d2m.tile_signbit"(%2)
  %3 = "d2m.tile_signbit"(%2) : (!tile) -> !tile
  // CHECK: "d2m.tile_mul"(%3, %arg2) : (!ttcore.tile<32x32, bf16>, f32) -> !ttcore.tile<32x32, bf16>
  %4 = "d2m.tile_mul"(%3, %number) : (!tile, f32) -> !tile
  // CHECK: "d2m.tile_reduce_mean"(%4, %arg1, %arg0) <{reduce_dim = #d2m<reduce_dim R>}>
  %5 = "d2m.tile_reduce_mean"(%4, %b, %a) <{reduce_dim = #d2m<reduce_dim R>}> : (!tile, !tile, !tile) -> !tile
  // CHECK: "d2m.tile_sfpu_reduce_sum"(%5, %arg0) <{reduce_dim = #d2m<reduce_dim C>}>
  %6 = "d2m.tile_sfpu_reduce_sum"(%5, %a) <{reduce_dim = #d2m<reduce_dim C>}> : (!tile, !tile) -> !tile
  // CHECK: "d2m.tile_sfpu_reduce_max"(%6, %arg0) <{reduce_dim = #d2m<reduce_dim RC>}>
  %7 = "d2m.tile_sfpu_reduce_max"(%6, %a) <{reduce_dim = #d2m<reduce_dim RC>}> : (!tile, !tile) -> !tile
  return %7 : !tile
}
