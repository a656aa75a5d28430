// A pass that leaves invalid IR is found and named, wherever it stands in the pipeline.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: not ttmlir-opt --cse --test-pass-invalid --symbol-dce %s 2>&1 | FileCheck %s
// RUN: not ttmlir-opt --cse --test-pass-invalid --symbol-dce --mlir-print-ir-after-all %s 2>&1 | FileCheck %s --check-prefixes=CHECK,DUMP
// RUN: not ttmlir-opt --verify-each --test-pass-invalid --test-pass-failure %s 2>&1 | FileCheck %s
// RUN: ttmlir-opt --verify-each=false --test-pass-invalid --cse %s | FileCheck %s --check-prefix=UNCHECKED

// DUMP: IR Dump After CSE
// DUMP: IR Dump After TestPassInvalid Failed
// DUMP-NOT: IR Dump
// CHECK: verify_each.mlir:15:1: error: empty block: expect at least a terminator
// CHECK: error: pass 'test-pass-invalid' on 'func.func' produced invalid IR; this is a mistake in ttmlir, not in the input
// CHECK: ttmlir-opt: pass 'test-pass-invalid' failed on 'func.func'
// UNCHECKED: func.func @f
func.func @f() { return }
