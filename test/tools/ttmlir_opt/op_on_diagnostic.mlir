// An error about an operation shows the operation, unless that is turned off.
// RUN: not ttmlir-opt %s 2>&1 | FileCheck %s --check-prefixes=CHECK,SHOWN
// RUN: not ttmlir-opt --mlir-print-op-on-diagnostic=false %s 2>&1 | FileCheck %s --check-prefixes=CHECK,HIDDEN

// CHECK: op_on_diagnostic.mlir:11:3: error: 'func.return' op has 1 operands, but enclosing function (@f) returns 0
// CHECK-NEXT: return %x : i32
// CHECK-NEXT: ^
// SHOWN-NEXT: op_on_diagnostic.mlir:11:3: note: see current operation: "func.return"(%{{.*}}) : (i32) -> ()
// HIDDEN-NOT: note:
func.func @f(%x: i32) {
  return %x : i32
}
