// Results in L1, beside the ones that have to be in DRAM.
// RUN: ttmlir-opt --ttnn-keep-results-in-l1 %s | FileCheck %s
// RUN: ttmlir-opt --ttnn-keep-results-in-l1="tensor-l1-usage-cap=0" %s | FileCheck %s --check-prefix=NONE
// RUN: ttmlir-opt --ttnn-keep-results-in-l1="block-l1-usage-cap=0" %s | FileCheck %s --check-prefix=BLOCKS

// NONE-NOT: #l1
// CHECK-DAG: #[[DRAM:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CHECK-DAG: #[[ROWS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<96x128xbf16, #dram>, <interleaved>>
// CHECK-DAG: #[[L1:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <interleaved>>
#dram = #ttnn.buffer_type<dram>
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<96x128xbf16, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#number = #ttnn.ttnn_layout<() -> (0, 0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#three = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 32 + d1, d2), <1x1>, memref<3x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// RUN: not ttmlir-opt --ttnn-keep-results-in-l1="block-l1-usage-cap=1.5" %s 2>&1 | FileCheck %s --check-prefix=PART
// PART: for the --block-l1-usage-cap option: 1.5 is no part of L1; give a number from 0 to 1

module {
ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = , chipIds = [0]>

// The sum is used by a product, whose result is returned; the view of the sum is where that is.
// CHECK-LABEL: func.func @chain(
// CHECK: %[[S:.*]] = "ttnn.add"({{.*}} -> tensor<96x128xbf16, #[[L1]]>
// CHECK: %[[P:.*]] = "ttnn.matmul"(%[[S]], %arg2) {{.*}} -> tensor<96x128xbf16, #[[L1]]>
// CHECK: %[[V:.*]] = "ttnn.reshape"(%[[S]]) {{.*}} -> tensor<3x32x128xbf16, #[[VIEW:.*]]>
// CHECK: "ttnn.neg"(%[[V]]) : (tensor<3x32x128xbf16, #[[VIEW]]>) -> tensor<3x32x128xbf16, #[[THREE:.*]]>
// CHECK: "ttnn.exp"(%[[P]]) : (tensor<96x128xbf16, #[[L1]]>) -> tensor<96x128xbf16, #[[DRAM]]>
// CHECK-NEXT: return
// What would be there beside the product may not.
// BLOCKS-LABEL: func.func @chain(
// BLOCKS: "ttnn.add"({{.*}} -> tensor<96x128xbf16, #[[DRAM:.*]]>
// BLOCKS: "ttnn.matmul"({{.*}} -> tensor<96x128xbf16, #[[DRAM]]>
func.func @chain(%x: tensor<96x128xbf16, #a>, %y: tensor<96x128xbf16, #a>, %w: tensor<128x128xbf16, #w>) -> (tensor<96x128xbf16, #a>, tensor<3x32x128xbf16, #three>) {
  %0 = "ttnn.add"(%x, %y) <{activations = [], input_tensor_a_activations = [], input_tensor_b_activations = []}> : (tensor<96x128xbf16, #a>, tensor<96x128xbf16, #a>) -> tensor<96x128xbf16, #a>
  %1 = "ttnn.matmul"(%0, %w) <{transpose_a = false, transpose_b = false}> : (tensor<96x128xbf16, #a>, tensor<128x128xbf16, #w>) -> tensor<96x128xbf16, #a>
  %2 = "ttnn.reshape"(%0) <{shape = [3 : i32, 32 : i32, 128 : i32]}> : (tensor<96x128xbf16, #a>) -> tensor<3x32x128xbf16, #three>
  %3 = "ttnn.neg"(%2) : (tensor<3x32x128xbf16, #three>) -> tensor<3x32x128xbf16, #three>
  %4 = "ttnn.exp"(%1) : (tensor<96x128xbf16, #a>) -> tensor<96x128xbf16, #a>
  return %4, %3 : tensor<96x128xbf16, #a>, tensor<3x32x128xbf16, #three>
}

// Numbers without dimensions are tiles, too.
// CHECK-LABEL: func.func @number(
// CHECK: %[[E:.*]] = "ttnn.exp"({{.*}} -> tensor<f32, #[[ONE:.*]]>
// CHECK: "ttnn.reshape"(%[[E]]) {{.*}} : (tensor<f32, #[[ONE]]>) -> tensor<f32, #[[ONE]]>
func.func @number(%x: tensor<f32, #number>) -> tensor<f32, #number> {
  %0 = "ttnn.exp"(%x) : (tensor<f32, #number>) -> tensor<f32, #number>
  %1 = "ttnn.reshape"(%0) <{shape = []}> : (tensor<f32, #number>) -> tensor<f32, #number>
  %2 = "ttnn.neg"(%1) : (tensor<f32, #number>) -> tensor<f32, #number>
  return %2 : tensor<f32, #number>
}

// Rows and the tiles that are made of them go together: to change the memory, too, takes a move.
// CHECK-LABEL: func.func @tiles(
// CHECK: "ttnn.neg"({{.*}} -> tensor<96x128xbf16, #[[ROWS_L1:.*]]>
// CHECK: "ttnn.to_tensor_spec"({{.*}} : (tensor<96x128xbf16, #[[ROWS_L1]]>) -> tensor<96x128xbf16, #[[L1]]>
// CHECK: "ttnn.exp"({{.*}} : (tensor<96x128xbf16, #[[L1]]>)
func.func @tiles(%x: tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #a> {
  %0 = "ttnn.neg"(%x) : (tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #rows>
  %1 = "ttnn.to_tensor_spec"(%0) : (tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #a>
  %2 = "ttnn.exp"(%1) : (tensor<96x128xbf16, #a>) -> tensor<96x128xbf16, #a>
  return %2 : tensor<96x128xbf16, #a>
}

// CHECK-LABEL: func.func @given(
// CHECK: "ttnn.to_tensor_spec"({{.*}} -> tensor<96x128xbf16, #[[DRAM]]>
func.func @given(%x: tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #a> {
  %0 = "ttnn.to_tensor_spec"(%x) : (tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #a>
  %1 = "ttnn.exp"(%0) : (tensor<96x128xbf16, #a>) -> tensor<96x128xbf16, #a>
  return %1 : tensor<96x128xbf16, #a>
}

// CHECK-LABEL: func.func @returned(
// CHECK: %[[N:.*]] = "ttnn.neg"({{.*}} -> tensor<96x128xbf16, #[[ROWS]]>
// CHECK: "ttnn.to_tensor_spec"(%[[N]]) : (tensor<96x128xbf16, #[[ROWS]]>) -> tensor<96x128xbf16, #[[DRAM]]>
func.func @returned(%x: tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #a> {
  %0 = "ttnn.neg"(%x) : (tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #rows>
  %1 = "ttnn.to_tensor_spec"(%0) : (tensor<96x128xbf16, #rows>) -> tensor<96x128xbf16, #a>
  return %1 : tensor<96x128xbf16, #a>
}
}
