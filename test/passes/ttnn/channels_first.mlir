// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=spelling=2026 %s | FileCheck %s

// The bias of an image whose channels are in front is turned with it; the host keeps the weight.

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg1: tensor<5x3x3x3xbf16, #{{[a-z0-9_]*}}> {ttir.conv2d_weight}
// CHECK: "ttnn.reshape"(%{{.*}}) <{shape = [1 : i32, 1 : i32, 1 : i32, 5 : i32]}>
// CHECK: "ttnn.conv2d"({{.*}}, %arg1, {{.*}}tensor<1x1x1x5xbf16
func.func @main(%x: tensor<1x3x9x11xbf16>, %w: tensor<5x3x3x3xbf16>, %b: tensor<5xbf16>) -> tensor<1x5x9x11xbf16> {
  %0 = "ttir.conv2d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 1 : i64, height_dim = 2 : i64, width_dim = 3 : i64, stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x3x9x11xbf16>, tensor<5x3x3x3xbf16>) -> tensor<1x5x9x11xbf16>
  %1 = "ttir.reshape"(%b) <{shape = [1 : i32, 5 : i32, 1 : i32, 1 : i32]}> : (tensor<5xbf16>) -> tensor<1x5x1x1xbf16>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 1, 1, 9, 11>}> : (tensor<1x5x1x1xbf16>) -> tensor<1x5x9x11xbf16>
  %3 = "ttir.add"(%0, %2) : (tensor<1x5x9x11xbf16>, tensor<1x5x9x11xbf16>) -> tensor<1x5x9x11xbf16>
  return %3 : tensor<1x5x9x11xbf16>
}
