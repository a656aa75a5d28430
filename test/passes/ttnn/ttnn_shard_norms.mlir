// Norms of few long rows, of which each core has some columns.
// RUN: ttmlir-opt --ttnn-shard-norms %s | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x36x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x36x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#short = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x31x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#tall = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<9x36x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#prime = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x37x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// CHECK-DAG: #[[A:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x36x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CHECK-DAG: #[[S:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x6>, memref<2x6x!ttcore.tile<32x32, bf16>, #l1>, <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (5,0)>]>>

module {
ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = , chipIds = [0]>

// 36 columns of tiles are 6 for each of 6 cores: 9, 12, 18 and 36 cores are no whole rows of them.
// CHECK-LABEL: func.func @long(
// CHECK-NEXT: %[[X:.*]] = "ttnn.to_tensor_spec"(%arg0) : (tensor<40x1152xbf16, #[[A]]>) -> tensor<40x1152xbf16, #[[S]]>
// CHECK-NEXT: %[[N:.*]] = "ttnn.layer_norm"(%[[X]], %arg1, %arg1) {{.*}} -> tensor<40x1152xbf16, #[[S]]>
// CHECK-NEXT: %[[R:.*]] = "ttnn.to_tensor_spec"(%[[N]]) : (tensor<40x1152xbf16, #[[S]]>) -> tensor<40x1152xbf16, #[[A]]>
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @long(%x: tensor<40x1152xbf16, #a>, %w: tensor<1152xbf16, #w>) -> (tensor<40x1152xbf16, #a>, tensor<40x1152xbf16, #a>) {
  %0 = "ttnn.layer_norm"(%x, %w, %w) <{epsilon = 1.0e-05 : f32, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<40x1152xbf16, #a>, tensor<1152xbf16, #w>, tensor<1152xbf16, #w>) -> tensor<40x1152xbf16, #a>
  return %0, %0 : tensor<40x1152xbf16, #a>, tensor<40x1152xbf16, #a>
}

// Short rows, many of them, and those that divide into no equal parts stay.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT: "ttnn.rms_norm"(%arg0)
// CHECK-NEXT: "ttnn.rms_norm"(%arg1)
// CHECK-NEXT: "ttnn.rms_norm"(%arg2)
// CHECK-NEXT: return
func.func @others(%x: tensor<32x992xbf16, #short>, %y: tensor<288x1152xbf16, #tall>, %z: tensor<32x1184xbf16, #prime>) -> (tensor<32x992xbf16, #short>, tensor<288x1152xbf16, #tall>, tensor<32x1184xbf16, #prime>) {
  %0 = "ttnn.rms_norm"(%x) <{epsilon = 1.0e-05 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<32x992xbf16, #short>) -> tensor<32x992xbf16, #short>
  %1 = "ttnn.rms_norm"(%y) <{epsilon = 1.0e-05 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<288x1152xbf16, #tall>) -> tensor<288x1152xbf16, #tall>
  %2 = "ttnn.rms_norm"(%z) <{epsilon = 1.0e-05 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<32x1184xbf16, #prime>) -> tensor<32x1184xbf16, #prime>
  return %0, %1, %2 : tensor<32x992xbf16, #short>, tensor<288x1152xbf16, #tall>, tensor<32x1184xbf16, #prime>
}
}
