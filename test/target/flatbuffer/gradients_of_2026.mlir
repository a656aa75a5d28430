// The gradient of an embedding has a record of its own.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s -o %t.mlir
// RUN: ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn
// RUN: ttrt read %t.ttnn | FileCheck %s

// CHECK: 1 ReshapeOp, 1 EmbeddingBackwardOp
func.func @main(%i: tensor<2x5xui32>, %w: tensor<40x32xbf16>, %g: tensor<2x5x32xbf16>)
    -> tensor<40x32xbf16> {
  %0 = "ttir.embedding_backward"(%i, %w, %g)
      : (tensor<2x5xui32>, tensor<40x32xbf16>, tensor<2x5x32xbf16>) -> tensor<40x32xbf16>
  return %0 : tensor<40x32xbf16>
}
