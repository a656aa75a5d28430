// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | ttmlir-opt - | diff %t.mlir -

// A generic on tensors, on memrefs with loops, in threads, and without regions.

// CHECK-DAG: #layout = #ttcore.metal_layout<logical_shape = 512x256, dim_alignments = 256x32, collapsed_intervals = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
// CHECK-DAG: #l1 = #ttcore.memory_space<l1>
// CHECK-DAG: #dst = #ttcore.memory_space<dst>
// CHECK-DAG: #parallel = #ttcore.iterator_type<parallel>
// CHECK-DAG: #reduction = #ttcore.iterator_type<reduction>
#layout = #ttcore.metal_layout<logical_shape = 512x256, dim_alignments = 256x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#zero = affine_map<(d0, d1) -> (0, 0)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
#dst = #ttcore.memory_space<dst>
!tile = !ttcore.tile<32x32, bf16>
!s = tensor<2x1x!ttcore.tile<32x32, bf16>>
!t = tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%arg0: tensor<512x256xbf16>) -> tensor<512x256xbf16> {
  // CHECK: %[[EMPTY:.*]] = d2m.empty() : tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>
  %e = d2m.empty() : !t
  // CHECK: d2m.to_layout %arg0, %[[EMPTY]] : tensor<512x256xbf16> into tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout> -> tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>
  %a = d2m.to_layout %arg0, %e : tensor<512x256xbf16> into !t -> !t
  %o = d2m.empty() : !t
  // CHECK: d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x8>, indexing_maps = [#map{{[0-9]*}}, #map{{[0-9]*}}], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
  // CHECK-NEXT: {{^}}        ins(%{{.*}} : tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>)
  // CHECK-NEXT: {{^}}        outs(%{{.*}} : tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>)  {
  // CHECK-NEXT: ^compute0(%cb0: !d2m.cb<tensor<2x1x!ttcore.tile<32x32, bf16>>>, %cb1: !d2m.cb<tensor<2x1x!ttcore.tile<32x32, bf16>>>):
  %y = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x8>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
      ins(%a : !t) outs(%o : !t) {
  ^compute0(%cb0: !d2m.cb<!s>, %cb1: !d2m.cb<!s>):
    // CHECK: d2m.wait %cb0 : !d2m.cb<tensor<2x1x!ttcore.tile<32x32, bf16>>> -> tensor<2x1x!ttcore.tile<32x32, bf16>>
    %i = d2m.wait %cb0 : !d2m.cb<!s> -> !s
    // CHECK: d2m.reserve %cb1
    %r = d2m.reserve %cb1 : !d2m.cb<!s> -> !s
    %l = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%i : !s) outs(%r : !s) {
    ^bb0(%in: !tile, %out: !tile):
      // CHECK: "d2m.tile_exp"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
      %v = "d2m.tile_exp"(%in) : (!tile) -> !tile
      linalg.yield %v : !tile
    } -> !s
    // CHECK: d2m.yield %{{.*}} : (tensor<2x1x!ttcore.tile<32x32, bf16>>)
    d2m.yield %l : (!s)
    // CHECK-NEXT: } : tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>
  } : !t
  %h = tensor.empty() : tensor<512x256xbf16>
  // CHECK: into tensor<512x256xbf16> hostInfo = #layout -> tensor<512x256xbf16>
  %z = d2m.to_layout %y, %h : !t into tensor<512x256xbf16> hostInfo = #layout -> tensor<512x256xbf16>
  return %z : tensor<512x256xbf16>
}

!m = memref<2x1x!ttcore.tile<32x32, bf16>, #l1>
!buffer = memref<8x8x2x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048>, #l1>

// What the body of the same looks like after loops have been made over DST.
// CHECK-LABEL: func.func @registers
func.func @registers(%a: !buffer, %o: !buffer) {
  "d2m.generic"(%a, %o) <{block_factors = [1, 1], grid = #ttcore.grid<8x8>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 1, 1>, threads = [#d2m.thread<compute>]}> ({
  ^bb0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
    %i = d2m.wait %cb0 : !d2m.cb<!m> -> !m
    %r = d2m.reserve %cb1 : !d2m.cb<!m> -> !m
    // CHECK: %dst = d2m.acquire_dst() : memref<4x2x1x!ttcore.tile<32x32, bf16>, #dst>
    %dst = d2m.acquire_dst() : memref<4x2x1x!ttcore.tile<32x32, bf16>, #dst>
    // CHECK: affine.for
    affine.for %p = 0 to 2 {
      affine.for %q = 0 to 1 {
        // CHECK: affine.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<2x1x!ttcore.tile<32x32, bf16>, #l1>
        %0 = affine.load %i[%p, %q] : !m
        // CHECK: affine.store %{{.*}}, %dst[0, %{{.*}}, %{{.*}}] : memref<4x2x1x!ttcore.tile<32x32, bf16>, #dst>
        affine.store %0, %dst[0, %p, %q] : memref<4x2x1x!ttcore.tile<32x32, bf16>, #dst>
      }
    }
    %collapsed = memref.collapse_shape %i [[0, 1]] : !m into memref<2x!ttcore.tile<32x32, bf16>, #l1>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: memref.subview
    %part = memref.subview %r[%c0, %c0] [1, 1] [1, 1] : !m to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
  }) : (!buffer, !buffer) -> ()
  return
}

!lhs = memref<8x8x2x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
!rhs = memref<8x8x3x1x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
!ml = memref<2x3x!ttcore.tile<32x32, bf16>, #l1>
!mr = memref<3x1x!ttcore.tile<32x32, bf16>, #l1>

// A product of matrices whose rows are spread by the first core of each row.
// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: !lhs, %b: !rhs, %o: !buffer) {
  // CHECK: threads = [#d2m.thread<datamovement>, #d2m.thread<compute>]
  d2m.generic {block_factors = [1, 1, 8], grid = #ttcore.grid<8x8>, indexing_maps = [#lhs, #rhs, #out], iterator_types = [#parallel, #parallel, #reduction], threads = [#d2m.thread<datamovement>, #d2m.thread<compute>]}
      ins(%a, %b : !lhs, !rhs) outs(%o : !buffer) {
  // CHECK: ^datamovement0(%cb0: !d2m.cb<{{.*}}>, %cb1: !d2m.cb<{{.*}}>, %cb2: !d2m.cb<{{.*}}>, %sem0: !d2m.semaphore, %sem1: !d2m.semaphore):
  ^datamovement0(%cb0: !d2m.cb<!ml>, %cb1: !d2m.cb<!mr>, %cb2: !d2m.cb<!m>, %sem0: !d2m.semaphore, %sem1: !d2m.semaphore):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %m = d2m.reserve %cb0 : !d2m.cb<!ml> -> !ml
    // CHECK: %core0 = d2m.core_index(0) : index
    %y = d2m.core_index(0) : index
    // CHECK: %core1 = d2m.core_index(1) : index
    %x = d2m.core_index(1) : index
    // CHECK: %iter2 = d2m.iter_index(2) : index
    %k = d2m.iter_index(2) : index
    %first = arith.cmpi eq, %x, %c0 : index
    scf.if %first {
      // CHECK: %[[TX:tx_.*]] = d2m.dma %arg0<#map{{[0-9]*}}>, %{{.*}} : (memref<8x8x2x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>, memref<2x3x!ttcore.tile<32x32, bf16>, #l1>) -> !d2m.mem_tx
      %t = d2m.dma %a<#lhs>, %m : (!lhs, !ml) -> !d2m.mem_tx
      // CHECK-NEXT: d2m.dma_wait %[[TX]]
      d2m.dma_wait %t
      // CHECK: d2m.semaphore_wait %sem0, %c7 reset %c0
      d2m.semaphore_wait %sem0, %c7 reset %c0
      // CHECK: d2m.dma %[[M:.*]], %[[M]] core[%core0, %c1] mcast[%c1, %c7] : (
      %u = d2m.dma %m, %m core[%y, %c1] mcast[%c1, %c7] : (!ml, !ml) -> !d2m.mem_tx
      d2m.dma_wait %u
      // CHECK: d2m.semaphore_set %sem1, %c1, core[%core0, %c1] mcast[%c1, %c7]
      d2m.semaphore_set %sem1, %c1, core[%y, %c1] mcast[%c1, %c7]
    } else {
      // CHECK: d2m.semaphore_inc %sem0, %c1, core[%core0, %c0]
      d2m.semaphore_inc %sem0, %c1, core[%y, %c0]
      // CHECK: d2m.semaphore_wait %sem1, %c1 reset %c0
      d2m.semaphore_wait %sem1, %c1 reset %c0
      d2m.semaphore_set %sem1, %c0
      d2m.semaphore_wait %sem1, %c1
      // CHECK: d2m.null_tx
      %n = d2m.null_tx
      d2m.dma_wait %n
    }
    %n = d2m.reserve %cb1 : !d2m.cb<!mr> -> !mr
    // CHECK: d2m.dma %arg1[%iter2, %core1], %{{.*}} : (
    %v = d2m.dma %b[%k, %x], %n : (!rhs, !mr) -> !d2m.mem_tx
    // CHECK: d2m.dma %arg1[%iter2, %core1, %c0, %c0], %{{.*}}[%c0, %c0], <3> : (
    %w = d2m.dma %b[%k, %x, %c0, %c0], %n[%c0, %c0], <3> : (!rhs, !mr) -> !d2m.mem_tx
    // CHECK: d2m.dma_read %arg1[%core0, %core1, %c0], %{{.*}}[%c0], <3> : (
    %read = d2m.dma_read %b[%y, %x, %c0], %n[%c0], <3> : (!rhs, !mr) -> !d2m.mem_tx
    // CHECK: d2m.dma_write %{{.*}}[%c0], %arg1[%core0, %core1, %c0], <3> : (
    %write = d2m.dma_write %n[%c0], %b[%y, %x, %c0], <3> : (!mr, !rhs) -> !d2m.mem_tx
    // CHECK: d2m.dma_write %{{.*}}[%c0], %{{.*}}[%c0] core[%core0, %c1] mcast[%c1, %c7], <3> : (
    %spread = d2m.dma_write %n[%c0], %n[%c0] core[%y, %c1] mcast[%c1, %c7], <3> : (!mr, !mr) -> !d2m.mem_tx
    // CHECK: }, {
    // CHECK-NEXT: ^compute0(%cb0: !d2m.cb<
  }, {
  ^compute0(%cb0: !d2m.cb<!ml>, %cb1: !d2m.cb<!mr>, %cb2: !d2m.cb<!m>, %sem0: !d2m.semaphore, %sem1: !d2m.semaphore):
    %x = d2m.wait %cb0 : !d2m.cb<!ml> -> !ml
    %y = d2m.wait %cb1 : !d2m.cb<!mr> -> !mr
    %z = d2m.reserve %cb2 : !d2m.cb<!m> -> !m
    // CHECK: "d2m.tile_matmul_block"(%{{.*}}, %{{.*}}, %{{.*}}) : (
    "d2m.tile_matmul_block"(%x, %y, %z) : (!ml, !mr, !m) -> ()
  }
  return
}

#summed = #ttcore.metal_layout<logical_shape = 512x1, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#one = #ttcore.metal_layout<logical_shape = 32x32, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!column = tensor<8x1x2x1x!ttcore.tile<32x32, bf16>, #summed>
!scaler = tensor<1x1x1x1x!ttcore.tile<32x32, bf16>, #one>
!scaler_shard = tensor<1x1x!ttcore.tile<32x32, bf16>>

// CHECK-LABEL: func.func @sum
func.func @sum(%a: !t, %o: !column) -> !column {
  // CHECK: d2m.full {fill_value = 1.000000e+00 : f32, shape = array<i32: 32, 32>} : tensor<32x32xf32>
  %ones = d2m.full {fill_value = 1.0 : f32, shape = array<i32: 32, 32>} : tensor<32x32xf32>
  %s = d2m.empty() : !scaler
  %r = d2m.generic {block_factors = [1, 8], grid = #ttcore.grid<8x1>, indexing_maps = [#map, #zero, #row], iterator_types = [#parallel, #reduction], threads = [#d2m.thread<compute>]}
      ins(%a, %s : !t, !scaler) outs(%o : !column) {
  ^compute0(%cb0: !d2m.cb<!s>, %cb1: !d2m.cb<!scaler_shard>, %cb2: !d2m.cb<!s>):
    %i = d2m.wait %cb0 : !d2m.cb<!s> -> !s
    %k = d2m.wait %cb1 : !d2m.cb<!scaler_shard> -> !scaler_shard
    %p = d2m.reserve %cb2 : !d2m.cb<!s> -> !s
    %l = linalg.generic {indexing_maps = [#map, #zero, #row], iterator_types = ["parallel", "reduction"]} ins(%i, %k : !s, !scaler_shard) outs(%p : !s) {
    ^bb0(%x: !tile, %one: !tile, %acc: !tile):
      // CHECK: "d2m.tile_reduce_sum"(%in, %in_{{.*}}, %out) <{reduce_dim = #d2m<reduce_dim R>}> : (
      %v = "d2m.tile_reduce_sum"(%x, %one, %acc) <{reduce_dim = #d2m<reduce_dim R>}> : (!tile, !tile, !tile) -> !tile
      linalg.yield %v : !tile
    } -> !s
    d2m.yield %l : (!s)
  } : !column
  return %r : !column
}

// CHECK-LABEL: func.func @hoisted
func.func @hoisted(%a: !buffer, %o: !buffer) {
  // CHECK: d2m.generic {block_factors = [], grid = #ttcore.grid<8x8>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<datamovement, @mover>, #d2m.thread<compute, @computer>]}
  // CHECK-NEXT: ins(%arg0 : memref<8x8x2x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048>, #l1>)
  // CHECK-NEXT: outs(%arg1 : memref<8x8x2x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048>, #l1>)
  // CHECK-NEXT: return
  d2m.generic {block_factors = [], grid = #ttcore.grid<8x8>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<datamovement, @mover>, #d2m.thread<compute, @computer>]}
      ins(%a : !buffer) outs(%o : !buffer)
  return
}

// CHECK: func.func private @computer(%arg0: !d2m.cb<{{.*}}>, %arg1: !d2m.cb<{{.*}}>) attributes {d2m.thread = #d2m.thread<compute>}
func.func private @computer(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>) attributes {d2m.thread = #d2m.thread<compute>} {
  // CHECK: d2m.get_global_operand(1) : memref<
  %0 = d2m.get_global_operand(1) : !buffer
  // CHECK: "d2m.packer_mask_reset"() : () -> ()
  "d2m.packer_mask_reset"() : () -> ()
  return
}
