// The IR is printed around passes, to the standard error, under a line that names the pass.
// RUN: ttmlir-opt --cse --canonicalize --mlir-print-ir-after-all %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: ttmlir-opt -p cse,canonicalize --print-between-passes %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: ttmlir-opt --cse --canonicalize --mlir-print-ir-before-all %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEFORE-ALL
// RUN: ttmlir-opt --cse --canonicalize --symbol-dce --mlir-print-ir-before=cse,symbol-dce --mlir-print-ir-after=canonicalize %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME
// RUN: ttmlir-opt --cse --cse --mlir-print-ir-after-all --mlir-print-ir-after-change %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: not ttmlir-opt --cse --test-pass-failure --mlir-print-ir-after-failure %s 2>&1 | FileCheck %s --check-prefix=FAILURE
// RUN: not ttmlir-opt --test-pass-failure --mlir-print-ir-after-all %s 2>&1 | FileCheck %s --check-prefix=FAILURE
// RUN: ttmlir-opt --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-after-all %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: ttmlir-opt --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-before-all --mlir-print-ir-module-scope %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCOPE
// RUN: rm -rf %t.tree && ttmlir-opt --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce)' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.tree %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=TREE --allow-empty
// RUN: cat %t.tree/builtin_module_no-symbol-name/func_func_f/0_1_canonicalize.mlir | FileCheck %s --check-prefix=FILE
// RUN: ls %t.tree/builtin_module_no-symbol-name/func_func_g/0_0_cse.mlir %t.tree/builtin_module_no-symbol-name/1_symbol-dce.mlir
// RUN: not ttmlir-opt --cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%s %s 2>&1 | FileCheck %s --check-prefix=NO-FOLDER

// NO-FOLDER: ttmlir-opt: cannot make folder '{{.*}}print_ir.mlir/builtin_module_no-symbol-name': Not a directory
//      ALL: // -----// IR Dump After CSE (cse) //----- //
// ALL-NEXT: module {
//      ALL: // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// ALL-NEXT: module {
//  ALL-NOT: IR Dump
// BEFORE-ALL: // -----// IR Dump Before CSE (cse) //----- //
// BEFORE-ALL: // -----// IR Dump Before Canonicalizer (canonicalize) //----- //
//     SOME: IR Dump Before CSE
//     SOME: IR Dump After Canonicalizer
//     SOME: IR Dump Before SymbolDCE (symbol-dce)
// SOME-NOT: IR Dump
//     CHANGE: IR Dump After CSE
// CHANGE-NOT: IR Dump
//         FAILURE: // -----// IR Dump After TestPassFailure Failed (test-pass-failure) //----- //
//    FAILURE-NEXT: module {
//     FAILURE-NOT: IR Dump
//      FUNCTION: // -----// IR Dump After CSE (cse) //----- //
// FUNCTION-NEXT: func.func @f(
//      FUNCTION: // -----// IR Dump After CSE (cse) //----- //
// FUNCTION-NEXT: func.func @g(
//      SCOPE: // -----// IR Dump Before CSE (cse) ('func.func' operation: @f) //----- //
// SCOPE-NEXT: module {
//      SCOPE: // -----// IR Dump Before CSE (cse) ('func.func' operation: @g) //----- //
// SCOPE-NEXT: module {
// TREE-NOT: IR Dump
// FILE: // -----// IR Dump After Canonicalizer (canonicalize) //----- //
// FILE-NEXT: func.func @f(
func.func @f(%x: i32) -> i32 {
  %0 = arith.muli %x, %x : i32
  %1 = arith.muli %x, %x : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
func.func @g(%x: i32) -> i32 { return %x : i32 }
