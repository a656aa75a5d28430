// A mesh of as many chips as its shape says is assumed, and tensors are divided over it.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="mesh-shape=1,2" %s | FileCheck %s
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="mesh-shape=1,2" %s -o %t.mlir
// RUN: ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn
// RUN: ttrt read --section op_stats %t.ttnn | FileCheck %s --check-prefix=FILE
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="mesh-shape=1,2 mesh-topology=ring,disabled enable-activation-dtype-lowering=true" %s | FileCheck %s --check-prefix=LINKS
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="mesh-shape=1,2 mesh-topology=ring" %s 2>&1 | FileCheck %s --check-prefix=LINK
// RUN: not ttmlir-opt --ttcore-register-device="mesh-topology=star" %s 2>&1 | FileCheck %s --check-prefix=STAR
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="mesh-shape=1,2 system-desc-path=n150" %s 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="mesh-shape=1,2,1" %s 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not ttmlir-opt --ttcore-register-device="mesh-shape=100000,100000" %s 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not ttmlir-opt --convert-ttir-to-ttnn %s 2>&1 | FileCheck %s --check-prefix=DEVICE

// CHECK: [0, 0], [1 : i32, 1 : i32], [ 0x0x0x0,  0x0x0x0]>
// CHECK: meshShape = 1x2, chipIds = [0, 1]
// CHECK-NOT: "ttnn.from_device"
// CHECK: "ttnn.distribute_tensor"(%arg0, %{{.*}}) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate, -1 : i32>, <shard, 1 : i32>], mesh_shape_override = [1 : ui32, 2 : ui32]>}>
// CHECK: "ttnn.to_device"
// CHECK: "ttnn.reduce_scatter"
// CHECK: "ttnn.from_device"
// CHECK: "ttnn.aggregate_tensor"(%{{.*}}, %{{.*}}) <{composer_config = #ttnn.mesh_composer_config<dims = [0 : i32, 1 : i32], mesh_shape_override = [1 : i32, 2 : i32]>}>
// FILE-DAG: DistributeTensorOp
// FILE-DAG: AggregateTensorOp
// LINKS: meshShape = 1x2, chipIds = [0, 1], meshTopology = [ring, disabled]>
// LINKS: [[NARROW:%.*]] = "ttnn.typecast"({{.*}} -> tensor<1x1x96x256x!ttcore.tile<32x32, bfp_bf8>
// LINKS: [[MOVED:%.*]] = "ttnn.reduce_scatter"([[NARROW]]) <{cluster_axis = 1 : ui32, {{.*}}topology = #ttcore.topology<ring>}>
// LINKS: "ttnn.typecast"([[MOVED]]) {{.*}} -> tensor<1x1x96x128xbf16
// LINK: ttcore-register-device cannot make the device: expected meshTopology size to match meshShape rank
// STAR: for the --mesh-topology option: Cannot find option named 'star'! Supported: ring, linear, mesh, torus, disabled
// ONE: a mesh of 1x2 needs 2 chips, the system has 1
// AXES: it has 2 shard_dims, and the mesh 3 axes
// MANY: a mesh has 1 to {{[0-9]+}} chips, got 100000x100000
// DEVICE: there is no ttcore.device; run ttcore-register-device before
func.func @main(%a: tensor<96x512xbf16>) -> tensor<96x256xbf16> {
  %0 = "ttir.mesh_shard"(%a) <{shard_type = #ttcore.shard_type<devices>,
      shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>,
      shard_dims = array<i64: -1, 1>}> : (tensor<96x512xbf16>) -> tensor<96x256xbf16>
  %1 = "ttir.reduce_scatter"(%0) <{cluster_axis = 1 : ui32,
      reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 1 : si32}>
      : (tensor<96x256xbf16>) -> tensor<96x128xbf16>
  %2 = "ttir.mesh_shard"(%1) <{shard_type = #ttcore.shard_type<devices>,
      shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 1, 2>,
      shard_dims = array<i64: -1, 1>}> : (tensor<96x128xbf16>) -> tensor<96x256xbf16>
  return %2 : tensor<96x256xbf16>
}
