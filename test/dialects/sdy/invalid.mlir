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
  // expected-error @+1 {{'stablehlo.all_gather' op Invalid replica id -1}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, -1], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

func.func @main(%a: tensor<4x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' op replica groups should be a rank 2 tensor}}
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[0, 1, 2, 3]> : tensor<4xi64>}> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op can't apply gathering axis "y" to operand sharding on dimension 0}}
  %0 = sdy.all_gather [{"y"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op result sharding doesn't match expected sharding [] on dimension 0}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op result sharding has rank 2 but collective axes has rank 1}}
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op unknown axis name: "q"}}
  %0 = sdy.all_gather [{"q"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op duplicate axis ref: "x"}}
  %0 = sdy.all_gather [{"x"}, {"x"}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op collective on operand without sharding}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op can't apply gathering axis "x" to operand sharding on dimension 0}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op can't apply gathering axis "y":(1)2 to operand sharding on dimension 0}}
  %0 = sdy.all_gather [{"y":(1)2}, {}] %a out_sharding=<@mesh, [{"x", "y":(2)2}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op two consecutive sub-axes can be merged: "y":(1)2, "y":(2)2}}
  %0 = sdy.all_gather [{"y":(1)2, "y":(2)2}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op result sharding doesn't match expected sharding [] on dimension 1}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {"z"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op sharding doesn't match tensor rank: 1 != 2}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op unknown mesh: @other}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@other, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
sdy.mesh @other = <["x"=2, "y"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_gather' op result mesh does not match operand mesh}}
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@other, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_slice' op duplicate axis ref: "x"}}
  %0 = sdy.all_slice [{}, {"x"}] %a out_sharding=<@mesh, [{"x"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_slice' op result sharding doesn't match expected sharding ["y"] on dimension 1}}
  %0 = sdy.all_slice [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_slice' op result sharding doesn't match expected sharding ["x", "y"] on dimension 0}}
  %0 = sdy.all_slice [{"y"}, {}] %a out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_slice' op result sharding has rank 2 but collective axes has rank 3}}
  %0 = sdy.all_slice [{"y"}, {}, {}] %a out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op reduction axis "x" overlaps with operand dimension sharding or replicated axes}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op operand and result shardings are not equivalent}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op unknown axis name: "q"}}
  %0 = sdy.all_reduce {"q"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op duplicate axis ref: "y"}}
  %0 = sdy.all_reduce {"y", "y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op reduction axes are not ordered w.r.t. mesh}}
  %0 = sdy.all_reduce {"z", "y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op reduction axis "y" overlaps with result unreduced axes}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op reduction axis "y":(1)2 overlaps with operand dimension sharding or replicated axes}}
  %0 = sdy.all_reduce {"y":(1)2} %a out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op reduction axis "y" overlaps with operand dimension sharding or replicated axes}}
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.reduce_scatter' op duplicate axis ref: "x"}}
  %0 = sdy.reduce_scatter [{}, {"x"}] %a out_sharding=<@mesh, [{"x"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.reduce_scatter' op result sharding doesn't match expected sharding ["x", "y"] on dimension 0}}
  %0 = sdy.reduce_scatter [{"y"}, {}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.reduce_scatter' op result sharding has rank 2 but collective axes has rank 1}}
  %0 = sdy.reduce_scatter [{"y"}] %a out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op overlapping source/target dimensions in all-to-all params: 0}}
  %0 = sdy.all_to_all [{"x"}: 0->0] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op target dimension 2 is out of range [0, 2)}}
  %0 = sdy.all_to_all [{"x"}: 0->2] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op source dimension 2 is out of range [0, 2)}}
  %0 = sdy.all_to_all [{"x"}: 2->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op source dimension -1 is out of range [0, 2)}}
  %0 = sdy.all_to_all [{"x"}: -1->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op target dimension -1 is out of range [0, 2)}}
  %0 = sdy.all_to_all [{"x"}: 0->-1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op parameter list is empty}}
  %0 = sdy.all_to_all [] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op can't apply all-to-all axis "y" to operand sharding on dimension 0}}
  %0 = sdy.all_to_all [{"y"}: 0->1] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op result sharding doesn't match expected sharding ["x"] on dimension 1}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op result sharding doesn't match expected sharding [] on dimension 0}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op unknown axis name: "q"}}
  %0 = sdy.all_to_all [{"q"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op overlapping source/target dimensions in all-to-all params: 1}}
  %0 = sdy.all_to_all [{"x"}: 0->1, {"y"}: 1->0] %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) -> tensor<16x8x8x4xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op source dimensions are not sorted in ascending order: 0 appears after 2}}
  %0 = sdy.all_to_all [{"y"}: 2->3, {"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}, {}, {"y"}]> : tensor<16x8x8x4xf32>
  return %0 : tensor<16x8x8x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}, {}]>}) -> tensor<16x8x8x4xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op duplicate axis ref: "x"}}
  %0 = sdy.all_to_all [{"x"}: 0->1, {"x"}: 2->3] %a out_sharding=<@mesh, [{}, {"x"}, {}, {}]> : tensor<16x8x8x4xf32>
  return %0 : tensor<16x8x8x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.all_to_all' op collective on operand without sharding}}
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.collective_permute' op sharded size of result doesn't match operand on dimension 0: 4 != 2}}
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.collective_permute' op sharded size of result doesn't match operand on dimension 0: 1 != 2}}
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.collective_permute' op sharding doesn't match tensor rank: 1 != 2}}
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.collective_permute' op collective on operand without sharding}}
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x4xf32> {
  // expected-error @+1 {{'sdy.all_gather' op requires the same type for all operands and results}}
  %0 = "sdy.all_gather"(%a) <{gathering_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<16x8xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x4xf32> {
  // expected-error @+1 {{'sdy.reshard' op requires the same type for all operands and results}}
  %0 = "sdy.reshard"(%a) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<16x8xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x8xf32>) {
    // expected-error @+1 {{'sdy.manual_computation' op operand - operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"y"} (%c: tensor<8x8xf32>) {
      sdy.return %c : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x8xf32>) {
    // expected-error @+1 {{'sdy.sharding_constraint' op operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.sharding_constraint %b <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x8xf32>) {
    // expected-error @+1 {{'sdy.reshard' op operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.reshard %b <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x8xf32>) {
    // expected-error @+1 {{'stablehlo.add' op result - operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    %1 = stablehlo.add %b, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x8xf32>) {
    // expected-error @+1 {{'sdy.all_slice' op operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    %1 = sdy.all_slice [{"x"}, {}] %b out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op result shape, corresponding sharding, and region result shape at index 0 must match. Expected local shape 'tensor<8x8xf32>', actual local shape 'tensor<8x8xi32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x8xf32>) {
    %1 = stablehlo.constant dense<1> : tensor<8x8xi32>
    sdy.return %1 : tensor<8x8xi32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.manual_computation' op result shape, corresponding sharding, and region result shape at index 0 must match. Expected local shape 'tensor<16x8xf32>', actual local shape 'tensor<4x8xf32>'}}
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"y"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - both sub-axis and full-axis are used for axis name: "x"}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x":(1)2}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - duplicate axis ref: "y":(1)2}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {"y":(1)2}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - sub-axis pre-size must be at least 1: "y":(0)2}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(0)2}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - sub-axis sizes must be greater than 1: "y":(1)1}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)1}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - sub-axis size is equal to the full axis size: "y":(1)4}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)4}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - sub-axis next pre-size 8 doesn't divide the size of the full axis 4: "y":(4)2}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(4)2}, {}]>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - duplicate axis ref: "y"}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}, unreduced={"y"}>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - unreduced axes are not ordered w.r.t. mesh}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z", "y"}>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
// expected-error @+1 {{'func.func' op arg 0 - sharding doesn't match tensor rank: 0 != 2}}
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> tensor<16x8xf32> {
  %0 = stablehlo.negate %a : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op operand 1 - mapping rank must match: 1 != 2}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i], [k])->([i, j]) {i=8, j=8, k=16} reduction={k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op number of operands and mappings must match: 2 != 1}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i])->([i, j]) {i=8, j=8, k=16} reduction={k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op number of results and mappings must match: 1 != 2}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i], [k, j])->([i, j], [i, j]) {i=8, j=8, k=16} reduction={k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op reduction factor cannot be in result mappings}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i], [k, j])->([i, j]) {i=8, j=8, k=16} reduction={i}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op has factor l=2 that isn't used in operand and result mappings}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i], [k, j])->([i, j]) {i=8, j=8, k=16, l=2} reduction={k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op result - expecting factor indices to be within 0<=...<num_factors; received: 4, num_factors: 3}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i], [k, j])->([i, m]) {i=8, j=8, k=16} reduction={k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op a factor can only be in one of the reduction, need replication, or permutation factor sets}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i], [k, j])->([i, j]) {i=8, j=8, k=16} reduction={k} need_replication={k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op indices of special factors must be sorted}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([kl, i], [kl, j])->([i, j]) {i=8, j=8, k=4, l=4} reduction={l, k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{'stablehlo.dot_general' op result - cannot reuse factors for the same tensor value}}
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([k, i], [k, j])->([i, i]) {i=8, j=8, k=16} reduction={k}>} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.constant' op result - sharding doesn't match tensor rank: 1 != 2}}
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  // expected-error @+1 {{'sdy.reshard' op unknown axis name: "y"}}
  %0 = sdy.reshard %a <mesh<["x"=2]>, [{"y"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op replica_groups values must be positive, but was given -2}}
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = dense<[[0, 1], [3, -2]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.propagation_barrier' op cannot specify `BOTH` as the direction. Not blocking propagation direction makes the op redundant.}}
  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{custom op 'sdy.propagation_barrier' expected string or keyword containing one of the following enum values for attribute 'allowed_direction' [NONE, FORWARD, BACKWARD, BOTH]}}
  %0 = sdy.propagation_barrier %a allowed_direction=SIDE : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: i32) {
  // expected-error @+1 {{custom op 'sdy.propagation_barrier' invalid kind of type specified: expected builtin.tensor, but found 'i32'}}
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : i32
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.propagation_barrier' op requires the same type for all operands and results}}
  %0 = "sdy.propagation_barrier"(%a) {allowed_direction = 0 : i32} : (tensor<8x12xf32>)->tensor<8x13xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<*xf32>) {
  // expected-error @+1 {{custom op 'sdy.propagation_barrier' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'}}
  %0 = sdy.propagation_barrier %a allowed_direction=FORWARD : tensor<*xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op inferred type(s) 'tensor<8x12xf32>' are incompatible with return type(s) of operation 'tensor<8x13xf32>'}}
  %0 = sdy.named_computation<"foo">(%a) (%b: tensor<8x12xf32>) {
  sdy.return %b : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x13xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op in_shardings shardings don't match number of values: 0 shardings vs 1 values}}
  %0 = sdy.named_computation<"foo">(%a) in_shardings=[] (%b: tensor<8x12xf32>) {
  sdy.return %b : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op in_shardings - sharding doesn't match tensor rank: 1 != 2}}
  %0 = sdy.named_computation<"foo">(%a) in_shardings=[<@mesh, [{"x"}]>] (%b: tensor<8x12xf32>) {
  sdy.return %b : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op out_shardings - unknown axis name: "q"}}
  %0 = sdy.named_computation<"foo">(%a) out_shardings=[<@mesh, [{"q"},{}]>] (%b: tensor<8x12xf32>) {
  sdy.return %b : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<4x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op in_shardings - operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
  %1 = sdy.named_computation<"foo">(%c) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] (%b: tensor<4x12xf32>) {
  sdy.return %b : tensor<4x12xf32>
  } : (tensor<4x12xf32>) -> tensor<4x12xf32>
  sdy.return %1 : tensor<4x12xf32> } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = sdy.data_flow_edge %a : tensor<8x12xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other than an sdy.named_computation).}}
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}, {}]> {u} : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = stablehlo.optimization_barrier %a : tensor<8x12xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op expected input of sdy.data_flow_edge to have a single user}}
  %1 = sdy.data_flow_edge %0 : tensor<8x12xf32>
  %2=stablehlo.abs %0 : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = stablehlo.optimization_barrier %a : tensor<8x12xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op unknown axis name: "q"}}
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"q"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = stablehlo.optimization_barrier %a : tensor<8x12xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op sharding doesn't match tensor rank: 1 != 2}}
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = stablehlo.optimization_barrier %a : tensor<8x12xf32>
  // expected-error @+1 {{'sdy.data_flow_edge' op requires the same type for all operands and results}}
  %1 = "sdy.data_flow_edge"(%0) : (tensor<8x12xf32>) -> tensor<8x13xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = stablehlo.abs %a : tensor<8x12xf32>
  // expected-error @+1 {{'sdy.func_data_flow_edge' op expected operand of sdy.func_data_flow_edge to be a result of call op.}}
  %1 = sdy.func_data_flow_edge %0 : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = stablehlo.abs %a : tensor<8x12xf32>
  // expected-error @+1 {{'sdy.func_data_flow_edge' op expected operand of sdy.func_data_flow_edge to have a single user}}
  %1 = sdy.func_data_flow_edge %a : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op collective on operand without sharding}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op duplicate axis ref: "x"}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axis "x" overlaps with operand dimension sharding}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op input and output must share the same dimension shardings}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op out_unreduced_axes should be in_unreduced_axes + r2u_axes}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op out_unreduced_axes should be in_unreduced_axes + r2u_axes}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y":(1)2}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op out_unreduced_axes should be in_unreduced_axes + r2u_axes}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x","y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axes must not be empty}}
  %0 = sdy.replicated_to_unreduced {} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axis "y" overlaps with operand unreduced axes}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axes are not ordered w.r.t. mesh}}
  %0 = sdy.replicated_to_unreduced {"y","x"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x","y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op duplicate axis ref: "x"}}
  %0 = sdy.replicated_to_unreduced {"x","x"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op unknown axis name: "q"}}
  %0 = sdy.replicated_to_unreduced {"q"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op input and output must share the same dimension shardings}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{}, {"x"}], unreduced={"y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["x"=2, "z"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op result mesh does not match operand mesh}}
  %0 = sdy.replicated_to_unreduced {"z"} %a out_sharding=<@other, [{"x"}, {}], unreduced={"z"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op input and output must share the same dimension shardings}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}, {?}], unreduced={"y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op collective on operand without sharding}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op can't apply shard-to-unreduce axis "y" to operand sharding on dimension 0}}
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op result sharding doesn't match expected sharding [] on dimension 0}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x","y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op result sharding has rank 2 but collective axes has rank 1}}
  %0 = sdy.sharded_to_unreduced [{"x"}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op duplicate axis ref: "x"}}
  %0 = sdy.sharded_to_unreduced [{"x"},{"x"}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["x"=2, "z"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op result mesh does not match operand mesh}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@other, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<4x12xf32>) {
  // expected-error @+1 {{'sdy.data_flow_edge' op operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
  %1 = sdy.data_flow_edge %c sharding=<@mesh, [{"x"}, {}]> : tensor<4x12xf32>
  sdy.return %1 : tensor<4x12xf32> } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{expected the type of the 0'th block argument to match the type of the corresponding operand: 'tensor<8x13xf32>' vs 'tensor<8x12xf32>'}}
  %0 = sdy.named_computation<"foo">(%a) (%b: tensor<8x13xf32>) {
  %k = stablehlo.constant dense<0.0> : tensor<8x12xf32>
  sdy.return %k : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{number of block arguments must match the number of operands: 0 != 1}}
  %0 = sdy.named_computation<"foo">(%a) () {
  %k = stablehlo.constant dense<0.0> : tensor<8x12xf32>
  sdy.return %k : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{number of block arguments must match the number of operands: 2 != 1}}
  %0 = sdy.named_computation<"foo">(%a) (%b: tensor<8x12xf32>, %c: tensor<8x12xf32>) {
  sdy.return %c : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op in_shardings - sharding doesn't match tensor rank: 1 != 2}}
  %0 = sdy.named_computation<"foo">(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] (%b: tensor<8x12xf32>) {
  sdy.return %b : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op in_shardings 1 - sharding doesn't match tensor rank: 1 != 2}}
  %0:2 = sdy.named_computation<"foo">(%a, %a) in_shardings=[<@mesh, [{"x"},{}]>, <@mesh, [{"x"}]>] (%b: tensor<8x12xf32>, %c: tensor<8x12xf32>) {
  sdy.return %b, %b : tensor<8x12xf32>, tensor<8x12xf32>
  } : (tensor<8x12xf32>, tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x12xf32>)
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op inferred type(s) 'tensor<8x12xf32>', 'tensor<8x12xf32>' are incompatible with return type(s) of operation 'tensor<8x12xf32>', 'tensor<8x13xf32>'}}
  %0:2 = sdy.named_computation<"foo">(%a, %a) (%b: tensor<8x12xf32>, %c: tensor<8x12xf32>) {
  sdy.return %b, %b : tensor<8x12xf32>, tensor<8x12xf32>
  } : (tensor<8x12xf32>, tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x13xf32>)
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<4x12xf32>) {
  // expected-error @+1 {{'sdy.named_computation' op out_shardings - operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
  %1 = sdy.named_computation<"foo">(%c) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] (%b: tensor<4x12xf32>) {
  sdy.return %b : tensor<4x12xf32>
  } : (tensor<4x12xf32>) -> tensor<4x12xf32>
  sdy.return %1 : tensor<4x12xf32> } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op input and output must share the same dimension shardings}}
  %0 = sdy.replicated_to_unreduced {} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axes must not be empty}}
  %0 = sdy.replicated_to_unreduced {} %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axes are not ordered w.r.t. mesh}}
  %0 = sdy.replicated_to_unreduced {"y","x"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op input and output must share the same dimension shardings}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{"y"}p1, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op input and output must share the same dimension shardings}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{?}p1, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}]>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axis "y" overlaps with operand dimension sharding}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"y":(1)2}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y":(1)2}>}) {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op r2u axis "y" overlaps with operand unreduced axes}}
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op out_unreduced_axes should be in_unreduced_axes + sharded_to_unreduced_axes}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}], replicated={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op result sharding doesn't match expected sharding ["x"] on dimension 0}}
  %0 = sdy.sharded_to_unreduced [{}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op unknown axis name: "q"}}
  %0 = sdy.sharded_to_unreduced [{"q"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x","y"}, {}]>}) {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op can't apply shard-to-unreduce axis "x" to operand sharding on dimension 0}}
  %0 = sdy.sharded_to_unreduced [{"x"}, {}] %a out_sharding=<@mesh, [{"y"}, {}], unreduced={"x"}> : tensor<8x12xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: i32) {
  // expected-error @+1 {{custom op 'sdy.data_flow_edge' invalid kind of type specified}}
  %1 = sdy.data_flow_edge %a : i32
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<1xi32>) {
  // expected-error @+1 {{'sdy.func_data_flow_edge' op requires the same type for all operands and results}}
  %1 = "sdy.func_data_flow_edge"(%a) : (tensor<1xi32>) -> tensor<2xi32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xf32>) {
  %0 = sdy.named_computation<"foo">(%a) (%b: tensor<8x12xf32>) {
  // expected-error @+1 {{'sdy.func_data_flow_edge' op expected operand of sdy.func_data_flow_edge to be a block argument of a func op.}}
  %9 = sdy.func_data_flow_edge %b : tensor<8x12xf32>
  sdy.return %9 : tensor<8x12xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  return
}

// -----

func.func @main(%a: tensor<8x12xf32>) -> tensor<8x12xf32> {
  // expected-error @+1 {{'stablehlo.abs' op expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {i=#, j=#, ...}). Expecting factor index symbol 'j', received: 'z_1'}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, z_1])->([i, z_1]) {i=8, z_1=12}>} : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

// -----

func.func @main(%a: tensor<8x12xf32>) -> tensor<8x12xf32> {
  // expected-error @+1 {{'stablehlo.abs' op operand - expecting factor indices to be within 0<=...<num_factors; received: 0, num_factors: 0}}
  %0 = stablehlo.abs %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j])>} : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
