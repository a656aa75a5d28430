// The names that xdsl-opt has for some flags are understood too.
// RUN: ttmlir-opt -p 'cse,symbol-dce' %s | FileCheck %s
// RUN: ttmlir-opt --passes='func.func(cse),symbol-dce{}' -t mlir --parsing-diagnostics --syntax-highlight --shrink %s | FileCheck %s
// RUN: not ttmlir-opt -p 'cse,nothing' %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-NOT: @unused
// CHECK: arith.muli
// CHECK-NOT: arith.muli
// UNKNOWN: :1:5: error: 'nothing' does not refer to a registered pass or pass pipeline
func.func private @unused()
func.func @f(%x: i32) -> (i32, i32) {
  %0 = arith.muli %x, %x : i32
  %1 = arith.muli %x, %x : i32
  return %0, %1 : i32, i32
}
