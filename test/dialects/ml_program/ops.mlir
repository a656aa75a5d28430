// REQUIRES: mlir-opt
// RUN: ttmlir-opt %s | ttmlir-opt --mlir-print-op-generic > %t.ours
// RUN: mlir-opt-19 --mlir-print-op-generic %s > %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt %s > %t.ours-pretty
// RUN: mlir-opt-19 %s > %t.theirs-pretty
// RUN: diff %t.ours-pretty %t.theirs-pretty
// RUN: mlir-opt-19 --mlir-print-op-generic %s | ttmlir-opt | mlir-opt-19 --mlir-print-op-generic > %t.back
// RUN: diff %t.back %t.theirs

// Functions and globals of ml_program are what MLIR reads, in both forms.

module {
  ml_program.global private @w(dense<[[1.5, -2.0]]> : tensor<1x2xf32>) : tensor<1x2xf32>
  ml_program.global private mutable @m(dense<4> : tensor<4xi32>) : tensor<4xi32>
  ml_program.global public mutable @empty : tensor<?xi32> {doc = "filled later"}
  ml_program.global private @number(3 : i32) : i32
  ml_program.global private mutable @"odd name"(3 : i32) : i32
  ml_program.global private mutable @"7 \C3\A9?"(3 : i32) : i32
  module @outer {
    ml_program.global public mutable @inner(3 : i32) : i32
  }
  ml_program.func @f(%a: tensor<1x2xf32> {ml.name = "a"}) -> (tensor<1x2xf32> {ml.name = "r"}) attributes {x = 1} {
    %0 = ml_program.global_load_const @w : tensor<1x2xf32>
    %1 = tosa.add %a, %0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %2 = ml_program.global_load @w : tensor<1x2xf32>
    %3 = ml_program.global_load @"odd name" : i32
    %4 = ml_program.global_load @"7 \C3\A9?" : i32
    %5 = ml_program.global_load @outer::@inner : i32
    ml_program.return {y} %1 : tensor<1x2xf32>
  }
  ml_program.func private @declared(i32) -> i32
  ml_program.subgraph private @g(%a: i32) -> (i32, i32) {
    ml_program.output %a, %a : i32, i32
  }
  ml_program.func @s(%a: tensor<4xi32>) {
    ml_program.global_store @m = %a : tensor<4xi32>
    ml_program.return
  }
}
