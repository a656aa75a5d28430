// Each part of the input is a module of its own, and locations count the lines of the whole file.
// RUN: ttmlir-opt --split-input-file %s | FileCheck %s
// RUN: ttmlir-opt -split-input-file='// -----' %s | FileCheck %s
// RUN: ttmlir-opt --split-input-file --output-split-marker='// =====' %s | FileCheck %s --check-prefix=MARKER
// RUN: not ttmlir-opt --split-input-file='//--- part' %s 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: ttmlir-opt --split-input-file --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LINES
// RUN: not ttmlir-opt %s 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not ttmlir-opt --split-input-file --test-pass-failure %s 2>&1 | FileCheck %s --check-prefix=FAILURES
// RUN: ttmlir-opt --split-input-file --split-input-file= %S/Inputs/one.mlir | FileCheck %s --check-prefix=ONE

// CHECK: func.func @f
// CHECK: // -----
// CHECK-NEXT: module {
// CHECK-NEXT: func.func @f
// MARKER: // =====
// MARKER-NOT: // -----
// OWN: redefinition of symbol named 'f'
// WHOLE: redefinition of symbol named 'f'
// FAILURES-COUNT-2: 'builtin.module' op is refused on purpose
// FAILURES-NOT: module {
// LINES: loc("{{.*}}split_input.mlir":25:1)
// LINES: // -----
// LINES: loc("{{.*}}split_input.mlir":27:1)
// ONE: func.func @one
func.func @f() { return }
// -----
func.func @f() { return }
