// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --stablehlo-to-ttir-pipeline

func.func @three(%x: tensor<8x8x8xf32>) -> tensor<4x4x4xf32> {
  // expected-error @+1 {{failed to legalize operation 'stablehlo.custom_call': the division '{devices=[2,2,2]<=[8]}' is not one over a mesh of two dimensions, such as {devices=[1,2]<=[2]}}}
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{devices=[2,2,2]<=[8]}"}
      : (tensor<8x8x8xf32>) -> tensor<4x4x4xf32>
  return %0 : tensor<4x4x4xf32>
}

// -----

func.func @combined(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{devices combine their numbers by one of add, multiply, maximum, minimum}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.atan2 %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

module {
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  func.func @unknown(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error @+1 {{'sdy.manual_computation' op operand - unknown mesh: @other}}
    %0 = sdy.manual_computation(%x) in_shardings=[<@other, [{"b"}, {}]>]
        out_shardings=[<@mesh, [{"b"}, {}]>] manual_axes={"a", "b"} (%p: tensor<2x8xf32>) {
      sdy.return %p : tensor<2x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

func.func @unreadable(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'{gibberish}' is no sharding that is known here; there are {replicated}, {manual}, {devices=[2,4]<=[8]}}}
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{gibberish}"}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @half_manual(%a: tensor<8x12xf32>) -> tensor<8x12xf32> {
  // expected-error @+1 {{failed to legalize operation 'sdy.manual_computation': parts are divided over "y", which is no manual axis; run stablehlo-pipeline before, which makes all axes manual}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x12xf32>) {
    sdy.return %b : tensor<4x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
