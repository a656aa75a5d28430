// A gated sum on matrices of 96x160: (x + bias) * gate + x * scale.
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>

func.func @forward(%x: tensor<96x160xf32>, %bias: tensor<96x160xf32>, %gate: tensor<96x160xf32>, %scale: tensor<96x160xf32>) -> tensor<96x160xf32> {
  %0 = tensor.empty() : tensor<96x160xf32>
  %shifted = "ttir.add"(%x, %bias, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  %1 = tensor.empty() : tensor<96x160xf32>
  %gated = "ttir.multiply"(%shifted, %gate, %1) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  %2 = tensor.empty() : tensor<96x160xf32>
  %scaled = "ttir.multiply"(%x, %scale, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  %3 = tensor.empty() : tensor<96x160xf32>
  %sum = "ttir.add"(%gated, %scaled, %3) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<96x160xf32>, tensor<96x160xf32>, tensor<96x160xf32>) -> tensor<96x160xf32>
  return %sum : tensor<96x160xf32>
}
