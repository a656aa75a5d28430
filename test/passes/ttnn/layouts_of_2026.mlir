// Passes that choose layouts of ttnn of 2026, alone.

// RUN: ttmlir-opt --ttnn-greedy-memory-layout-propagation=enable-l1-sharding-layouts=false --split-input-file %s | FileCheck %s --check-prefix=NONE
// NONE-NOT: ttnn.to_memory_config
// RUN: ttmlir-opt --ttnn-greedy-memory-layout-propagation --split-input-file %s | FileCheck %s --check-prefix=GREEDY
// RUN: ttmlir-opt --ttnn-greedy-memory-layout-propagation --ttnn-greedy-l1-spill-management=l1-size=6200 --split-input-file %s | FileCheck %s --check-prefix=SPILL
// RUN: ttmlir-opt --ttnn-prepare-conv2d-weights-and-bias --split-input-file %s | FileCheck %s --check-prefix=CONV
// RUN: ttmlir-opt --ttnn-prepare-conv2d-weights-and-bias --ttnn-prepare-conv2d-weights-and-bias --split-input-file %s | FileCheck %s --check-prefix=CONV
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="optimization-level=2 tensor-l1-usage-cap=0.0 system-desc-path=n150" %S/Inputs/late_windows.mlir | FileCheck %s --check-prefix=CAP
// RUN: not ttmlir-opt --ttnn-greedy-memory-layout-propagation=tensor-l1-usage-cap=1.5 %S/Inputs/late_windows.mlir 2>&1 | FileCheck %s --check-prefix=PART
// CAP-NOT: ttnn.to_memory_config
// PART: for the --tensor-l1-usage-cap option: 1.5 is no part of L1; give a number from 0 to 1

// RUN: ttmlir-opt --ttnn-operation-validation-and-fallback --split-input-file %s | FileCheck %s --check-prefix=VALID
// RUN: ttmlir-opt --ttnn-rm-layout-propagation --split-input-file %s | FileCheck %s --check-prefix=ROWS
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="optimization-level=2 system-desc-path=n150" %S/Inputs/late_windows.mlir -o %t.mlir
// RUN: FileCheck %s --check-prefix=LEVEL --input-file %t.mlir
// RUN: ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn
// RUN: ttrt run --golden %t.ttnn 2>&1 | FileCheck %s --check-prefix=GOLDEN
// LEVEL: "ttnn.prepare_conv2d_weights"
// LEVEL: "ttnn.conv2d"
// One operation between others that are in DRAM is not worth two moves.
// LEVEL-NOT: {{compute_config|ttnn.to_memory_config}}
// LEVEL: "ttnn.cos"
// GOLDEN: pass
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="optimization-level=2 system-desc-path=n150" %S/Inputs/empty.mlir | FileCheck %s --check-prefix=EMPTY
// EMPTY-NOT: ttnn.to_memory_config
// EMPTY: "ttnn.neg"

#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = , chipIds = [0]>

  // A tile of bf16 has 2,048 bytes, and a core holds one of each tensor: when the sum of %1 and %2
  // is made, those of %arg0, %0, %1, %2 are there; %0 is used last.
  // GREEDY: %[[A:.*]] = "ttnn.to_memory_config"(%arg0)
  // GREEDY-NEXT: %[[E:.*]] = "ttnn.exp"(%[[A]])
  // GREEDY-NEXT: %[[N:.*]] = "ttnn.neg"(%[[A]])
  // GREEDY: "ttnn.to_memory_config"
  // GREEDY-NEXT: return
  // SPILL: %[[E:.*]] = "ttnn.exp"
  // SPILL-NEXT: %[[COPY:.*]] = "ttnn.to_memory_config"(%[[E]]){{.*}} -> tensor<96x160xbf16, #[[DRAM:ttnn_layout]]>
  // SPILL-NEXT: "ttnn.neg"
  // SPILL-NEXT: "ttnn.tanh"
  // SPILL-NEXT: %[[SUM:.*]] = "ttnn.add"(
  // SPILL-NEXT: "ttnn.multiply"(%[[SUM]], %[[COPY]])
  func.func @values(%a: tensor<96x160xbf16, #l>) -> tensor<96x160xbf16, #l> {
    %0 = "ttnn.exp"(%a) : (tensor<96x160xbf16, #l>) -> tensor<96x160xbf16, #l>
    %1 = "ttnn.neg"(%a) : (tensor<96x160xbf16, #l>) -> tensor<96x160xbf16, #l>
    %2 = "ttnn.tanh"(%1) : (tensor<96x160xbf16, #l>) -> tensor<96x160xbf16, #l>
    %3 = "ttnn.add"(%1, %2) <{activations = [], input_tensor_a_activations = [],
        input_tensor_b_activations = []}>
        : (tensor<96x160xbf16, #l>, tensor<96x160xbf16, #l>) -> tensor<96x160xbf16, #l>
    %4 = "ttnn.multiply"(%3, %0) <{activations = [], input_tensor_a_activations = [],
        input_tensor_b_activations = []}>
        : (tensor<96x160xbf16, #l>, tensor<96x160xbf16, #l>) -> tensor<96x160xbf16, #l>
    return %4 : tensor<96x160xbf16, #l>
  }
}

// -----

// What today's compiler makes of this convolution in this step: 3 * 3 * 64 rows.
#dram = #ttnn.buffer_type<dram>
#system_memory = #ttnn.buffer_type<system_memory>
#i = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 928 + d1 * 928 + d2, d3), <1x1>, memref<29x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#w = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 192 + d1 * 3 + d2, d3), <1x1>, memref<6144x3xbf16, #system_memory>>
#b = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 + d1 + d2, d3), <1x1>, memref<1x32xbf16, #system_memory>>
#r = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 800 + d1 * 800 + d2, d3), <1x1>, memref<25x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CONV: #[[WEIGHTS:.*]] = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 576 + d1 * 576 + d2, d3), <1x1>, memref<18x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CONV: #[[BIAS:.*]] = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CONV: %[[DEVICE:.*]] = "ttnn.get_device"
// CONV-NEXT: %[[W:.*]] = "ttnn.prepare_conv2d_weights"(%arg1, %[[DEVICE]]) <{batch_size = 1 : i32, conv2d_config = #ttnn.conv2d_config<weights_dtype = bf16, deallocate_activation = true, act_block_h_override = 0, enable_kernel_stride_folding = false, config_tensors_in_dram = true>, conv2d_slice_config = #ttnn.conv2d_slice_config<l1_full, 0>, dilation = array<i32: 1, 1>, groups = 1 : i32, has_bias = true, in_channels = 64 : i32, input_dtype = #ttcore.supportedDataTypes<bf16>, input_height = 30 : i32, input_memory_config = #ttnn.memory_config<#dram, <interleaved>>, input_tensor_layout = #ttnn.layout<tile>, input_width = 30 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, output_dtype = #ttcore.supportedDataTypes<bf16>, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 1, 1>, weights_format = "OIHW"}> : {{.*}} -> tensor<1x1x576x32xbf16, #[[WEIGHTS]]>
// CONV-NEXT: %[[B:.*]] = "ttnn.prepare_conv2d_bias"(%arg2, %[[DEVICE]]){{.*}} -> tensor<1x1x1x32xbf16, #[[BIAS]]>
// CONV-NEXT: "ttnn.conv2d"(%arg0, %[[W]], %[[B]], %[[DEVICE]])
func.func @windows(%a: tensor<1x1x900x64xbf16, #i>, %w: tensor<32x64x3x3xbf16, #w>,
    %b: tensor<1x1x1x32xbf16, #b>) -> tensor<1x1x784x32xbf16, #r> {
  %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %1 = "ttnn.conv2d"(%a, %w, %b, %0) <{batch_size = 1 : i32, conv2d_config = #ttnn.conv2d_config<weights_dtype = bf16, deallocate_activation = true, act_block_h_override = 0, enable_kernel_stride_folding = false, config_tensors_in_dram = true>, conv2d_slice_config = #ttnn.conv2d_slice_config<l1_full, 0>, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 64 : i32, input_height = 30 : i32, input_width = 30 : i32, kernel_size = array<i32: 3, 3>, out_channels = 32 : i32, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
      : (tensor<1x1x900x64xbf16, #i>, tensor<32x64x3x3xbf16, #w>, tensor<1x1x1x32xbf16, #b>, !ttnn.device) -> tensor<1x1x784x32xbf16, #r>
  return %1 : tensor<1x1x784x32xbf16, #r>
}

// -----

// As today's compiler does: a comparison of integers computes in rows, a choice in tiles, for which
// arguments are converted first. An embedding takes rows of places as they are.
#dram = #ttnn.buffer_type<dram>
#r = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<96x160xsi32, #dram>, <interleaved>>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5x!ttcore.tile<32x32, si32>, #dram>, <interleaved>>
#f = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// ROWS-LABEL: @chosen
// ROWS-NEXT: %[[GT:.*]] = "ttnn.gt"(%arg0, %arg1)
// ROWS-NEXT: %[[A:.*]] = "ttnn.to_tensor_spec"(%arg0)
// ROWS-NEXT: %[[B:.*]] = "ttnn.to_tensor_spec"(%arg1)
// ROWS-NEXT: %[[C:.*]] = "ttnn.to_tensor_spec"(%[[GT]])
// ROWS-NEXT: "ttnn.where"(%[[C]], %[[A]], %[[B]])
func.func @chosen(%a: tensor<96x160xsi32, #r>, %b: tensor<96x160xsi32, #r>)
    -> tensor<96x160xsi32, #t> {
  %0 = "ttnn.to_tensor_spec"(%a) : (tensor<96x160xsi32, #r>) -> tensor<96x160xsi32, #t>
  %1 = "ttnn.to_tensor_spec"(%b) : (tensor<96x160xsi32, #r>) -> tensor<96x160xsi32, #t>
  %2 = "ttnn.gt"(%0, %1) <{activations = [], input_tensor_a_activations = [],
      input_tensor_b_activations = []}>
      : (tensor<96x160xsi32, #t>, tensor<96x160xsi32, #t>) -> tensor<96x160xbf16, #f>
  %3 = "ttnn.where"(%2, %0, %1)
      : (tensor<96x160xbf16, #f>, tensor<96x160xsi32, #t>, tensor<96x160xsi32, #t>)
      -> tensor<96x160xsi32, #t>
  return %3 : tensor<96x160xsi32, #t>
}

#w = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<50x64xbf16, #dram>, <interleaved>>
#e = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 160 + d1, d2), <1x1>, memref<15360x64xbf16, #dram>, <interleaved>>
// ROWS-LABEL: @looked_up
// ROWS-NEXT: "ttnn.neg"(%arg0)
// ROWS-NEXT: "ttnn.embedding"(%arg0, %arg1)
// ROWS-NEXT: "ttnn.to_tensor_spec"
// ROWS-NEXT: return
func.func @looked_up(%a: tensor<96x160xsi32, #r>, %w: tensor<50x64xbf16, #w>)
    -> (tensor<96x160xsi32, #t>, tensor<96x160x64xbf16, #e>) {
  %0 = "ttnn.to_tensor_spec"(%a) : (tensor<96x160xsi32, #r>) -> tensor<96x160xsi32, #t>
  %1 = "ttnn.neg"(%0) : (tensor<96x160xsi32, #t>) -> tensor<96x160xsi32, #t>
  %2 = "ttnn.embedding"(%a, %w)
      : (tensor<96x160xsi32, #r>, tensor<50x64xbf16, #w>) -> tensor<96x160x64xbf16, #e>
  return %1, %2 : tensor<96x160xsi32, #t>, tensor<96x160x64xbf16, #e>
}

// -----

// Sums of rows are computed in DRAM; the product takes shards, and makes them.
#l1 = #ttnn.buffer_type<l1>
#dram = #ttnn.buffer_type<dram>
#c = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <3x5>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (4,2)>]>>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <3x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (2,0)>]>>
// VALID-LABEL: @rows
// VALID-NEXT: %[[SQUARE:.*]] = "ttnn.multiply"(%arg0, %arg0)
// VALID-NEXT: %[[MOVED:.*]] = "ttnn.to_tensor_spec"(%[[SQUARE]])
// VALID-NEXT: %[[SUM:.*]] = "ttnn.sum"(%[[MOVED]])
// VALID-NEXT: %[[BACK:.*]] = "ttnn.to_tensor_spec"(%[[SUM]])
// VALID-NEXT: return %[[BACK]]
func.func @rows(%a: tensor<96x160xbf16, #c>) -> tensor<96x1xbf16, #s> {
  %0 = "ttnn.multiply"(%a, %a) <{activations = [], input_tensor_a_activations = [],
      input_tensor_b_activations = []}>
      : (tensor<96x160xbf16, #c>, tensor<96x160xbf16, #c>) -> tensor<96x160xbf16, #c>
  %1 = "ttnn.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}>
      : (tensor<96x160xbf16, #c>) -> tensor<96x1xbf16, #s>
  return %1 : tensor<96x1xbf16, #s>
}
