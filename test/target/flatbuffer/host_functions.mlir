// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="enable-cpu-hoisted-const-eval=true" %s -o %t.mlir
// RUN: ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn
// RUN: ttrt run --golden --init arange --print-input-output-tensors %t.ttnn 2>&1 | FileCheck %s
// RUN: sed '/ttcore.cpu_module/,$d' %t.mlir > %t.declared.mlir
// RUN: echo '}' >> %t.declared.mlir
// RUN: not ttmlir-translate --ttnn-to-flatbuffer %t.declared.mlir -o %t.none 2>&1 | FileCheck %s --check-prefix=NONE

// Functions of the host are programs of the file: of one operation that is called twice, of
// integers, and of what depends on parameters alone.

// NONE: error: 'func.call' op cannot be written to a .ttnn file: @cpu_hoisted_{{[a-z0-9_]+}} is machine code of the host, which is not made here; leave functions of the host in ttir
// CHECK-DAG: golden ok operation {{[0-9]+}} ttnn.add
// CHECK: program 0 'main': pass
// CHECK: output 0: float32 (2, 3)
// CHECK-NEXT: {{\[}}[ 0. 3. 6.]
// CHECK-NEXT: [ 9. 12. 15.]]
// CHECK: output 1: bfloat16 (2, 3)
// CHECK-NEXT: {{\[}}[0 2 4]
// CHECK-NEXT: [6 8 10]]
// CHECK: output 2: int32 (2, 3)
// CHECK-NEXT: {{\[}}[ 0 2 4]
// CHECK-NEXT: [ 6 8 10]]
// CHECK: output 3: float32 (3, 2)
// CHECK-NEXT: {{\[}}[0. 3.]
// CHECK-NEXT: [1. 4.]
// CHECK-NEXT: [2. 5.]]
func.func @main(
    %a: tensor<2x3xf32>, %b: tensor<2x3xbf16>, %i: tensor<2x3xsi32>,
    %w: tensor<2x3xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    -> (tensor<2x3xf32>, tensor<2x3xbf16>, tensor<2x3xsi32>, tensor<3x2xf32>) {
  %0 = "ttir.add"(%a, %a) {ttir.should_hoist} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "ttir.add"(%b, %b) {ttir.should_hoist} : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %2 = "ttir.add"(%i, %i) {ttir.should_hoist} : (tensor<2x3xsi32>, tensor<2x3xsi32>) -> tensor<2x3xsi32>
  %3 = "ttir.add"(%0, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "ttir.transpose"(%w) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %3, %1, %2, %4 : tensor<2x3xf32>, tensor<2x3xbf16>, tensor<2x3xsi32>, tensor<3x2xf32>
}
