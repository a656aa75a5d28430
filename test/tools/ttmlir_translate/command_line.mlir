// One translation is named, no more and no less, and output appears as a whole or not at all.
// RUN: ttmlir-translate --help | FileCheck %s --check-prefix=HELP
// RUN: ttmlir-translate --help-hidden | FileCheck %s --check-prefix=HIDDEN
// RUN: ttmlir-translate --version | FileCheck %s --check-prefix=VERSION
// RUN: not ttmlir-translate %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ttmlir-translate --mlir-to-cpp -ttnn-to-flatbuffer %s 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-translate --mlir-to-cpp=fast %s 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not ttmlir-translate --ttnn-to-flatbuffers %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ttmlir-translate --mlir-to-cpp %t.missing 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not ttmlir-translate --mlir-to-cpp %s -o %t.missing/out.cpp 2>&1 | FileCheck %s --check-prefix=OUTPUT

// RUN: rm -rf %t && mkdir -p %t
// RUN: ttmlir-translate --mlir-to-cpp %s -o %t/out.cpp && FileCheck %s --input-file=%t/out.cpp
// RUN: ttmlir-translate -mlir-to-cpp < %s | diff %t/out.cpp -
// RUN: ttmlir-translate --mlir-to-cpp --declare-variables-at-top %s | FileCheck %s --check-prefix=TOP
// RUN: not ttmlir-translate --ttnn-to-flatbuffer %s -o %t/none.ttnn 2>&1 | FileCheck %s --check-prefix=NO-SYSTEM
// RUN: not ls %t/none.ttnn

// HELP: USAGE: ttmlir-translate [options] <input file>
// HELP-NOT: --error-diagnostics-only
// HELP-NOT: --mlir-disable-threading
// HELP: Translations to perform
// HELP-NEXT: --cpp-to-ttkernel
// HELP-NEXT: --mlir-to-cpp
// HELP: --ttnn-to-flatbuffer
// HIDDEN: --error-diagnostics-only
// HIDDEN: --mlir-disable-threading
// VERSION: ttmlir-translate {{[0-9]}}
// NONE: ttmlir-translate: Translations to perform option: must be specified at least once! Supported: --cpp-to-ttkernel, --mlir-to-cpp,{{.*}} --ttnn-to-flatbuffer
// TWO: Translations to perform option: may only occur zero or one times! Given: --mlir-to-cpp, --ttnn-to-flatbuffer
// VALUE: for the --mlir-to-cpp option: does not allow a value! 'fast' specified.
// UNKNOWN: Unknown command line argument '--ttnn-to-flatbuffers'. Try: 'ttmlir-translate --help'
// UNKNOWN-NEXT: Did you mean '--ttnn-to-flatbuffer'?
// INPUT: cannot open input file '{{.*}}.missing': No such file or directory
// OUTPUT: cannot open output file '{{.*}}.missing/out.cpp': No such file or directory
// NO-SYSTEM: command_line.mlir:0:0: error: 'builtin.module' op has no attribute 'tt.system_desc'
// CHECK: int32_t f(int32_t v1) {
// CHECK-NEXT: int32_t v2 = g(v1);
// TOP: int32_t f(int32_t v1) {
// TOP-NEXT: int32_t v2;
func.func @f(%x: i32) -> i32 {
  %0 = emitc.call_opaque "g"(%x) : (i32) -> i32
  return %0 : i32
}
