// RUN: ttmlir-opt --canonicalize --cse %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir

// Changes of layout, views and casts that are one or none; destinations that are the output.

#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#dram = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, dram>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!d = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #dram>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>

// CHECK-LABEL: func.func @same(
// CHECK-NEXT: return %arg0
func.func @same(%a: !t, %o: !t) -> !t {
  %0 = d2m.to_layout %a, %o : !t into !t -> !t
  return %0 : !t
}

// CHECK-LABEL: func.func @twice(
// CHECK-NEXT: %0 = d2m.to_layout %arg0, %arg2 : tensor<64x96xf32> into tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout{{1?}}> -> tensor<
// CHECK-NEXT: return %0
func.func @twice(%a: tensor<64x96xf32>, %o: !t, %p: !d) -> !d {
  %0 = d2m.to_layout %a, %o : tensor<64x96xf32> into !t -> !t
  %1 = d2m.to_layout %0, %p : !t into !d -> !d
  return %1 : !d
}

// The numbers are rounded to bf16 on the way.
// CHECK-LABEL: func.func @rounded(
// CHECK-COUNT-2: d2m.to_layout
// CHECK: return
func.func @rounded(%a: tensor<64x96xf32>, %o: !t, %p: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %0 = d2m.to_layout %a, %o : tensor<64x96xf32> into !t -> !t
  %1 = d2m.to_layout %0, %p : !t into tensor<64x96xf32> -> tensor<64x96xf32>
  return %1 : tensor<64x96xf32>
}

!v1 = memref<1x3x2x1x!ttcore.tile<32x32, bf16>, #ttcore.view<(d0, d1, d2, d3) -> (d0 * 2 + d2, 0, 0, d1 + d3)>, #l1>
!v2 = memref<3x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.view<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>, #l1>
!storage = memref<3x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.shard<4096x2048>, #l1>

// CHECK-LABEL: func.func @views(
// CHECK-NEXT: %stream = "d2m.stream_layout"(%arg0, %arg1) : ({{.*}}) -> memref<3x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.view<(d0, d1, d2, d3) -> (d1 * 2 + d3, 0, 0, d0 + d2)>, #l1>
func.func @views(%a: !b, %s: !storage, %o: !storage) {
  %0 = d2m.view_layout %a : !b -> !v1
  %1 = d2m.view_layout %0 : !v1 -> !v2
  %2 = "d2m.stream_layout"(%1, %s) : (!v2, !storage) -> memref<3x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
  d2m.generic {block_factors = [], grid = #ttcore.grid<3x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<compute, @f>]}
      ins(%2 : memref<3x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>) outs(%o : !storage)
  return
}

// The type of a view that is returned stays.
// CHECK-LABEL: func.func @returned(
// CHECK-COUNT-2: d2m.view_layout
func.func @returned(%a: !b) -> !v2 {
  %0 = d2m.view_layout %a : !b -> !v1
  %1 = d2m.view_layout %0 : !v1 -> !v2
  return %1 : !v2
}

// CHECK-LABEL: func.func @cast_and_back(
// CHECK-NEXT: return %arg0
func.func @cast_and_back(%a: tensor<64x96xbf16>) -> tensor<64x96xbf16> {
  %0 = ttir.ttnn_metal_layout_cast %a : tensor<64x96xbf16> -> !t
  %1 = ttir.ttnn_metal_layout_cast %0 : !t -> tensor<64x96xbf16>
  return %1 : tensor<64x96xbf16>
}

// CHECK-LABEL: func.func @destination(
// CHECK: %[[IN:.*]] = d2m.wait %cb0
// CHECK-NEXT: %[[OUT:.*]] = d2m.reserve %cb1
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[IN]] : {{.*}}) outs(%[[OUT]] :
func.func @destination(%a: !t, %o: !t) -> !t {
  %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
      ins(%a : !t) outs(%o : !t) {
  ^compute0(%cb0: !d2m.cb<!s>, %cb1: !d2m.cb<!s>):
    %i = d2m.wait %cb0 : !d2m.cb<!s> -> !s
    %r = d2m.reserve %cb1 : !d2m.cb<!s> -> !s
    %l = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%i : !s) outs(%i : !s) {
    ^bb0(%x: !ttcore.tile<32x32, bf16>, %y: !ttcore.tile<32x32, bf16>):
      %v = "d2m.tile_exp"(%x) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
      linalg.yield %v : !ttcore.tile<32x32, bf16>
    } -> !s
    d2m.yield %l : (!s)
  } : !t
  return %0 : !t
}

// Unused memory is gone; two pieces of memory are never one.
// CHECK-LABEL: func.func @memory(
// CHECK-NEXT: d2m.empty
// CHECK-NEXT: d2m.empty
// CHECK-NEXT: return
func.func @memory(%a: !t) -> (!t, !t) {
  %unused = d2m.empty() : !t
  %dead = d2m.to_layout %a, %unused : !t into !t -> !t
  %0 = d2m.empty() : !t
  %1 = d2m.empty() : !t
  return %0, %1 : !t, !t
}
