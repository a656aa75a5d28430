// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s

// What operations of debug give on is the tensor that they take: it lives until the last use of both.

// CHECK-LABEL: func.func @f
func.func @f(%arg0: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
  // CHECK: %[[E:.*]] = "ttnn.exp"
  %0 = "ttir.exp"(%arg0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  // CHECK: %[[NOTE:.*]] = "debug.annotate"(%[[E]]) <{annotation = "scores"}>
  // CHECK-NOT: "ttnn.deallocate"(%[[E]])
  %1 = "debug.annotate"(%0) <{annotation = "scores"}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  // CHECK: "debug.print"(%[[NOTE]]) <{message = "scores ="}>
  "debug.print"(%1) <{message = "scores ="}> : (tensor<32x32xbf16>) -> ()
  // CHECK: %[[SQUARE:.*]] = "ttnn.matmul"(%[[NOTE]], %[[NOTE]])
  // CHECK-NOT: "ttnn.deallocate"(%[[NOTE]])
  %2 = "ttir.matmul"(%1, %1) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  // CHECK: "ttnn.add"(%[[SQUARE]], %[[E]])
  // CHECK-DAG: "ttnn.deallocate"(%[[E]])
  // CHECK-DAG: "ttnn.deallocate"(%[[SQUARE]])
  %3 = "ttir.add"(%2, %0) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %3 : tensor<32x32xbf16>
}
