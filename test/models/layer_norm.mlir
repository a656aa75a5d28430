// Layer normalisation of 33 rows of 50 values: (x - mean) / sqrt(variance + 1e-5) * gamma + beta.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @layer_norm(%x: tensor<33x50xf32>, %gamma: tensor<50xf32>, %beta: tensor<50xf32>) -> tensor<33x50xf32> {
  %epsilon = "ttir.constant"() <{value = dense<1.000000e-05> : tensor<33x1xf32>}> : () -> tensor<33x1xf32>
  %e0 = tensor.empty() : tensor<33x1xf32>
  %mean = "ttir.mean"(%x, %e0) <{dim_arg = [-1 : i32], keep_dim = true, operand_constraints = [#any_device, #any_device]}> : (tensor<33x50xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
  %e1 = tensor.empty() : tensor<33x50xf32>
  %centred = "ttir.subtract"(%x, %mean, %e1) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x50xf32>, tensor<33x1xf32>, tensor<33x50xf32>) -> tensor<33x50xf32>
  %e2 = tensor.empty() : tensor<33x50xf32>
  %squared = "ttir.multiply"(%centred, %centred, %e2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x50xf32>, tensor<33x50xf32>, tensor<33x50xf32>) -> tensor<33x50xf32>
  %e3 = tensor.empty() : tensor<33x1xf32>
  %variance = "ttir.mean"(%squared, %e3) <{dim_arg = [-1 : i32], keep_dim = true, operand_constraints = [#any_device, #any_device]}> : (tensor<33x50xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
  %e4 = tensor.empty() : tensor<33x1xf32>
  %shifted = "ttir.add"(%variance, %epsilon, %e4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x1xf32>, tensor<33x1xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
  %e5 = tensor.empty() : tensor<33x1xf32>
  %deviation = "ttir.sqrt"(%shifted, %e5) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x1xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
  %e6 = tensor.empty() : tensor<33x50xf32>
  %normal = "ttir.div"(%centred, %deviation, %e6) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x50xf32>, tensor<33x1xf32>, tensor<33x50xf32>) -> tensor<33x50xf32>
  %e7 = tensor.empty() : tensor<33x50xf32>
  %scaled = "ttir.multiply"(%normal, %gamma, %e7) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x50xf32>, tensor<50xf32>, tensor<33x50xf32>) -> tensor<33x50xf32>
  %e8 = tensor.empty() : tensor<33x50xf32>
  %out = "ttir.add"(%scaled, %beta, %e8) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x50xf32>, tensor<50xf32>, tensor<33x50xf32>) -> tensor<33x50xf32>
  return %out : tensor<33x50xf32>
}
