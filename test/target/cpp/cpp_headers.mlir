// Kernels in C++ are read with their headers.
// RUN: ttmlir-translate --cpp-to-ttkernel -I%S/Inputs/headers/include -DPAGES=4 -DNUMBER=add_three %S/Inputs/headers/push.cpp | FileCheck %s
// RUN: ttmlir-translate --cpp-to-ttkernel -I %S/Inputs/headers/include -D PAGES=4 "-DNUMBER(x)=add_three(x)" %S/Inputs/headers/push.cpp | FileCheck %s
// RUN: not ttmlir-translate --cpp-to-ttkernel -I %S/Inputs/headers/include -D PAGES -D NUMBER=add_table %S/Inputs/headers/push.cpp 2>&1 | FileCheck %s --check-prefix=HEADER
// RUN: not ttmlir-translate --cpp-to-ttkernel -DPAGES -DNUMBER=add_three %S/Inputs/headers/push.cpp 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not ttmlir-translate --cpp-to-ttkernel -DPAGES -DNUMBER=add_three < %S/Inputs/headers/push.cpp 2>&1 | FileCheck %s --check-prefix=STDIN
// RUN: not ttmlir-translate --cpp-to-ttkernel -D4=5 %S/Inputs/headers/push.cpp 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ttmlir-translate --cpp-to-ttkernel %S/Inputs/headers/push.cpp -I 2>&1 | FileCheck %s --check-prefix=VALUE

// CHECK: func.func @kernel_main
// CHECK-NEXT: [[THREE:%.*]] = arith.constant 3 : i32
// CHECK-NEXT: [[TWO:%.*]] = arith.constant 2 : i32
// CHECK-NEXT: [[SUM:%.*]] = arith.addi [[TWO]], [[THREE]] : i32
// CHECK-NEXT: [[PAGES:%.*]] = arith.constant 4 : i32
// CHECK-NEXT: [[ALL:%.*]] = arith.addi [[PAGES]], [[SUM]] : i32
// CHECK-NEXT: "ttkernel.cb_push_back"(%arg0, [[ALL]])

// HEADER: include/sizes.hpp:2:20: error: arrays such as 'table' have no form in the IR
// HEADER-NEXT: constexpr uint32_t table[2] = {1, 2};
// HEADER: note: in file included from {{.*}}numbers.hpp:2:1
// HEADER: note: in file included from {{.*}}push.cpp:2:1

// MISSING: numbers.hpp:3:45: error: 'three' is no variable of the kernel and no name of the library; it may come from 'sizes.hpp' (line 2 of {{.*}}numbers.hpp), which was not found: give its folder with -I or include_folders
// MISSING-NEXT: uint32_t add_three(uint32_t a) { return a + three; }

// STDIN: <stdin>:3:{{[0-9]+}}: error: 'add_three' is no function of this text {{.*}} it may come from 'numbers.hpp' (line 2), which was not found

// NAME: ttmlir-translate: for the -D option: '4=5' is no macro; write NAME or NAME=BODY
// VALUE: ttmlir-translate: for the -I option: requires a value!
