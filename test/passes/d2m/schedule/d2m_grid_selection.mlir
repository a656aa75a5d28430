// Blocks, grids and views of generics; test_schedule.py runs them.
// RUN: ttmlir-opt --ttir-load-system-desc --d2m-grid-selection %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -

#dram = #ttcore.memory_space<dram>
#l1 = #ttcore.memory_space<l1>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0, 0)>
#below = affine_map<(d0, d1) -> (d0 + 2, d1)>
#column = affine_map<(d0, d1) -> (0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
!tile = !ttcore.tile<32x32, f32>
!lhs = memref<1x1x16x96x!tile, #ttcore.interleaved<393216x4096>, #dram>
!rhs = memref<1x1x96x40x!tile, #ttcore.interleaved<163840x4096>, #dram>
!out = memref<1x1x16x40x!tile, #ttcore.interleaved<163840x4096>, #dram>
!square = memref<1x1x8x8x!tile, #ttcore.interleaved<32768x4096>, #dram>
!tall = memref<1x1x10x8x!tile, #ttcore.interleaved<32768x4096>, #dram>
!s0 = memref<16x96x!tile, #l1>
!s1 = memref<96x40x!tile, #l1>
!s2 = memref<16x40x!tile, #l1>
!s3 = memref<8x8x!tile, #l1>
!s4 = memref<10x8x!tile, #l1>
!half = !ttcore.tile<32x32, bf16>
!large = memref<1x1x64x64x!half, #ttcore.interleaved<131072x2048>, #dram>
!s5 = memref<64x64x!half, #l1>

// Iterators are parallel ones, then reductions, whatever their order was; a product in several
// steps, alone, adds up in the block of the output. Its last steps are one, whose blocks have room.
// CHECK-DAG: #[[LHS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @product
// CHECK: %[[A:.*]] = d2m.view_layout %arg0 : {{.*}} -> memref<[[M:[0-9]+]]x[[K:[0-9]+]]x[[BM:[0-9]+]]x[[BK:[0-9]+]]x!ttcore.tile<32x32, f32>, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0 * [[BM]] + d2, d1{{.*}})>, #dram>
// CHECK: %[[B:.*]] = d2m.view_layout %arg1 : {{.*}} -> memref<[[K]]x[[N:[0-9]+]]x[[BK]]x[[BN:[0-9]+]]x!ttcore.tile
// CHECK: %[[C:.*]] = d2m.view_layout %arg2 : {{.*}} -> memref<[[M]]x[[N]]x[[BM]]x[[BN]]x!ttcore.tile
// CHECK: d2m.generic {block_factors = [1, 1, [[K]]], d2m.input_blocks = {{[0-9]+}} : i64, grid = #ttcore.grid<8x8>, indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = [#parallel, #parallel, #reduction]
// CHECK: ins(%[[A]], %[[B]] :
// CHECK: outs(%[[C]] :
// CHECK: %[[O:.*]] = d2m.reserve
// CHECK: linalg.generic {{.*}} outs(%[[O]] :
// CHECK: tile_matmul
func.func @product(%a: !lhs, %b: !rhs, %c: !out) {
  d2m.generic {block_factors = [1, 1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>], iterator_types = [#reduction, #parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a, %b : !lhs, !rhs) outs(%c : !out) {
  ^compute0(%cb0: !d2m.cb<!s0>, %cb1: !d2m.cb<!s1>, %cb2: !d2m.cb<!s2>):
    %x = d2m.wait %cb0 : !d2m.cb<!s0> -> !s0
    %y = d2m.wait %cb1 : !d2m.cb<!s1> -> !s1
    %o = d2m.reserve %cb2 : !d2m.cb<!s2> -> !s2
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !s0, !s1) outs(%o : !s2) {
    ^bb0(%p: !tile, %q: !tile, %r: !tile):
      %s = "d2m.tile_matmul"(%p, %q, %r) : (!tile, !tile, !tile) -> !tile
      linalg.yield %s : !tile
    }
  }
  return
}

// An output of which a part is written is a view of this part.
// CHECK-LABEL: func.func @part
// CHECK: %[[X:.*]] = d2m.view_layout %arg0 : {{.*}} -> memref<8x8x1x1x!ttcore.tile<32x32, f32>, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0, d1)>, #dram>
// CHECK: %[[Y:.*]] = d2m.view_layout %arg1 : {{.*}} -> memref<8x8x1x1x!ttcore.tile<32x32, f32>, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0 + 2, d1)>, #dram>
// CHECK: d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x8>
func.func @part(%a: !square, %b: !tall) {
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#id, #column], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !square) outs(%b : !tall) {
  ^compute0(%cb0: !d2m.cb<!s3>, %cb1: !d2m.cb<!s4>):
    %x = d2m.wait %cb0 : !d2m.cb<!s3> -> !s3
    %o = d2m.reserve %cb1 : !d2m.cb<!s4> -> !s4
    linalg.generic {indexing_maps = [#id, #below], iterator_types = ["parallel", "parallel"]} ins(%x : !s3) outs(%o : !s4) {
    ^bb0(%p: !tile, %q: !tile):
      linalg.yield %p : !tile
    }
  }
  return
}

// A view below an operand is composed with its blocks, and local memory follows the iterators of
// the loops that use it; dimensions that follow none are whole.
// CHECK-LABEL: func.func @rows
// CHECK: d2m.view_layout %arg0 : {{.*}} -> memref<8x1x1x8x!ttcore.tile<32x32, f32>, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d3, d0)>, #dram>
// CHECK: d2m.generic {block_factors = [1], grid = #ttcore.grid<8x1>
// CHECK: memref.alloc() : memref<1x8x!ttcore.tile<32x32, f32>, #l1>
func.func @rows(%a: !square, %b: !square) {
  %v = d2m.view_layout %a : !square -> memref<1x1x8x8x!tile, #ttcore.view<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>, #dram>
  d2m.generic {block_factors = [1], grid = #ttcore.grid<1x1>, indexing_maps = [affine_map<(d0) -> (d0, 0)>, affine_map<(d0) -> (d0, 0)>], iterator_types = [#parallel], threads = [#d2m.thread<compute>]} ins(%v : memref<1x1x8x8x!tile, #ttcore.view<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>, #dram>) outs(%b : !square) {
  ^compute0(%cb0: !d2m.cb<!s3>, %cb1: !d2m.cb<!s3>):
    %x = d2m.wait %cb0 : !d2m.cb<!s3> -> !s3
    %o = d2m.reserve %cb1 : !d2m.cb<!s3> -> !s3
    %l = memref.alloc() : !s3
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : !s3) outs(%l : !s3) {
    ^bb0(%p: !tile, %q: !tile):
      %s = "d2m.tile_exp"(%p) : (!tile) -> !tile
      linalg.yield %s : !tile
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%l : !s3) outs(%o : !s3) {
    ^bb0(%p: !tile, %q: !tile):
      %s = "d2m.tile_abs"(%p) : (!tile) -> !tile
      linalg.yield %s : !tile
    }
  }
  return
}

// A large block that all cores store at once is stored by both kernels: the reader has memory for
// the last half of it.
// CHECK-LABEL: func.func @stores
// CHECK: d2m.generic {block_factors = [1, 1, {{[0-9]+}}], d2m.input_blocks = {{[0-9]+}} : i64, grid = #ttcore.grid<8x8>
// CHECK: memref.alloc() {d2m.stored_by_reader = 2 : i64} : memref<4x8x!ttcore.tile<32x32, bf16>, #l1>
func.func @stores(%a: !large, %b: !large, %c: !large) {
  d2m.generic {block_factors = [1, 1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#lhs, #rhs, #out], iterator_types = [#parallel, #parallel, #reduction], threads = [#d2m.thread<compute>]} ins(%a, %b : !large, !large) outs(%c : !large) {
  ^compute0(%cb0: !d2m.cb<!s5>, %cb1: !d2m.cb<!s5>, %cb2: !d2m.cb<!s5>):
    %x = d2m.wait %cb0 : !d2m.cb<!s5> -> !s5
    %y = d2m.wait %cb1 : !d2m.cb<!s5> -> !s5
    %o = d2m.reserve %cb2 : !d2m.cb<!s5> -> !s5
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !s5, !s5) outs(%o : !s5) {
    ^bb0(%p: !half, %q: !half, %r: !half):
      %s = "d2m.tile_matmul"(%p, %q, %r) : (!half, !half, !half) -> !half
      linalg.yield %s : !half
    }
  }
  return
}
