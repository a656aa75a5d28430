// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -

// What a program tells of itself: values are given on where operations have a result.

// CHECK-LABEL: func.func @f
func.func @f(%arg0: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
  // CHECK: %[[START:.*]] = "debug.region_start"(%arg0) <{region_id = "softmax"}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %0 = "debug.region_start"(%arg0) <{region_id = "softmax"}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  // CHECK: %[[NOTE:.*]] = "debug.annotate"(%[[START]]) <{annotation = "scores"}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %1 = "debug.annotate"(%0) <{annotation = "scores"}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  // CHECK: "debug.print"(%[[NOTE]]) <{message = "scores ="}> : (tensor<32x32xbf16>) -> ()
  "debug.print"(%1) <{message = "scores ="}> : (tensor<32x32xbf16>) -> ()
  // CHECK: "debug.dump"(%[[NOTE]]) <{file_path = "scores.tensorbin"}> : (tensor<32x32xbf16>) -> ()
  "debug.dump"(%1) <{file_path = "scores.tensorbin"}> : (tensor<32x32xbf16>) -> ()
  // CHECK: "debug.memory_snapshot"(%[[NOTE]]) <{file_path = "memory.json"}> : (tensor<32x32xbf16>) -> ()
  "debug.memory_snapshot"(%1) <{file_path = "memory.json"}> : (tensor<32x32xbf16>) -> ()
  // CHECK: "debug.breakpoint"(%[[NOTE]]) : (tensor<32x32xbf16>) -> ()
  "debug.breakpoint"(%1) : (tensor<32x32xbf16>) -> ()
  // CHECK: %[[END:.*]] = "debug.region_end"(%[[NOTE]]) <{region_id = "softmax"}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "debug.region_end"(%1) <{region_id = "softmax"}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  // CHECK: return %[[END]]
  return %2 : tensor<32x32xbf16>
}
