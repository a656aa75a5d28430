// What users say of the arguments of functions.

// RUN: ttmlir-opt --tt-populate-argument-types="argument-types=forward=input,parameter,constant;second=default" %s | FileCheck %s
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %arg0: tensor<32x64xbf16> {ttcore.argument_type = #ttcore.argument_type<input>}
// CHECK-SAME: %arg1: tensor<64x32xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "w"}
// CHECK-SAME: %arg2: tensor<32x32xbf16> {ttcore.argument_type = #ttcore.argument_type<constant>}
// CHECK-LABEL: func.func @second
// CHECK-SAME: #ttcore.argument_type<default>

// What depends on parameters alone is computed once.
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="argument-types=forward=input,parameter,constant enable-cpu-hoisted-const-eval=false" %s | FileCheck %s --check-prefix=TTNN
// TTNN-LABEL: func.func private @forward_const_eval_0
// TTNN-LABEL: func.func @forward
// TTNN: ttcore.load_cached(@forward_const_eval_

// RUN: ttmlir-opt --tt-populate-argument-types %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: warning: Empty argument type map provided. Skipping argument type population.
// RUN: ttmlir-opt --tt-populate-argument-types="argument-types=second=input" %s 2>&1 | FileCheck %s --check-prefix=OVERWRITE
// OVERWRITE: warning: Overwriting existing argument type attribute for function: "second" argument: 0
// RUN: not ttmlir-opt --tt-populate-argument-types="argument-types=third=input" %s 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: {{.*}}Function: "third" was provided in the argument types map, however it was not found in module!
// RUN: not ttmlir-opt --tt-populate-argument-types="argument-types=forward=input" %s 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: {{.*}}Did not provide the correct number of argument types for function: "forward". Expected: 3 arguments, got: 1 arguments
// RUN: not ttmlir-opt --tt-populate-argument-types="argument-types=forward=" %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: Provided empty argument list for function name: "forward"
// RUN: not ttmlir-opt --tt-populate-argument-types="argument-types=input,parameter" %s 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: Invalid format. Expected: function=type1,type2;function=type1,type2
// RUN: not ttmlir-opt --tt-populate-argument-types="argument-types=forward=weight" %s 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: Invalid argument type: weight. Supported: input, parameter, constant, default

func.func @forward(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16> {ttir.name = "w"}, %b: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
  %0 = "ttir.exp"(%w) : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %1 = "ttir.matmul"(%x, %0) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.add"(%1, %b) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %2 : tensor<32x32xbf16>
}

func.func @second(%x: tensor<5x7xf32> {ttcore.argument_type = #ttcore.argument_type<default>}) -> tensor<5x7xf32> {
  return %x : tensor<5x7xf32>
}
