// RUN: ttmlir-opt --split-input-file --verify-diagnostics --convert-spelling=to=2026 %s

#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>

func.func @window(%a: tensor<3x9xf32>, %o: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{failed to legalize operation 'ttir.pooling': 2026 has no such operation of ttir; ttir-decomposition makes others of it}}
  %0 = "ttir.pooling"(%a, %o) <{base_dilations = array<i64: 1, 1>, operand_constraints = [#any, #any], padding = array<i64: 0, 0, 0, 0>, pooling_method = "max", window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> : (tensor<3x9xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
#layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<4x8xf32, #tt.memory_space<system>>>

func.func @placed(%a: tensor<4x8xf32, #layout>) -> tensor<4x8xf32, #layout> {
  %0 = tensor.empty() : tensor<4x8xf32, #layout>
  // expected-error@+1 {{failed to legalize operation 'ttir.exp': ttir of 2026 has no layouts; convert it before they are chosen}}
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<4x8xf32, #layout>, tensor<4x8xf32, #layout>) -> tensor<4x8xf32, #layout>
  return %1 : tensor<4x8xf32, #layout>
}
