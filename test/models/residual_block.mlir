// A residual block that halves the image: two convolutions beside a projection of the input, their sum
// rectified and averaged over the image.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @residual_block(%x: tensor<1x9x11x6xf32>, %k1: tensor<10x6x3x3xf32>, %c1: tensor<1x1x1x10xf32>, %k2: tensor<10x10x3x3xf32>, %c2: tensor<1x1x1x10xf32>, %shortcut: tensor<10x6x1x1xf32>) -> tensor<1x10xf32> {
  %e0 = tensor.empty() : tensor<1x5x6x10xf32>
  %conv1 = "ttir.conv2d"(%x, %k1, %c1, %e0) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 2 : si32, stride_width = 2 : si32, operand_constraints = [#any_device, #any_device, #any_device, #any_device]}> : (tensor<1x9x11x6xf32>, tensor<10x6x3x3xf32>, tensor<1x1x1x10xf32>, tensor<1x5x6x10xf32>) -> tensor<1x5x6x10xf32>
  %e1 = tensor.empty() : tensor<1x5x6x10xf32>
  %relu1 = "ttir.relu"(%conv1, %e1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<1x5x6x10xf32>, tensor<1x5x6x10xf32>) -> tensor<1x5x6x10xf32>
  %e2 = tensor.empty() : tensor<1x5x6x10xf32>
  %conv2 = "ttir.conv2d"(%relu1, %k2, %c2, %e2) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device, #any_device]}> : (tensor<1x5x6x10xf32>, tensor<10x10x3x3xf32>, tensor<1x1x1x10xf32>, tensor<1x5x6x10xf32>) -> tensor<1x5x6x10xf32>
  %e3 = tensor.empty() : tensor<1x5x6x10xf32>
  %projected = "ttir.conv2d"(%x, %shortcut, %e3) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<1x9x11x6xf32>, tensor<10x6x1x1xf32>, tensor<1x5x6x10xf32>) -> tensor<1x5x6x10xf32>
  %e4 = tensor.empty() : tensor<1x5x6x10xf32>
  %sum = "ttir.add"(%conv2, %projected, %e4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<1x5x6x10xf32>, tensor<1x5x6x10xf32>, tensor<1x5x6x10xf32>) -> tensor<1x5x6x10xf32>
  %e5 = tensor.empty() : tensor<1x5x6x10xf32>
  %relu2 = "ttir.relu"(%sum, %e5) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<1x5x6x10xf32>, tensor<1x5x6x10xf32>) -> tensor<1x5x6x10xf32>
  %e6 = tensor.empty() : tensor<1x10xf32>
  %pooled = "ttir.mean"(%relu2, %e6) <{dim_arg = [1 : i32, 2 : i32], keep_dim = false, operand_constraints = [#any_device, #any_device]}> : (tensor<1x5x6x10xf32>, tensor<1x10xf32>) -> tensor<1x10xf32>
  return %pooled : tensor<1x10xf32>
}
