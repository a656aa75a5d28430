// Eleven word numbers become vectors of 36, their mean a score for each of 5 classes.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @word_classifier(%words: tensor<11xi32>, %table: tensor<100x36xf32>, %w: tensor<36x5xf32>) -> tensor<1x5xf32> {
  %e0 = tensor.empty() : tensor<11x36xf32>
  %vectors = "ttir.embedding"(%words, %table, %e0) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<11xi32>, tensor<100x36xf32>, tensor<11x36xf32>) -> tensor<11x36xf32>
  %e1 = tensor.empty() : tensor<36xf32>
  %mean = "ttir.mean"(%vectors, %e1) <{dim_arg = [0 : i32], keep_dim = false, operand_constraints = [#any_device, #any_device]}> : (tensor<11x36xf32>, tensor<36xf32>) -> tensor<36xf32>
  %e2 = tensor.empty() : tensor<1x36xf32>
  %row = "ttir.unsqueeze"(%mean, %e2) <{dim = 0 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<36xf32>, tensor<1x36xf32>) -> tensor<1x36xf32>
  %e3 = tensor.empty() : tensor<1x5xf32>
  %scores = "ttir.matmul"(%row, %w, %e3) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<1x36xf32>, tensor<36x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
  %e4 = tensor.empty() : tensor<1x5xf32>
  %out = "ttir.sigmoid"(%scores, %e4) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
  return %out : tensor<1x5xf32>
}
