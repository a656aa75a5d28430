// A tensor of one number that stays on the host: the library would move it to the device.
// RUN: ttmlir-opt --convert-ttnn-to-emitpy %s | ttmlir-translate --mlir-to-python | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#system = #ttnn.buffer_type<system_memory>
#host = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 + d1 + d2, d3), <1x1>, memref<1x1xf32, #system>>
#device = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 + d1 + d2, d3), <1x1>, memref<1x1xf32, #dram>, <interleaved>>
module {
  func.func @main() -> (tensor<1x1x1x1xf32, #host>, tensor<1x1x1x1xf32, #host>, tensor<1x1x1x1xf32, #device>) {
    %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    // CHECK: ttnn.full(
    // CHECK-NOT: device=
    // CHECK: ttnn.zeros(
    // CHECK-NOT: device=
    // CHECK: ttnn.full(
    // CHECK: device=
    %1 = "ttnn.full"(%0) <{fill_value = 2.500000e-01 : f32, shape = #ttnn.shape<1x1x1x1>}> : (!ttnn.device) -> tensor<1x1x1x1xf32, #host>
    %3 = "ttnn.zeros"(%0) <{shape = #ttnn.shape<1x1x1x1>}> : (!ttnn.device) -> tensor<1x1x1x1xf32, #host>
    %2 = "ttnn.full"(%0) <{fill_value = 2.500000e-01 : f32, shape = #ttnn.shape<1x1x1x1>}> : (!ttnn.device) -> tensor<1x1x1x1xf32, #device>
    return %1, %3, %2 : tensor<1x1x1x1xf32, #host>, tensor<1x1x1x1xf32, #host>, tensor<1x1x1x1xf32, #device>
  }
}
