// RUN: grep -v "^//" %s > %t.mlir
// RUN: ttmlir-opt %t.mlir > %t.printed.mlir
// RUN: diff %t.mlir %t.printed.mlir
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | ttmlir-opt | diff %t.mlir -
#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
#dram = #tt.memory_space<dram>
#l1_ = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #system>>
#layout1 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #dram>, interleaved>
#layout2 = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x4>, memref<32x32xf32, #l1_>, block_sharded>
module attributes {test.buffer_type = #ttnn.buffer_type<l1_small>, test.core_range = #ttnn.core_range<0x0, 8x8>, test.layout = #ttnn.layout<row_major>, test.memory_config = #ttnn.memory_config<<block_sharded>, <l1>>, test.shape = #ttnn.shape<64x128>, test.spread = #ttnn.tensor_memory_layout<height_sharded>} {
  func.func @abs(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.abs"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @sqrt(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.sqrt"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @neg(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.neg"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @reciprocal(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.reciprocal"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @relu(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.relu"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @sigmoid(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.sigmoid"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @exp(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.exp"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.add"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @multiply(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.multiply"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @subtract(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.subtract"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @div(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.div"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @ge(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.ge"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @maximum(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.maximum"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @sum(%arg0: tensor<33x70xf32>, %arg1: tensor<33x1xf32>) -> tensor<33x1xf32> {
    %0 = "ttnn.sum"(%arg0, %arg1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<33x70xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
    return %0 : tensor<33x1xf32>
  }
  func.func @mean(%arg0: tensor<33x70xf32>, %arg1: tensor<70xf32>) -> tensor<70xf32> {
    %0 = "ttnn.mean"(%arg0, %arg1) <{dim_arg = [-2 : i32], keep_dim = false}> : (tensor<33x70xf32>, tensor<70xf32>) -> tensor<70xf32>
    return %0 : tensor<70xf32>
  }
  func.func @max(%arg0: tensor<33x70xf32>, %arg1: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %0 = "ttnn.max"(%arg0, %arg1) <{keep_dim = true}> : (tensor<33x70xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    return %0 : tensor<1x1xf32>
  }
  func.func @min(%arg0: tensor<33x70xf32>, %arg1: tensor<33xf32>) -> tensor<33xf32> {
    %0 = "ttnn.min"(%arg0, %arg1) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<33x70xf32>, tensor<33xf32>) -> tensor<33xf32>
    return %0 : tensor<33xf32>
  }
  func.func @prod(%arg0: tensor<33x70xf32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = "ttnn.prod"(%arg0, %arg1) <{dim_arg = [0 : i32, 1 : i32], keep_dim = false}> : (tensor<33x70xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @embedding(%arg0: tensor<7x5xi32>, %arg1: tensor<10x4xf32>, %arg2: tensor<7x5x4xf32>) -> tensor<7x5x4xf32> {
    %0 = "ttnn.embedding"(%arg0, %arg1, %arg2) : (tensor<7x5xi32>, tensor<10x4xf32>, tensor<7x5x4xf32>) -> tensor<7x5x4xf32>
    return %0 : tensor<7x5x4xf32>
  }
  func.func @softmax(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttnn.softmax"(%arg0, %arg1) <{dimension = -1 : si32}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @transpose(%arg0: tensor<2x33x70xf32>, %arg1: tensor<2x70x33xf32>) -> tensor<2x70x33xf32> {
    %0 = "ttnn.transpose"(%arg0, %arg1) <{dim0 = 1 : si32, dim1 = -1 : si32}> : (tensor<2x33x70xf32>, tensor<2x70x33xf32>) -> tensor<2x70x33xf32>
    return %0 : tensor<2x70x33xf32>
  }
  func.func @concat(%arg0: tensor<3x7xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<3x1xf32>, %arg3: tensor<3x10xf32>) -> tensor<3x10xf32> {
    %0 = "ttnn.concat"(%arg0, %arg1, %arg2, %arg3) <{dim = 1 : si32}> : (tensor<3x7xf32>, tensor<3x2xf32>, tensor<3x1xf32>, tensor<3x10xf32>) -> tensor<3x10xf32>
    return %0 : tensor<3x10xf32>
  }
  func.func @reshape(%arg0: tensor<6x35xf32>, %arg1: tensor<7x30xf32>) -> tensor<7x30xf32> {
    %0 = "ttnn.reshape"(%arg0, %arg1) <{shape = [-1 : i32, 30 : i32]}> : (tensor<6x35xf32>, tensor<7x30xf32>) -> tensor<7x30xf32>
    return %0 : tensor<7x30xf32>
  }
  func.func @matmul(%arg0: tensor<2x4x5xf32>, %arg1: tensor<2x5x7xf32>, %arg2: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
    %0 = "ttnn.matmul"(%arg0, %arg1, %arg2) : (tensor<2x4x5xf32>, tensor<2x5x7xf32>, tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
    return %0 : tensor<2x4x7xf32>
  }
  func.func @slice(%arg0: tensor<33x70xf32>, %arg1: tensor<11x34xf32>) -> tensor<11x34xf32> {
    %0 = "ttnn.slice"(%arg0, %arg1) <{begins = [0 : i32, 2 : i32], ends = [33 : i32, -1 : i32], step = [3 : i32, 2 : i32]}> : (tensor<33x70xf32>, tensor<11x34xf32>) -> tensor<11x34xf32>
    return %0 : tensor<11x34xf32>
  }
  func.func @repeat(%arg0: tensor<3x7xf32>, %arg1: tensor<6x21xf32>) -> tensor<6x21xf32> {
    %0 = "ttnn.repeat"(%arg0, %arg1) <{repeat_dimensions = array<i64: 2, 3>}> : (tensor<3x7xf32>, tensor<6x21xf32>) -> tensor<6x21xf32>
    return %0 : tensor<6x21xf32>
  }
  func.func @permute(%arg0: tensor<2x3x7xf32>, %arg1: tensor<7x2x3xf32>) -> tensor<7x2x3xf32> {
    %0 = "ttnn.permute"(%arg0, %arg1) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x7xf32>, tensor<7x2x3xf32>) -> tensor<7x2x3xf32>
    return %0 : tensor<7x2x3xf32>
  }
  func.func @pad(%arg0: tensor<3x7xf32>, %arg1: tensor<6x8xf32>) -> tensor<6x8xf32> {
    %0 = "ttnn.pad"(%arg0, %arg1) <{padding = array<i32: 1, 2, 0, 1>, value = -1.500000e+00 : f32}> : (tensor<3x7xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
    return %0 : tensor<6x8xf32>
  }
  func.func @clamp(%arg0: tensor<3x7xf32>, %arg1: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = "ttnn.clamp"(%arg0, %arg1) <{max = 6.000000e+00 : f32, min = -5.000000e-01 : f32, operandSegmentSizes = array<i32: 1, 1>}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func @leaky_relu(%arg0: tensor<3x7xf32>, %arg1: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = "ttnn.leaky_relu"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, parameter = 1.000000e-01 : f32}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func @where(%arg0: tensor<3x7xi1>, %arg1: tensor<3x7xf32>, %arg2: tensor<1x7xf32>, %arg3: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = "ttnn.where"(%arg0, %arg1, %arg2, %arg3) <{operandSegmentSizes = array<i32: 3, 1>}> : (tensor<3x7xi1>, tensor<3x7xf32>, tensor<1x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func @conv2d(%arg0: tensor<1x16x20x8xf32>, %arg1: tensor<24x8x5x3xf32>, %arg2: tensor<1x16x10x24xf32>, %arg3: !tt.device<#device>) -> tensor<1x16x10x24xf32> {
    %0 = "ttnn.conv2d"(%arg0, %arg1, %arg2, %arg3) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 8 : i32, input_height = 16 : i32, input_width = 20 : i32, kernel_height = 5 : i32, kernel_width = 3 : i32, out_channels = 24 : i32, padding_height = 2 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 2 : i32}> : (tensor<1x16x20x8xf32>, tensor<24x8x5x3xf32>, tensor<1x16x10x24xf32>, !tt.device<#device>) -> tensor<1x16x10x24xf32>
    return %0 : tensor<1x16x10x24xf32>
  }
  func.func @conv2d_bias(%arg0: tensor<1x16x20x8xf32>, %arg1: tensor<24x8x5x3xf32>, %arg2: tensor<1x1x1x24xf32>, %arg3: tensor<1x16x10x24xf32>, %arg4: !tt.device<#device>) -> tensor<1x16x10x24xf32> {
    %0 = "ttnn.conv2d"(%arg0, %arg1, %arg2, %arg3, %arg4) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 1 : i32, groups = 1 : i32, in_channels = 8 : i32, input_height = 16 : i32, input_width = 20 : i32, kernel_height = 5 : i32, kernel_width = 3 : i32, out_channels = 24 : i32, padding_height = 2 : i32, padding_width = 1 : i32, stride_height = 1 : i32, stride_width = 2 : i32}> : (tensor<1x16x20x8xf32>, tensor<24x8x5x3xf32>, tensor<1x1x1x24xf32>, tensor<1x16x10x24xf32>, !tt.device<#device>) -> tensor<1x16x10x24xf32>
    return %0 : tensor<1x16x10x24xf32>
  }
  func.func @max_pool2d(%arg0: tensor<1x1x320x8xf32>, %arg1: tensor<1x1x150x8xf32>, %arg2: !tt.device<#device>) -> tensor<1x1x150x8xf32> {
    %0 = "ttnn.max_pool2d"(%arg0, %arg1, %arg2) <{batch_size = 1 : si32, ceil_mode = false, channels = 8 : si32, dilation_height = 1 : si32, dilation_width = 1 : si32, input_height = 16 : si32, input_width = 20 : si32, kernel_height = 2 : si32, kernel_width = 3 : si32, padding_height = 0 : si32, padding_width = 1 : si32, stride_height = 1 : si32, stride_width = 2 : si32}> : (tensor<1x1x320x8xf32>, tensor<1x1x150x8xf32>, !tt.device<#device>) -> tensor<1x1x150x8xf32>
    return %0 : tensor<1x1x150x8xf32>
  }
  func.func @memory(%arg0: tensor<64x128xf32, #layout>) -> tensor<64x128xf32, #layout> {
    %0 = "ttnn.get_device"() : () -> !tt.device<#device>
    %1 = "ttnn.to_layout"(%arg0, %0) <{layout = #ttnn.layout<tile>}> : (tensor<64x128xf32, #layout>, !tt.device<#device>) -> tensor<64x128xf32, #layout>
    %2 = "ttnn.to_device"(%1, %0) <{memory_config = #ttnn.memory_config<<interleaved>, <dram>>}> : (tensor<64x128xf32, #layout>, !tt.device<#device>) -> tensor<64x128xf32, #layout1>
    %3 = "ttnn.to_memory_config"(%2, %0) : (tensor<64x128xf32, #layout1>, !tt.device<#device>) -> tensor<64x128xf32, #layout2>
    %4 = "ttnn.to_memory_config"(%3, %0) : (tensor<64x128xf32, #layout2>, !tt.device<#device>) -> tensor<64x128xf32, #layout1>
    %5 = "ttnn.to_memory_config"(%4, %0) : (tensor<64x128xf32, #layout1>, !tt.device<#device>) -> tensor<64x128xf32, #layout>
    %6 = "ttnn.alloc"() <{address = 4096 : i64, memory_space = #dram, size = 32768 : i64}> : () -> tensor<64x128xf32, #layout1>
    "ttnn.dealloc"(%6) : (tensor<64x128xf32, #layout1>) -> ()
    return %5 : tensor<64x128xf32, #layout>
  }
  func.func @creation(%arg0: !tt.device<#device>) {
    %0 = "ttnn.empty"(%arg0) : (!tt.device<#device>) -> tensor<3x7xbf16>
    %1 = "ttnn.full"(%arg0) <{fillValue = 3.500000e+00 : f32}> : (!tt.device<#device>) -> tensor<3x7xf32>
    %2 = "ttnn.constant"(%arg0) <{value = dense<[2.000000e-01, 1.300000e+00]> : tensor<2xf32>}> : (!tt.device<#device>) -> tensor<2xf32>
    %3 = "ttnn.arange"(%arg0) <{arange_dimension = 0 : i64, end = -5 : si64, start = 1 : si64, step = -3 : si64}> : (!tt.device<#device>) -> tensor<2x3xi32>
    return
  }
}

