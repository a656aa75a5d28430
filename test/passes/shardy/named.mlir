// Named computations are inlined between constraints; what edges stand for has their shardings.

// RUN: ttmlir-opt --split-input-file --stablehlo-pipeline %s | FileCheck %s
// RUN: ttmlir-opt --split-input-file --stablehlo-pipeline --mlir-print-ir-after-all %s 2>&1 | FileCheck %s --check-prefix=INLINE
// RUN: ttmlir-opt --split-input-file --sdy-apply-sharding-constraints %s | FileCheck %s --check-prefix=APPLY

// INLINE: func.func @named(%[[A:.*]]: tensor<6x10xf32>)
// INLINE-NEXT: %[[IN:.*]] = sdy.sharding_constraint %[[A]] <@mesh, [{"y"}, {}]> : tensor<6x10xf32>
// INLINE-NEXT: %[[ABS:.*]] = stablehlo.abs %[[IN]]
// INLINE-NEXT: %[[INNER:.*]] = stablehlo.negate %[[ABS]]
// INLINE-NEXT: %[[OUT:.*]] = sdy.sharding_constraint %[[INNER]] <@mesh, [{}, {"y"}]> : tensor<6x10xf32>
// INLINE-NEXT: return %[[OUT]], %[[A]]
// CHECK: in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{}, {"y"}]>, <@mesh, [{"y"}, {}]>]
// CHECK: stablehlo.abs %{{.*}} : tensor<3x10xf32>
// CHECK: "stablehlo.all_to_all"
// CHECK-NOT: sdy.sharding_constraint
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @named(%a: tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>) {
  %0:2 = sdy.named_computation<"outer">(%a, %a)
      in_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, [{?}, {?}]>] (%b: tensor<6x10xf32>, %c: tensor<6x10xf32>) {
    %1 = stablehlo.abs %b : tensor<6x10xf32>
    %2 = sdy.named_computation<"inner">(%1) (%d: tensor<6x10xf32>) {
      %3 = stablehlo.negate %d : tensor<6x10xf32>
      sdy.return %3 : tensor<6x10xf32>
    } : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %4 = sdy.data_flow_edge %2 sharding=<@mesh, [{}, {"y"}]> : tensor<6x10xf32>
    sdy.return %4, %c : tensor<6x10xf32>, tensor<6x10xf32>
  } : (tensor<6x10xf32>, tensor<6x10xf32>) -> (tensor<6x10xf32>, tensor<6x10xf32>)
  return %0#0, %0#1 : tensor<6x10xf32>, tensor<6x10xf32>
}

// -----

// APPLY: func.func @loop
// APPLY: stablehlo.while
// APPLY-SAME: attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"y"}, {}]>]>}
// APPLY-NOT: data_flow_edge
// CHECK: func.func @loop
// CHECK: stablehlo.while(%iterArg = %{{.*}}, %iterArg_0 = %{{.*}}) : tensor<i32>, tensor<3x10xf32>
// CHECK: stablehlo.negate %{{.*}} : tensor<3x10xf32>
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @loop(%a: tensor<6x10xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<6x10xf32>) {
  %0:2 = stablehlo.while(%i = %n, %b = %a) : tensor<i32>, tensor<6x10xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %2 = stablehlo.sine %b : tensor<6x10xf32>
      stablehlo.return %i, %2 : tensor<i32>, tensor<6x10xf32>
    }
  %3 = sdy.data_flow_edge %0#0 : tensor<i32>
  %4 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"y"}, {}]> : tensor<6x10xf32>
  %5 = stablehlo.negate %4 : tensor<6x10xf32>
  return %3, %5 : tensor<i32>, tensor<6x10xf32>
}

// -----

// APPLY: func.func @region
// APPLY: in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
// CHECK: func.func @region
// CHECK: in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
// CHECK: stablehlo.exponential %{{.*}} : tensor<4x3xf32>
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @region(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x6xf32>) {
    %1 = sdy.data_flow_edge %b sharding=<@mesh, [{"y"}, {}]> : tensor<4x6xf32>
    %2 = stablehlo.exponential %1 : tensor<4x6xf32>
    sdy.return %2 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x6xf32>
  return %3 : tensor<8x6xf32>
}

// -----

// CHECK: func.func @main(%arg0: tensor<6x10xf32> {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<3x10xf32>>
// CHECK: stablehlo.negate %{{.*}} : tensor<3x10xf32>
// CHECK-NOT: func_data_flow_edge
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func private @callee(%a: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %0 = sdy.func_data_flow_edge %a : tensor<6x10xf32>
  %1 = stablehlo.negate %0 : tensor<6x10xf32>
  return %1 : tensor<6x10xf32>
}
func.func @main(%a: tensor<6x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<6x10xf32> {
  %0 = call @callee(%a) : (tensor<6x10xf32>) -> tensor<6x10xf32>
  %1 = sdy.func_data_flow_edge %0 : tensor<6x10xf32>
  return %1 : tensor<6x10xf32>
}
