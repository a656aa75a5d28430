// A module is put around operations that stand on their own, unless that is turned off.
// RUN: ttmlir-opt %s | FileCheck %s --check-prefix=IMPLICIT
// RUN: not ttmlir-opt --no-implicit-module %s 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: ttmlir-opt --no-implicit-module %S/Inputs/one.mlir | FileCheck %s --check-prefix=ONE
// RUN: ttmlir-opt --no-implicit-module --pass-pipeline='func.func(cse)' %S/Inputs/one.mlir | FileCheck %s --check-prefix=ONE
// RUN: not ttmlir-opt --no-implicit-module --cse %S/Inputs/one.mlir 2>&1 | FileCheck %s --check-prefix=ANCHOR
// RUN: ttmlir-opt %s | ttmlir-opt --no-implicit-module | FileCheck %s --check-prefix=IMPLICIT
// RUN: ttmlir-opt /dev/null | FileCheck %s --check-prefix=EMPTY

// IMPLICIT: module {
// IMPLICIT-NEXT: func.func @f
// IMPLICIT-NOT: module
// TWO: modules.mlir:0:0: error: source must contain a single top-level operation, found: 2
// ONE-NOT: module
// ONE: func.func @one
// ANCHOR: can't run 'builtin.module' pass manager on 'func.func' op
//      EMPTY: module {
// EMPTY-NEXT: }
func.func @f() { return }
func.func @g() { return }
