// Text that is no pipeline is refused with the place and the reason.
// RUN: not ttmlir-opt --pass-pipeline='cse' %s 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not ttmlir-opt --pass-pipeline='' %s 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(cse' %s 2>&1 | FileCheck %s --check-prefix=UNCLOSED
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(cse,no-such-pass)' %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN --strict-whitespace
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(cse,)' %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(cse))' %s 2>&1 | FileCheck %s --check-prefix=CLOSED
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(func.func(cse)' %s 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(cse{)' %s 2>&1 | FileCheck %s --check-prefix=BRACE
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(print-ir{level=3})' %s 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(func.func(ttir-layout))' %s 2>&1 | FileCheck %s --check-prefix=NEST
// RUN: not ttmlir-opt --pass-pipeline='func.func(cse)' %s 2>&1 | FileCheck %s --check-prefix=ROOT
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(cse)' --cse %s 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not ttmlir-opt --passes=cse --cse %s 2>&1 | FileCheck %s --check-prefix=BOTH

// ANCHOR: ttmlir-opt: expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'
//      UNKNOWN:MLIR Textual PassPipeline Parser:1:5: error: 'no-such-pass' does not refer to a registered pass or pass pipeline
// UNKNOWN-NEXT:cse,no-such-pass
// UNKNOWN-NEXT:    ^
// EMPTY: :1:5: error: '' does not refer to a registered pass or pass pipeline
// CLOSED: :1:4: error: encountered extra closing ')' creating unbalanced parentheses while parsing pipeline
// UNCLOSED: :1:15: error: missing ')' for this '(' creates unbalanced parentheses
// OPEN: :1:1: error: expected ')' to close 'func.func('
// BRACE: :1:4: error: missing closing '}' while processing pass options
// OPTION: <Pass-Options-Parser>: no such option level; supported: label
// OPTION-NEXT: failed to add `print-ir` with options `level=3`
// NEST: :1:11: error: Can't add pass 'TTIRLayout' restricted to 'builtin.module' on a PassManager intended to run on 'func.func', did you intend to nest?
// ROOT: can't run 'func.func' pass manager on 'builtin.module' op
// BOTH: '-pass-pipeline' option can't be used with individual pass options
func.func @f() { return }
