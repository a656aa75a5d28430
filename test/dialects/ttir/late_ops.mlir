// Operations of ttir that came in 2026 are printed as they were read.
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

// CHECK-LABEL: func.func @experts(
func.func @experts(%x: tensor<2x8x1x64xbf16>, %i: tensor<2x8x1x4xui16>, %m: tensor<1x1x16x8xui16>) {
  // CHECK: %dispatched, %metadata = "ttir.all_to_all_dispatch"(%arg0, %arg1, %arg2) <{cluster_axis = 1 : i64, num_devices = 8 : i64}>
  %0:2 = "ttir.all_to_all_dispatch"(%x, %i, %m) <{cluster_axis = 1 : i64, num_devices = 8 : i64}> : (tensor<2x8x1x64xbf16>, tensor<2x8x1x4xui16>, tensor<1x1x16x8xui16>) -> (tensor<1x16x8x64xbf16>, tensor<1x16x8x4xui16>)
  // CHECK: "ttir.all_to_all_combine"({{.*}}) <{cluster_axis = 1 : i64, num_devices = 8 : i64, num_experts_per_tok = 4 : i64, output_shard_dim = 2 : i64}>
  %1 = "ttir.all_to_all_combine"(%0#0, %0#1, %m) <{cluster_axis = 1 : i64, num_devices = 8 : i64, num_experts_per_tok = 4 : i64}> : (tensor<1x16x8x64xbf16>, tensor<1x16x8x4xui16>, tensor<1x1x16x8xui16>) -> tensor<4x2x8x64xbf16>
  return
}

// CHECK-LABEL: func.func @router(
func.func @router(%x: tensor<32x64xbf16>, %w: tensor<64x128xbf16>, %b: tensor<32x128xbf16>) {
  // CHECK: %expert_indices, %expert_weights = "ttir.topk_router_gpt"(%arg0, %arg1, %arg2) <{k = 4 : i32, num_experts = 128 : i32}>
  %0:2 = "ttir.topk_router_gpt"(%x, %w, %b) <{k = 4 : i32, num_experts = 128 : i32}> : (tensor<32x64xbf16>, tensor<64x128xbf16>, tensor<32x128xbf16>) -> (tensor<32x4xui16>, tensor<32x4xbf16>)
  return
}

// CHECK-LABEL: func.func @norms(
func.func @norms(%x: tensor<1x1x32x64xbf16>, %w: tensor<64xbf16>) {
  // CHECK: "ttir.distributed_rms_norm"(%arg0, %arg1) <{cluster_axis = 1 : ui32, epsilon = 9.99999974E-6 : f32, operandSegmentSizes = array<i32: 1, 1, 0>}>
  %0 = "ttir.distributed_rms_norm"(%x, %w) <{cluster_axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<1x1x32x64xbf16>, tensor<64xbf16>) -> tensor<1x1x32x64xbf16>
  return
}

// CHECK-LABEL: func.func @window(
func.func @window(%x: tensor<1x1x64x6xf32>) {
  // CHECK: "ttir.max_pool2d"(%arg0) <{{{.*}}flattened_compat_info = #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 8>
  %0 = "ttir.max_pool2d"(%x) <{ceil_mode = false, dilation = 1 : i32, flattened_compat_info = #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 8>, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<1x1x64x6xf32>) -> tensor<1x1x16x6xf32>
  return
}

// CHECK-LABEL: func.func @attention(
func.func @attention(%q: tensor<1x8x4x64xbf16>, %k: tensor<16x1x32x64xbf16>, %t: tensor<8x4xi32>) {
  // CHECK: "ttir.paged_flash_multi_latent_attention_decode"(%arg0, %arg1, %arg2) <{head_dim_v = 32 : ui32, is_causal = true, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>}>
  %0 = "ttir.paged_flash_multi_latent_attention_decode"(%q, %k, %t) <{head_dim_v = 32 : ui32, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>}> : (tensor<1x8x4x64xbf16>, tensor<16x1x32x64xbf16>, tensor<8x4xi32>) -> tensor<1x8x4x32xbf16>
  return
}

// CHECK-LABEL: func.func @kernel(
func.func @kernel(%x: tensor<4x5xf32>) {
  // CHECK: "ttir.tt_lang_op"(%arg0, %arg0) <{arg_roles = "in,out", kernel_id = "k", version_tag = "1"}>
  %0 = "ttir.tt_lang_op"(%x, %x) <{arg_roles = "in,out", kernel_id = "k", version_tag = "1"}> : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @layouts(
func.func @layouts(%x: tensor<5x7xf32>) -> tensor<5x7xbf16> {
  // CHECK: %[[EMPTY:.*]] = ttir.empty() : tensor<5x7xbf16>
  // CHECK: ttir.to_layout %arg0, %[[EMPTY]] {name = "a"} : tensor<5x7xf32> into tensor<5x7xbf16> -> tensor<5x7xbf16>
  %0 = ttir.empty() : tensor<5x7xbf16>
  %1 = ttir.to_layout %x, %0 {name = "a"} : tensor<5x7xf32> into tensor<5x7xbf16> -> tensor<5x7xbf16>
  return %1 : tensor<5x7xbf16>
}
