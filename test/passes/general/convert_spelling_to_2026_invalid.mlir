// RUN: ttmlir-opt --split-input-file --verify-diagnostics --convert-spelling=to=2026 %s

#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
#layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<4x8xf32, #tt.memory_space<system>>>

func.func @placed(%a: tensor<4x8xf32, #layout>) -> tensor<4x8xf32, #layout> {
  %0 = tensor.empty() : tensor<4x8xf32, #layout>
  // expected-error@+1 {{failed to legalize operation 'ttir.exp': ttir of 2026 has no layouts; convert it before they are chosen}}
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<4x8xf32, #layout>, tensor<4x8xf32, #layout>) -> tensor<4x8xf32, #layout>
  return %1 : tensor<4x8xf32, #layout>
}
