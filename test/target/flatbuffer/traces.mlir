// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="spelling=2026 enable-trace=true" %s -o %t.mlir
// RUN: ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn
// RUN: ttrt run --golden --init arange %t.ttnn 2>&1 | FileCheck %s --check-prefix=RUN-OUT
// RUN: ttrt read --section summary %t.ttnn | FileCheck %s

// What the device records is a program of the file, and a launch runs it.

// RUN-OUT: program 0 'main': pass
// CHECK: outputs   33x70xf32
// CHECK: 1 CaptureOrExecuteTraceOp
func.func @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.sin"(%x) : (tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.add"(%0, %x) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}
