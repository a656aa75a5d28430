// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="spelling=2026 enable-const-eval=false" %s | FileCheck %s

// A function gives back the memory of all that it is given, parameters and constants too.

// CHECK-LABEL: func.func @main
// CHECK: "ttnn.matmul"(%[[X:.*]], %arg1)
// CHECK: "ttnn.deallocate"(%arg1)
// CHECK: "ttnn.add"({{.*}}, %arg2)
// CHECK: "ttnn.deallocate"(%arg2)
// CHECK: return
func.func @main(
    %x: tensor<33x70xbf16> {ttcore.argument_type = #ttcore.argument_type<input>},
    %w: tensor<70x40xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>},
    %c: tensor<33x40xbf16> {ttcore.argument_type = #ttcore.argument_type<constant>})
    -> tensor<33x40xbf16> {
  %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<33x70xbf16>, tensor<70x40xbf16>) -> tensor<33x40xbf16>
  %1 = "ttir.add"(%0, %c) : (tensor<33x40xbf16>, tensor<33x40xbf16>) -> tensor<33x40xbf16>
  %2 = "ttir.multiply"(%0, %1) : (tensor<33x40xbf16>, tensor<33x40xbf16>) -> tensor<33x40xbf16>
  return %2 : tensor<33x40xbf16>
}
