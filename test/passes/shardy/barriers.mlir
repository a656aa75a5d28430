// Shardings spread over a barrier in its direction alone; it is gone afterwards.

// RUN: ttmlir-opt --sdy-user-priority-propagate %s | FileCheck %s
// RUN: ttmlir-opt --stablehlo-pipeline %s | FileCheck %s --check-prefix=WHOLE

// WHOLE: stablehlo.negate %{{.*}} : tensor<32x36xf32>
// WHOLE-NOT: propagation_barrier
// WHOLE: stablehlo.sine %{{.*}} : tensor<32x36xf32>
// WHOLE-NOT: propagation_barrier
// WHOLE: sdy.return
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @main(%a: tensor<64x36xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<64x36xf32>, tensor<64x36xf32>, tensor<64x36xf32>) {
  // CHECK: stablehlo.negate %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>}
  %0 = stablehlo.negate %a : tensor<64x36xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<64x36xf32>
  // CHECK: stablehlo.abs %{{[^ ]*}} : tensor
  %2 = stablehlo.abs %1 : tensor<64x36xf32>
  %3 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<64x36xf32>
  // CHECK: stablehlo.sine %{{[^ ]*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>}
  %4 = stablehlo.sine %3 : tensor<64x36xf32>
  %5 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<64x36xf32>
  // CHECK: stablehlo.cosine %{{[^ ]*}} : tensor
  %6 = stablehlo.cosine %5 : tensor<64x36xf32>
  return %2, %4, %6 : tensor<64x36xf32>, tensor<64x36xf32>, tensor<64x36xf32>
}
