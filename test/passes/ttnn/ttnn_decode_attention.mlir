// Attention of one position of each sequence.
// RUN: ttmlir-opt --ttnn-decode-attention %s | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#q = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 32 + d2, d3), <1x1>, memref<18x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#k = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 96 + d2, d3), <1x1>, memref<18x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#near = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 32 + d2, d3), <1x1>, memref<18x2x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<l1>>, <interleaved>>
#m = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<3x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#odd = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 256 + d1 * 128 + d2, d3), <1x1>, memref<24x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#many = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<65x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

module {
ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = , chipIds = [0]>

// The mask of a sequence is that of each of its heads.
// CHECK-LABEL: func.func @masked(
// CHECK-DAG: %[[M:.*]] = "ttnn.repeat"(%arg3) <{repeat_dims = #ttnn.shape<1x1x6x1>}> : (tensor<3x1x1x96xbf16, {{.*}}>) -> tensor<3x1x6x96xbf16, {{.*}}>
// CHECK-DAG: %[[Q:.*]] = "ttnn.reshape"(%arg0) <{shape = [1 : i32, 3 : i32, 6 : i32, 64 : i32]}>
// CHECK: %[[A:.*]] = "ttnn.scaled_dot_product_attention_decode"(%[[Q]], %arg1, %arg2, %[[M]]) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, scale = 2.500000e-01 : f32}>
// CHECK-NEXT: %[[R:.*]] = "ttnn.reshape"(%[[A]]) <{shape = [3 : i32, 6 : i32, 1 : i32, 64 : i32]}>
// CHECK-NEXT: return %[[R]]
func.func @masked(%q: tensor<3x6x1x64xbf16, #q>, %k: tensor<3x2x96x64xbf16, #k>, %v: tensor<3x2x96x64xbf16, #k>, %m: tensor<3x1x1x96xbf16, #m>) -> tensor<3x6x1x64xbf16, #q> {
  %0 = "ttnn.scaled_dot_product_attention"(%q, %k, %v, %m) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 2.500000e-01 : f32}> : (tensor<3x6x1x64xbf16, #q>, tensor<3x2x96x64xbf16, #k>, tensor<3x2x96x64xbf16, #k>, tensor<3x1x1x96xbf16, #m>) -> tensor<3x6x1x64xbf16, #q>
  return %0 : tensor<3x6x1x64xbf16, #q>
}

// The library decodes keys of whole tiles alone.
// CHECK-LABEL: func.func @part_of_a_tile(
// CHECK-NEXT: "ttnn.scaled_dot_product_attention"(
func.func @part_of_a_tile(%q: tensor<3x6x1x64xbf16, #q>, %k: tensor<3x2x100x64xbf16, #odd>, %v: tensor<3x2x100x64xbf16, #odd>) -> tensor<3x6x1x64xbf16, #q> {
  %0 = "ttnn.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<3x6x1x64xbf16, #q>, tensor<3x2x100x64xbf16, #odd>, tensor<3x2x100x64xbf16, #odd>) -> tensor<3x6x1x64xbf16, #q>
  return %0 : tensor<3x6x1x64xbf16, #q>
}

// Each sequence needs a core: 64 are too few for 65.
// CHECK-LABEL: func.func @many(
// CHECK-NEXT: "ttnn.scaled_dot_product_attention"(
func.func @many(%q: tensor<65x1x1x64xbf16, #many>, %k: tensor<65x1x32x64xbf16, #many>, %v: tensor<65x1x32x64xbf16, #many>) -> tensor<65x1x1x64xbf16, #many> {
  %0 = "ttnn.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<65x1x1x64xbf16, #many>, tensor<65x1x32x64xbf16, #many>, tensor<65x1x32x64xbf16, #many>) -> tensor<65x1x1x64xbf16, #many>
  return %0 : tensor<65x1x1x64xbf16, #many>
}

// The result stays in its memory.
// CHECK-LABEL: func.func @near(
// CHECK: %[[A:.*]] = "ttnn.scaled_dot_product_attention_decode"(
// CHECK-NEXT: "ttnn.reshape"(%[[A]]) {{.*}} -> tensor<3x6x1x64xbf16, #[[NEAR:.*]]>
// CHECK-NEXT: return {{.*}} : tensor<3x6x1x64xbf16, #[[NEAR]]>
func.func @near(%q: tensor<3x6x1x64xbf16, #q>, %k: tensor<3x2x96x64xbf16, #k>, %v: tensor<3x2x96x64xbf16, #k>) -> tensor<3x6x1x64xbf16, #near> {
  %0 = "ttnn.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<3x6x1x64xbf16, #q>, tensor<3x2x96x64xbf16, #k>, tensor<3x2x96x64xbf16, #k>) -> tensor<3x6x1x64xbf16, #near>
  return %0 : tensor<3x6x1x64xbf16, #near>
}
}
