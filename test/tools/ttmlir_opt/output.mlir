// Output appears as a whole where it is told to, or not at all.
// RUN: rm -rf %t && mkdir -p %t
// RUN: ttmlir-opt %s -o %t/out.mlir | FileCheck %s --check-prefix=NOTHING --allow-empty
// RUN: FileCheck %s --input-file=%t/out.mlir
// RUN: ttmlir-opt %s -o=%t/equals.mlir && diff %t/out.mlir %t/equals.mlir
// RUN: ttmlir-opt < %s | diff %t/out.mlir -
// RUN: ttmlir-opt - -o - < %s | diff %t/out.mlir -
// RUN: cat %s | ttmlir-opt --cse -o %t/piped.mlir && diff %t/out.mlir %t/piped.mlir
// RUN: ttmlir-opt %t/out.mlir -o %t/out.mlir && diff %t/out.mlir %t/piped.mlir
// RUN: ttmlir-opt %s -o /dev/null
// RUN: cp %t/out.mlir %t/kept.mlir
// RUN: not ttmlir-opt --test-pass-failure %s -o %t/kept.mlir && diff %t/out.mlir %t/kept.mlir
// RUN: not ttmlir-opt --test-pass-failure %s -o %t/never.mlir && not ls %t/never.mlir
// RUN: not ttmlir-opt %S/Inputs/expectations.mlir -o %t/never.mlir && not ls %t/never.mlir
// RUN: ls -A %t | FileCheck %s --check-prefix=FILES
// RUN: not ttmlir-opt %s --test-pass-failure 2>/dev/null | FileCheck %s --check-prefix=NOTHING --allow-empty
// RUN: printf '\377\376' > %t/bytes && not ttmlir-opt %t/bytes 2>&1 | FileCheck %s --check-prefix=BYTES

// NOTHING-NOT: {{.}}
// CHECK: func.func @f
// FILES: equals.mlir
// FILES-NEXT: kept.mlir
// FILES-NEXT: out.mlir
// FILES-NEXT: piped.mlir
// FILES-NOT: {{.}}
// BYTES: {{.*}}bytes:1:1: error: expected text in UTF-8, found the byte 0xFF
func.func @f() { return }
