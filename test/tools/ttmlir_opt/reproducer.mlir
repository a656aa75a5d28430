// A failed run can be kept in one file and run again; nothing is written unasked.
// RUN: rm -rf %t && mkdir -p %t && cd %t
// RUN: not ttmlir-opt --cse --test-pass-failure --mlir-pass-pipeline-crash-reproducer=kept.mlir %s 2>&1 | FileCheck %s --check-prefix=FAILED
// RUN: FileCheck %s --check-prefix=FILE --input-file=kept.mlir
// RUN: not ttmlir-opt --run-reproducer kept.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: ttmlir-opt kept.mlir | FileCheck %s --check-prefix=IR
// RUN: not ttmlir-opt --test-pass-failure %s 2>&1 | FileCheck %s --check-prefix=PLAIN

// RUN: mkdir -p temporary && env TTMLIR_TEST_REAL_PROCESS=1 TMPDIR=%t/temporary not ttmlir-opt --cse --test-pass-crash %s 2>&1 | FileCheck %s --check-prefix=CRASH
// RUN: ls temporary | not grep ttmlir-reproducer
// RUN: not ttmlir-opt --cse --test-pass-crash --mlir-pass-pipeline-crash-reproducer=crash.mlir %s 2>&1 | FileCheck %s --check-prefix=ASKED
// RUN: not ttmlir-opt --run-reproducer crash.mlir 2>&1 | FileCheck %s --check-prefix=CRASH
// RUN: env TTMLIR_TEST_REAL_PROCESS=1 TMPDIR=%t/temporary TTMLIR_DEBUG=1 not ttmlir-opt --test-pass-crash %s 2>&1 | FileCheck %s --check-prefix=TRACEBACK
// RUN: env TTMLIR_TEST_REAL_PROCESS=1 TMPDIR=%t/temporary not ttmlir-opt --test-pass-invalid %s 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not ttmlir-opt --test-pass-crash --mlir-pass-pipeline-crash-reproducer=no/such/folder.mlir %s 2>&1 | FileCheck %s --check-prefix=UNWRITABLE

// RUN: ttmlir-opt --cse --mlir-pass-pipeline-crash-reproducer=fine.mlir %s
// RUN: not ls fine.mlir

//      FAILED: reproducer.mlir:0:0: error: 'builtin.module' op is refused on purpose
//      FAILED: error: Failures have been detected while processing an MLIR pass pipeline
// FAILED-NEXT: note: Pipeline failed while executing [`TestPassFailure` on 'builtin.module' operation]: reproducer generated at `kept.mlir`
// FAILED-NEXT: note: run it with: ttmlir-opt --run-reproducer kept.mlir
//      FAILED: ttmlir-opt: pass 'test-pass-failure' failed on 'builtin.module'
//      FILE: func.func @f
//      FILE: mlir_reproducer: {
// FILE-NEXT: pipeline: "builtin.module(cse,test-pass-failure)",
// FILE-NEXT: disable_threading: true,
// FILE-NEXT: verify_each: true
// AGAIN: kept.mlir:0:0: error: 'builtin.module' op is refused on purpose
// IR: func.func @f
// PLAIN: error: 'builtin.module' op is refused on purpose
// PLAIN-NOT: reproducer generated
// CRASH-NOT: Traceback
// CRASH: error: internal error in pass 'test-pass-crash' on 'builtin.module': ZeroDivisionError: made on purpose
// CRASH: note: this is a mistake in ttmlir, not in the input; TTMLIR_DEBUG=1 shows the traceback
// CRASH-NEXT: note: Pipeline failed while executing [`TestPassCrash` on 'builtin.module' operation]: --mlir-pass-pipeline-crash-reproducer=FILE writes the input and the passes to a file
// ASKED: reproducer generated at `crash.mlir`
// TRACEBACK: Traceback
// INVALID: error: empty block: expect at least a terminator
// INVALID: error: pass 'test-pass-invalid' on 'func.func' produced invalid IR; this is a mistake in ttmlir, not in the input
// INVALID: --mlir-pass-pipeline-crash-reproducer=FILE writes the input and the passes to a file
// UNWRITABLE: no reproducer: cannot open output file 'no/such/folder.mlir': No such file or directory
func.func @f() { return }
