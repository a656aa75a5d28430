// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s > %t

// expected-error@+1 {{'ml_program.global' op immutable global must have an initial value}}
ml_program.global private @w : tensor<2xf32>

// -----

ml_program.func @f(%a: i32) -> (i32, i32) {
  // expected-error@+1 {{'ml_program.return' op has 1 operands, but enclosing function (@f) returns 2}}
  ml_program.return %a : i32
}

// -----

ml_program.subgraph @f(%a: i32) -> f32 {
  // expected-error@+1 {{'ml_program.output' op type of return operand 0 ('i32') doesn't match function result type ('f32') in function @f}}
  ml_program.output %a : i32
}

// -----

// expected-error@+1 {{'ml_program.func' op entry block arguments must have the types of the function's inputs}}
"ml_program.func"() <{function_type = (f32) -> (), sym_name = "f"}> ({
^bb0(%a: i32):
  "ml_program.return"() : () -> ()
}) : () -> ()

// -----

func.func @f(%a: i32) {
  // expected-error@+1 {{'ml_program.return' op expects parent op to be one of 'ml_program.func' and 'ml_program.subgraph'}}
  ml_program.return %a : i32
}
