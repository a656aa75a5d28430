// RUN: ttmlir-translate --cpp-to-ttkernel %S/kernels/generated_multiply.cpp | FileCheck %s
// RUN: ttmlir-translate --cpp-to-ttkernel --mlir-print-debuginfo %S/kernels/compute_add.cpp | FileCheck %s --check-prefix=PLACES
// RUN: ttmlir-translate --cpp-to-ttkernel %S/kernels/generated_multiply.cpp | ttmlir-opt | ttmlir-translate --ttkernel-to-cpp | FileCheck %s --check-prefix=AGAIN
// RUN: not ttmlir-translate --cpp-to-ttkernel %S/kernels/data_movement.cpp 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: ttmlir-translate --cpp-to-ttkernel --split-input-file --mlir-print-debuginfo %S/Inputs/two_kernels.txt | FileCheck %s --check-prefix=SPLIT
// A kernel in C++ becomes a function; the text that is written from it is the one it was read from.

// CHECK: func.func @kernel_main(%[[A:.*]]: !ttkernel.cb<cb_in0, 0, memref<1x1x!tt.tile<32x32, f32>>, 4096, 1>, %[[B:.*]]: !ttkernel.cb<cb_in1, {{.*}}>, %[[C:.*]]: !ttkernel.cb<cb_out0, {{.*}}>) attributes {ttkernel.thread = #ttkernel.thread<tensix>} {
// CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : i32
// CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-NEXT: "ttkernel.binary_op_init_common"(%[[A]], %[[B]], %[[C]])
// CHECK-NEXT: "ttkernel.mul_tiles_init"(%[[A]], %[[B]])
// CHECK-NEXT: scf.for %{{.*}} = %[[C0]] to %[[C4]] step %[[C1]] iter_args(%[[TILE:.*]] = %[[C0]]) -> (i32)
// CHECK-NEXT: "ttkernel.tile_regs_acquire"()
// CHECK-NEXT: "ttkernel.mul_tiles"(%[[A]], %[[B]], %[[TILE]], %[[TILE]], %[[C0]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]], %[[C1]] : i32
// CHECK-NEXT: scf.yield %[[NEXT]] : i32
// CHECK: "ttkernel.return"()

// AGAIN: for (int32_t v8 = v6; v8 < v4; v8 += v5) {
// AGAIN: uint32_t v11 = v9 + v10;
// AGAIN-NEXT: int32_t v12 = (int32_t) v11;
// AGAIN-NEXT: v7 = v12;

// PLACES: "ttkernel.add_tiles_init"({{.*}} loc(#[[INIT:.*]])
// PLACES: #[[INIT]] = loc("{{.*}}compute_add.cpp":16:5)

// REFUSED: data_movement.cpp:6:20: error: arrays such as 'MASK' have no form in the IR
// REFUSED-NEXT: constexpr uint32_t MASK[2]
// REFUSED-NEXT: {{^ +}}^

// SPLIT: "ttkernel.noc_async_read_barrier"() : () -> () loc(#[[FIRST:.*]])
// SPLIT: #[[FIRST]] = loc("{{.*}}two_kernels.txt":3:3)
// SPLIT: "ttkernel.noc_async_write_barrier"() : () -> () loc(#[[SECOND:.*]])
// SPLIT: #[[SECOND]] = loc("{{.*}}two_kernels.txt":8:24)
