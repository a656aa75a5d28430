// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Tensors of ttnn that are not where, or not what, their operations require.

#dram = #ttnn.buffer_type<dram>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @case_0(%a0: tensor<32x32xf32, #tile_layout>, %a1: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.add' op Output element type must match the scalar element type from encoding. Element type: '!ttcore.tile<32x32, f32>', Scalar element type: 'f32'.}}
  %r = "ttnn.add"(%a0, %a1) : (tensor<32x32xf32, #tile_layout>, tensor<32x32xf32, #tile_layout>) -> tensor<32x32x!ttcore.tile<32x32, f32>, #tile_layout>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @case_1(%a0: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.typecast' op Output element type must match the scalar element type from encoding. Element type: '!ttcore.tile<32x32, bfp_bf8>', Scalar element type: 'f32'.}}
  %r = "ttnn.typecast"(%a0) : (tensor<32x32xf32, #tile_layout>) -> tensor<32x32x!ttcore.tile<32x32, bfp_bf8>, #tile_layout>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#l1_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <interleaved>>
func.func @case_2(%a0: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.to_layout' op ttnn.to_layout cannot change buffer type from 'dram' to 'l1'; use ttnn.to_tensor_spec for memory-config or device placement changes}}
  %r = "ttnn.to_layout"(%a0) : (tensor<32x32xf32, #tile_layout>) -> tensor<32x32xf32, #l1_layout>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#host_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
func.func @case_3(%a0: tensor<32x32xf32, #host_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.to_layout' op ttnn.to_layout cannot change buffer type from 'system_memory' to 'dram'; use ttnn.to_tensor_spec for memory-config or device placement changes}}
  %r = "ttnn.to_layout"(%a0) : (tensor<32x32xf32, #host_layout>) -> tensor<32x32xf32, #tile_layout>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @case_4(%a0: tensor<32x32xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.to_layout' op Input tensor type missing layout attribute}}
  %r = "ttnn.to_layout"(%a0) : (tensor<32x32xf32>) -> tensor<32x32xf32, #tile_layout>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @case_5(%a0: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.to_layout' op Output tensor type missing layout attribute}}
  %r = "ttnn.to_layout"(%a0) : (tensor<32x32xf32, #tile_layout>) -> tensor<32x32xf32>
  return
}

// -----

#host = #ttnn.buffer_type<system_memory>
#host_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
func.func @case_6(%a0: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.constant' op device operand must not be specified for system memory buffer type}}
  %r = "ttnn.constant"(%a0) <{value = dense<1.0> : tensor<32x32xf32>}> : (!ttnn.device) -> tensor<32x32xf32, #host_layout>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @case_7(%a0: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.load_tensor' op file a.bin must end with .tensorbin extension}}
  %r = "ttnn.load_tensor"(%a0) <{file_path = "a.bin"}> : (!ttnn.device) -> tensor<32x32xf32, #tile_layout>
  return
}

// -----

#host = #ttnn.buffer_type<system_memory>
#host_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
func.func @case_8(%a0: !ttnn.device, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.load_tensor' op device operand must be null for system memory buffer type}}
  %r = "ttnn.load_tensor"(%a0) <{file_path = "a.tensorbin"}> : (!ttnn.device) -> tensor<32x32xf32, #host_layout>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#host_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
func.func @case_9(%a0: tensor<32x32xf32, #host_layout>, %a1: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.copy' op Source tensor must be on device memory}}
  "ttnn.copy"(%a0, %a1) : (tensor<32x32xf32, #host_layout>, tensor<32x32xf32, #tile_layout>) -> ()
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#host_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
func.func @case_10(%a0: tensor<32x32xf32, #tile_layout>, %a1: tensor<32x32xf32, #host_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.copy' op Destination tensor must be on device memory}}
  "ttnn.copy"(%a0, %a1) : (tensor<32x32xf32, #tile_layout>, tensor<32x32xf32, #host_layout>) -> ()
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
func.func @case_11(%a0: tensor<32x32xf32, #tile_layout>, %a1: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.write_tensor' op Host tensor must be on system memory}}
  "ttnn.write_tensor"(%a0, %a1) <{blocking = false, cq_id = 0 : ui32}> : (tensor<32x32xf32, #tile_layout>, tensor<32x32xf32, #tile_layout>) -> ()
  return
}

// -----

#host = #ttnn.buffer_type<system_memory>
#host_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
func.func @case_12(%a0: tensor<32x32xf32, #host_layout>, %a1: tensor<32x32xf32, #host_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.write_tensor' op Device tensor must be on device memory}}
  "ttnn.write_tensor"(%a0, %a1) <{blocking = false, cq_id = 0 : ui32}> : (tensor<32x32xf32, #host_layout>, tensor<32x32xf32, #host_layout>) -> ()
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#host_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #host>>
func.func @case_13(%a0: tensor<32x32xf32, #host_layout>, %a1: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.write_tensor' op Invalid CQ ID 2}}
  "ttnn.write_tensor"(%a0, %a1) <{blocking = false, cq_id = 2 : ui32}> : (tensor<32x32xf32, #host_layout>, tensor<32x32xf32, #tile_layout>) -> ()
  return
}

// -----

func.func @case_14(%a0: tensor<4x8xf32>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.assign' op input and output tensor must have the same shape}}
  %r = "ttnn.assign"(%a0) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#tile_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#rows_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #dram>, <interleaved>>
func.func @case_15(%a0: tensor<32x32xf32, #tile_layout>, %device: !ttnn.device) {
  // expected-error@+1 {{'ttnn.all_gather' op Input and output layouts must agree, but got input layout tile and output layout row_major. all_gather is layout-preserving and cannot convert between tiled and row-major layouts.}}
  %r = "ttnn.all_gather"(%a0) <{all_gather_dim = 0 : si32, cluster_axis = 0 : ui32}> : (tensor<32x32xf32, #tile_layout>) -> tensor<32x32xf32, #rows_layout>
  return
}
