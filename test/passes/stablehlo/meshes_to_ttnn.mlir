// From a program for two devices to ttnn without a text in between.
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline --ttir-to-ttnn-backend-pipeline | FileCheck %s

// CHECK: "ttnn.distribute_tensor"
// CHECK-SAME: placements = [<shard, 0 : i32>]
// CHECK-SAME: -> tensor<3x70xf32
// CHECK: "ttnn.tanh"
// CHECK-SAME: -> tensor<3x70xf32
// CHECK: "ttnn.aggregate_tensor"
// CHECK-SAME: dims = [0 : i32]
// CHECK-SAME: -> tensor<6x70xf32
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<6x70xf32>) -> tensor<6x70xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<3x70xf32>) {
    %1 = stablehlo.tanh %a : tensor<3x70xf32>
    sdy.return %1 : tensor<3x70xf32>
  } : (tensor<6x70xf32>) -> tensor<6x70xf32>
  return %0 : tensor<6x70xf32>
}
