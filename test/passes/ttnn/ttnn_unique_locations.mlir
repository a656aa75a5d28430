// Operations at one location are refused where each is to have its own.

// RUN: ttmlir-opt --ttir-to-ttnn-common-pipeline=check-unique-locs=true %s | FileCheck %s
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=check-unique-locs=true %s | FileCheck %s
// RUN: ttmlir-opt --ttir-to-ttnn-common-pipeline --ttnn-unique-locations %s | FileCheck %s
// RUN: not ttmlir-opt --ttir-to-ttnn-common-pipeline=check-unique-locs=true %S/Inputs/same_locations.mlir 2>&1 | FileCheck %s --check-prefix=SAME

// CHECK: "ttnn.exp"
// CHECK: "ttnn.neg"
// SAME: error: {{.*}}Operation 'ttnn.{{.*}}' has a non-unique location: 'loc("twice")'. Previously seen in operation 'ttnn.
func.func @main(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%a) : (tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.neg"(%0) : (tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}
