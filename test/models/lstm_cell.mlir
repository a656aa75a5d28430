// One step of a long short-term memory: 5 sequences, 20 inputs, 12 hidden values. The four gates come
// out of one product; the step returns the hidden values and the cell.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @lstm_cell(%x: tensor<5x20xf32>, %h: tensor<5x12xf32>, %c: tensor<5x12xf32>, %w: tensor<32x48xf32>, %b: tensor<1x48xf32>) -> (tensor<5x12xf32>, tensor<5x12xf32>) {
  %e0 = tensor.empty() : tensor<5x32xf32>
  %joined = "ttir.concat"(%x, %h, %e0) <{dim = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x20xf32>, tensor<5x12xf32>, tensor<5x32xf32>) -> tensor<5x32xf32>
  %e1 = tensor.empty() : tensor<5x48xf32>
  %product = "ttir.matmul"(%joined, %w, %e1) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x32xf32>, tensor<32x48xf32>, tensor<5x48xf32>) -> tensor<5x48xf32>
  %e2 = tensor.empty() : tensor<5x48xf32>
  %gates = "ttir.add"(%product, %b, %e2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x48xf32>, tensor<1x48xf32>, tensor<5x48xf32>) -> tensor<5x48xf32>
  %e3 = tensor.empty() : tensor<5x12xf32>
  %i = "ttir.slice"(%gates, %e3) <{begins = [0 : i32, 0 : i32], ends = [5 : i32, 12 : i32], step = [1 : i32, 1 : i32], operand_constraints = [#any_device, #any_device]}> : (tensor<5x48xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e4 = tensor.empty() : tensor<5x12xf32>
  %input_gate = "ttir.sigmoid"(%i, %e4) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e5 = tensor.empty() : tensor<5x12xf32>
  %f = "ttir.slice"(%gates, %e5) <{begins = [0 : i32, 12 : i32], ends = [5 : i32, 24 : i32], step = [1 : i32, 1 : i32], operand_constraints = [#any_device, #any_device]}> : (tensor<5x48xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e6 = tensor.empty() : tensor<5x12xf32>
  %forget_gate = "ttir.sigmoid"(%f, %e6) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e7 = tensor.empty() : tensor<5x12xf32>
  %g = "ttir.slice"(%gates, %e7) <{begins = [0 : i32, 24 : i32], ends = [5 : i32, 36 : i32], step = [1 : i32, 1 : i32], operand_constraints = [#any_device, #any_device]}> : (tensor<5x48xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e8 = tensor.empty() : tensor<5x12xf32>
  %candidate = "ttir.tanh"(%g, %e8) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e9 = tensor.empty() : tensor<5x12xf32>
  %o = "ttir.slice"(%gates, %e9) <{begins = [0 : i32, 36 : i32], ends = [5 : i32, 48 : i32], step = [1 : i32, 1 : i32], operand_constraints = [#any_device, #any_device]}> : (tensor<5x48xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e10 = tensor.empty() : tensor<5x12xf32>
  %output_gate = "ttir.sigmoid"(%o, %e10) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e11 = tensor.empty() : tensor<5x12xf32>
  %kept = "ttir.multiply"(%forget_gate, %c, %e11) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e12 = tensor.empty() : tensor<5x12xf32>
  %learnt = "ttir.multiply"(%input_gate, %candidate, %e12) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e13 = tensor.empty() : tensor<5x12xf32>
  %cell = "ttir.add"(%kept, %learnt, %e13) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e14 = tensor.empty() : tensor<5x12xf32>
  %squashed = "ttir.tanh"(%cell, %e14) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %e15 = tensor.empty() : tensor<5x12xf32>
  %hidden = "ttir.multiply"(%output_gate, %squashed, %e15) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  return %hidden, %cell : tensor<5x12xf32>, tensor<5x12xf32>
}
