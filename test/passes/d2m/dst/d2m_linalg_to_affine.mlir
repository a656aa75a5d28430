// RUN: ttmlir-opt --d2m-linalg-to-affine %s | FileCheck %s
// RUN: ttmlir-opt --d2m-linalg-to-affine="use-tile-matmul=false" %s | FileCheck --check-prefix=BLOCK %s

#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
!tile = !ttcore.tile<32x32, f32>
!remote = memref<1x1x2x4x!tile, #ttcore.shard<16384x4096, 1>, #l1>
!local = memref<2x4x!tile, #l1>

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%arg0: !remote, %arg1: !remote, %col: memref<2x1x!tile, #l1>) {
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
      ins(%arg0 : !remote) outs(%arg1 : !remote) {
    %cb0 = d2m.get_cb(0) : !d2m.cb<!local>
    %cb1 = d2m.get_cb(1) : !d2m.cb<!local>
    // CHECK: %[[IN:.*]] = d2m.wait
    // CHECK: %[[OUT:.*]] = d2m.reserve
    %in = d2m.wait %cb0 : !d2m.cb<!local> -> !local
    %out = d2m.reserve %cb1 : !d2m.cb<!local> -> !local
    // CHECK-NOT: linalg.generic
    // CHECK: affine.for %[[I:.*]] = 0 to 2 {
    // CHECK-NEXT: affine.for %[[J:.*]] = 0 to 4 {
    // CHECK-NEXT: %[[A:.*]] = affine.load %[[IN]][%[[I]], %[[J]]]
    // CHECK-NEXT: %[[B:.*]] = affine.load %arg2[%[[I]], 0]
    // CHECK-NEXT: %[[S:.*]] = "d2m.tile_add"(%[[A]], %[[B]])
    // CHECK-NEXT: affine.store %[[S]], %[[OUT]][%[[I]], %[[J]]]
    // CHECK-NEXT: }
    // CHECK-NEXT: } {d2m.linalg_root}
    linalg.generic {indexing_maps = [#map, #column, #map], iterator_types = ["parallel", "parallel"]} ins(%in, %col : !local, memref<2x1x!tile, #l1>) outs(%out : !local) {
    ^bb0(%a: !tile, %b: !tile, %c: !tile):
      %0 = "d2m.tile_add"(%a, %b) : (!tile, !tile) -> !tile
      linalg.yield %0 : !tile
    }
  }
  return
}

// CHECK-LABEL: func.func @product
// BLOCK-LABEL: func.func @product
func.func @product(%arg0: !remote, %arg1: !remote, %b: memref<4x3x!tile, #l1>, %c: memref<2x3x!tile, #l1>) {
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
      ins(%arg0 : !remote) outs(%arg1 : !remote) {
    %cb0 = d2m.get_cb(0) : !d2m.cb<!local>
    %in = d2m.wait %cb0 : !d2m.cb<!local> -> !local
    // CHECK: affine.for %[[I:.*]] = 0 to 2 {
    // CHECK-NEXT: affine.for %[[J:.*]] = 0 to 3 {
    // CHECK-NEXT: affine.for %[[K:.*]] = 0 to 4 {
    // CHECK: affine.load %arg2[%[[K]], %[[J]]]
    // CHECK: affine.load %arg3[%[[I]], %[[J]]]
    // CHECK: d2m.tile_matmul
    // BLOCK-NOT: affine.for
    // BLOCK: linalg.generic
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%in, %b : !local, memref<4x3x!tile, #l1>) outs(%c : memref<2x3x!tile, #l1>) {
    ^bb0(%x: !tile, %y: !tile, %z: !tile):
      %0 = "d2m.tile_matmul"(%x, %y, %z) : (!tile, !tile, !tile) -> !tile
      linalg.yield %0 : !tile
    }
  }
  return
}

// CHECK-LABEL: func.func @index
func.func @index(%arg0: !remote, %arg1: !remote, %out: !local) {
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
      ins(%arg0 : !remote) outs(%arg1 : !remote) {
    // CHECK: affine.for %[[I:.*]] = 0 to 2 {
    // CHECK-NEXT: affine.for %[[J:.*]] = 0 to 4 {
    // CHECK-NEXT: %[[OLD:.*]] = affine.load %arg2[%[[I]], %[[J]]]
    // CHECK-NEXT: "d2m.tile_mask"(%[[OLD]], %[[I]], %[[J]])
    linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%out : !local) {
    ^bb0(%c: !tile):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %0 = "d2m.tile_mask"(%c, %i, %j) <{valid = array<i64: 33, 70>, value = 0.0 : f32}> : (!tile, index, index) -> !tile
      linalg.yield %0 : !tile
    }
  }
  return
}
