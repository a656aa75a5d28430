// RUN: not ttmlir-opt --split-input-file %s 2>&1 | FileCheck %s --match-full-lines --strict-whitespace

// Both errors about a parameter, with the source line and a caret each.

//      CHECK:{{.*}}invalid.mlir:10:44: error: expected ::mlir::tt::MemorySpace to be one of: system, mmio, dram, l1
// CHECK-NEXT:module attributes {test.at = #tt.memory_space<l2>} {}
// CHECK-NEXT:                                              ^
// CHECK-NEXT:{{.*}}invalid.mlir:10:49: error: failed to parse TT_MemorySpaceAttr parameter 'value' which is to be a `::mlir::tt::MemorySpace`
module attributes {test.at = #tt.memory_space<l2>} {}
