// Expected diagnostics are compared with those that appear; only differences are errors.
// RUN: ttmlir-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect %s | FileCheck %s
// RUN: not ttmlir-opt --split-input-file --verify-diagnostics %S/Inputs/expectations.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not ttmlir-opt --verify-diagnostics %S/Inputs/expectations.mlir -o %t.none; not ls %t.none

// What is as expected succeeds; parts without an error are printed.
// CHECK: "d.fine"
"d.fine"() : () -> ()
// -----
// expected-error @+1 {{custom op 'retrun' is unknown}}
retrun
// -----
func.func @f() -> i32 {
  // expected-error@below {{'func.return' op has 0 operands, but enclosing function (@f) returns 1}}
  return
}
// -----
// expected-note @+1 {{see existing symbol definition here}}
func.func private @twice()
func.func private @twice() // expected-error-re {{redefinition of symbol named '{{[a-z]+}}'}}
// -----
// CHECK: "d.last"
"d.last"() : () -> ()

// WRONG: expectations.mlir:1:{{[0-9]+}}: error: expected error "not this" was not produced
// WRONG: expectations.mlir:4:1: error: unexpected error: custom op 'oops' is unknown
// WRONG: expectations.mlir:6:{{[0-9]+}}: error: expected warning "nor this" was not produced
// WRONG-NOT: error:
