// Marked operations of ttnn become ttir; all others stay.
// RUN: ttmlir-opt --convert-ttnn-to-ttir %s | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// The guide's program.
// CHECK-LABEL: func.func @cosh(
// CHECK: "ttnn.get_device"
// CHECK-NEXT: %[[D0:.*]] = tensor.empty() : tensor<32x32xbf16, #[[TILES:.*]]>
// CHECK-NEXT: %[[A:.*]] = "ttir.exp"(%arg0, %[[D0]])
// CHECK: %[[B:.*]] = "ttir.neg"(%arg0,
// CHECK: %[[C:.*]] = "ttir.exp"(%[[B]],
// CHECK: %[[D:.*]] = "ttir.add"(%[[A]], %[[C]],
// CHECK: %[[HALF:.*]] = "ttir.constant"() <{value = dense<5.000000e-01> : tensor<32x32xbf16>}>
// CHECK: %[[E:.*]] = "ttir.multiply"(%[[D]], %[[HALF]],
// CHECK-NOT: ttnn.full
// CHECK: return %[[E]]
func.func @cosh(%arg0: tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles> {
  %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %1 = "ttnn.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %2 = "ttnn.neg"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %3 = "ttnn.exp"(%2) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %4 = "ttnn.add"(%1, %3) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>, tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %5 = "ttnn.full"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16, #tiles>
  %6 = "ttnn.multiply"(%4, %5) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>, tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  return %6 : tensor<32x32xbf16, #tiles>
}

// Operations without the mark, and filled tensors that they read.
// CHECK-LABEL: func.func @others(
// CHECK: %[[FULL:.*]] = "ttnn.full"
// CHECK: %[[A:.*]] = "ttir.add"(%arg0, %{{.*}}, %
// CHECK: %[[B:.*]] = "ttnn.multiply"(%[[A]], %[[FULL]])
// CHECK: return %[[B]]
func.func @others(%arg0: tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles> {
  %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %1 = "ttnn.full"(%0) <{fill_value = 3 : i32, shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16, #tiles>
  %2 = "ttnn.add"(%arg0, %1) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>, tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %3 = "ttnn.multiply"(%2, %1) : (tensor<32x32xbf16, #tiles>, tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  return %3 : tensor<32x32xbf16, #tiles>
}

#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x3>, memref<32x32xbf16, #l1>, <block_sharded>>
#blocks = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x3>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>

// Shards and rows are moved to tiles in DRAM and back: once each, and only where that is read.
// CHECK-LABEL: func.func @moves(
// CHECK: %[[M0:.*]] = "ttnn.to_memory_config"(%arg0)
// CHECK-NEXT: %[[M1:.*]] = "ttnn.to_layout"(%[[M0]]) <{layout = #ttnn.layout<tile>}>
// CHECK: %[[A:.*]] = "ttir.div"(%[[M1]], %[[M1]],
// CHECK: %[[R0:.*]] = "ttnn.to_layout"(%[[A]]) <{layout = #ttnn.layout<row_major>}>
// CHECK-NEXT: %[[R1:.*]] = "ttnn.to_memory_config"(%[[R0]])
// CHECK: %[[B:.*]] = "ttir.pow"(%[[M1]], %[[A]],
// CHECK: %[[S:.*]] = "ttnn.to_memory_config"(%[[B]])
// CHECK: %[[C:.*]] = "ttnn.divide"(%[[R1]], %[[S]])
// CHECK-NEXT: return %[[C]]
func.func @moves(%arg0: tensor<40x70xbf16, #rows>) -> tensor<40x70xbf16, #blocks> {
  %0 = "ttnn.divide"(%arg0, %arg0) {ttnn.hoist_generic_via_d2m} : (tensor<40x70xbf16, #rows>, tensor<40x70xbf16, #rows>) -> tensor<40x70xbf16, #rows>
  %1 = "ttnn.pow_tensor"(%arg0, %0) {ttnn.hoist_generic_via_d2m} : (tensor<40x70xbf16, #rows>, tensor<40x70xbf16, #rows>) -> tensor<40x70xbf16, #blocks>
  %2 = "ttnn.divide"(%0, %1) : (tensor<40x70xbf16, #rows>, tensor<40x70xbf16, #blocks>) -> tensor<40x70xbf16, #blocks>
  return %2 : tensor<40x70xbf16, #blocks>
}
