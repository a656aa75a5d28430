// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="spelling=2026 enable-trace=true" %s -o %t.mlir
// RUN: not ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn 2>&1 | FileCheck %s

// What the device records is text only.

// CHECK: error: 'ttnn.begin_trace_capture' op cannot be written to a .ttnn file, as recordings have no record here; compile without enable-trace
func.func @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%x) : (tensor<33x70xf32>) -> tensor<33x70xf32>
  return %0 : tensor<33x70xf32>
}
