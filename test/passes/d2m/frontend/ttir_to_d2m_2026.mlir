// RUN: ttmlir-opt --ttir-to-d2m %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt --d2m-fe-pipeline %s -o %t.fused
// RUN: FileCheck %s --input-file=%t.fused --check-prefix=FUSED

// Operations without destinations, as in 2026: layouts name no value of the padding.

// CHECK-DAG: #layout = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = dense<{{.*}}> : tensor<2x2xi64>, l1, sharded>
// CHECK-NOT: undef
// FUSED: #ttcore.metal_layout<

!t = tensor<64x128xbf16>

// CHECK-LABEL: func.func @elementwise
// FUSED-LABEL: func.func @elementwise
func.func @elementwise(%a: !t, %b: !t) -> !t {
  // CHECK: %[[E:.*]] = d2m.empty() : tensor<1x1x2x4x!ttcore.tile<32x32, bf16>, #layout>
  // CHECK: d2m.to_layout %arg0, %[[E]] : tensor<64x128xbf16> into tensor<1x1x2x4x!ttcore.tile<32x32, bf16>, #layout> -> tensor<1x1x2x4x!ttcore.tile<32x32, bf16>, #layout>
  // CHECK: d2m.generic{{.+}}iterator_types = [#parallel, #parallel]
  // CHECK: linalg.generic{{.+}}iterator_types = ["parallel", "parallel"]
  // CHECK: d2m.tile_add
  %0 = "ttir.add"(%a, %b) : (!t, !t) -> !t
  // CHECK: d2m.generic{{.+}}iterator_types = [#parallel, #parallel]
  // CHECK: d2m.tile_exp
  // FUSED: d2m.tile_add
  // FUSED-NOT: d2m.generic
  // FUSED: d2m.tile_exp
  %1 = "ttir.exp"(%0) : (!t) -> !t
  // CHECK: d2m.tile_sub
  %2 = "ttir.subtract"(%1, %b) : (!t, !t) -> !t
  // CHECK: d2m.tile_maximum
  %3 = "ttir.maximum"(%2, %b) : (!t, !t) -> !t
  // CHECK: d2m.to_layout %{{.*}} into tensor<64x128xbf16>
  return %3 : !t
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<64x128xbf16>, %b: tensor<128x96xbf16>) -> tensor<64x96xbf16> {
  // CHECK: d2m.generic{{.+}}block_factors = [1, 1, 1]{{.+}}iterator_types = [#parallel, #parallel, #reduction]
  // CHECK: linalg.generic{{.+}}iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: d2m.tile_matmul
  %0 = "ttir.matmul"(%a, %b) : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xbf16>
  return %0 : tensor<64x96xbf16>
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%a: tensor<64x128xf32>) -> (tensor<64x1xf32>, tensor<1x128xf32>) {
  // CHECK: d2m.generic{{.+}}iterator_types = [#parallel, #reduction]
  // CHECK: d2m.tile_reduce_sum{{.+}}#d2m<reduce_dim R>
  %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x128xf32>) -> tensor<64x1xf32>
  // CHECK: d2m.generic{{.+}}iterator_types = [#reduction, #parallel]
  // CHECK: d2m.tile_reduce_max{{.+}}#d2m<reduce_dim C>
  %1 = "ttir.max"(%a) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<64x128xf32>) -> tensor<1x128xf32>
  return %0, %1 : tensor<64x1xf32>, tensor<1x128xf32>
}

// What 2024 lacks is made of other operations, in the elements and the shape of the result.
// CHECK-LABEL: func.func @linear
func.func @linear(%a: tensor<40x100xbf16>, %w: tensor<70x100xbf16>, %b: tensor<70xbf16>) -> tensor<40x70xbf16> {
  // CHECK: d2m.tile_matmul
  // CHECK: d2m.tile_add
  // CHECK: d2m.to_layout %{{.*}} into tensor<40x70xbf16>
  // CHECK-NOT: ttir.
  %0 = "ttir.linear"(%a, %w, %b) <{transpose_b = true}> : (tensor<40x100xbf16>, tensor<70x100xbf16>, tensor<70xbf16>) -> tensor<40x70xbf16>
  return %0 : tensor<40x70xbf16>
}

// Generics load blocks, compute, and store them; the passes that follow take that form, too.
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=UNIFIED
// RUN: ttmlir-opt --ttcore-register-device --d2m-grid-selection --canonicalize --d2m-lower-to-layout %t.mlir | FileCheck %s --check-prefix=GRID
// RUN: ttmlir-opt --ttcore-register-device --d2m-mask-padding --d2m-generic-fusion --ttcore-one-shot-bufferize --d2m-be-pipeline --d2m-to-ttkernel-pipeline --d2m-to-ttmetal-pipeline %t.mlir | FileCheck %s --check-prefix=HOST

// UNIFIED-LABEL: func.func @matmul
// UNIFIED: d2m.generic {block_factors = [1, 1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#{{.+}}, #{{.+}}, #{{.+}}], iterator_types = [#parallel, #parallel, #reduction], threads = [#d2m.thread<unified>]}
// UNIFIED: %[[I:.*]] = d2m.block_index(0)
// UNIFIED: %[[J:.*]] = d2m.block_index(1)
// UNIFIED: %[[K:.*]] = d2m.block_index(2)
// UNIFIED: %[[A:.*]] = d2m.remote_load %{{.*}} %{{.*}}[%[[I]], %[[K]]] : tensor<2x4x
// UNIFIED: %[[B:.*]] = d2m.remote_load %{{.*}} %{{.*}}[%[[K]], %[[J]]] : tensor<4x3x
// UNIFIED: %[[C:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] :
// UNIFIED: %[[R:.*]] = d2m.remote_store %{{.*}}[%[[I]], %[[J]]] %[[C]]
// UNIFIED: d2m.yield %[[R]] : (tensor<1x1x2x3x

// Each operand has the largest grid that divides its tiles: 2x4 of 64x128, 4x3 of 128x96.
// GRID-LABEL: func.func @matmul
// GRID: d2m.to_device %arg0, %{{.*}} layout = #{{.+}} : tensor<64x128xbf16> into tensor<2x4x32x32xbf16, #{{.+}}>
// GRID: "d2m.tile_tilize_block"
// GRID: d2m.generic {block_factors = [1, 1, 4], grid = #ttcore.grid<2x3>
// GRID-NEXT: ins({{.*}} : tensor<2x4x1x1x{{.*}}>, tensor<4x3x1x1x{{.*}}>)
// GRID: d2m.remote_load {{.*}} : tensor<1x1x!ttcore.tile<32x32, bf16>>
// GRID: "d2m.tile_untilize_block"
// GRID: d2m.to_host

// HOST-LABEL: func.func @matmul
// HOST: "ttmetal.enqueue_program"

// All operands of a concatenation are read.
// CHECK-LABEL: func.func @concat(
// CHECK: d2m.to_layout %arg0
// CHECK: d2m.to_layout %arg1
func.func @concat(%a: tensor<32x70xf32>, %b: tensor<64x70xf32>) -> tensor<96x70xf32> {
  %0 = "ttir.concat"(%a, %b) <{dim = 0 : si32}> : (tensor<32x70xf32>, tensor<64x70xf32>) -> tensor<96x70xf32>
  return %0 : tensor<96x70xf32>
}
