// Operations of ttnn as they are since 2025: they make their results, and layouts, devices and some
// operations have other names. What is printed is what was read.
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#host = #ttnn.buffer_type<system_memory>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#blocks = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x3, (d0, d1) -> (0, d0, d1)>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<40x70xbf16, #host>>
#wide = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// CHECK-DAG: #dram = #ttnn.buffer_type<dram>
// CHECK-DAG: #l1 = #ttnn.buffer_type<l1>
// CHECK-DAG: #system_memory = #ttnn.buffer_type<system_memory>
// CHECK-DAG: #[[$TILES:ttnn_layout[0-9]*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CHECK-DAG: #[[$BLOCKS:ttnn_layout[0-9]*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x3, (d0, d1) -> (0, d0, d1)>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
// CHECK-DAG: #[[$ROWS:ttnn_layout[0-9]*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<40x70xbf16, #system_memory>>

// CHECK-LABEL: func.func @all(
// CHECK-SAME: tensor<40x70xbf16, #[[$TILES]]>
func.func @all(%x: tensor<40x70xbf16, #tiles>, %h: tensor<40x70xbf16, #rows>) -> tensor<40x70xbf16, #blocks> {
  // CHECK: "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %d = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  // CHECK: "ttnn.exp"(%arg0) {ttnn.hoist_generic_via_d2m} :
  %0 = "ttnn.exp"(%x) {ttnn.hoist_generic_via_d2m} : (tensor<40x70xbf16, #tiles>) -> tensor<40x70xbf16, #tiles>
  // CHECK: "ttnn.divide"(%1, %arg0) <{dtype = #ttcore.supportedDataTypes<bf16>}> :
  %1 = "ttnn.divide"(%0, %x) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<40x70xbf16, #tiles>, tensor<40x70xbf16, #tiles>) -> tensor<40x70xbf16, #tiles>
  // CHECK: "ttnn.pow_tensor"(%2, %arg0) :
  %2 = "ttnn.pow_tensor"(%1, %x) : (tensor<40x70xbf16, #tiles>, tensor<40x70xbf16, #tiles>) -> tensor<40x70xbf16, #tiles>
  // CHECK: "ttnn.clamp_scalar"(%3) <{max = 1.000000e+00 : f32, min = -1.000000e+00 : f32}> :
  %3 = "ttnn.clamp_scalar"(%2) <{min = -1.0 : f32, max = 1.0 : f32}> : (tensor<40x70xbf16, #tiles>) -> tensor<40x70xbf16, #tiles>
  // CHECK: "ttnn.concat"(%4, %4) <{dim = 1 : si32}> :
  %4 = "ttnn.concat"(%3, %3) <{dim = 1 : si32}> : (tensor<40x70xbf16, #tiles>, tensor<40x70xbf16, #tiles>) -> tensor<40x140xbf16, #wide>
  // CHECK: "ttnn.full"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<40x70>}> : (!ttnn.device)
  %5 = "ttnn.full"(%d) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<40x70>}> : (!ttnn.device) -> tensor<40x70xbf16, #tiles>
  // CHECK: "ttnn.to_memory_config"(%6) <{memory_config = #ttnn.memory_config<#l1, <block_sharded>>}> :
  %6 = "ttnn.to_memory_config"(%5) <{memory_config = #ttnn.memory_config<#l1, <block_sharded>>}> : (tensor<40x70xbf16, #tiles>) -> tensor<40x70xbf16, #blocks>
  // CHECK: "ttnn.to_device"(%arg1, %0) <{memory_config = #ttnn.memory_config<#dram, <interleaved>>}> :
  %7 = "ttnn.to_device"(%h, %d) <{memory_config = #ttnn.memory_config<#dram, <interleaved>>}> : (tensor<40x70xbf16, #rows>, !ttnn.device) -> tensor<40x70xbf16, #tiles>
  return %6 : tensor<40x70xbf16, #blocks>
}

// A destination is read in the later form, too.
// CHECK-LABEL: func.func @destinations(
// CHECK: "ttnn.divide"(%arg0, %arg0, %arg1) <{operandSegmentSizes = array<i32: 2, 1>}>
// CHECK: "ttnn.concat"(%arg0, %arg0, %arg2) <{dim = 1 : si32}>
func.func @destinations(%x: tensor<40x70xbf16, #tiles>, %y: tensor<40x70xbf16, #tiles>, %z: tensor<40x140xbf16, #wide>) {
  %0 = "ttnn.div"(%x, %x, %y) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<40x70xbf16, #tiles>, tensor<40x70xbf16, #tiles>, tensor<40x70xbf16, #tiles>) -> tensor<40x70xbf16, #tiles>
  %1 = "ttnn.concat"(%x, %x, %z) <{dim = 1 : si32}> : (tensor<40x70xbf16, #tiles>, tensor<40x70xbf16, #tiles>, tensor<40x140xbf16, #wide>) -> tensor<40x140xbf16, #wide>
  return
}

// An empty tensor of ttir.
// CHECK-LABEL: func.func @empty(
// CHECK: ttir.empty() : tensor<40x70xbf16, #[[$TILES]]>
func.func @empty() -> tensor<40x70xbf16, #tiles> {
  %0 = ttir.empty() : tensor<40x70xbf16, #tiles>
  return %0 : tensor<40x70xbf16, #tiles>
}
