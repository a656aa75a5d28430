// RUN: not ttmlir-opt --ttir-layout %s 2>&1 | FileCheck %s

// Floats of eight bits have no format in memory; a message says so.

// CHECK: ttir_layout_small_floats.mlir:{{.*}}: error: {{.*}} element type 'f8E5M2' has no storage format; supported are
func.func @main(%a: tensor<32x32xf8E5M2>) -> tensor<32x32xf32> {
  %0 = "ttir.typecast"(%a) : (tensor<32x32xf8E5M2>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
