// A pipeline as text says on which operations its passes run.
// RUN: ttmlir-opt --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' %s | FileCheck %s
// RUN: ttmlir-opt --pass-pipeline=' builtin.module( func.func( cse , cse ) , symbol-dce ) ' %s | FileCheck %s
// RUN: ttmlir-opt --pass-pipeline='any(any(cse),symbol-dce{})' %s | FileCheck %s
// RUN: ttmlir-opt --pass-pipeline='builtin.module(func.func(cse),func.func(canonicalize))' --dump-pass-pipeline %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=MERGED
// RUN: ttmlir-opt --pass-pipeline='builtin.module(builtin.module(cse),other.op(cse))' %s | FileCheck %s --check-prefix=ELSEWHERE
// RUN: ttmlir-opt --pass-pipeline='builtin.module()' %s | FileCheck %s --check-prefix=ELSEWHERE
// RUN: ttmlir-opt --pass-pipeline='builtin.module(ttir-to-ttnn-backend-pipeline{enable-grid-set=false mesh-shape=1,1})' --dump-pass-pipeline /dev/null -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAMED

// MERGED: builtin.module(func.func(cse,canonicalize{region-simplify=normal}))
// NAMED: builtin.module(convert-spelling{to=2024},ttir-decomposition,ttir-sliding-window-2d-fix-shapes,ttir-hoist-loop-constants,{{.*}},ttir-implicit-device{mesh-shape=1,1},{{.*}},convert-ttir-to-ttnn{share-transfers=false})
// CHECK-NOT: @unused
// CHECK-LABEL: @twice
// CHECK: arith.muli
// CHECK-NOT: arith.muli
// ELSEWHERE: @unused
// ELSEWHERE-COUNT-2: arith.muli
func.func private @unused()
func.func @twice(%x: i32) -> i32 {
  %0 = arith.muli %x, %x : i32
  %1 = arith.muli %x, %x : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
