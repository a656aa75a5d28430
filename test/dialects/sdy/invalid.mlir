// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// What is said of meshes is checked in the words of Shardy and StableHLO.

// expected-error @+1 {{'sdy.mesh' op axis size must be at least 1, got: 0}}
sdy.mesh @mesh = <["x"=0, "y"=2]>

// -----

// expected-error @+1 {{'sdy.mesh' op duplicate axis name: "x"}}
sdy.mesh @mesh = <["x"=2, "x"=2]>

// -----

// expected-error @+1 {{'sdy.mesh' op total product of axis sizes must match total number of device ids, got: 4 != 3}}
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[1, 0, 2]>

// -----

// expected-error @+1 {{'sdy.mesh' op sorted device ids must be iota(product(axes)), got: 0, 1, 2, 7}}
sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[7, 0, 1, 2]>

// -----

// expected-error @+1 {{'sdy.mesh' op device id must be non-negative, got: -1}}
sdy.mesh @mesh = <[], device_ids=[-1]>

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - unknown mesh: @other}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - sharding doesn't match tensor rank: 1 != 2}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op result 0 - sharding doesn't match tensor rank: 3 != 2}}
func.func @main(%a: tensor<8x6xf32>) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - unknown axis name: "z"}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - duplicate axis ref: "x"}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - duplicate axis ref: "x"}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"x"}>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - duplicate axis ref: "x"}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"x"}>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - unknown axis name: "q"}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"q"}>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - replicated axes are not ordered w.r.t. mesh}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"y", "x"}>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - dim 0 is empty and closed but has a priority}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}p1, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - sub-axis next pre-size 4 doesn't divide the size of the full axis 2: "x":(1)4}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4}, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - sub-axis next pre-size 3 doesn't divide the size of the full axis 4: "y":(1)3}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)3}, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - sub-axis size is equal to the full axis size: "x":(1)2}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - both sub-axis and full-axis are used for axis name: "y"}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2, "y"}, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error @+1 {{'func.func' op arg 0 - two consecutive sub-axes can be merged: "y":(1)2, "y":(2)2}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2, "y":(2)2}, {}]>}) -> tensor<8x6xf32> {
  return %a : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <[], device_ids=[1]>
// expected-error @+1 {{'func.func' op arg 0 - a maximal sharding can only have a sharding with rank 0 and no replicated or unreduced axes.}}
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.sharding_constraint' op unknown axis name: "z"}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"z"}, {}]> : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.reshard' op sharding doesn't match tensor rank: 1 != 2}}
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.add' op result - unknown axis name: "z"}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}, {}]>]>} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.add' op result shardings don't match number of values: 2 shardings vs 1 values}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]>} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.add' op should have a sharding attribute of type TensorShardingPerValueAttr}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op operand shape, corresponding sharding, and region operand shape at index 0 must match. Expected local shape 'tensor<4x6xf32>', actual local shape 'tensor<8x6xf32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x6xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<8x6xf32>
    sdy.return %1 : tensor<8x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op result shape, corresponding sharding, and region result shape at index 0 must match. Expected local shape 'tensor<8x6xf32>', actual local shape 'tensor<4x6xf32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%b: tensor<4x6xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<4x6xf32>
    sdy.return %1 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op unknown manual axis: "z"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "z"} (%b: tensor<4x6xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<4x6xf32>
    sdy.return %1 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op operand shardings don't match number of values: 0 shardings vs 1 values}}
  %0 = sdy.manual_computation(%a) in_shardings=[] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x6xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<4x6xf32>
    sdy.return %1 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op number of op operands and region operands must match. Op has 1 op operands and 0 region operands}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} () {
    %1 = stablehlo.constant dense<1.0> : tensor<4x6xf32>
    sdy.return %1 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op operand dimension size 6 is not divisible by the manual axes size 4}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"y"} (%b: tensor<8x1xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<8x1xf32>
    sdy.return %1 : tensor<8x1xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op operand sharding at index 0 must have all manual axes come before free axes in its dimension sharding at index 0. Saw manual axis "x" after free axis "y"}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y", "x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x6xf32>) {
    %1 = stablehlo.constant dense<1.0> : tensor<4x6xf32>
    sdy.return %1 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["x"=2]>
func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op all in and out shardings must be bound to the same mesh or an empty mesh.}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@other, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x6xf32>) {
    sdy.return %b : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

func.func @main(%a: tensor<4x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' op replica id #2 seen more than once}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 2]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

func.func @main(%a: tensor<4x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' op replica id #2 not seen in replica groups}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [4, 5]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

func.func @main(%a: tensor<4x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' op replica id #3 not seen in replica groups}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 9], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

func.func @main(%a: tensor<4x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' op replica id #3 not seen in replica groups}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, -1], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

func.func @main(%a: tensor<4x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' op replica groups should be a rank 2 tensor}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[0, 1, 2, 3]> : tensor<4xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
