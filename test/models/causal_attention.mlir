// Attention of 2 sequences of 5 tokens in which no token sees a later one: the mask is a constant that
// both sequences share.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @causal_attention(%q: tensor<2x5x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %mask = "ttir.constant"() <{value = dense<[[[0.0, -1.0e9, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0, 0.0, 0.0]]]> : tensor<1x5x5xf32>}> : () -> tensor<1x5x5xf32>
  %e0 = tensor.empty() : tensor<2x8x5xf32>
  %kt = "ttir.permute"(%k, %e0) <{operand_constraints = [#any_device, #any_device], permutation = array<i64: 0, 2, 1>}> : (tensor<2x5x8xf32>, tensor<2x8x5xf32>) -> tensor<2x8x5xf32>
  %e1 = tensor.empty() : tensor<2x5x5xf32>
  %scores = "ttir.matmul"(%q, %kt, %e1) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<2x5x8xf32>, tensor<2x8x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %e2 = tensor.empty() : tensor<2x5x5xf32>
  %masks = "ttir.broadcast"(%mask, %e2) <{dimension = [0, 1, 2], operand_constraints = [#any_device, #any_device]}> : (tensor<1x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %e3 = tensor.empty() : tensor<2x5x5xf32>
  %masked = "ttir.add"(%scores, %masks, %e3) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<2x5x5xf32>, tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %e4 = tensor.empty() : tensor<2x5x5xf32>
  %weights = "ttir.softmax"(%masked, %e4) <{dimension = -1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<2x5x5xf32>, tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %e5 = tensor.empty() : tensor<2x5x8xf32>
  %out = "ttir.matmul"(%weights, %v, %e5) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<2x5x5xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %out : tensor<2x5x8xf32>
}
