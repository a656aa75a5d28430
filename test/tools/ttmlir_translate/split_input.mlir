// Each part is translated on its own; nothing is written between the results unless asked for.
// RUN: ttmlir-translate --mlir-to-cpp --split-input-file --verify-diagnostics --allow-unregistered-dialect %s | FileCheck %s
// RUN: ttmlir-translate --mlir-to-cpp --split-input-file --verify-diagnostics --allow-unregistered-dialect --output-split-marker='// next' %s | FileCheck %s --check-prefix=MARKER
// RUN: not ttmlir-translate --mlir-to-cpp --split-input-file --allow-unregistered-dialect %s -o %t.none 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ls %t.none
// RUN: not ttmlir-translate --mlir-to-cpp --split-input-file %s 2>&1 | FileCheck %s --check-prefix=UNREGISTERED
// RUN: not ttmlir-translate --mlir-to-cpp --no-implicit-module --allow-unregistered-dialect %s 2>&1 | FileCheck %s --check-prefix=MODULE

// CHECK: int32_t first(
// CHECK-NOT: next
// CHECK: int32_t last(
// MARKER: int32_t first(
// MARKER: {{^}}// next
// MARKER: int32_t last(
// REFUSED: split_input.mlir:[[LINE:[0-9]+]]:3: error: 'own.op' op unable to find printer for op
// UNREGISTERED: error: operation being parsed with an unregistered dialect
// MODULE: error: source must contain a single top-level operation, found: 3
func.func @first(%x: i32) -> i32 {
  return %x : i32
}
// -----
func.func @second() {
  // expected-error @below {{unable to find printer for op}}
  "own.op"() : () -> ()
  return
}
// -----
func.func @last(%x: i32) -> i32 {
  return %x : i32
}
