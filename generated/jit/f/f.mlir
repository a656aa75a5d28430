#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout2 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<40x70xbf16, #ttnn_layout>, %arg1: tensor<1x70xbf16, #ttnn_layout1>) -> tensor<40x70xbf16, #ttnn_layout> {
    %0 = "ttnn.mean"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> {ttnn.hoist_generic_via_d2m} : (tensor<40x70xbf16, #ttnn_layout>) -> tensor<40x1xbf16, #ttnn_layout2>
    %1 = "ttnn.subtract"(%arg0, %0) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<40x70xbf16, #ttnn_layout>, tensor<40x1xbf16, #ttnn_layout2>) -> tensor<40x70xbf16, #ttnn_layout>
    %2 = "ttnn.multiply"(%1, %arg1) <{dtype = #ttcore.supportedDataTypes<bf16>}> {ttnn.hoist_generic_via_d2m} : (tensor<40x70xbf16, #ttnn_layout>, tensor<1x70xbf16, #ttnn_layout1>) -> tensor<40x70xbf16, #ttnn_layout>
    return %2 : tensor<40x70xbf16, #ttnn_layout>
  }
}
