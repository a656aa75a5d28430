// Two images of 12x20 with 3 channels through two rounds of convolution, relu and pooling, then a
// linear layer to 7 classes. The second convolution pads its right and bottom edges only.

#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @convnet(%image: tensor<2x12x20x3xf32>, %k1: tensor<8x3x3x3xf32>, %c1: tensor<1x1x1x8xf32>, %k2: tensor<16x8x2x3xf32>, %c2: tensor<1x1x1x16xf32>, %w: tensor<240x7xf32>, %b: tensor<1x7xf32>) -> tensor<2x7xf32> {
  %e0 = tensor.empty() : tensor<2x12x20x8xf32>
  %conv1 = "ttir.conv2d"(%image, %k1, %c1, %e0) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device, #any_device], padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<2x12x20x3xf32>, tensor<8x3x3x3xf32>, tensor<1x1x1x8xf32>, tensor<2x12x20x8xf32>) -> tensor<2x12x20x8xf32>
  %e1 = tensor.empty() : tensor<2x12x20x8xf32>
  %relu1 = "ttir.relu"(%conv1, %e1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<2x12x20x8xf32>, tensor<2x12x20x8xf32>) -> tensor<2x12x20x8xf32>
  %e2 = tensor.empty() : tensor<2x6x10x8xf32>
  %pool1 = "ttir.max_pool2d"(%relu1, %e2) <{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [#any_device, #any_device], padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<2x12x20x8xf32>, tensor<2x6x10x8xf32>) -> tensor<2x6x10x8xf32>
  %e3 = tensor.empty() : tensor<2x6x10x16xf32>
  %conv2 = "ttir.conv2d"(%pool1, %k2, %c2, %e3) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device, #any_device], padding_bottom = 1 : si32, padding_left = 0 : si32, padding_right = 2 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<2x6x10x8xf32>, tensor<16x8x2x3xf32>, tensor<1x1x1x16xf32>, tensor<2x6x10x16xf32>) -> tensor<2x6x10x16xf32>
  %e4 = tensor.empty() : tensor<2x6x10x16xf32>
  %relu2 = "ttir.relu"(%conv2, %e4) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<2x6x10x16xf32>, tensor<2x6x10x16xf32>) -> tensor<2x6x10x16xf32>
  %e5 = tensor.empty() : tensor<2x3x5x16xf32>
  %pool2 = "ttir.max_pool2d"(%relu2, %e5) <{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, operand_constraints = [#any_device, #any_device], padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 2 : si32, stride_width = 2 : si32}> : (tensor<2x6x10x16xf32>, tensor<2x3x5x16xf32>) -> tensor<2x3x5x16xf32>
  %e6 = tensor.empty() : tensor<2x240xf32>
  %flat = "ttir.reshape"(%pool2, %e6) <{operand_constraints = [#any_device, #any_device], shape = [2 : i32, 240 : i32]}> : (tensor<2x3x5x16xf32>, tensor<2x240xf32>) -> tensor<2x240xf32>
  %e7 = tensor.empty() : tensor<2x7xf32>
  %product = "ttir.matmul"(%flat, %w, %e7) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<2x240xf32>, tensor<240x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
  %e8 = tensor.empty() : tensor<2x7xf32>
  %logits = "ttir.add"(%product, %b, %e8) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<2x7xf32>, tensor<1x7xf32>, tensor<2x7xf32>) -> tensor<2x7xf32>
  return %logits : tensor<2x7xf32>
}
