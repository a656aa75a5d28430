// RUN: ttmlir-opt --split-input-file --verify-diagnostics --convert-ml-program-to-func %s > %t

// State and unknown values of ml_program are refused where they are used.

ml_program.global private mutable @m(dense<4> : tensor<4xi32>) : tensor<4xi32>
ml_program.func @store(%a: tensor<4xi32>) {
  // expected-error@+1 {{failed to legalize operation 'ml_program.global_store': it changes a global; pass the state as an argument and return the new one}}
  ml_program.global_store @m = %a : tensor<4xi32>
  ml_program.return
}

// -----

ml_program.global private mutable @m(dense<4> : tensor<4xi32>) : tensor<4xi32>
ml_program.func @load() -> tensor<4xi32> {
  // expected-error@+1 {{failed to legalize operation 'ml_program.global_load': the global @m may change; supported are globals that are not mutable}}
  %0 = ml_program.global_load @m : tensor<4xi32>
  ml_program.return %0 : tensor<4xi32>
}

// -----

ml_program.func @nothing() -> tensor<4xi32> {
  // expected-error@+1 {{failed to legalize operation 'ml_program.global_load_const': there is no global @m}}
  %0 = ml_program.global_load_const @m : tensor<4xi32>
  ml_program.return %0 : tensor<4xi32>
}

// -----

ml_program.global private @m(dense<4> : tensor<4xi32>) : tensor<4xi32>
ml_program.func @other_type() -> tensor<2x2xi32> {
  // expected-error@+1 {{failed to legalize operation 'ml_program.global_load_const': the value of the global @m is no constant of tensor<2x2xi32>}}
  %0 = ml_program.global_load_const @m : tensor<2x2xi32>
  ml_program.return %0 : tensor<2x2xi32>
}
