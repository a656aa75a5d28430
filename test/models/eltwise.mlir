// A gated activation on matrices of 96x160: sigmoid(gate) * x + relu(residual - bias).
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>

func.func @forward(%gate: tensor<96x160xf32>, %x: tensor<96x160xf32>, %residual: tensor<96x160xf32>, %bias: tensor<96x160xf32>) -> tensor<96x160xf32> {
  %0 = tensor.empty() : tensor<96x160xf32>
  %open = "ttir.sigmoid"(%gate, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  %1 = tensor.empty() : tensor<96x160xf32>
  %gated = "ttir.multiply"(%open, %x, %1) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  %2 = tensor.empty() : tensor<96x160xf32>
  %centred = "ttir.subtract"(%residual, %bias, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  %3 = tensor.empty() : tensor<96x160xf32>
  %kept = "ttir.relu"(%centred, %3) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  %4 = tensor.empty() : tensor<96x160xf32>
  %sum = "ttir.add"(%gated, %kept, %4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  return %sum : tensor<96x160xf32>
}
