// Passes of StableHLO that the pipelines of tt-mlir of 2026 are made of, alone.

// RUN: ttmlir-opt --stablehlo-legalize-deprecated-ops --split-input-file %s | FileCheck %s --check-prefix=SUCCESSORS
// RUN: ttmlir-opt --convert-arith-to-stablehlo --split-input-file %s | FileCheck %s --check-prefix=ARITH
// RUN: ttmlir-opt --legalize-stablehlo-composite-to-ttir --split-input-file %s | FileCheck %s --check-prefix=COMPOSITE
// RUN: not ttmlir-opt --stablehlo-legalize-deprecated-ops %S/Inputs/random.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: ttmlir-opt --stablehlo-legalize-deprecated-ops=fail-on-unused=false %S/Inputs/random.mlir | FileCheck %s --check-prefix=STAYS
// NONE: random.mlir:2:8: error: failed to legalize operation 'stablehlo.rng'
// STAYS: stablehlo.rng

// SUCCESSORS-LABEL: @products
// SUCCESSORS: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT]
// SUCCESSORS: stablehlo.broadcast_in_dim %{{.*}}, dims = [2, 3] : (tensor<3x7xf32>) -> tensor<2x4x3x7xf32>
// SUCCESSORS: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// SUCCESSORS: stablehlo.einsum %[[ONE]], %arg0, config = ",ab->ba" : (tensor<f32>, tensor<3x5xf32>) -> tensor<5x3xf32>
// SUCCESSORS: "stablehlo.all_reduce"(%arg0)
// SUCCESSORS-SAME: replica_groups = dense<{{.*}}> : tensor<1x2xi64>
// SUCCESSORS: stablehlo.add
// SUCCESSORS: stablehlo.after_all
func.func @products(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>)
    -> (tensor<2x4x3x7xf32>, tensor<5x3xf32>, tensor<3x5xf32>, !stablehlo.token) {
  %0 = stablehlo.dot %a, %b, precision = [DEFAULT, DEFAULT]
      : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  %1 = stablehlo.broadcast %0, sizes = [2, 4] : (tensor<3x7xf32>) -> tensor<2x4x3x7xf32>
  %2 = stablehlo.unary_einsum %a, config = "ab->ba" : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %3 = "stablehlo.cross-replica-sum"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
      : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %4 = stablehlo.create_token : !stablehlo.token
  return %1, %2, %3, %4
      : tensor<2x4x3x7xf32>, tensor<5x3xf32>, tensor<3x5xf32>, !stablehlo.token
}

// -----

// ARITH-LABEL: @constants
// ARITH: stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 4.000000e+00]> : tensor<3xf32>
// ARITH: arith.constant 3 : i32
// ARITH-NOT: arith.constant
func.func @constants(%a: tensor<3xf32>) -> (tensor<3xf32>, i32) {
  %c = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %n = arith.constant 3 : i32
  %0 = stablehlo.add %a, %c : tensor<3xf32>
  return %0, %n : tensor<3xf32>, i32
}

// -----

// What today's compiler makes of the module in this step; other composites stay.
// COMPOSITE-LABEL: @activation
// COMPOSITE: %[[GELU:.*]] = "ttir.gelu"(%arg0) : (tensor<4x64xf32>) -> tensor<4x64xf32>
// COMPOSITE: stablehlo.composite "my.gelu" %[[GELU]]
// COMPOSITE: func.func private @gelu
func.func @activation(%a: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = stablehlo.composite "tenstorrent.gelu" %a {composite_attributes = {}, decomposition = @gelu}
      : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = stablehlo.composite "my.gelu" %0 {composite_attributes = {}, decomposition = @gelu}
      : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}
func.func private @gelu(%a: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = stablehlo.tanh %a : tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
