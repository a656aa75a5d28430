// What functions of constants alone take comes from the host; what the program uses, too, does not.

// RUN: ttmlir-opt --ttir-to-ttnn-common-pipeline=enable-const-eval-inputs-to-system-memory=false %s | FileCheck %s --check-prefix=BEFORE
// RUN: ttmlir-opt --ttir-to-ttnn-common-pipeline=enable-const-eval-inputs-to-system-memory=false --ttnn-force-const-eval-to-system-memory %s | FileCheck %s

// BEFORE-NOT: system_memory
// BEFORE: @main_const_eval_0
// BEFORE-NOT: to_tensor_spec
// BEFORE: "ttnn.exp"

// CHECK-DAG: #[[HOST:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<33x70xf32, #system_memory>>
// CHECK-DAG: #[[TILES:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK: func.func private @main_const_eval_0(%arg0: tensor<33x70xf32, #[[HOST]]>) -> tensor<33x70xf32, #[[TILES]]>
// CHECK-NEXT: %[[W:.*]] = "ttnn.to_tensor_spec"(%arg0) : (tensor<33x70xf32, #[[HOST]]>) -> tensor<33x70xf32, #[[TILES]]>
// CHECK-NEXT: "ttnn.exp"(%[[W]])
// CHECK: func.func @main({{.*}}, %arg1: tensor<33x70xf32, #[[HOST]]> {{{.*}}}, %arg2: tensor<33x70xf32, #[[TILES]]>
func.func @main(%x: tensor<33x70xf32> {ttcore.argument_type = #ttcore.argument_type<input>},
    %w: tensor<33x70xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
    %b: tensor<33x70xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%w) : (tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = "ttir.multiply"(%x, %0) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %2 = "ttir.maximum"(%1, %b) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %2 : tensor<33x70xf32>
}
