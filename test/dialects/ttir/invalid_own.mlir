// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What only ttir refuses: constraints, broadcasting, images, layouts, memory, regions.

func.func @no_constraints(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op requires attribute 'operand_constraints'}}
  %r = "ttir.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @constraint_elements(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op attribute 'operand_constraints' failed to satisfy constraint: }}
  %r = "ttir.matmul"(%a, %b, %c) <{operand_constraints = [1 : i32]}> : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @constraint_class(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{invalid properties {operand_constraints = 1 : i32} for op ttir.matmul: Invalid attribute `operand_constraints` in property conversion: 1 : i32}}
  %r = "ttir.matmul"(%a, %b, %c) <{operand_constraints = 1 : i32}> : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @broadcast_inputs(%a: tensor<64x128xf32>, %b: tensor<33x70xf32>, %c: tensor<64x128xf32>) {
  // expected-error@+1 {{op Operands are not broadcast compatible}}
  %r = "ttir.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}> : (tensor<64x128xf32>, tensor<33x70xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return
}

// -----

func.func @broadcast_output(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>, %c: tensor<64x128xf32>) {
  // expected-error@+1 {{op Operands are not broadcast compatible}}
  %r = "ttir.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return
}

// -----

func.func @broadcast_result(%a: tensor<33x70xf32>, %b: tensor<33x1xf32>, %c: tensor<1x70xf32>) {
  // expected-error@+1 {{op Result shape must match operand shapes after broadcasting}}
  %r = "ttir.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}> : (tensor<33x70xf32>, tensor<33x1xf32>, tensor<1x70xf32>) -> tensor<1x70xf32>
  return
}

// -----

func.func @single_operand(%a: tensor<33x70xf32>) {
  // expected-error@+1 {{op Result shape must match operand shapes after broadcasting}}
  %r = "ttir.add"(%a) <{operandSegmentSizes = array<i32: 0, 1>, operand_constraints = []}> : (tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @smaller_output(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>, %c: tensor<1x70xf32>) {
  // expected-error@+1 {{op expected type of operand #2 ('tensor<1x70xf32>') to match type of corresponding result ('tensor<33x70xf32>')}}
  %r = "ttir.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = []}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @nothing() {
  // expected-error@+1 {{op requires at least one output and one result}}
  "ttir.add"() <{operandSegmentSizes = array<i32: 0, 0>, operand_constraints = []}> : () -> ()
  return
}

// -----

func.func @conv2d_input(%a: tensor<16x20xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<1x16x20x24xf32>) {
  // expected-error@+1 {{op Input must be at least a 3D tensor}}
  %r = "ttir.conv2d"(%a, %b, %c) <{operand_constraints = [], dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<16x20xf32>, tensor<24x8x3x3xf32>, tensor<1x16x20x24xf32>) -> tensor<1x16x20x24xf32>
  return
}

// -----

func.func @conv2d_weight(%a: tensor<1x16x20x8xf32>, %b: tensor<8x3x3xf32>, %c: tensor<1x16x20x24xf32>) {
  // expected-error@+1 {{op Weight must be a 4D tensor}}
  %r = "ttir.conv2d"(%a, %b, %c) <{operand_constraints = [], dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<8x3x3xf32>, tensor<1x16x20x24xf32>) -> tensor<1x16x20x24xf32>
  return
}

// -----

func.func @conv2d_bias(%a: tensor<1x16x20x8xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<24xf32>, %d: tensor<1x16x20x24xf32>) {
  // expected-error@+1 {{op Bias must be a 4D tensor}}
  %r = "ttir.conv2d"(%a, %b, %c, %d) <{operand_constraints = [], dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<24x8x3x3xf32>, tensor<24xf32>, tensor<1x16x20x24xf32>) -> tensor<1x16x20x24xf32>
  return
}

// -----

func.func @conv2d_few_operands(%a: tensor<1x16x20x8xf32>, %b: tensor<24x8x3x3xf32>) {
  // expected-error@+1 {{op expected 3 or more operands, but found 2}}
  %r = "ttir.conv2d"(%a, %b) <{operand_constraints = [], dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<24x8x3x3xf32>) -> tensor<1x16x20x24xf32>
  return
}

// -----

func.func @conv2d_many_operands(%a: tensor<1x16x20x8xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<1x1x1x24xf32>, %d: tensor<1x1x1x24xf32>, %e: tensor<1x16x20x24xf32>) {
  // expected-error@+1 {{op operand group starting at #2 requires 0 or 1 element, but found 2}}
  %r = "ttir.conv2d"(%a, %b, %c, %d, %e) <{operand_constraints = [], dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, padding_bottom = 1 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 1 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<24x8x3x3xf32>, tensor<1x1x1x24xf32>, tensor<1x1x1x24xf32>, tensor<1x16x20x24xf32>) -> tensor<1x16x20x24xf32>
  return
}

// -----

func.func @max_pool2d_rank(%a: tensor<16x20x8xf32>, %b: tensor<1x15x19x8xf32>) {
  // expected-error@+1 {{op Input tensor rank must be 4. Recieved input with rank 3. Shape: (16, 20, 8).}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<16x20x8xf32>, tensor<1x15x19x8xf32>) -> tensor<1x15x19x8xf32>
  return
}

// -----

func.func @max_pool2d_original_height(%a: tensor<1x16x20x8xf32>, %b: tensor<1x15x19x8xf32>) {
  // expected-error@+1 {{op If providing the original height and width as attributes, both original_height and original_width must be set. However, only original_height was provided.}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, original_height = 16 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<1x15x19x8xf32>) -> tensor<1x15x19x8xf32>
  return
}

// -----

func.func @max_pool2d_original_width(%a: tensor<1x16x20x8xf32>, %b: tensor<1x15x19x8xf32>) {
  // expected-error@+1 {{op If providing the original height and width as attributes, both original_height and original_width must be set. However, only original_width was provided.}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, original_width = 16 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<1x15x19x8xf32>) -> tensor<1x15x19x8xf32>
  return
}

// -----

func.func @max_pool2d_height(%a: tensor<1x16x20x8xf32>, %b: tensor<1x15x19x8xf32>) {
  // expected-error@+1 {{op Kernel height 17 is greater than input height 16. This MaxPool2d configuration is invalid.}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 17 : si32, kernel_width = 2 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<1x15x19x8xf32>) -> tensor<1x15x19x8xf32>
  return
}

// -----

func.func @max_pool2d_width(%a: tensor<1x16x20x8xf32>, %b: tensor<1x15x19x8xf32>) {
  // expected-error@+1 {{op Kernel width 21 is greater than input width 20. This MaxPool2d configuration is invalid.}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 21 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<1x15x19x8xf32>) -> tensor<1x15x19x8xf32>
  return
}

// -----

func.func @max_pool2d_original(%a: tensor<1x1x320x8xf32>, %b: tensor<1x15x19x8xf32>) {
  // expected-error@+1 {{op Kernel height 17 is greater than input height 16. This MaxPool2d configuration is invalid.}}
  %r = "ttir.max_pool2d"(%a, %b) <{operand_constraints = [], ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 17 : si32, kernel_width = 2 : si32, original_height = 16 : si32, original_width = 20 : si32, padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x1x320x8xf32>, tensor<1x15x19x8xf32>) -> tensor<1x15x19x8xf32>
  return
}

// -----

func.func @squeeze_dim_high(%a: tensor<33x1xf32>, %b: tensor<33xf32>) {
  // expected-error@+1 {{op Invalid dimension 2 for squeezing.}}
  %r = "ttir.squeeze"(%a, %b) <{operand_constraints = [], dim = 2 : si32}> : (tensor<33x1xf32>, tensor<33xf32>) -> tensor<33xf32>
  return
}

// -----

func.func @squeeze_dim_low(%a: tensor<33x1xf32>, %b: tensor<33xf32>) {
  // expected-error@+1 {{op Invalid dimension -3 for squeezing.}}
  %r = "ttir.squeeze"(%a, %b) <{operand_constraints = [], dim = -5 : si32}> : (tensor<33x1xf32>, tensor<33xf32>) -> tensor<33xf32>
  return
}

// -----

func.func @squeeze_extent(%a: tensor<33x70xf32>, %b: tensor<70xf32>) {
  // expected-error@+1 {{op Dimension 0 in the input tensor must be 1.}}
  %r = "ttir.squeeze"(%a, %b) <{operand_constraints = [], dim = 0 : si32}> : (tensor<33x70xf32>, tensor<70xf32>) -> tensor<70xf32>
  return
}

// -----

func.func @squeeze_to_scalar(%a: tensor<1xf32>, %b: tensor<f32>) {
  // expected-error@+1 {{op Output tensor must have at least one dimension.}}
  %r = "ttir.squeeze"(%a, %b) <{operand_constraints = [], dim = 0 : si32}> : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @squeeze_rank(%a: tensor<1x70xf32>, %b: tensor<1x70xf32>) {
  // expected-error@+1 {{op Output tensor rank must be one less than the input tensor rank.}}
  %r = "ttir.squeeze"(%a, %b) <{operand_constraints = [], dim = 0 : si32}> : (tensor<1x70xf32>, tensor<1x70xf32>) -> tensor<1x70xf32>
  return
}

// -----

func.func @squeeze_others(%a: tensor<1x70xf32>, %b: tensor<71xf32>) {
  // expected-error@+1 {{op Dimensions of the output tensor must be the same as the input tensor except for dimension 0.}}
  %r = "ttir.squeeze"(%a, %b) <{operand_constraints = [], dim = -2 : si32}> : (tensor<1x70xf32>, tensor<71xf32>) -> tensor<71xf32>
  return
}

// -----

func.func @unsqueeze_dim(%a: tensor<33x70xf32>, %b: tensor<33x70x1xf32>) {
  // expected-error@+1 {{op Dimension attribute must be within the bounds of the input tensor}}
  %r = "ttir.unsqueeze"(%a, %b) <{operand_constraints = [], dim = 3 : si32}> : (tensor<33x70xf32>, tensor<33x70x1xf32>) -> tensor<33x70x1xf32>
  return
}

// -----

func.func @unsqueeze_rank(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) {
  // expected-error@+1 {{op Output tensor must have one more dimension than the input tensor}}
  %r = "ttir.unsqueeze"(%a, %b) <{operand_constraints = [], dim = 0 : si32}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @unsqueeze_extent(%a: tensor<33x70xf32>, %b: tensor<33x70x1xf32>) {
  // expected-error@+1 {{op Dimension added must be of size 1}}
  %r = "ttir.unsqueeze"(%a, %b) <{operand_constraints = [], dim = 0 : si32}> : (tensor<33x70xf32>, tensor<33x70x1xf32>) -> tensor<33x70x1xf32>
  return
}

// -----

func.func @unsqueeze_others(%a: tensor<33x70xf32>, %b: tensor<1x33x71xf32>) {
  // expected-error@+1 {{op All dimensions of the input tensor must be the same as the output tensor except for the dimension added}}
  %r = "ttir.unsqueeze"(%a, %b) <{operand_constraints = [], dim = 0 : si32}> : (tensor<33x70xf32>, tensor<1x33x71xf32>) -> tensor<1x33x71xf32>
  return
}

// -----

func.func @broadcast_dimension(%a: tensor<1x70xf32>, %b: tensor<33x70xf32>) {
  // expected-error@+1 {{op attribute 'dimension' failed to satisfy constraint: 64-bit integer array attribute}}
  %r = "ttir.broadcast"(%a, %b) <{operand_constraints = [], dimension = [0 : i32]}> : (tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @to_layout_input(%a: tensor<64x128xf32>, %b: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>) {
  // expected-error@+1 {{op Input tensor type missing layout attribute}}
  %r = "ttir.to_layout"(%a, %b) : (tensor<64x128xf32>, tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @to_layout_output(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>, %b: tensor<64x128xf32>) {
  // expected-error@+1 {{op Output tensor type missing layout attribute}}
  %r = "ttir.to_layout"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return
}

// -----

func.func @to_layout_shape(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>, %b: tensor<64x129xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x129xf32, #tt.memory_space<system>>>>) {
  // expected-error@+1 {{op Input and output shapes must be the same}}
  %r = "ttir.to_layout"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>, tensor<64x129xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x129xf32, #tt.memory_space<system>>>>) -> tensor<64x129xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x129xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_layout() {
  // expected-error@+1 {{op Result type missing layout attribute}}
  %r = "ttir.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<system>, size = 32768 : i64}> : () -> tensor<64x128xf32>
  return
}

// -----

func.func @alloc_size() {
  // expected-error@+1 {{op Alloc size must be non-zero}}
  %r = "ttir.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<system>, size = 0 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_space() {
  // expected-error@+1 {{op Input tensor layout memory space must match alloc memory space}}
  %r = "ttir.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<dram>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_no_space() {
  // expected-error@+1 {{op the memref of a layout names one of the memory spaces system, mmio, dram, l1, got 'memref<64x128xf32>'}}
  %r = "ttir.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<dram>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32>>>
  return
}

// -----

func.func @alloc_system_address() {
  // expected-error@+1 {{op Allocating from system memory space must have address set to 0, implicitly allocated by the runtime}}
  %r = "ttir.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<system>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_mmio_address() {
  // expected-error@+1 {{op Allocating from system memory space must have address set to 0, implicitly allocated by the runtime}}
  %r = "ttir.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<mmio>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<mmio>>>>
  return
}

// -----

func.func @alloc_dram_address() {
  // expected-error@+1 {{op Allocating from a device memory space must have address set to a non-zero value, device addresses are statically allocated}}
  %r = "ttir.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<dram>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>>>
  return
}

// -----

func.func @alloc_l1_address() {
  // expected-error@+1 {{op Allocating from a device memory space must have address set to a non-zero value, device addresses are statically allocated}}
  %r = "ttir.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<l1>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<l1>>>>
  return
}

// -----

func.func @alloc_i64_attribute() {
  // expected-error@+1 {{op attribute 'address' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "ttir.alloc"() <{address = 0 : i32, memory_space = #tt.memory_space<system>, size = 1 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_space_class() {
  // expected-error@+1 {{for op ttir.alloc: Invalid attribute `memory_space` in property conversion: 1 : i32}}
  %r = "ttir.alloc"() <{address = 0 : i64, memory_space = 1 : i32, size = 1 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @dealloc_operands(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{op requires a single operand}}
  "ttir.dealloc"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  return
}

// -----

func.func @dealloc_results(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{op requires zero results}}
  %r = "ttir.dealloc"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @constant_shape() {
  // expected-error@+1 {{op failed to verify that all of {value, result} have same shape}}
  %r = "ttir.constant"() <{value = dense<1.0> : tensor<2x3xf32>}> : () -> tensor<3x2xf32>
  return
}

// -----

func.func @constant_value() {
  // expected-error@+1 {{invalid properties {value = 1 : i32} for op ttir.constant: Invalid attribute `value` in property conversion: 1 : i32}}
  %r = "ttir.constant"() <{value = 1 : i32}> : () -> tensor<3x2xf32>
  return
}

// -----

func.func @constant_no_value() {
  // expected-error@+1 {{op requires attribute 'value'}}
  %r = "ttir.constant"() : () -> tensor<3x2xf32>
  return
}

// -----

func.func @arange_step() {
  // expected-error@+1 {{op Step must not be 0.}}
  %r = "ttir.arange"() <{arange_dimension = 1 : i64, end = 5 : si64, start = 0 : si64, step = 0 : si64}> : () -> tensor<3x5xf32>
  return
}

// -----

func.func @arange_dimension() {
  // expected-error@+1 {{op Dimension 2 is out of range for rank 2.}}
  %r = "ttir.arange"() <{arange_dimension = 2 : i64, end = 5 : si64, start = 0 : si64, step = 1 : si64}> : () -> tensor<3x5xf32>
  return
}

// -----

func.func @arange_extent() {
  // expected-error@+1 {{op Extent 5 of dimension 1 must be 4, the number of values.}}
  %r = "ttir.arange"() <{arange_dimension = 1 : i64, end = 8 : si64, start = 1 : si64, step = 2 : si64}> : () -> tensor<3x5xf32>
  return
}

// -----

func.func @arange_si64() {
  // expected-error@+1 {{op attribute 'end' failed to satisfy constraint: 64-bit signed integer attribute}}
  %r = "ttir.arange"() <{arange_dimension = 1 : i64, end = 5 : i64, start = 0 : si64, step = 1 : si64}> : () -> tensor<3x5xf32>
  return
}

// -----

func.func @generic_arguments(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{op The number of op operands and region/block operands must match}}
  %r = "ttir.generic"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], grid = #tt.grid<1x1>, indexing_maps = [], iterator_types = []}> ({
  ^bb0(%x: tensor<4x8xf32>):
    "ttir.yield"(%x) : (tensor<4x8xf32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @generic_empty(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{op The number of op operands and region/block operands must match}}
  %r = "ttir.generic"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], grid = #tt.grid<1x1>, indexing_maps = [], iterator_types = []}> ({}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @generic_no_region(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{op requires one region}}
  %r = "ttir.generic"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], grid = #tt.grid<1x1>, indexing_maps = [], iterator_types = []}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @generic_grid(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{for op ttir.generic: Invalid attribute `grid` in property conversion: 1 : i32}}
  %r = "ttir.generic"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], grid = 1 : i32, indexing_maps = [], iterator_types = []}> ({}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @generic_maps(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{op attribute 'indexing_maps' failed to satisfy constraint: AffineMap array attribute}}
  %r = "ttir.generic"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], grid = #tt.grid<1x1>, indexing_maps = [1 : i32], iterator_types = []}> ({}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @generic_iterators(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{op attribute 'iterator_types' failed to satisfy constraint: }}
  %r = "ttir.generic"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], grid = #tt.grid<1x1>, indexing_maps = [], iterator_types = [1 : i32]}> ({}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @kernel_operand(%a: f32, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{op operand #0 must be variadic of ranked tensor of any type values or non-0-ranked.memref of any type values, but got 'f32'}}
  %r = "ttir.kernel"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], kind = @eltwise, op = @add}> : (f32, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @kernel_scalar_memref(%a: memref<f32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{op operand #0 must be variadic of ranked tensor of any type values or non-0-ranked.memref of any type values, but got 'memref<f32>'}}
  %r = "ttir.kernel"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], kind = @eltwise, op = @add}> : (memref<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @kernel_symbol(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{for op ttir.kernel: Invalid attribute `op` in property conversion: "add"}}
  %r = "ttir.kernel"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], kind = @eltwise, op = "add"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @kernel_nested_symbol(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{for op ttir.kernel: Invalid attribute `kind` in property conversion: @a::@b}}
  %r = "ttir.kernel"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], kind = @a::@b, op = @add}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @kernel_results(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  // expected-error@+1 {{op expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %r = "ttir.kernel"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [], kind = @eltwise, op = @add}> : (memref<4x8xf32>, memref<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @yield_last(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{op must be the last operation in the parent block}}
  "ttir.yield"(%a) : (tensor<4x8xf32>) -> ()
  return
}

// -----

// In the trailing dictionary a wrong kind of attribute fails the constraint.
func.func @trailing_class(%a: tensor<3x7xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{'ttir.sum' op attribute 'keep_dim' failed to satisfy constraint: bool attribute}}
  %r = "ttir.sum"(%a, %b) {keep_dim = 1 : i32, operand_constraints = []} : (tensor<3x7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @unknown_op(%a: tensor<3xf32>) {
  // expected-error@+1 {{unregistered operation 'ttir.frobnicate' found in dialect ('ttir') that does not allow unknown operations}}
  %r = "ttir.frobnicate"(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return
}
