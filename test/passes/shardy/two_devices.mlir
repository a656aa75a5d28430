// What one of two devices computes, as the compiler in jax-tt-plugin 0.1.3 says it.

// RUN: ttmlir-opt --sdy-reshard-to-collectives --annotate-local-shapes --update-global-to-local-shapes --sdy-close-shardings %s | FileCheck %s
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s --check-prefix=TEXT

// TEXT: sdy.all_reduce {"y"} %{{.*}} out_sharding=<@mesh, [{}]> : tensor<32xf32>
// TEXT: sdy.reduce_scatter [{"y"}, {}] %{{.*}} out_sharding=<@mesh, [{"y"}, {}]> : tensor<4x6xf32>
// TEXT: sdy.all_to_all [{"y"}: 0->1] %{{.*}} out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x6xf32>
// TEXT: sdy.collective_permute %{{.*}} out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x6xf32>
// CHECK: func.func public @main(%arg0: tensor<64x32xf32> {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<32x32xf32>>}
// CHECK-SAME: -> (tensor<32xf32> {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<32xf32>>}, tensor<64x32xbf16> {ttcore.local_shape = #ttcore<local_shape local_shape = tensor<64x32xbf16>>}
// CHECK: in_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{"y"}, {}]>] manual_axes={"y_aux", "y"} (%arg2: tensor<32x32xf32>, %arg3: tensor<32x32xbf16>) {
// CHECK: stablehlo.reduce(%arg2 init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<32x32xf32>, tensor<f32>) -> tensor<32xf32>
// CHECK: "stablehlo.all_reduce"(%{{.*}}) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> ({
// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: "stablehlo.all_gather"(%arg3) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<32x32xbf16>) -> tensor<64x32xbf16>
// CHECK: stablehlo.constant dense<1.000000e+00> : tensor<32x32xf32>
// CHECK: stablehlo.slice %{{.*}} [0:32, 0:16] : (tensor<32x32xf32>) -> tensor<32x16xf32>
sdy.mesh @mesh = <["y_aux"=1, "y"=2]>
func.func public @main(
    %arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
    %arg1: tensor<64x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<32xf32>, tensor<64x32xbf16>, tensor<64x16xf32>) {
  %0:3 = sdy.manual_computation(%arg0, %arg1)
      in_shardings=[<@mesh, [{"y"}, {}]>, <@mesh, [{"y"}, {}]>]
      out_shardings=[<@mesh, [{?}]>, <@mesh, [{?}, {?}]>, <@mesh, [{"y", ?}, {?}]>]
      manual_axes={} (%arg2: tensor<64x32xf32>, %arg3: tensor<64x32xbf16>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg2 init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
    %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}]> : tensor<32xf32>
    %3 = sdy.reshard %arg3 <@mesh, [{}, {}]> : tensor<64x32xbf16>
    %4 = stablehlo.add %3, %3 : tensor<64x32xbf16>
    %one = stablehlo.constant
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>} dense<1.000000e+00>
        : tensor<64x32xf32>
    %5 = stablehlo.add %arg2, %one
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>} : tensor<64x32xf32>
    %6 = stablehlo.slice %5 [0:64, 0:16]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>}
        : (tensor<64x32xf32>) -> tensor<64x16xf32>
    sdy.return %2, %4, %6 : tensor<32xf32>, tensor<64x32xbf16>, tensor<64x16xf32>
  } : (tensor<64x32xf32>, tensor<64x32xbf16>)
      -> (tensor<32xf32>, tensor<64x32xbf16>, tensor<64x16xf32>)
  return %0#0, %0#1, %0#2 : tensor<32xf32>, tensor<64x32xbf16>, tensor<64x16xf32>
}
func.func private @others(%a: tensor<4x6xf32>) {
  %0 = sdy.reduce_scatter [{"y"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<4x6xf32>
  %1 = sdy.all_to_all [{"y"}: 0->1] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x6xf32>
  %2 = sdy.collective_permute %1 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x6xf32>
  return
}
