// Borders of programs for a mesh, and collectives.
// RUN: ttmlir-opt %s --split-input-file --stablehlo-to-ttir-pipeline | FileCheck %s

// The result is the whole again: the axis "a" has the rows, and nothing has the columns.
// CHECK: module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>}
// CHECK: "ttir.mesh_shard"(%arg0) <{shard_dims = array<i64: 1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 4, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<64x32xf32>) -> tensor<16x16xf32>
// CHECK: "ttir.all_gather"(%0) <{all_gather_dim = 1 : si32, cluster_axis = 0 : ui32}> : (tensor<16x16xf32>) -> tensor<16x32xf32>
// CHECK: "ttir.mesh_shard"(%1) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 4, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<16x32xf32>) -> tensor<64x32xf32>
module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @computation(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b"}, {"a"}]>]
        out_shardings=[<@mesh, [{"b"}, {}]>] manual_axes={"a", "b"} (%p: tensor<16x16xf32>) {
      %1 = "stablehlo.all_gather"(%p) <{all_gather_dim = 1 : i64,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>,
          use_global_device_ids}> : (tensor<16x16xf32>) -> tensor<16x32xf32>
      sdy.return %1 : tensor<16x32xf32>
    } : (tensor<64x32xf32>) -> tensor<64x32xf32>
    return %0 : tensor<64x32xf32>
  }
}

// -----

// Each device brings its own part of the argument.
// CHECK: func.func @presharded(%arg0: tensor<16x32xf32>
// CHECK-NOT: full_to_shard
// CHECK: "ttir.mesh_shard"(%0) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<16x32xf32>) -> tensor<16x32xf32>
module {
  sdy.mesh @mesh = <["a"=1, "b"=4]>
  func.func @presharded(%x: tensor<64x32xf32>
      {ttcore.shard_status = #ttcore.shard_status<presharded>}) -> tensor<16x32xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b"}, {}]>]
        out_shardings=[<@mesh, [{}, {}]>] manual_axes={"a", "b"} (%p: tensor<16x32xf32>) {
      %1 = stablehlo.abs %p : tensor<16x32xf32>
      sdy.return %1 : tensor<16x32xf32>
    } : (tensor<64x32xf32>) -> tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
}

// -----

// The tiles are those of a mesh of 2 rows and 4 columns, transposed: 4 parts of the rows.
// CHECK: ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>
// CHECK: "ttir.mesh_shard"(%arg0) <{shard_dims = array<i64: 1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 4, 2>, shard_type = #ttcore.shard_type<devices>}>
// CHECK: "ttir.all_reduce"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<max>}> : (tensor<16x15xf32>) -> tensor<16x15xf32>
// CHECK: "ttir.reduce_scatter"(%1) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 0 : si32}> : (tensor<16x15xf32>) -> tensor<4x15xf32>
// CHECK: "ttir.mesh_shard"(%2) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 4, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<4x15xf32>) -> tensor<16x15xf32>
// CHECK-NOT: Sharding
func.func @calls(%x: tensor<64x30xf32>) -> tensor<16x15xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0)}"}
      : (tensor<64x30xf32>) -> tensor<64x30xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"}
      : (tensor<64x30xf32>) -> tensor<16x15xf32>
  %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<16x15xf32>) -> tensor<16x15xf32>
  %3 = "stablehlo.reduce_scatter"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>,
      scatter_dimension = 0 : i64, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<16x15xf32>) -> tensor<4x15xf32>
  %4 = stablehlo.custom_call @Sharding(%3) {mhlo.sharding = "{manual}"}
      : (tensor<4x15xf32>) -> tensor<4x15xf32>
  %5 = stablehlo.custom_call @SPMDShardToFullShape(%4)
      {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
      : (tensor<4x15xf32>) -> tensor<16x15xf32>
  return %5 : tensor<16x15xf32>
}
