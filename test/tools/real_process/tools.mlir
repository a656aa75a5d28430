// The tools as users start them: processes, pipes, redirections, binary data on the standard output.
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %S/../Inputs/wheel.mlir -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ttmlir-opt -ttir-to-ttnn-backend-pipeline < %S/../Inputs/wheel.mlir | ttmlir-translate --ttnn-to-flatbuffer > %t.ttnn
// RUN: ttmlir-opt -ttir-to-ttnn-backend-pipeline < %S/../Inputs/wheel.mlir | ttmlir-translate --ttnn-to-flatbuffer -o %t.again.ttnn
// RUN: cmp %t.ttnn %t.again.ttnn
// RUN: %python% -m ttmlir.tools.ttmlir_opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: %python% -m ttmlir.tools.ttmlir_translate --version | FileCheck %s --check-prefix=VERSION
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline --convert-ttnn-to-emitc %S/../Inputs/wheel.mlir | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=CPP
// RUN: not ttmlir-opt --no-such-flag 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ttmlir-opt --test-pass-failure %s > %t.out 2> %t.err
// RUN: FileCheck %s --check-prefix=FAILURE < %t.err
// RUN: FileCheck %s --check-prefix=NOTHING --allow-empty < %t.out

// CHECK: "ttnn.matmul"
// CHECK: "ttnn.add"
// DIALECTS: Available Dialects: arith,builtin
// VERSION: ttmlir-translate
// CPP: ttnn::matmul(
// UNKNOWN: Unknown command line argument '--no-such-flag'
// FAILURE: tools.mlir:0:0: error: 'builtin.module' op is refused on purpose
// NOTHING-NOT: {{.}}
func.func @f() { return }
