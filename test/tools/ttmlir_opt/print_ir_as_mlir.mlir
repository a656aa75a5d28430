// Dumps are those of MLIR, byte for byte.
// REQUIRES: mlir-opt
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' --mlir-print-ir-before-all --mlir-print-ir-after-all -o /dev/null 2> %t.ours
// RUN: mlir-opt-19 %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' --mlir-print-ir-before-all --mlir-print-ir-after-all --mlir-disable-threading -o /dev/null 2> %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' --mlir-print-ir-after-all --mlir-print-ir-module-scope -o /dev/null 2> %t.ours
// RUN: mlir-opt-19 %s --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' --mlir-print-ir-after-all --mlir-print-ir-module-scope --mlir-disable-threading -o /dev/null 2> %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt %s --cse --mlir-print-debuginfo --mlir-print-ir-after-change --mlir-print-ir-after-all -o /dev/null 2> %t.ours
// RUN: mlir-opt-19 %s --cse --mlir-print-debuginfo --mlir-print-ir-after-change --mlir-print-ir-after-all -o /dev/null 2> %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: rm -rf %t.our-tree %t.their-tree
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(cse,func.func(cse,canonicalize),symbol-dce,func.func(cse))' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.our-tree -o /dev/null
// RUN: mlir-opt-19 %s --pass-pipeline='builtin.module(cse,func.func(cse,canonicalize),symbol-dce,func.func(cse))' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.their-tree -o /dev/null
// RUN: diff -r %t.our-tree %t.their-tree
module @named {
  func.func @f(%x: i32) -> i32 {
    %0 = arith.muli %x, %x : i32
    %1 = arith.muli %x, %x : i32
    %2 = arith.addi %0, %1 : i32
    return %2 : i32
  }
  func.func private @unused(%x: i32) -> i32 { return %x : i32 }
}
