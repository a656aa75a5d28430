// A module that other Python calls: the device is an argument.
// RUN: ttmlir-opt --ttnn-tuplify-tensors="tuplify-input-if-empty=true" --ttnn-prepare-module-for-export %s | FileCheck %s
// RUN: ttmlir-opt --ttnn-common-to-emitpy-pipeline="target-module=true" %s -o %t.mlir
// RUN: ttmlir-translate --mlir-to-python %t.mlir | FileCheck %s --check-prefix=PY
// RUN: not ttmlir-opt --ttnn-prepare-module-for-export %s 2>&1 | FileCheck %s --check-prefix=ERROR

#dram = #ttnn.buffer_type<dram>
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @new() -> tensor<32x64xbf16, #layout> {
    %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.ones"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x64>}> : (!ttnn.device) -> tensor<32x64xbf16, #layout>
    return %1 : tensor<32x64xbf16, #layout>
  }
}
// CHECK: func.func @forward(%arg0: tuple<>, %arg1: !ttnn.device) -> tuple<
// CHECK-NEXT: "ttnn.ones"(%arg1)
// PY: def forward(input, device):
// PY-NEXT: utils.DeviceGetter.use(device)
// PY: device=device,
// PY-NOT: __main__
// ERROR: export.mlir:10:3: error: {{.*}}expected forward function to have at least one (tuple) input; run `-ttnn-tuplify-tensors=tuplify-input-if-empty=true` before this pass
