// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline=spelling=2026 | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-pipeline --stablehlo-to-ttir-pipeline=spelling=2026 | FileCheck %s

// CHECK: module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>}
// CHECK: ttcore.device_module {
// CHECK: func.func @main(%arg0: tensor<5x7xf32> {ttcore.argument_type = #ttcore.argument_type<input>
// CHECK: %0 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 7 : i32]}>
// CHECK: %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 5, 1>}>
// CHECK: %2 = "ttir.add"(%arg0, %1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK: %3 = "ttir.sum"(%2) <{dim_arg = [1 : i32], keep_dim = false}>
// CHECK: return %3 : tensor<5xf32>
func.func @main(%a: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<7xf32>) -> tensor<5x7xf32>
  %1 = stablehlo.add %a, %0 : tensor<5x7xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<5x7xf32>, tensor<f32>) -> tensor<5xf32>
  return %2 : tensor<5xf32>
}
