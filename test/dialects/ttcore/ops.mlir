// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | ttmlir-opt - | diff %t.mlir -

// What dialect tt has under its later prefix, the layouts of both times, devices and their modules.

// CHECK-DAG: #dram = #ttcore.memory_space<dram>
// CHECK-DAG: #l1 = #ttcore.memory_space<l1>
// CHECK-DAG: #layout = #ttcore.metal_layout<logical_shape = 512x256, {{.*}}, undef, l1, sharded>
// CHECK-DAG: #layout1 = #ttcore.metal_layout<logical_shape = 512x256, {{.*}} : tensor<2x2xi64>, dram, sharded>
// CHECK-DAG: #reduction = #ttcore.iterator_type<reduction>
// CHECK-DAG: #system_desc = #ttcore.system_desc<
#l1 = #ttcore.memory_space<l1>
#dram = #tt.memory_space<dram>
#reduction = #ttcore.iterator_type<reduction>
#layout = #ttcore.metal_layout<logical_shape = 512x256, dim_alignments = 256x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1, sharded>
#later = #ttcore.metal_layout<logical_shape = 512x256, dim_alignments = 256x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, dram, sharded>
#device = #ttcore.device<workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, d1, d2 + s5), meshShape = 1x1, chipIds = [0]>
// CHECK: module attributes {ttcore.system_desc = #system_desc}
module attributes {ttcore.system_desc = #ttcore.system_desc<[<#ttcore.arch<wormhole_b0>, #ttcore.grid<8x8>>], [0], [1 : i32], [<0, 0, 0, 0>]>} {
  // CHECK-NEXT: ttcore.device_module {
  // CHECK-NEXT: builtin.module {
  ttcore.device_module {
    builtin.module {
      // CHECK-NEXT: ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, d1, d2 + s5), meshShape = 1x1, chipIds = [0]>
      ttcore.device @default_device = #device
      // CHECK: func.func @tensors(%arg0: tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>, %arg1: tensor<8x8x64x32xf32, #layout1>) attributes {dims = [#reduction], dtype = #ttcore.supportedDataTypes<si32>}
      func.func @tensors(%a: tensor<8x8x2x1x!tt.tile<32x32, bf16>, #layout>, %b: tensor<8x8x64x32xf32, #later>) attributes {dims = [#reduction], dtype = #ttcore.supportedDataTypes<si32>} {
        return
      }
      // CHECK: func.func @memrefs(%arg0: memref<8x8x2x1x!ttcore.tile<32x32, bfp_bf8>, #ttcore.shard<1088x1088, 2>, #l1>, %arg1: memref<1x1x2x3xf32, #ttcore.interleaved<12x4>, #dram>, %arg2: memref<8x8x2x1xf32, #ttcore.view<4>, #l1>, %arg3: memref<2x4x6x8xf32, #ttcore.view<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>, #l1>, %arg4: memref<33x70xf32, #ttcore.host_layout<logical_shape = 33x70, host_strides = 96x1, host_volume = 6144>>, %arg5: memref<33x70xf32, #ttcore.host_layout<logical_shape = 33x70, host_strides = 96x1, host_volume = 6144, <"mesh">>>)
      func.func @memrefs(%a: memref<8x8x2x1x!ttcore.tile<32x32, bfp_bf8>, #ttcore.shard<1088x1088, 2>, #l1>, %b: memref<1x1x2x3xf32, #ttcore.interleaved<12x4>, #dram>, %c: memref<8x8x2x1xf32, #ttcore.view<4>, #l1>, %d: memref<2x4x6x8xf32, #ttcore.view<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>, #l1>, %e: memref<33x70xf32, #ttcore.host_layout<logical_shape = 33x70, host_strides = 96x1, host_volume = 6144>>, %f: memref<33x70xf32, #ttcore.host_layout<logical_shape = 33x70, host_strides = 96x1, host_volume = 6144, <"mesh">>>) {
        return
      }
    }
  }
  // CHECK: ttcore.cpu_module attributes {some = 1 : i32} {
  ttcore.cpu_module attributes {some = 1 : i32} {
    builtin.module {
    }
  }
}
