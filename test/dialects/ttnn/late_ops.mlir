// Operations of ttnn that came in 2026 are printed as they were read.
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

// CHECK-LABEL: func.func @mesh(
func.func @mesh(%x: tensor<64x128xf32>, %d: !ttnn.device) {
  // CHECK: "ttnn.distribute_tensor"(%arg0, %arg1) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate, -1 : i32>, <shard, 1 : i32>], mesh_shape_override = [1 : ui32, 2 : ui32]>}>
  %0 = "ttnn.distribute_tensor"(%x, %d) <{mapper_config = #ttnn.mesh_mapper_config<placements = [<replicate, -1 : i32>, <shard, 1 : i32>], mesh_shape_override = [1 : ui32, 2 : ui32]>}> : (tensor<64x128xf32>, !ttnn.device) -> tensor<64x64xf32>
  // CHECK: "ttnn.aggregate_tensor"(%0, %arg1) <{composer_config = #ttnn.mesh_composer_config<dims = [0 : i32, 1 : i32]>}>
  %1 = "ttnn.aggregate_tensor"(%0, %d) <{composer_config = #ttnn.mesh_composer_config<dims = [0 : i32, 1 : i32]>}> : (tensor<64x64xf32>, !ttnn.device) -> tensor<64x128xf32>
  return
}

// CHECK-LABEL: func.func @traces(
func.func @traces(%d: !ttnn.device) {
  // CHECK: "ttnn.create_global_semaphore"(%arg0) <{core_range_set = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (7,7)>]>}> : (!ttnn.device) -> !ttnn.global_semaphore
  %0 = "ttnn.create_global_semaphore"(%d) <{core_range_set = #ttnn.core_range_set<[#ttnn.core_range<(0,0), (7,7)>]>}> : (!ttnn.device) -> !ttnn.global_semaphore
  // CHECK: "ttnn.reset_global_semaphore"(%0) <{value = 3 : ui32}>
  "ttnn.reset_global_semaphore"(%0) <{value = 3 : ui32}> : (!ttnn.global_semaphore) -> ()
  // CHECK: "ttnn.begin_trace_capture"(%arg0) <{cq_id = 0 : ui32}> : (!ttnn.device) -> tensor<ui32, #ttnn.trace_id>
  %1 = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> tensor<ui32, #ttnn.trace_id>
  // CHECK: "ttnn.execute_trace"(%arg0, %1) <{blocking = true, cq_id = 0 : ui32}>
  "ttnn.execute_trace"(%d, %1) <{blocking = true}> : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> ()
  return
}

// CHECK-LABEL: func.func @attention(
func.func @attention(%q: tensor<1x4x32x64xf32>) {
  // CHECK: "ttnn.sdpa_fw"(%arg0, %arg0, %arg0) <{mask_type = #ttcore.attention_mask_type<causal>, return_intermediates = false}>
  %0 = "ttnn.sdpa_fw"(%q, %q, %q) <{mask_type = #ttcore.attention_mask_type<causal>}> : (tensor<1x4x32x64xf32>, tensor<1x4x32x64xf32>, tensor<1x4x32x64xf32>) -> tensor<1x4x32x64xf32>
  return
}
