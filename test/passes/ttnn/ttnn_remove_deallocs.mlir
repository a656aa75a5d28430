// Tensors that stay until their function ends.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s --check-prefix=USUAL
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline --ttnn-remove-deallocs %s | FileCheck %s

// USUAL: "ttnn.deallocate"
// CHECK-NOT: ttnn.deallocate
// CHECK: "ttnn.exp"
// CHECK-NOT: ttnn.deallocate
func.func @exp(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%a) : (tensor<33x70xf32>) -> tensor<33x70xf32>
  return %0 : tensor<33x70xf32>
}
