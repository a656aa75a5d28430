// Functions of ttnn through the whole pipeline.
// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline="ttnn-mode=true" %s | FileCheck %s
// RUN: ttmlir-opt --convert-ttnn-to-ttir %s | ttmlir-opt --ttir-to-ttmetal-pipeline="ttnn-mode=true" | FileCheck %s
// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline="ttnn-mode=true set-math-fidelity=hifi2" %s -o %t.mlir && ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn && ttrt run %t.ttnn
// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline="ttnn-mode=true math-approx-mode=true" %s | FileCheck %s --check-prefix=APPROX

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<6x10x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<10x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#c = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<6x5x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<190x150xbf16, #dram>, <interleaved>>

// A product on many cores multicasts, for which the program has semaphores; other operations stand
// beside it, and addresses are common run-time arguments.
// CHECK: module attributes {tt.device = #device, ttcore.system_desc = #system_desc}
// CHECK-LABEL: func.func @product(
// CHECK: %[[DEVICE:.*]] = "ttnn.get_device"
// CHECK: "ttnn.exp"(%arg0) :
// CHECK: %[[OUT:.*]] = "ttnn.empty"(%[[DEVICE]])
// CHECK: "ttnn.generic"({{.*}}, %[[OUT]]) <{program = #ttnn.program<
// CHECK-SAME: #ttnn.read_kernel<symbol_ref = @reader{{[0-9]*}}
// CHECK-SAME: common_rt_args = [#ttnn.kernel_arg_address_of_tensor<
// CHECK-SAME: #ttnn.write_kernel<symbol_ref = @writer
// CHECK-SAME: #ttnn.kernel_arg_semaphore_at<
// CHECK-SAME: #ttnn.compute_kernel<symbol_ref = @compute
// CHECK-SAME: semaphores = [<core_type = worker
// CHECK: "ttnn.to_layout"(%[[OUT]]) <{layout = #ttnn.layout<row_major>}>
// CHECK: func.func private @reader
// CHECK-NOT: d2m.
// APPROX: #ttnn.compute_kernel<symbol_ref = @compute{{.*}} math_approx_mode = true
func.func @product(%x: tensor<190x310xbf16, #a>, %y: tensor<310x150xbf16, #b>) -> tensor<190x150xbf16, #rows> {
  %0 = "ttnn.exp"(%x) : (tensor<190x310xbf16, #a>) -> tensor<190x310xbf16, #a>
  %1 = "ttnn.matmul"(%0, %y) {ttnn.hoist_generic_via_d2m} : (tensor<190x310xbf16, #a>, tensor<310x150xbf16, #b>) -> tensor<190x150xbf16, #c>
  %2 = "ttnn.to_layout"(%1) <{layout = #ttnn.layout<row_major>}> : (tensor<190x150xbf16, #c>) -> tensor<190x150xbf16, #rows>
  return %2 : tensor<190x150xbf16, #rows>
}
