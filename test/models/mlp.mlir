// A perceptron with one hidden layer: a batch of 5 rows of 70 features becomes 10 probabilities each.
// Both biases are single rows that every row of the batch shares.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @mlp(%x: tensor<5x70xf32>, %w1: tensor<70x48xf32>, %b1: tensor<1x48xf32>, %w2: tensor<48x10xf32>, %b2: tensor<1x10xf32>) -> tensor<5x10xf32> {
  %e0 = tensor.empty() : tensor<5x48xf32>
  %product = "ttir.matmul"(%x, %w1, %e0) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x70xf32>, tensor<70x48xf32>, tensor<5x48xf32>) -> tensor<5x48xf32>
  %e1 = tensor.empty() : tensor<5x48xf32>
  %sum = "ttir.add"(%product, %b1, %e1) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x48xf32>, tensor<1x48xf32>, tensor<5x48xf32>) -> tensor<5x48xf32>
  %e2 = tensor.empty() : tensor<5x48xf32>
  %hidden = "ttir.relu"(%sum, %e2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x48xf32>, tensor<5x48xf32>) -> tensor<5x48xf32>
  %e3 = tensor.empty() : tensor<5x10xf32>
  %product2 = "ttir.matmul"(%hidden, %w2, %e3) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x48xf32>, tensor<48x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  %e4 = tensor.empty() : tensor<5x10xf32>
  %logits = "ttir.add"(%product2, %b2, %e4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x10xf32>, tensor<1x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  %e5 = tensor.empty() : tensor<5x10xf32>
  %probabilities = "ttir.softmax"(%logits, %e5) <{dimension = -1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
  return %probabilities : tensor<5x10xf32>
}
