// What is said of meshes and shardings that cannot be, and programs that would have to be divided.

// RUN: not ttmlir-opt --split-input-file --analyze-mesh %s 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not ttmlir-opt --split-input-file --analyze-mesh="automatic-arg-analysis=true mesh-shape=2,2" %s 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not ttmlir-opt --split-input-file --analyze-mesh=automatic-arg-analysis=true %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ttmlir-opt --split-input-file --sdy-insert-explicit-reshards %s 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not ttmlir-opt --split-input-file --annotate-local-shapes %s 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not ttmlir-opt --split-input-file --wrap-under-manual-computation %s 2>&1 | FileCheck %s --check-prefix=WRAP
// RUN: not ttmlir-opt --split-input-file --apply-argument-shard-status=result-presharded=1,0 %s 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: not ttmlir-opt --split-input-file --update-global-to-local-shapes %s 2>&1 | FileCheck %s --check-prefix=UPDATE
// RUN: not ttmlir-opt --split-input-file --register-user-sharding-rule %s 2>&1 | FileCheck %s --check-prefix=RULE

// RUN: not ttmlir-opt --split-input-file --stablehlo-pipeline %s 2>&1 | FileCheck %s --check-prefix=TERMS

// MESH: error: Pass expects a 0D, 1D, or 2D mesh, got 3D
// MESH: error: Mesh is not valid: 3x5; there are 1x1|2|4|8|16|32|64, 2x2|4|8, 4x4|8|16|32, 8x4|8|16
// MESH: error: Pass expects a single mesh op, got 2
// SHAPE: Currently, automatic arg analysis only supports 2d mesh shape and mesh shape dim0 must be 1
// NONE: User did not provide a mesh: give mesh-shape
// DIVIDE: error: sdy-insert-explicit-reshards divides no program over 8 devices; say what each computes by sdy.manual_computation, or use a mesh of one device
// WRAP: Pass expects a single mesh op, got 2; run analyze-mesh
// RESULTS: The size of the result shard status does not match the number of results in the function: result-presharded has 2, the function 1
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @three(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  return %a : tensor<5x7xf32>
}

// -----

sdy.mesh @mesh = <["x"=3, "y"=5]>
func.func @fifteen(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  return %a : tensor<5x7xf32>
}

// -----

sdy.mesh @first = <["x"=1, "y"=2]>
sdy.mesh @second = <["x"=1, "y"=2]>
func.func @two(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  return %a : tensor<5x7xf32>
}

// -----

func.func @none(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  return %a : tensor<5x7xf32>
}

// -----

// LOCAL: Could not compute local sharded shape for argument 0: tensor sharding is incompatible with tensor shape.
// LOCAL: Could not compute local sharded shape for result 0: tensor sharding is incompatible with tensor shape.
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @odd(%a: tensor<5x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @odd_result(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"y"}]> : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// UPDATE: 'stablehlo.iota' op counts elements of a dimension that is spread over devices
// UPDATE: 'stablehlo.negate' op Could not apply propagated tensor shardings to tensor dimensions
// UPDATE: 'sdy.collective_permute' op sharded size of result doesn't match operand on dimension 0: 1 != 2
// UPDATE: Sharding with subaxis partitioning is currently not supported.
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @counting() -> tensor<6xf32> {
  %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"y"}]>] manual_axes={} () {
    %1 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
        : tensor<6xf32>
    sdy.return %1 : tensor<6xf32>
  } : () -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @uneven(%a: tensor<5xf32>) -> tensor<5xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"y"}]>]
      manual_axes={} (%b: tensor<5xf32>) {
    %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
        : tensor<5xf32>
    sdy.return %1 : tensor<5xf32>
  } : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @permute(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>]
      manual_axes={} (%b: tensor<6xf32>) {
    %1 = sdy.collective_permute %b out_sharding=<@mesh, [{}]> : tensor<6xf32>
    sdy.return %1 : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

sdy.mesh @mesh = <["x"=1, "y"=4]>
func.func @part_of_axis(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y":(1)2}]>] out_shardings=[<@mesh, [{}]>]
      manual_axes={} (%b: tensor<8xf32>) {
    %1 = sdy.all_gather [{"y":(1)2}] %b out_sharding=<@mesh, [{}]> : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// RULE: failed to parse 'xla.sdy.custom_sharding_rule' frontend attribute as an #sdy.op_sharding_rule
func.func @rule(%a: tensor<5xf32>) -> tensor<5xf32> {
  %0 = stablehlo.custom_call @mine(%a) {mhlo.frontend_attributes =
      {xla.sdy.custom_sharding_rule = "nonsense"}} : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// LOCAL: error: Could not compute local sharded shape for argument 0: {{.*}} Dimension 0, which is ?, is divided by 2 ("x"); give it a size, or divide another one.
sdy.mesh @mesh = <["x"=2]>
func.func @sizes(%a: tensor<?x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<?x7xf32> {
  return %a : tensor<?x7xf32>
}

// -----

// TERMS: refused.mlir:[[# @LINE + 4]]:8: error: 'sdy.replicated_to_unreduced' op makes terms of a sum that stay on their devices (unreduced axes), which is not done here; leave it and the sum of its terms out
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @copies(%a: tensor<5x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> tensor<5x7xf32> {
  %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{}, {}], unreduced={"y"}>
      : tensor<5x7xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}

// -----

// TERMS: refused.mlir:[[# @LINE + 4]]:8: error: 'sdy.sharded_to_unreduced' op makes terms of a sum that stay on their devices (unreduced axes), which is not done here; put the parts together by sdy.all_gather
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @parts(%a: tensor<6x7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<6x7xf32> {
  %0 = sdy.sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced={"y"}>
      : tensor<6x7xf32>
  %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<6x7xf32>
  return %1 : tensor<6x7xf32>
}

// -----

// RULE: error: 'stablehlo.custom_call' op operand - mapping rank must match: 2 != 1
func.func @unfit(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = stablehlo.custom_call @mine(%a) {mhlo.frontend_attributes = {xla.sdy.custom_sharding_rule =
      "#sdy.op_sharding_rule<([i, j])->([i]) {i=6, j=3}>"}} : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// RULE: refused.mlir:[[# @LINE + 1]]:18: error: no bracket closes this '<'
sdy.mesh @mesh = <["x\"=2]>

// -----

// RULE: refused.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: expected text such as <([i, k], [k, j])->([i, j]) {i=2, j=4, k=8} reduction={k}>
func.func @words(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = stablehlo.abs %a
      {sdy.sharding_rule = #sdy.op_sharding_rule<hello "world" [{}]>} : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// RULE: refused.mlir:[[# @LINE + 3]]:{{[0-9]+}}: error: expected text such as <([i, k]
func.func @order(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = stablehlo.abs %a
      {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=5, j=7}
      need_replication={i} reduction={}>} : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

// TERMS: refused.mlir:[[# @LINE + 2]]:1: error: only tensors have a local shape, got i32
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @number(%a: i32) -> i32 {
  return %a : i32
}
