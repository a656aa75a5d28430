// RUN: ttmlir-opt --d2m-generic-apply-interchange=matmul-interchange=2,0,1 %s | FileCheck %s
// RUN: ttmlir-opt --d2m-generic-apply-interchange %s | FileCheck %s --check-prefix=SAME

#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!left = memref<3x5x2x4x!ttcore.tile<32x32, f32>, #ttcore.shard<16384x4096, 1>, #l1>
!right = memref<5x2x4x3x!ttcore.tile<32x32, f32>, #ttcore.shard<12288x4096, 1>, #l1>
!out = memref<3x2x2x3x!ttcore.tile<32x32, f32>, #ttcore.shard<12288x4096, 1>, #l1>
!a = memref<2x4x!ttcore.tile<32x32, f32>, #l1>
!b = memref<4x3x!ttcore.tile<32x32, f32>, #l1>
!c = memref<2x3x!ttcore.tile<32x32, f32>, #l1>

// Terms come first: iterator 0 is what was 2, 1 what was 0, 2 what was 1.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: d2m.generic {block_factors = [5, 1, 1], grid = #ttcore.grid<3x2>
// CHECK-SAME: indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]]
// CHECK-SAME: iterator_types = [#reduction, #parallel, #parallel]
// CHECK: d2m.iter_index(0)
// CHECK: d2m.iter_index(1)

// SAME: block_factors = [1, 1, 5]
// SAME-SAME: iterator_types = [#parallel, #parallel, #reduction]
// SAME: d2m.iter_index(2)
// SAME: d2m.iter_index(0)
func.func @product(%x: !left, %y: !right, %z: !out) {
  d2m.generic {block_factors = [1, 1, 5], grid = #ttcore.grid<3x2>,
      indexing_maps = [#left, #right, #out],
      iterator_types = [#parallel, #parallel, #reduction], threads = [#d2m.thread<compute>]}
      ins(%x, %y : !left, !right) outs(%z : !out) {
  ^compute0(%cb0: !d2m.cb<!a>, %cb1: !d2m.cb<!b>, %cb2: !d2m.cb<!c>):
    %l = d2m.wait %cb0 : !d2m.cb<!a> -> !a
    %r = d2m.wait %cb1 : !d2m.cb<!b> -> !b
    %o = d2m.reserve %cb2 : !d2m.cb<!c> -> !c
    %term = d2m.iter_index(2) : index
    %row = d2m.iter_index(0) : index
    "d2m.tile_matmul_block"(%l, %r, %o) : (!a, !b, !c) -> ()
  }
  return
}
