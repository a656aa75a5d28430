// Self-attention of 7 tokens with 24 features in 3 heads of 8, with the residual connection:
// softmax(q @ k^T / sqrt(8)) @ v per head, heads joined, projected and added to the input.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @attention(%x: tensor<7x24xf32>, %wq: tensor<24x24xf32>, %wk: tensor<24x24xf32>, %wv: tensor<24x24xf32>, %wo: tensor<24x24xf32>) -> tensor<7x24xf32> {
  %scale = "ttir.constant"() <{value = dense<0.353553385> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %e0 = tensor.empty() : tensor<7x24xf32>
  %q = "ttir.matmul"(%x, %wq, %e0) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<7x24xf32>, tensor<24x24xf32>, tensor<7x24xf32>) -> tensor<7x24xf32>
  %e1 = tensor.empty() : tensor<7x24xf32>
  %k = "ttir.matmul"(%x, %wk, %e1) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<7x24xf32>, tensor<24x24xf32>, tensor<7x24xf32>) -> tensor<7x24xf32>
  %e2 = tensor.empty() : tensor<7x24xf32>
  %v = "ttir.matmul"(%x, %wv, %e2) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<7x24xf32>, tensor<24x24xf32>, tensor<7x24xf32>) -> tensor<7x24xf32>
  %e3 = tensor.empty() : tensor<7x3x8xf32>
  %q3 = "ttir.reshape"(%q, %e3) <{operand_constraints = [#any_device, #any_device], shape = [7 : i32, 3 : i32, 8 : i32]}> : (tensor<7x24xf32>, tensor<7x3x8xf32>) -> tensor<7x3x8xf32>
  %e4 = tensor.empty() : tensor<3x7x8xf32>
  %qh = "ttir.transpose"(%q3, %e4) <{dim0 = 0 : si32, dim1 = 1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<7x3x8xf32>, tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
  %e5 = tensor.empty() : tensor<7x3x8xf32>
  %k3 = "ttir.reshape"(%k, %e5) <{operand_constraints = [#any_device, #any_device], shape = [7 : i32, 3 : i32, 8 : i32]}> : (tensor<7x24xf32>, tensor<7x3x8xf32>) -> tensor<7x3x8xf32>
  %e6 = tensor.empty() : tensor<3x7x8xf32>
  %kh = "ttir.transpose"(%k3, %e6) <{dim0 = 0 : si32, dim1 = 1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<7x3x8xf32>, tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
  %e7 = tensor.empty() : tensor<7x3x8xf32>
  %v3 = "ttir.reshape"(%v, %e7) <{operand_constraints = [#any_device, #any_device], shape = [7 : i32, 3 : i32, 8 : i32]}> : (tensor<7x24xf32>, tensor<7x3x8xf32>) -> tensor<7x3x8xf32>
  %e8 = tensor.empty() : tensor<3x7x8xf32>
  %vh = "ttir.transpose"(%v3, %e8) <{dim0 = 0 : si32, dim1 = 1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<7x3x8xf32>, tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
  %e9 = tensor.empty() : tensor<3x8x7xf32>
  %kt = "ttir.transpose"(%kh, %e9) <{dim0 = -2 : si32, dim1 = -1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<3x7x8xf32>, tensor<3x8x7xf32>) -> tensor<3x8x7xf32>
  %e10 = tensor.empty() : tensor<3x7x7xf32>
  %scores = "ttir.matmul"(%qh, %kt, %e10) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<3x7x8xf32>, tensor<3x8x7xf32>, tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  %e11 = tensor.empty() : tensor<3x7x7xf32>
  %scaled = "ttir.multiply"(%scores, %scale, %e11) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<3x7x7xf32>, tensor<1x1x1xf32>, tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  %e12 = tensor.empty() : tensor<3x7x7xf32>
  %weights = "ttir.softmax"(%scaled, %e12) <{dimension = 2 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<3x7x7xf32>, tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
  %e13 = tensor.empty() : tensor<3x7x8xf32>
  %heads = "ttir.matmul"(%weights, %vh, %e13) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<3x7x7xf32>, tensor<3x7x8xf32>, tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
  %e14 = tensor.empty() : tensor<7x3x8xf32>
  %tokens = "ttir.transpose"(%heads, %e14) <{dim0 = 0 : si32, dim1 = 1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<3x7x8xf32>, tensor<7x3x8xf32>) -> tensor<7x3x8xf32>
  %e15 = tensor.empty() : tensor<7x24xf32>
  %joined = "ttir.reshape"(%tokens, %e15) <{operand_constraints = [#any_device, #any_device], shape = [7 : i32, -1 : i32]}> : (tensor<7x3x8xf32>, tensor<7x24xf32>) -> tensor<7x24xf32>
  %e16 = tensor.empty() : tensor<7x24xf32>
  %projected = "ttir.matmul"(%joined, %wo, %e16) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<7x24xf32>, tensor<24x24xf32>, tensor<7x24xf32>) -> tensor<7x24xf32>
  %e17 = tensor.empty() : tensor<7x24xf32>
  %out = "ttir.add"(%projected, %x, %e17) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<7x24xf32>, tensor<7x24xf32>, tensor<7x24xf32>) -> tensor<7x24xf32>
  return %out : tensor<7x24xf32>
}
