// RUN: ttmlir-opt --ttir-implicit-broadcast-fold %s | FileCheck %s

// What no operand needs to be repeated for is repeated of the result, so that the next operation
// repeats it itself.

// CHECK-LABEL: func.func @main
// CHECK: %[[IS:.*]] = "ttir.ne"(%arg1, %arg1) : (tensor<1x70xf32>, tensor<1x70xf32>) -> tensor<1x70xi1>
// CHECK-NEXT: %[[MORE:.*]] = "ttir.logical_and"(%[[IS]], %arg2) : (tensor<1x70xi1>, tensor<1x70xi1>) -> tensor<1x70xi1>
// CHECK-NEXT: "ttir.where"(%[[MORE]], %arg0, %arg1) : (tensor<1x70xi1>, tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xf32>
// CHECK-NOT: ttir.broadcast
func.func @main(%a: tensor<33x70xf32>, %b: tensor<1x70xf32>, %c: tensor<1x70xi1>) -> tensor<33x70xf32> {
  %0 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 33, 1>}> : (tensor<1x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.broadcast"(%c) <{broadcast_dimensions = array<i64: 33, 1>}> : (tensor<1x70xi1>) -> tensor<33x70xi1>
  %2 = "ttir.ne"(%0, %0) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xi1>
  %3 = "ttir.logical_and"(%2, %1) : (tensor<33x70xi1>, tensor<33x70xi1>) -> tensor<33x70xi1>
  %4 = "ttir.where"(%3, %a, %0) : (tensor<33x70xi1>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %4 : tensor<33x70xf32>
}
