// A pipeline as text says on which operations its passes run.
// RUN: ttmlir-opt --pass-pipeline='builtin.module(func.func(cse),symbol-dce)' %s | FileCheck %s
// RUN: ttmlir-opt --pass-pipeline=' builtin.module( func.func( cse , cse ) , symbol-dce ) ' %s | FileCheck %s
// RUN: ttmlir-opt --pass-pipeline='any(any(cse),symbol-dce{})' %s | FileCheck %s
// RUN: ttmlir-opt --pass-pipeline='builtin.module(func.func(cse),func.func(canonicalize))' --dump-pass-pipeline %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=MERGED
// RUN: ttmlir-opt --pass-pipeline='builtin.module(builtin.module(cse),other.op(cse))' %s | FileCheck %s --check-prefix=ELSEWHERE
// RUN: ttmlir-opt --pass-pipeline='builtin.module()' %s | FileCheck %s --check-prefix=ELSEWHERE
// RUN: ttmlir-opt --pass-pipeline='builtin.module(ttir-to-ttnn-backend-pipeline{enable-grid-set=false mesh-shape=1,1})' --dump-pass-pipeline /dev/null -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAMED
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline --dump-pass-pipeline /dev/null -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH

// MERGED: builtin.module(func.func(cse,canonicalize{region-simplify=normal}))
// NAMED: builtin.module(convert-spelling{to=2024},ttir-decomposition,ttir-sliding-window-2d-fix-shapes,ttir-hoist-loop-constants,{{.*}},ttir-implicit-device{mesh-shape=1,1},{{.*}},convert-ttir-to-ttnn{share-transfers=false})
// BOTH: builtin.module(convert-spelling{to=2026 spelled=2025},ttcore-mark-functions-as-forward{spelled=2026},{{.*}},convert-spelling{to=2024 spelled=2024},{{.*}},convert-ttir-to-ttnn{share-transfers=false spelled=2024})
// The text does the same.
// RUN: ttmlir-opt --pass-pipeline='builtin.module(cse{spelled=2024},symbol-dce{spelled=2026})' --dump-pass-pipeline %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPELLED
// SPELLED: builtin.module(cse{spelled=2024},symbol-dce{spelled=2026})
// RUN: not ttmlir-opt --pass-pipeline='builtin.module(cse{spelled=2023})' %s 2>&1 | FileCheck %s --check-prefix=YEAR
// YEAR: passes run on modules spelled as in 2024, 2025, 2026, tt, not-tt, not 2023
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
