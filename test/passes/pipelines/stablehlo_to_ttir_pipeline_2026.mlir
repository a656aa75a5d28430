// RUN: ttmlir-opt %s --stablehlo-pipeline --stablehlo-to-ttir-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline | FileCheck %s --check-prefix=ALONE
// RUN: env TTMLIR_SPELLING=2025 ttmlir-opt %s --stablehlo-to-ttir-pipeline | FileCheck %s --check-prefix=LATE2025

// CHECK: module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>}
// CHECK: ttcore.device_module {
// CHECK: func.func @main(%arg0: tensor<5x7xf32> {ttcore.local_shape
// CHECK: %0 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 7 : i32]}>
// CHECK: %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 5, 1>}>
// CHECK: %2 = "ttir.add"(%arg0, %1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK: %3 = "ttir.sum"(%2) <{dim_arg = [1 : i32], keep_dim = false}>
// CHECK: return %3 : tensor<5xf32>
// ALONE: func.func @main(%arg0: tensor<5x7xf32>, %arg1: tensor<7xf32>) -> tensor<5xf32> {
// ALONE: "ttir.add"(%arg0, %1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>

// LATE2025: "ttir.broadcast"
// LATE2025: %[[EMPTY:.*]] = ttir.empty() : tensor<5x7xf32>
// LATE2025: "ttir.add"(%arg0, %{{.*}}, %[[EMPTY]]) :
func.func @main(%a: tensor<5x7xf32>, %b: tensor<7xf32>) -> tensor<5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<7xf32>) -> tensor<5x7xf32>
  %1 = stablehlo.add %a, %0 : tensor<5x7xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<5x7xf32>, tensor<f32>) -> tensor<5xf32>
  return %2 : tensor<5xf32>
}
