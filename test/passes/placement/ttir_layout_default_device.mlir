// Without a device the default one is taken, with a remark: command lines of guides that name no device compile.
// RUN: ttmlir-opt --ttir-layout %s 2> %t.remark | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remark
// RUN: ttmlir-opt --ttir-layout %s -o %t.assumed
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout %s -o %t.chosen 2> %t.nothing
// RUN: cmp %t.assumed %t.chosen
// RUN: FileCheck %s --check-prefix=NOTHING --allow-empty --input-file=%t.nothing
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-layout --convert-ttir-to-ttnn --convert-ttnn-to-emitc %s | ttmlir-translate -mlir-to-cpp -allow-unregistered-dialect | FileCheck %s --check-prefix=CPP
// RUN: ttmlir-opt --ttir-layout --convert-ttir-to-ttnn %s | FileCheck %s --check-prefix=TTNN
// RUN: ttmlir-opt --ttir-load-system-desc="path=%S/../../golden/two_chips.ttsys" --ttir-layout %s | FileCheck %s --check-prefix=CHIPS

// CHECK: #device = #tt.device<workerGrid = #tt.grid<8x8,
// CHECK: tt.device = #device
// REMARK: ttir_layout_default_device.mlir:0:0: remark: there is no device: one chip of the machine is taken, as ttir-implicit-device takes it; run that pass before to choose another device, and ttir-load-system-desc to choose the machine
// NOTHING-NOT: {{.}}
// CPP: ttnn::exp(
// TTNN: "ttnn.exp"
// CHIPS: chipIds = [0]
func.func @f(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tt.operand_constraint<any_device>, #tt.operand_constraint<any_device>]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}
