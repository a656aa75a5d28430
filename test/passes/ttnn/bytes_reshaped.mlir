// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=spelling=2026 %s | FileCheck %s

// The library reshapes bytes as integers.

// CHECK: %[[WIDE:.*]] = "ttnn.typecast"(%arg0){{.*}} -> tensor<33x70xsi32
// CHECK: %[[TILES:.*]] = "ttnn.to_layout"(%[[WIDE]])
// CHECK: %[[MOVED:.*]] = "ttnn.reshape"(%[[TILES]]){{.*}} -> tensor<70x33xsi32
// CHECK: "ttnn.typecast"(%[[MOVED]]){{.*}} -> tensor<70x33xui8
func.func @main(%x: tensor<33x70xui8>) -> tensor<70x33xui8> {
  %0 = "ttir.reshape"(%x) <{shape = [70 : i32, 33 : i32]}> : (tensor<33x70xui8>) -> tensor<70x33xui8>
  return %0 : tensor<70x33xui8>
}
