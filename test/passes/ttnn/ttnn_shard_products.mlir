// Products of few rows, whose weights are sharded over the banks of DRAM.
// RUN: ttmlir-opt --ttnn-shard-norms --ttnn-shard-products %s | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#x = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x64x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x52x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#tall = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x64x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#tallh = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x52x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#up = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x52x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#down = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<52x64x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#small = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x16x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x16x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// CHECK-DAG: #[[X:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x64x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CHECK-DAG: #[[XS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x16>, memref<1x4x!ttcore.tile<32x32, bf16>, #l1>, <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (7,1)>]>>
// CHECK-DAG: #[[HS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x4>, memref<1x13x!ttcore.tile<32x32, bf16>, #l1>, <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (3,0)>]>>
// CHECK-DAG: #[[UP:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x12>, memref<64x5x!ttcore.tile<32x32, bf16>, #dram>, <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (11,0)>]>>
// CHECK-DAG: #[[DOWN:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x12>, memref<52x6x!ttcore.tile<32x32, bf16>, #dram>, <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (11,0)>]>>

module {
ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, virt_to_physical_map = (d0, d1) -> (0, d0, d1), physical_to_virt_map = (d0, d1, d2) -> (d1, d2)>, dramGrid = #ttcore.grid<1x12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, 0, d2 + s6), meshShape = , chipIds = [0]>

// 52 columns of tiles are 13 for each of 4 cores, as 13 cores are no whole rows of them. The norm,
// the function between, and the sum with what was normed are computed on the shards.
// CHECK-LABEL: func.func @layer(
// CHECK-NEXT: %[[X0:.*]] = "ttnn.to_tensor_spec"(%arg0) : (tensor<7x2048xbf16, #[[X]]>) -> tensor<7x2048xbf16, #[[XS]]>
// CHECK-NEXT: %[[N:.*]] = "ttnn.rms_norm"(%[[X0]]) {{.*}} -> tensor<7x2048xbf16, #[[XS]]>
// CHECK-NEXT: %[[W1:.*]] = "ttnn.to_tensor_spec"(%arg1) : {{.*}} -> tensor<2048x1664xbf16, #[[UP]]>
// CHECK-NEXT: %[[H:.*]] = "ttnn.matmul"(%[[N]], %[[W1]]) <{matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_dram_sharded_program_config<in0_block_w = 4, per_core_m = 1, per_core_n = 13>, {{.*}} -> tensor<7x1664xbf16, #[[HS]]>
// CHECK-NEXT: %[[G:.*]] = "ttnn.gelu"(%[[H]]) {{.*}} -> tensor<7x1664xbf16, #[[HS]]>
// CHECK-NEXT: %[[W2:.*]] = "ttnn.to_tensor_spec"(%arg2) : {{.*}} -> tensor<1664x2048xbf16, #[[DOWN]]>
// CHECK-NEXT: %[[Y:.*]] = "ttnn.matmul"(%[[G]], %[[W2]]) <{matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast_dram_sharded_program_config<in0_block_w = 13, per_core_m = 1, per_core_n = 4>, {{.*}} -> tensor<7x2048xbf16, #[[XS]]>
// CHECK-NEXT: %[[S:.*]] = "ttnn.add"(%[[X0]], %[[Y]]) {{.*}} -> tensor<7x2048xbf16, #[[XS]]>
// CHECK-NEXT: %[[R:.*]] = "ttnn.to_tensor_spec"(%[[S]]) : {{.*}} -> tensor<7x2048xbf16, #[[X]]>
// CHECK-NEXT: return %[[R]]
func.func @layer(%x: tensor<7x2048xbf16, #x>, %u: tensor<2048x1664xbf16, #up> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %d: tensor<1664x2048xbf16, #down> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<7x2048xbf16, #x> {
  %0 = "ttnn.rms_norm"(%x) <{epsilon = 1.0e-05 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<7x2048xbf16, #x>) -> tensor<7x2048xbf16, #x>
  %1 = "ttnn.matmul"(%0, %u) <{transpose_a = false, transpose_b = false}> : (tensor<7x2048xbf16, #x>, tensor<2048x1664xbf16, #up>) -> tensor<7x1664xbf16, #h>
  %2 = "ttnn.gelu"(%1) : (tensor<7x1664xbf16, #h>) -> tensor<7x1664xbf16, #h>
  %3 = "ttnn.matmul"(%2, %d) <{transpose_a = false, transpose_b = false}> : (tensor<7x1664xbf16, #h>, tensor<1664x2048xbf16, #down>) -> tensor<7x2048xbf16, #x>
  %4 = "ttnn.add"(%x, %3) : (tensor<7x2048xbf16, #x>, tensor<7x2048xbf16, #x>) -> tensor<7x2048xbf16, #x>
  return %4 : tensor<7x2048xbf16, #x>
}

// More rows than 32, matrices that come with each call, transposed and small ones, and functions of
// the product stay.
// CHECK-LABEL: func.func @others(
// CHECK-NEXT: "ttnn.matmul"(%arg0, %arg2)
// CHECK-NEXT: "ttnn.matmul"(%arg1, %arg3)
// CHECK-NEXT: "ttnn.matmul"(%arg1, %arg4)
// CHECK-NEXT: "ttnn.matmul"(%arg1, %arg5)
// CHECK-NEXT: "ttnn.matmul"(%arg1, %arg2)
// CHECK-NEXT: return
func.func @others(%t: tensor<40x2048xbf16, #tall>, %x: tensor<7x2048xbf16, #x>, %u: tensor<2048x1664xbf16, #up> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %n: tensor<2048x1664xbf16, #up>, %d: tensor<1664x2048xbf16, #down> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %s: tensor<2048x512xbf16, #small> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> (tensor<40x1664xbf16, #tallh>, tensor<7x1664xbf16, #h>, tensor<7x1664xbf16, #h>, tensor<7x512xbf16, #s>, tensor<7x1664xbf16, #h>) {
  %0 = "ttnn.matmul"(%t, %u) <{transpose_a = false, transpose_b = false}> : (tensor<40x2048xbf16, #tall>, tensor<2048x1664xbf16, #up>) -> tensor<40x1664xbf16, #tallh>
  %1 = "ttnn.matmul"(%x, %n) <{transpose_a = false, transpose_b = false}> : (tensor<7x2048xbf16, #x>, tensor<2048x1664xbf16, #up>) -> tensor<7x1664xbf16, #h>
  %2 = "ttnn.matmul"(%x, %d) <{transpose_a = false, transpose_b = true}> : (tensor<7x2048xbf16, #x>, tensor<1664x2048xbf16, #down>) -> tensor<7x1664xbf16, #h>
  %3 = "ttnn.matmul"(%x, %s) <{transpose_a = false, transpose_b = false}> : (tensor<7x2048xbf16, #x>, tensor<2048x512xbf16, #small>) -> tensor<7x512xbf16, #s>
  %4 = "ttnn.matmul"(%x, %u) <{activation = "silu", transpose_a = false, transpose_b = false}> : (tensor<7x2048xbf16, #x>, tensor<2048x1664xbf16, #up>) -> tensor<7x1664xbf16, #h>
  return %0, %1, %2, %3, %4 : tensor<40x1664xbf16, #tallh>, tensor<7x1664xbf16, #h>, tensor<7x1664xbf16, #h>, tensor<7x512xbf16, #s>, tensor<7x1664xbf16, #h>
}
}
