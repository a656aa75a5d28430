// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | ttmlir-opt - | diff %t.mlir -

// Views, streams, chips of a mesh, operations on tiles, and what stands between ttnn and d2m.

#l1 = #ttcore.memory_space<l1>
#dram = #ttcore.memory_space<dram>
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#permuted = #ttcore.metal_layout<logical_shape = 96x64, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1, index_map = (d0, d1, d2, d3) -> (d1, d0, d3, d2)>
#interleaved = #ttcore.metal_layout<logical_shape = 1x64x96, dim_alignments = 1x32x32, collapsed_intervals = dense<[[0, -1]]> : tensor<1x2xi64>, undef, dram, interleaved>
#ttnn_like = #ttcore.metal_layout<logical_shape = 31x33x447, dim_alignments = 1x32x256, collapsed_intervals = dense<> : tensor<0x2xi64>, zero>
!tile = !ttcore.tile<32x32, bf16>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!view = memref<1x2x3x1x!ttcore.tile<32x32, bf16>, #ttcore.view<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>, #l1>
!storage = memref<1x2x3x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048, 2>, #l1>

// CHECK: #layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<{{\[\[}}0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
// CHECK: #layout1 = #ttcore.metal_layout<logical_shape = 31x33x447, dim_alignments = 1x32x256, collapsed_intervals = dense<> : tensor<0x2xi64>, zero>
// CHECK: #layout2 = #ttcore.metal_layout<logical_shape = 1x64x96, {{.*}}dense<{{\[\[}}0, -1]]> : tensor<1x2xi64>, undef, dram, interleaved>
// CHECK: #layout3 = #ttcore.metal_layout<logical_shape = 96x64, {{.*}}, undef, l1, index_map = (d0, d1, d2, d3) -> (d1, d0, d3, d2)>
// CHECK-LABEL: func.func @views
func.func @views(%a: !t, %m: !b, %s: !storage, %u: tensor<1x1x1x31x64x512xf32, #ttnn_like>) -> tensor<1x1x2x3x!tile, #interleaved> {
  // CHECK: %view = d2m.view_layout %arg0 : tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout> -> tensor<1x2x3x1x!ttcore.tile<32x32, bf16>, #layout3>
  %v = d2m.view_layout %a : !t -> tensor<1x2x3x1x!tile, #permuted>
  // CHECK: %view_0 = d2m.view_layout %arg0 {reinterpretLayout = true} :
  %w = d2m.view_layout %a {reinterpretLayout = true} : !t -> !t
  // CHECK: %view_1 = d2m.view_layout %arg1 : memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1> -> memref<1x2x3x1x!ttcore.tile<32x32, bf16>, #ttcore.view<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>, #l1>
  %x = "d2m.view_layout"(%m) <{reinterpretLayout = false}> : (!b) -> !view
  // CHECK: %stream = "d2m.stream_layout"(%arg1, %arg2) : (memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>, memref<1x2x3x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048, 2>, #l1>) -> memref<
  %y = "d2m.stream_layout"(%m, %s) : (!b, !storage) -> !view
  // CHECK: d2m.mesh_shard %arg0 {shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 1>, shard_type = #ttcore.shard_type<devices>} :
  %z = d2m.mesh_shard %a {shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 1>, shard_type = #ttcore.shard_type<devices>} : !t -> !t
  %d = d2m.empty() : tensor<1x1x2x3x!tile, #interleaved>
  // CHECK: d2m.to_layout %arg1, %arg1 : memref<{{.*}}> into memref<{{[^>]*>[^>]*>[^>]*}}>
  d2m.to_layout %m, %m : !b into !b
  return %d : tensor<1x1x2x3x!tile, #interleaved>
}

#odd = #ttcore.metal_layout<logical_shape = 7x64, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#source = #ttcore.metal_layout<logical_shape = 64x12, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>

// CHECK-LABEL: func.func @elements
func.func @elements(%a: tensor<1x1x2x1x!tile, #source>) {
  // CHECK: %view = d2m.view_elements %arg0 {map = #{{.*}}, shape = array<i64: 7, 64>} : tensor<1x1x2x1x!ttcore.tile<32x32, bf16>, #{{.*}}> -> tensor<1x1x1x2x!ttcore.tile<32x32, bf16>, #{{.*}}>
  %0 = d2m.view_elements %a {map = affine_map<(d0, d1) -> (d1, d0 + 5)>, shape = array<i64: 7, 64>} : tensor<1x1x2x1x!tile, #source> -> tensor<1x1x1x2x!tile, #odd>
  return
}

// CHECK-LABEL: func.func @numbered_elements
func.func @numbered_elements(%a: tensor<1x1x2x1x!tile, #source>, %n: tensor<1x1x2x3x!ttcore.tile<32x32, si32>, #layout>) {
  // CHECK: %view = "d2m.view_numbered"(%arg0, %arg1) <{count = 40 : i64, map = #{{.*}}, places = #{{.*}}, shape = array<i64: 7, 30>}> : (tensor<1x1x2x1x!ttcore.tile<32x32, bf16>, #{{.*}}>, tensor<1x1x2x3x!ttcore.tile<32x32, si32>, #layout>) -> tensor<1x1x1x2x!ttcore.tile<32x32, bf16>, #{{.*}}>
  %0 = "d2m.view_numbered"(%a, %n) <{count = 40 : i64, map = affine_map<(d0, d1, d2) -> (d2, d1)>, places = affine_map<(d0, d1) -> (d0, 0)>, shape = array<i64: 7, 30>}> : (tensor<1x1x2x1x!tile, #source>, tensor<1x1x2x3x!ttcore.tile<32x32, si32>, #layout>) -> tensor<1x1x1x2x!tile, #odd>
  return
}

// CHECK-LABEL: func.func @casts
func.func @casts(%a: tensor<64x96xbf16, #tt.layout<(d0, d1) -> (d0, d1), undef, <2x1>, memref<1x3x!tt.tile<32x32, bf16>, #tt.memory_space<l1>>>>) {
  // CHECK: ttir.ttnn_metal_layout_cast %arg0 : tensor<64x96xbf16, #{{.*}}> -> tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
  %0 = ttir.ttnn_metal_layout_cast %a : tensor<64x96xbf16, #tt.layout<(d0, d1) -> (d0, d1), undef, <2x1>, memref<1x3x!tt.tile<32x32, bf16>, #tt.memory_space<l1>>>> -> !t
  return
}

// CHECK-LABEL: func.func private @tiles
func.func private @tiles(%a: !tile, %b: !tile, %c: !ttcore.tile<32x32, f32>, %s: tensor<32x96xbf16>, %o: tensor<1x3x!tile>) attributes {d2m.thread = #d2m.thread<compute>} {
  // CHECK: "d2m.tile_mul"(%arg0, %arg1) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
  %0 = "d2m.tile_mul"(%a, %b) : (!tile, !tile) -> !tile
  // CHECK: "d2m.tile_typecast"(%{{.*}}) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, si32>
  %1 = "d2m.tile_typecast"(%0) : (!tile) -> !ttcore.tile<32x32, si32>
  // CHECK: "d2m.tile_clamp_scalar"(%arg0) <{max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}> :
  %2 = "d2m.tile_clamp_scalar"(%a) <{max = 6.0 : f32, min = 0.0 : f32}> : (!tile) -> !tile
  // CHECK: "d2m.tile_where"(%arg0, %arg1, %{{.*}}) :
  %3 = "d2m.tile_where"(%a, %b, %2) : (!tile, !tile, !tile) -> !tile
  // CHECK: "d2m.tile_gez"
  %4 = "d2m.tile_gez"(%3) : (!tile) -> !tile
  // CHECK: "d2m.tile_matmul"(%arg0, %arg1, %{{.*}}) :
  %5 = "d2m.tile_matmul"(%a, %b, %4) : (!tile, !tile, !tile) -> !tile
  // CHECK: "d2m.tile_reduce_max"(%arg0, %arg1, %{{.*}}) <{reduce_dim = #d2m<reduce_dim RC>}> :
  %6 = "d2m.tile_reduce_max"(%a, %b, %5) <{reduce_dim = #d2m<reduce_dim RC>}> : (!tile, !tile, !tile) -> !tile
  // CHECK: "d2m.tile_transpose"
  %7 = "d2m.tile_transpose"(%6) : (!tile) -> !tile
  // CHECK: "d2m.dst_reinterpret_cast"(%arg2) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
  %8 = "d2m.dst_reinterpret_cast"(%c) : (!ttcore.tile<32x32, f32>) -> !tile
  // CHECK: "d2m.tile_tilize_block"(%arg3, %arg4) : (tensor<32x96xbf16>, tensor<1x3x!ttcore.tile<32x32, bf16>>) -> tensor<1x3x!ttcore.tile<32x32, bf16>>
  %9 = "d2m.tile_tilize_block"(%s, %o) : (tensor<32x96xbf16>, tensor<1x3x!tile>) -> tensor<1x3x!tile>
  // CHECK: "d2m.tile_untilize_block"
  %10 = "d2m.tile_untilize_block"(%9, %s) : (tensor<1x3x!tile>, tensor<32x96xbf16>) -> tensor<32x96xbf16>
  // CHECK: d2m.all_gather %{{.*}}, %{{.*}} : memref<2x1x!ttcore.tile<32x32, bf16>, #l1> into memref<8x2x1x!ttcore.tile<32x32, bf16>, #l1>
  %part = memref.alloc() : memref<2x1x!tile, #l1>
  %parts = memref.alloc() : memref<8x2x1x!tile, #l1>
  d2m.all_gather %part, %parts : memref<2x1x!tile, #l1> into memref<8x2x1x!tile, #l1>
  // CHECK: d2m.store %arg4, %{{.*}} : tensor<1x3x!ttcore.tile<32x32, bf16>>
  d2m.store %o, %9 : tensor<1x3x!tile>
  return
}
