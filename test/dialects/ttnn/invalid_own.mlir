// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What only ttnn refuses: layouts, memory, images, creation and attributes.

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_input(%a: tensor<64x128xf32>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Input tensor type missing layout attribute}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_output(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Output tensor type missing layout attribute}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_system(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op System memory space only supports undef memory layout}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>, interleaved>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_mmio(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op System memory space only supports undef memory layout}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<mmio>>, block_sharded>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_none(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Device memory space only supports interleaved or sharded memory layouts}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_single_bank(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Device memory space only supports interleaved or sharded memory layouts}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<l1>>, single_bank>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_dram(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Device DRAM memory space only supports interleaved memory layout}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, block_sharded>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_height(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Currently only block sharding is supported for sharded memory layouts}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<l1>>, height_sharded>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_rank(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Shard shape must be 2D}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (0, d0, d1), undef, <1x1x1>, memref<1x64x128xf32, #tt.memory_space<l1>>, block_sharded>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_memory_config_tiles(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op Shard shape must divide tile shape (32, 32) evenly}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, !tt.device<#device>) -> tensor<64x112xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <2x7>, memref<32x16xf32, #tt.memory_space<l1>>, block_sharded>>
  return
}

// -----

func.func @to_memory_config_device(%a: tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, %b: tensor<64x128xf32>) {
  // expected-error@+1 {{op operand #1 must be TT device, but got 'tensor<64x128xf32>'}}
  %r = "ttnn.to_memory_config"(%a, %b) : (tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>, tensor<64x128xf32>) -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>, interleaved>>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_layout_class(%a: tensor<64x128xf32>, %b: !tt.device<#device>) {
  // expected-error@+1 {{invalid properties {layout = 1 : i32} for op ttnn.to_layout: Invalid attribute `layout` in property conversion: 1 : i32}}
  %r = "ttnn.to_layout"(%a, %b) <{layout = 1 : i32}> : (tensor<64x128xf32>, !tt.device<#device>) -> tensor<64x128xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_layout_missing(%a: tensor<64x128xf32>, %b: !tt.device<#device>) {
  // expected-error@+1 {{op requires attribute 'layout'}}
  %r = "ttnn.to_layout"(%a, %b) : (tensor<64x128xf32>, !tt.device<#device>) -> tensor<64x128xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @to_device_class(%a: tensor<64x128xf32>, %b: !tt.device<#device>) {
  // expected-error@+1 {{for op ttnn.to_device: Invalid attribute `memory_config` in property conversion: #ttnn.layout<tile>}}
  %r = "ttnn.to_device"(%a, %b) <{memory_config = #ttnn.layout<tile>}> : (tensor<64x128xf32>, !tt.device<#device>) -> tensor<64x128xf32>
  return
}

// -----

func.func @get_device_result() {
  // expected-error@+1 {{op result #0 must be TT device, but got 'tensor<64x128xf32>'}}
  %r = "ttnn.get_device"() : () -> tensor<64x128xf32>
  return
}

// -----

func.func @empty_device(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{op operand #0 must be TT device, but got 'tensor<2x3xf32>'}}
  %r = "ttnn.empty"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @empty_operands() {
  // expected-error@+1 {{op requires a single operand}}
  %r = "ttnn.empty"() : () -> tensor<2x3xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @full_value(%a: !tt.device<#device>) {
  // expected-error@+1 {{op attribute 'fillValue' failed to satisfy constraint: 32-bit float attribute}}
  %r = "ttnn.full"(%a) <{fillValue = 1.0 : f64}> : (!tt.device<#device>) -> tensor<2x3xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @constant_shape(%a: !tt.device<#device>) {
  // expected-error@+1 {{op failed to verify that all of {value, result} have same shape}}
  %r = "ttnn.constant"(%a) <{value = dense<1.0> : tensor<2x3xf32>}> : (!tt.device<#device>) -> tensor<3x2xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @conv2d_input(%a: tensor<16x20xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<1x16x20x24xf32>, %d: !tt.device<#device>) {
  // expected-error@+1 {{op Input must be at least a 3D tensor}}
  %r = "ttnn.conv2d"(%a, %b, %c, %d) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 1 : i32, input_height = 1 : i32, input_width = 1 : i32, kernel_height = 1 : i32, kernel_width = 1 : i32, out_channels = 1 : i32, padding_height = 1 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 1 : i32}> : (tensor<16x20xf32>, tensor<24x8x3x3xf32>, tensor<1x16x20x24xf32>, !tt.device<#device>) -> tensor<1x16x20x24xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @conv2d_weight(%a: tensor<1x16x20x8xf32>, %b: tensor<8x3x3xf32>, %c: tensor<1x16x20x24xf32>, %d: !tt.device<#device>) {
  // expected-error@+1 {{op Weight must be a 4D tensor}}
  %r = "ttnn.conv2d"(%a, %b, %c, %d) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 1 : i32, input_height = 1 : i32, input_width = 1 : i32, kernel_height = 1 : i32, kernel_width = 1 : i32, out_channels = 1 : i32, padding_height = 1 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 1 : i32}> : (tensor<1x16x20x8xf32>, tensor<8x3x3xf32>, tensor<1x16x20x24xf32>, !tt.device<#device>) -> tensor<1x16x20x24xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @conv2d_bias(%a: tensor<1x16x20x8xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<24xf32>, %d: tensor<1x16x20x24xf32>, %e: !tt.device<#device>) {
  // expected-error@+1 {{op Bias must be a 4D tensor}}
  %r = "ttnn.conv2d"(%a, %b, %c, %d, %e) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 1 : i32, input_height = 1 : i32, input_width = 1 : i32, kernel_height = 1 : i32, kernel_width = 1 : i32, out_channels = 1 : i32, padding_height = 1 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 1 : i32}> : (tensor<1x16x20x8xf32>, tensor<24x8x3x3xf32>, tensor<24xf32>, tensor<1x16x20x24xf32>, !tt.device<#device>) -> tensor<1x16x20x24xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @conv2d_bias_extents(%a: tensor<1x16x20x8xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<1x1x2x24xf32>, %d: tensor<1x16x20x24xf32>, %e: !tt.device<#device>) {
  // expected-error@+1 {{op Bias must only have data on the final dimenstion}}
  %r = "ttnn.conv2d"(%a, %b, %c, %d, %e) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 1 : i32, input_height = 1 : i32, input_width = 1 : i32, kernel_height = 1 : i32, kernel_width = 1 : i32, out_channels = 1 : i32, padding_height = 1 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 1 : i32}> : (tensor<1x16x20x8xf32>, tensor<24x8x3x3xf32>, tensor<1x1x2x24xf32>, tensor<1x16x20x24xf32>, !tt.device<#device>) -> tensor<1x16x20x24xf32>
  return
}

// -----

func.func @conv2d_few_operands(%a: tensor<1x16x20x8xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<1x16x20x24xf32>) {
  // expected-error@+1 {{op expected 4 or more operands, but found 3}}
  %r = "ttnn.conv2d"(%a, %b, %c) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 1 : i32, input_height = 1 : i32, input_width = 1 : i32, kernel_height = 1 : i32, kernel_width = 1 : i32, out_channels = 1 : i32, padding_height = 1 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 1 : i32}> : (tensor<1x16x20x8xf32>, tensor<24x8x3x3xf32>, tensor<1x16x20x24xf32>) -> tensor<1x16x20x24xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @conv2d_i32(%a: tensor<1x16x20x8xf32>, %b: tensor<24x8x3x3xf32>, %c: tensor<1x16x20x24xf32>, %d: !tt.device<#device>) {
  // expected-error@+1 {{op attribute 'batch_size' failed to satisfy constraint: 32-bit signless integer attribute}}
  %r = "ttnn.conv2d"(%a, %b, %c, %d) <{batch_size = 1 : si32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 1 : i32, input_height = 1 : i32, input_width = 1 : i32, kernel_height = 1 : i32, kernel_width = 1 : i32, out_channels = 1 : i32, padding_height = 1 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 1 : i32}> : (tensor<1x16x20x8xf32>, tensor<24x8x3x3xf32>, tensor<1x16x20x24xf32>, !tt.device<#device>) -> tensor<1x16x20x24xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @max_pool2d_height(%a: tensor<1x1x320x8xf32>, %b: tensor<1x1x320x8xf32>, %c: !tt.device<#device>) {
  // expected-error@+1 {{op Kernel height 17 is greater than input height 16. This MaxPool2d configuration is invalid.}}
  %r = "ttnn.max_pool2d"(%a, %b, %c) <{ceil_mode = false, batch_size = 1 : si32, channels = 8 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, input_height = 16 : si32, input_width = 20 : si32, kernel_height = 17 : si32, kernel_width = 2 : si32, padding_height = 0 : si32, padding_width = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x1x320x8xf32>, tensor<1x1x320x8xf32>, !tt.device<#device>) -> tensor<1x1x320x8xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @max_pool2d_width(%a: tensor<1x1x320x8xf32>, %b: tensor<1x1x320x8xf32>, %c: !tt.device<#device>) {
  // expected-error@+1 {{op Kernel width 21 is greater than input width 20. This MaxPool2d configuration is invalid.}}
  %r = "ttnn.max_pool2d"(%a, %b, %c) <{ceil_mode = false, batch_size = 1 : si32, channels = 8 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, input_height = 16 : si32, input_width = 20 : si32, kernel_height = 2 : si32, kernel_width = 21 : si32, padding_height = 0 : si32, padding_width = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x1x320x8xf32>, tensor<1x1x320x8xf32>, !tt.device<#device>) -> tensor<1x1x320x8xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @max_pool2d_rank(%a: tensor<1x320x8xf32>, %b: tensor<1x1x320x8xf32>, %c: !tt.device<#device>) {
  // expected-error@+1 {{op Input tensor rank must be 4. Recieved input with rank 3. Shape: (1, 320, 8).}}
  %r = "ttnn.max_pool2d"(%a, %b, %c) <{ceil_mode = false, batch_size = 1 : si32, channels = 8 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, input_height = 16 : si32, input_width = 20 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, padding_height = 0 : si32, padding_width = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x320x8xf32>, tensor<1x1x320x8xf32>, !tt.device<#device>) -> tensor<1x1x320x8xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @max_pool2d_form(%a: tensor<1x16x20x8xf32>, %b: tensor<1x1x320x8xf32>, %c: !tt.device<#device>) {
  // expected-error@+1 {{op Maxpool input must be in the form (1, 1, N*H*W, C). Recieved shape (1, 16, 20, 8).}}
  %r = "ttnn.max_pool2d"(%a, %b, %c) <{ceil_mode = false, batch_size = 1 : si32, channels = 8 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, input_height = 16 : si32, input_width = 20 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, padding_height = 0 : si32, padding_width = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x16x20x8xf32>, tensor<1x1x320x8xf32>, !tt.device<#device>) -> tensor<1x1x320x8xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @max_pool2d_pixels(%a: tensor<1x1x321x8xf32>, %b: tensor<1x1x320x8xf32>, %c: !tt.device<#device>) {
  // expected-error@+1 {{op Maxpool shape (1, 1, 321, 8) at dim -2 must be equal to N*H*W. However the attributes given are N=1, H=16, W=20. 1*16*20 != 321.}}
  %r = "ttnn.max_pool2d"(%a, %b, %c) <{ceil_mode = false, batch_size = 1 : si32, channels = 8 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, input_height = 16 : si32, input_width = 20 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, padding_height = 0 : si32, padding_width = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x1x321x8xf32>, tensor<1x1x320x8xf32>, !tt.device<#device>) -> tensor<1x1x320x8xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @max_pool2d_channels(%a: tensor<1x1x320x9xf32>, %b: tensor<1x1x320x8xf32>, %c: !tt.device<#device>) {
  // expected-error@+1 {{op Maxpool shape (1, 1, 320, 9) at dim -3 must be equal to C. However the attribute given is C=8. 9 != 8}}
  %r = "ttnn.max_pool2d"(%a, %b, %c) <{ceil_mode = false, batch_size = 1 : si32, channels = 8 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, input_height = 16 : si32, input_width = 20 : si32, kernel_height = 2 : si32, kernel_width = 2 : si32, padding_height = 0 : si32, padding_width = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x1x320x9xf32>, tensor<1x1x320x8xf32>, !tt.device<#device>) -> tensor<1x1x320x8xf32>
  return
}

// -----

func.func @alloc_layout() {
  // expected-error@+1 {{op Result type missing layout attribute}}
  %r = "ttnn.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<system>, size = 32768 : i64}> : () -> tensor<64x128xf32>
  return
}

// -----

func.func @alloc_size() {
  // expected-error@+1 {{op Alloc size must be non-zero}}
  %r = "ttnn.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<system>, size = 0 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_space() {
  // expected-error@+1 {{op Input tensor layout memory space must match alloc memory space}}
  %r = "ttnn.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<dram>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_no_space() {
  // expected-error@+1 {{op the memref of a layout names one of the memory spaces system, mmio, dram, l1, got 'memref<64x128xf32>'}}
  %r = "ttnn.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<dram>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32>>>
  return
}

// -----

func.func @alloc_system_address() {
  // expected-error@+1 {{op Allocating from system memory space must have address set to 0, implicitly allocated by the runtime}}
  %r = "ttnn.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<system>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_mmio_address() {
  // expected-error@+1 {{op Allocating from system memory space must have address set to 0, implicitly allocated by the runtime}}
  %r = "ttnn.alloc"() <{address = 1024 : i64, memory_space = #tt.memory_space<mmio>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<mmio>>>>
  return
}

// -----

func.func @alloc_dram_address() {
  // expected-error@+1 {{op Allocating from a device memory space must have address set to a non-zero value, device addresses are statically allocated}}
  %r = "ttnn.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<dram>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<dram>>>>
  return
}

// -----

func.func @alloc_l1_address() {
  // expected-error@+1 {{op Allocating from a device memory space must have address set to a non-zero value, device addresses are statically allocated}}
  %r = "ttnn.alloc"() <{address = 0 : i64, memory_space = #tt.memory_space<l1>, size = 32768 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<l1>>>>
  return
}

// -----

func.func @alloc_i64_attribute() {
  // expected-error@+1 {{op attribute 'address' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "ttnn.alloc"() <{address = 0 : i32, memory_space = #tt.memory_space<system>, size = 1 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @alloc_space_class() {
  // expected-error@+1 {{for op ttnn.alloc: Invalid attribute `memory_space` in property conversion: 1 : i32}}
  %r = "ttnn.alloc"() <{address = 0 : i64, memory_space = 1 : i32, size = 1 : i64}> : () -> tensor<64x128xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>>
  return
}

// -----

func.func @dealloc_operands(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{op requires a single operand}}
  "ttnn.dealloc"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  return
}

// -----

func.func @dealloc_results(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{op requires zero results}}
  %r = "ttnn.dealloc"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @arange_step(%a: !tt.device<#device>) {
  // expected-error@+1 {{op Step must not be 0.}}
  %r = "ttnn.arange"(%a) <{arange_dimension = 1 : i64, end = 5 : si64, start = 0 : si64, step = 0 : si64}> : (!tt.device<#device>) -> tensor<3x5xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @arange_dimension(%a: !tt.device<#device>) {
  // expected-error@+1 {{op Dimension 2 is out of range for rank 2.}}
  %r = "ttnn.arange"(%a) <{arange_dimension = 2 : i64, end = 5 : si64, start = 0 : si64, step = 1 : si64}> : (!tt.device<#device>) -> tensor<3x5xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @arange_extent(%a: !tt.device<#device>) {
  // expected-error@+1 {{op Extent 5 of dimension 1 must be 4, the number of values.}}
  %r = "ttnn.arange"(%a) <{arange_dimension = 1 : i64, end = 8 : si64, start = 1 : si64, step = 2 : si64}> : (!tt.device<#device>) -> tensor<3x5xf32>
  return
}

// -----

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @arange_si64(%a: !tt.device<#device>) {
  // expected-error@+1 {{op attribute 'end' failed to satisfy constraint: 64-bit signed integer attribute}}
  %r = "ttnn.arange"(%a) <{arange_dimension = 1 : i64, end = 5 : i64, start = 0 : si64, step = 1 : si64}> : (!tt.device<#device>) -> tensor<3x5xf32>
  return
}

// -----

// expected-error@+2 {{expected ::mlir::tt::ttnn::Layout to be one of: row_major, tile, invalid}}
// expected-error@+1 {{failed to parse TTNN_LayoutAttr parameter 'value' which is to be a `::mlir::tt::ttnn::Layout`}}
module attributes {test.a = #ttnn.layout<nonsense>} {}

// -----

// expected-error@+2 {{expected ::mlir::tt::ttnn::TensorMemoryLayout to be one of: interleaved, single_bank, height_sharded, width_sharded, block_sharded}}
// expected-error@+1 {{failed to parse TTNN_TensorMemoryLayoutAttr parameter 'value' which is to be a `::mlir::tt::ttnn::TensorMemoryLayout`}}
module attributes {test.a = #ttnn.tensor_memory_layout<nonsense>} {}

// -----

// expected-error@+2 {{expected ::mlir::tt::ttnn::BufferType to be one of: dram, l1, system_memory, l1_small, trace}}
// expected-error@+1 {{failed to parse TTNN_BufferTypeAttr parameter 'value' which is to be a `::mlir::tt::ttnn::BufferType`}}
module attributes {test.a = #ttnn.buffer_type<nonsense>} {}

// -----

// expected-error@+2 {{expected '<'}}
// expected-error@+1 {{failed to parse TTNN_MemoryConfigAttr parameter 'tensor_memory_layout' which is to be a `TensorMemoryLayoutAttr`}}
module attributes {test.a = #ttnn.memory_config<interleaved, dram>} {}

// -----

// expected-error@+2 {{expected static shape}}
// expected-error@+1 {{failed to parse TTNN_CoreRangeAttr parameter 'offset' which is to be a `::llvm::ArrayRef<int64_t>`}}
module attributes {test.a = #ttnn.core_range<0x?, 8x8>} {}

// -----

// expected-error@+1 {{unknown attribute `nonsense` in dialect `ttnn`}}
module attributes {test.a = #ttnn.nonsense<1>} {}

// -----

// expected-error@+1 {{unknown  type `tensor` in dialect `ttnn`}}
module attributes {test.a = !ttnn.tensor} {}

// -----

#k = #ttnn.read_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = [#ttnn.kernel_arg_address_of_tensor<2>]>
func.func @generic_operands(%a: tensor<32x64xf32>, %b: tensor<32x64xf32>) {
  // expected-error@+1 {{op of 2 operands: an argument of kernel 'r' is about tensor 2, but there are 2; they are numbered from 0}}
  "ttnn.generic"(%a, %b) <{program = #ttnn.program<kernels = [#k], cbs = [], semaphores = []>}> : (tensor<32x64xf32>, tensor<32x64xf32>) -> ()
  return
}

// -----

#k = #ttnn.read_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = []>
func.func @generic_outputs(%a: tensor<32x64xf32>, %b: tensor<32x64xf32>) {
  // expected-error@+1 {{op writes operand #1, which is no result of 'ttnn.empty'; give it a tensor of its own}}
  "ttnn.generic"(%a, %b) <{program = #ttnn.program<kernels = [#k], cbs = [], semaphores = []>}> : (tensor<32x64xf32>, tensor<32x64xf32>) -> ()
  return
}

// -----

#k = #ttnn.read_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = []>
func.func @generic_number_of_outputs(%a: tensor<32x64xf32>) {
  // expected-error@+1 {{op writes 2 of 1 operands; it writes one or more of them}}
  "ttnn.generic"(%a) <{num_outputs = 2 : i64, program = #ttnn.program<kernels = [#k], cbs = [], semaphores = []>}> : (tensor<32x64xf32>) -> ()
  return
}

// -----

func.func @generic_without_kernels(%a: tensor<32x64xf32>) {
  // expected-error@+1 {{a program without kernels; give it at least one}}
  "ttnn.generic"(%a) <{program = #ttnn.program<kernels = [], cbs = [], semaphores = []>}> : (tensor<32x64xf32>) -> ()
  return
}

// -----

// expected-error@+1 {{circular buffer 3: 100 bytes are not made of pages of 64; the total size has to be a multiple of the page size}}
#cb = #ttnn.kernel_cb<total_size = 100, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, formats = [<buffer_index = 3, dtype = bf16, page_size = 64>]>

// -----

// expected-error@+1 {{the corner of low columns and rows comes first}}
#range = #ttnn.core_range<(1,0), (0,0)>

// -----

// expected-error@+1 {{expected 'named_ct_args' or 'rt_args' or 'defines' or 'source'}}
#k = #ttnn.read_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = [], text = "x">

// -----

// expected-error@+1 {{expected one of: riscv_0, riscv_1}}
#k = #ttnn.data_movement_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, processor = riscv_2, noc_index = noc0, ct_args = [], common_rt_args = []>

// -----

// expected-error@+1 {{expected one of: fp32, default}}
#k = #ttnn.compute_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, math_fidelity = lofi, fp32_dest_acc_en = true, dst_full_sync_en = false, unpack_to_dest_modes = [tf32], bfp8_pack_precise = false, math_approx_mode = false, ct_args = [], common_rt_args = []>

// -----

// expected-error@+1 {{expected a kernel's argument}}
#k = #ttnn.read_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [#ttnn.buffer_type<dram>], common_rt_args = []>

// -----

// expected-error@+1 {{common run-time argument 0 of kernel 'r' is TensorAccessorArgs, which kernels read at compile time}}
#k = #ttnn.read_kernel<symbol_ref = @r, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>, ct_args = [], common_rt_args = [#ttnn.kernel_arg_tensor_accessor_args<0>]>

// -----

func.func @sum_dimension(%a: tensor<3x7xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{op Reduction dimension 5 is out of range for rank 2.}}
  %r = "ttnn.sum"(%a, %b) <{dim_arg = [5 : i32], keep_dim = false}> : (tensor<3x7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @mean_of_others(%a: tensor<3x7xf32>, %b: tensor<7x1xf32>) {
  // expected-error@+1 {{op Output shape (7, 1) must be (3, 1).}}
  %r = "ttnn.mean"(%a, %b) <{dim_arg = [-1 : i32], keep_dim = true}> : (tensor<3x7xf32>, tensor<7x1xf32>) -> tensor<7x1xf32>
  return
}

// -----

func.func @max_kept(%a: tensor<3x7xf32>, %b: tensor<3x1xf32>) {
  // expected-error@+1 {{op Output shape (3, 1) must be (3).}}
  %r = "ttnn.max"(%a, %b) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<3x7xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  return
}

// -----

// A whole tile of results, as in programs of tt-mlir, is no error.
func.func @sum_in_a_tile(%a: tensor<3x70xf32>, %b: tensor<3x32xf32>) -> tensor<3x32xf32> {
  %r = "ttnn.sum"(%a, %b) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<3x70xf32>, tensor<3x32xf32>) -> tensor<3x32xf32>
  return %r : tensor<3x32xf32>
}
