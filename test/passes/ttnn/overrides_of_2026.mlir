// Layouts and configurations that options name by location, in ttnn of 2026.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=n150 override-output-layout=sum=3x5:l1:block_sharded" %s | FileCheck %s --check-prefix=BLOCK
// 96 x 160 are 3 x 5 tiles: one for each of 15 cores, three rows of five. Softmax takes DRAM, the
// product what the sum made.
// BLOCK: #[[TILES:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// BLOCK: #[[CORES:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <3x5>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (4,2)>]>>
// BLOCK: %[[SUM:.*]] = "ttnn.add"{{.*}} -> tensor<96x160xbf16, #[[CORES]]>
// BLOCK: %[[MOVED:.*]] = "ttnn.to_memory_config"(%[[SUM]]){{.*}} -> tensor<96x160xbf16, #[[TILES]]>
// BLOCK: %[[SOFT:.*]] = "ttnn.softmax"(%[[MOVED]])
// BLOCK: "ttnn.multiply"(%[[SOFT]], %[[SUM]]){{.*}} -> tensor<96x160xbf16, #[[TILES]]>

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=n150 override-output-layout=sum=bfp_bf8,product=1x20:l1:width_sharded insert-memreconfig=product=0" %s | FileCheck %s --check-prefix=WIDTH
// Five tiles across 20 cores: one for each of the first five of 8 + 8 + 4.
// WIDTH-DAG: #[[TILES:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// WIDTH-DAG: #[[BLOCKS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
// WIDTH-DAG: #[[CORES:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x20>, memref<3x1x!ttcore.tile<32x32, bf16>, #l1>, <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (7,1)>, #ttnn.core_range<(0,2), (3,2)>]>>
// WIDTH: %[[SUM:.*]] = "ttnn.add"{{.*}} -> tensor<96x160x!ttcore.tile<32x32, bfp_bf8>, #[[BLOCKS]]>
// WIDTH: %[[CAST:.*]] = "ttnn.typecast"(%[[SUM]]){{.*}} -> tensor<96x160xbf16, #[[TILES]]>
// WIDTH: %[[SOFT:.*]] = "ttnn.softmax"(%[[CAST]])
// WIDTH: %[[MOVED:.*]] = "ttnn.to_memory_config"(%[[SOFT]]){{.*}} -> tensor<96x160xbf16, #[[CORES]]>
// WIDTH: %[[PRODUCT:.*]] = "ttnn.multiply"(%[[MOVED]], %[[CAST]]){{.*}} -> tensor<96x160xbf16, #[[CORES]]>
// WIDTH: "ttnn.to_memory_config"(%[[PRODUCT]]){{.*}} -> tensor<96x160xbf16, #[[TILES]]>

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-conv2d-config=conv=weights_dtype#bfp_bf8:shard_layout#height_sharded:act_block_h_override#64:activation#relu" %s | FileCheck %s --check-prefix=CONV
// CONV: #ttnn.conv2d_config<weights_dtype = bfp_bf8, activation = <op_type = relu>, act_block_h_override = 64, shard_layout = height_sharded, enable_kernel_stride_folding = false, config_tensors_in_dram = true>

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=n150 override-output-layout=sum=l1 share-transfers=true" %s | FileCheck %s --check-prefix=EARLY
// Options of 2024 beside it choose passes of 2024.
// EARLY: "ttnn.empty"

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=n150 override-output-layout=sum=row_major:l1,product=l1" %s | FileCheck %s --check-prefix=ROWS
// Rows become tiles where they are, over all 64 cores: 96 rows are two for each, 15 tiles one.
// ROWS-DAG: #[[TILES:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// ROWS-DAG: #[[ROWS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x240xbf16, #l1>, <interleaved>>
// ROWS-DAG: #[[CORES:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <interleaved>>
// ROWS: %[[SUM:.*]] = "ttnn.add"{{.*}} -> tensor<96x160xbf16, #[[ROWS]]>
// ROWS: %[[TILED:.*]] = "ttnn.to_layout"(%[[SUM]]){{.*}} -> tensor<96x160xbf16, #[[CORES]]>
// ROWS: "ttnn.to_memory_config"(%[[TILED]]){{.*}} -> tensor<96x160xbf16, #[[TILES]]>
// The return is at the location of the product, and stays where it is declared.
// ROWS: %[[PRODUCT:.*]] = "ttnn.multiply"{{.*}} -> tensor<96x160xbf16, #[[CORES]]>
// ROWS: %[[BACK:.*]] = "ttnn.to_memory_config"(%[[PRODUCT]]){{.*}} -> tensor<96x160xbf16, #[[TILES]]>
// ROWS: return %[[BACK]]

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-output-layout=layer=bfp_bf8,shift=bf16 insert-memreconfig=layer=0" %s 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// Constants at the location of a product stay as they are.
// WEIGHTS-DAG: warning: override-output-layout: it does not apply to 'shift', which is {{.*}}ttnn.constant;
// WEIGHTS-DAG: "ttnn.constant"{{.*}} -> tensor<3x2xf32,
// WEIGHTS-DAG: "ttnn.matmul"{{.*}} -> tensor<32x2x!ttcore.tile<32x32, bfp_bf8>,

// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-output-layout=sum=u32" %s 2>&1 | FileCheck %s --check-prefix=INTEGER
// INTEGER: error: {{.*}}cannot take 'u32' of override-output-layout: the result is bf16, which cannot become u32: take one of f32, bf16, bfp_f8,
// INTEGER-NOT: mistake in ttmlir

// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-output-layout=sum=9x1:l1:block_sharded" %s 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-output-layout=sum=2x2:l1:height_sharded" %s 2>&1 | FileCheck %s --check-prefix=COLUMN
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-output-layout=large=1x1:l1:block_sharded" %s 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="insert-memreconfig=sum=2" %s 2>&1 | FileCheck %s --check-prefix=OPERAND
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="insert-memreconfig=summ=0" %s 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="insert-memreconfig=conv=0 override-weight-dtype=soft=bfp_bf8,conv=bf16 override-conv2d-config=sum=act_block_w_div#1 override-conv3d-config=conv=c_in_block#32 override-math-fidelity=sum=lofi,soft=lofi" %s 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not ttmlir-opt --ttnn-optimizer="override-conv2d-config=conv=block#1" %s 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not ttmlir-opt --ttnn-optimizer="override-conv2d-config=conv=activation#relu:activation#gelu" %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not ttmlir-opt --ttnn-optimizer="override-conv2d-config=conv=act_block_w_div#-1" %s 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not ttmlir-opt --ttnn-optimizer="insert-memreconfig=sum=first" %s 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not ttmlir-opt --ttnn-optimizer="insert-memreconfig=sum" %s 2>&1 | FileCheck %s --check-prefix=FORMAT
// OUTSIDE: error: {{.*}}cannot take '9x1:l1:block_sharded' of override-output-layout: the device has 8x8 = 64 cores
// COLUMN: error: {{.*}}height_sharded needs a grid of one column, not 2x2
// LARGE: error: {{.*}}each core would hold 8192000 bytes, and its L1 has {{[0-9]+}}; take more cores, or dram
// OPERAND: error: {{.*}}has no tensor as operand 2, which insert-memreconfig names; its operands are 0 to 1
// NAME: warning: insert-memreconfig: no operation has the location 'summ'; did you mean 'sum'?
// KIND-NOT: insert-memreconfig:
// KIND-DAG: warning: override-weight-dtype: it does not apply to 'soft', which is ttnn.softmax; there are 'conv'
// KIND-DAG: warning: override-conv2d-config: it does not apply to 'sum', which is ttnn.add; there are 'conv'
// KIND-DAG: warning: override-conv3d-config: it does not apply to 'conv', which is ttnn.{{.*}}ttnn.conv2d{{.*}}; no operation here that takes it has a name, as in loc("add_1")
// KIND-DAG: warning: override-math-fidelity: it does not apply to 'sum', which is ttnn.add; there are 'soft', 'conv'
// FIELD: Invalid override parameter: block#1; give one of weights_dtype#, activation#
// TWICE: Duplicate activation: conv=activation#relu:activation#gelu
// NUMBER: Invalid act_block_w_div: -1; a number is expected
// INDEX: Invalid operand index: first
// FORMAT: Invalid override format sum; give a location and fields, as in a=b
func.func @main(%a: tensor<96x160xbf16>, %b: tensor<96x160xbf16>) -> tensor<96x160xbf16> {
  %0 = "ttir.add"(%a, %b)
      : (tensor<96x160xbf16>, tensor<96x160xbf16>) -> tensor<96x160xbf16> loc("sum")
  %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}>
      : (tensor<96x160xbf16>) -> tensor<96x160xbf16> loc("soft")
  %2 = "ttir.multiply"(%1, %0)
      : (tensor<96x160xbf16>, tensor<96x160xbf16>) -> tensor<96x160xbf16> loc("product")
  return %2 : tensor<96x160xbf16> loc("product")
}

func.func @windows(%a: tensor<1x30x30x64xbf16>, %w: tensor<64x64x3x3xbf16>)
    -> tensor<1x28x28x64xbf16> {
  %0 = "ttir.conv2d"(%a, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32,
      groups = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (tensor<1x30x30x64xbf16>, tensor<64x64x3x3xbf16>) -> tensor<1x28x28x64xbf16> loc("conv")
  return %0 : tensor<1x28x28x64xbf16>
}

func.func @exceeding(%a: tensor<1600x1280xf32>) -> tensor<1600x1280xf32> {
  %0 = "ttir.exp"(%a) : (tensor<1600x1280xf32>) -> tensor<1600x1280xf32> loc("large")
  return %0 : tensor<1600x1280xf32>
}

func.func @layer(%a: tensor<32x3xf32>) -> tensor<32x2xf32> {
  %w = "ttir.constant"() <{value = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>}>
      : () -> tensor<3x2xf32> loc("layer")
  %b = "ttir.constant"() <{value = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}>
      : () -> tensor<1x2xf32> loc("shift")
  %0 = "ttir.matmul"(%a, %w)
      : (tensor<32x3xf32>, tensor<3x2xf32>) -> tensor<32x2xf32> loc("layer")
  %1 = "ttir.exp"(%0) : (tensor<32x2xf32>) -> tensor<32x2xf32> loc("exp")
  %2 = "ttir.add"(%1, %b)
      : (tensor<32x2xf32>, tensor<1x2xf32>) -> tensor<32x2xf32> loc("shifted")
  return %2 : tensor<32x2xf32>
}
