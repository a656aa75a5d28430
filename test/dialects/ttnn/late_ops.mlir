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

// CHECK-LABEL: func.func @recurrent_layers(
func.func @recurrent_layers(%q: tensor<1x64x2x64xf32>, %v: tensor<1x64x4x64xf32>, %g: tensor<1x64x4xf32>, %s: tensor<1x4x64x64xf32>, %c: tensor<1x1x32x32xf32>, %m: tensor<1x1x32x96xf32>, %x: tensor<1x32x64xf32>) {
  // CHECK: %final_state, %output = "ttnn.gated_delta_rule"(%arg0, %arg0, %arg1, %arg2, %arg2, %arg3, %arg4, %arg4, %arg4, %arg5) :
  %0:2 = "ttnn.gated_delta_rule"(%q, %q, %v, %g, %g, %s, %c, %c, %c, %m) : (tensor<1x64x2x64xf32>, tensor<1x64x2x64xf32>, tensor<1x64x4x64xf32>, tensor<1x64x4xf32>, tensor<1x64x4xf32>, tensor<1x4x64x64xf32>, tensor<1x1x32x32xf32>, tensor<1x1x32x32xf32>, tensor<1x1x32x32xf32>, tensor<1x1x32x96xf32>) -> (tensor<1x4x64x64xf32>, tensor<1x64x4x64xf32>)
  // CHECK: "ttnn.gated_delta_decode"(%arg6, %arg6, %arg6, %arg6, %arg6, %arg6, %arg6, %arg6) :
  %1 = "ttnn.gated_delta_decode"(%x, %x, %x, %x, %x, %x, %x, %x) : (tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
  // CHECK: "ttnn.causal_conv1d_update"(%arg6, %arg6, %arg6, %arg6, %arg6) :
  %2 = "ttnn.causal_conv1d_update"(%x, %x, %x, %x, %x) : (tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
  // CHECK: "ttnn.state_pool_update"(%arg6, %arg6, %arg6) : (tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> ()
  "ttnn.state_pool_update"(%x, %x, %x) : (tensor<1x32x64xf32>, tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @high_half(
func.func @high_half(%x: tensor<32x32xui32>) -> tensor<32x32xui32> {
  // CHECK: "ttnn.mulhi"(%arg0, %arg0) <{activations = [], input_tensor_a_activations = [], input_tensor_b_activations = []}>
  %0 = "ttnn.mulhi"(%x, %x) <{activations = [], input_tensor_a_activations = [], input_tensor_b_activations = []}> : (tensor<32x32xui32>, tensor<32x32xui32>) -> tensor<32x32xui32>
  return %0 : tensor<32x32xui32>
}

// CHECK-LABEL: func.func @gradients(
func.func @gradients(%y: tensor<5x7xbf16>, %i: tensor<2x1x1x32xui32>, %w: tensor<40x32xbf16>, %g: tensor<1x1x64x32xbf16>, %d: !ttnn.device) {
  // CHECK: "ttnn.softmax_backward"(%arg0, %arg0) <{dimension = 1 : si32}> : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
  %0 = "ttnn.softmax_backward"(%y, %y) <{dimension = 1 : si32}> : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
  // CHECK: "ttnn.embedding_bw"(%arg1, %arg2, %arg3) : (tensor<2x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x64x32xbf16>) -> tensor<40x32xbf16>
  %1 = "ttnn.embedding_bw"(%i, %w, %g) : (tensor<2x1x1x32xui32>, tensor<40x32xbf16>, tensor<1x1x64x32xbf16>) -> tensor<40x32xbf16>
  return
}
