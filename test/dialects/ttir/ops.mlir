// RUN: grep -v "^//" %s > %t.mlir
// RUN: ttmlir-opt %t.mlir > %t.printed.mlir
// RUN: diff %t.mlir %t.printed.mlir
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | ttmlir-opt | diff %t.mlir -
#any_device = #tt.operand_constraint<dram|l1|scalar|tile|none|interleaved|single_bank|height_sharded|width_sharded|block_sharded|any_layout|any_device|any_device_tile|l1_block_sharded>
#l1_ = #tt.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #tt.iterator_type<parallel>
#system = #tt.memory_space<system>
#layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #system>>
#layout1 = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x4>, memref<32x32xf32, #l1_>, block_sharded>
module {
  func.func @abs(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.abs"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @sqrt(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.sqrt"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @neg(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.neg"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @reciprocal(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.reciprocal"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @relu(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.relu"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @sigmoid(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.sigmoid"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @exp(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.exp"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.add"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @multiply(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.multiply"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @subtract(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.subtract"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @div(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.div"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @ge(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.ge"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @maximum(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>, %arg2: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.maximum"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @sum(%arg0: tensor<33x70xf32>, %arg1: tensor<33x1xf32>) -> tensor<33x1xf32> {
    %0 = "ttir.sum"(%arg0, %arg1) <{dim_arg = [1 : i32], keep_dim = true, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
    return %0 : tensor<33x1xf32>
  }
  func.func @mean(%arg0: tensor<33x70xf32>, %arg1: tensor<70xf32>) -> tensor<70xf32> {
    %0 = "ttir.mean"(%arg0, %arg1) <{dim_arg = [-2 : i32], keep_dim = false, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<70xf32>) -> tensor<70xf32>
    return %0 : tensor<70xf32>
  }
  func.func @max(%arg0: tensor<33x70xf32>, %arg1: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %0 = "ttir.max"(%arg0, %arg1) <{keep_dim = true, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    return %0 : tensor<1x1xf32>
  }
  func.func @min(%arg0: tensor<33x70xf32>, %arg1: tensor<33xf32>) -> tensor<33xf32> {
    %0 = "ttir.min"(%arg0, %arg1) <{dim_arg = [1 : i32], keep_dim = false, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33xf32>) -> tensor<33xf32>
    return %0 : tensor<33xf32>
  }
  func.func @prod(%arg0: tensor<33x70xf32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = "ttir.prod"(%arg0, %arg1) <{dim_arg = [0 : i32, 1 : i32], keep_dim = false, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @embedding(%arg0: tensor<7x5xi32>, %arg1: tensor<10x4xf32>, %arg2: tensor<7x5x4xf32>) -> tensor<7x5x4xf32> {
    %0 = "ttir.embedding"(%arg0, %arg1, %arg2) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<7x5xi32>, tensor<10x4xf32>, tensor<7x5x4xf32>) -> tensor<7x5x4xf32>
    return %0 : tensor<7x5x4xf32>
  }
  func.func @softmax(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.softmax"(%arg0, %arg1) <{dimension = -1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @transpose(%arg0: tensor<2x33x70xf32>, %arg1: tensor<2x70x33xf32>) -> tensor<2x70x33xf32> {
    %0 = "ttir.transpose"(%arg0, %arg1) <{dim0 = 1 : si32, dim1 = -1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<2x33x70xf32>, tensor<2x70x33xf32>) -> tensor<2x70x33xf32>
    return %0 : tensor<2x70x33xf32>
  }
  func.func @concat(%arg0: tensor<3x7xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<3x1xf32>, %arg3: tensor<3x10xf32>) -> tensor<3x10xf32> {
    %0 = "ttir.concat"(%arg0, %arg1, %arg2, %arg3) <{dim = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device, #any_device]}> : (tensor<3x7xf32>, tensor<3x2xf32>, tensor<3x1xf32>, tensor<3x10xf32>) -> tensor<3x10xf32>
    return %0 : tensor<3x10xf32>
  }
  func.func @reshape(%arg0: tensor<6x35xf32>, %arg1: tensor<7x30xf32>) -> tensor<7x30xf32> {
    %0 = "ttir.reshape"(%arg0, %arg1) <{operand_constraints = [#any_device, #any_device], shape = [-1 : i32, 30 : i32]}> : (tensor<6x35xf32>, tensor<7x30xf32>) -> tensor<7x30xf32>
    return %0 : tensor<7x30xf32>
  }
  func.func @matmul(%arg0: tensor<2x4x5xf32>, %arg1: tensor<2x5x7xf32>, %arg2: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
    %0 = "ttir.matmul"(%arg0, %arg1, %arg2) <{operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<2x4x5xf32>, tensor<2x5x7xf32>, tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
    return %0 : tensor<2x4x7xf32>
  }
  func.func @slice(%arg0: tensor<33x70xf32>, %arg1: tensor<11x34xf32>) -> tensor<11x34xf32> {
    %0 = "ttir.slice"(%arg0, %arg1) <{begins = [0 : i32, 2 : i32], ends = [33 : i32, -1 : i32], operand_constraints = [#any_device, #any_device], step = [3 : i32, 2 : i32]}> : (tensor<33x70xf32>, tensor<11x34xf32>) -> tensor<11x34xf32>
    return %0 : tensor<11x34xf32>
  }
  func.func @repeat(%arg0: tensor<3x7xf32>, %arg1: tensor<6x21xf32>) -> tensor<6x21xf32> {
    %0 = "ttir.repeat"(%arg0, %arg1) <{operand_constraints = [#any_device, #any_device], repeat_dimensions = array<i64: 2, 3>}> : (tensor<3x7xf32>, tensor<6x21xf32>) -> tensor<6x21xf32>
    return %0 : tensor<6x21xf32>
  }
  func.func @permute(%arg0: tensor<2x3x7xf32>, %arg1: tensor<7x2x3xf32>) -> tensor<7x2x3xf32> {
    %0 = "ttir.permute"(%arg0, %arg1) <{operand_constraints = [#any_device, #any_device], permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x7xf32>, tensor<7x2x3xf32>) -> tensor<7x2x3xf32>
    return %0 : tensor<7x2x3xf32>
  }
  func.func @pad(%arg0: tensor<3x7xf32>, %arg1: tensor<6x8xf32>) -> tensor<6x8xf32> {
    %0 = "ttir.pad"(%arg0, %arg1) <{operand_constraints = [#any_device, #any_device], padding = array<i32: 1, 2, 0, 1>, value = -1.500000e+00 : f32}> : (tensor<3x7xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
    return %0 : tensor<6x8xf32>
  }
  func.func @clamp(%arg0: tensor<3x7xf32>, %arg1: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = "ttir.clamp"(%arg0, %arg1) <{max = 6.000000e+00 : f32, min = -5.000000e-01 : f32, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func @leaky_relu(%arg0: tensor<3x7xf32>, %arg1: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = "ttir.leaky_relu"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device], parameter = 1.000000e-01 : f32}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func @where(%arg0: tensor<3x7xi1>, %arg1: tensor<3x7xf32>, %arg2: tensor<1x7xf32>, %arg3: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = "ttir.where"(%arg0, %arg1, %arg2, %arg3) <{operandSegmentSizes = array<i32: 3, 1>, operand_constraints = [#any_device, #any_device, #any_device, #any_device]}> : (tensor<3x7xi1>, tensor<3x7xf32>, tensor<1x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func @conv2d(%arg0: tensor<1x16x20x8xf32>, %arg1: tensor<24x8x5x3xf32>, %arg2: tensor<1x16x10x24xf32>) -> tensor<1x16x10x24xf32> {
    %0 = "ttir.conv2d"(%arg0, %arg1, %arg2) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device], padding_bottom = 2 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 2 : si32, stride_height = 1 : si32, stride_width = 2 : si32}> : (tensor<1x16x20x8xf32>, tensor<24x8x5x3xf32>, tensor<1x16x10x24xf32>) -> tensor<1x16x10x24xf32>
    return %0 : tensor<1x16x10x24xf32>
  }
  func.func @conv2d_bias(%arg0: tensor<1x16x20x8xf32>, %arg1: tensor<24x8x5x3xf32>, %arg2: tensor<1x1x1x24xf32>, %arg3: tensor<1x16x10x24xf32>) -> tensor<1x16x10x24xf32> {
    %0 = "ttir.conv2d"(%arg0, %arg1, %arg2, %arg3) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device, #any_device], padding_bottom = 2 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 2 : si32, stride_height = 1 : si32, stride_width = 2 : si32}> : (tensor<1x16x20x8xf32>, tensor<24x8x5x3xf32>, tensor<1x1x1x24xf32>, tensor<1x16x10x24xf32>) -> tensor<1x16x10x24xf32>
    return %0 : tensor<1x16x10x24xf32>
  }
  func.func @max_pool2d(%arg0: tensor<1x16x20x8xf32>, %arg1: tensor<1x19x10x8xf32>) -> tensor<1x19x10x8xf32> {
    %0 = "ttir.max_pool2d"(%arg0, %arg1) <{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 3 : si32, operand_constraints = [#any_device, #any_device], padding_bottom = 2 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 2 : si32, stride_height = 1 : si32, stride_width = 2 : si32}> : (tensor<1x16x20x8xf32>, tensor<1x19x10x8xf32>) -> tensor<1x19x10x8xf32>
    return %0 : tensor<1x19x10x8xf32>
  }
  func.func @max_pool2d_flat(%arg0: tensor<1x1x320x8xf32>, %arg1: tensor<1x19x10x8xf32>) -> tensor<1x19x10x8xf32> {
    %0 = "ttir.max_pool2d"(%arg0, %arg1) <{ceil_mode = true, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 3 : si32, operand_constraints = [#any_device, #any_device], original_height = 16 : si32, original_width = 20 : si32, padding_bottom = 2 : si32, padding_left = 1 : si32, padding_right = 1 : si32, padding_top = 2 : si32, stride_height = 1 : si32, stride_width = 2 : si32}> : (tensor<1x1x320x8xf32>, tensor<1x19x10x8xf32>) -> tensor<1x19x10x8xf32>
    return %0 : tensor<1x19x10x8xf32>
  }
  func.func @broadcast(%arg0: tensor<1x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = "ttir.broadcast"(%arg0, %arg1) <{dimension = [0], operand_constraints = [#any_device, #any_device]}> : (tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func @squeeze(%arg0: tensor<3x1x7xf32>, %arg1: tensor<3x7xf32>) -> tensor<3x7xf32> {
    %0 = "ttir.squeeze"(%arg0, %arg1) <{dim = -2 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<3x1x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
    return %0 : tensor<3x7xf32>
  }
  func.func @unsqueeze(%arg0: tensor<3x7xf32>, %arg1: tensor<3x1x7xf32>) -> tensor<3x1x7xf32> {
    %0 = "ttir.unsqueeze"(%arg0, %arg1) <{dim = 1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<3x7xf32>, tensor<3x1x7xf32>) -> tensor<3x1x7xf32>
    return %0 : tensor<3x1x7xf32>
  }
  func.func @constant() -> tensor<2x3xf32> {
    %0 = "ttir.constant"() <{value = dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00, 6.500000e+00]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func @constant_splat() -> tensor<4096x4096xf32> {
    %0 = "ttir.constant"() <{value = dense<7> : tensor<4096x4096xi32>}> : () -> tensor<4096x4096xf32>
    return %0 : tensor<4096x4096xf32>
  }
  func.func @arange() -> tensor<3x5xf32> {
    %0 = "ttir.arange"() <{arange_dimension = 1 : i64, end = 10 : si64, start = 1 : si64, step = 2 : si64}> : () -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
  func.func @to_layout(%arg0: tensor<64x128xf32, #layout>, %arg1: tensor<64x128xf32, #layout1>) -> tensor<64x128xf32, #layout1> {
    %0 = "ttir.to_layout"(%arg0, %arg1) : (tensor<64x128xf32, #layout>, tensor<64x128xf32, #layout1>) -> tensor<64x128xf32, #layout1>
    return %0 : tensor<64x128xf32, #layout1>
  }
  func.func @alloc() {
    %0 = "ttir.alloc"() <{address = 4096 : i64, memory_space = #l1_, size = 32768 : i64}> : () -> tensor<64x128xf32, #layout1>
    "ttir.dealloc"(%0) : (tensor<64x128xf32, #layout1>) -> ()
    return
  }
  func.func @generic(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = "ttir.generic"(%arg0, %arg1) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> ({
    ^bb0(%arg2: tensor<4x8xf32>, %arg3: tensor<4x8xf32>):
      %1 = arith.addf %arg2, %arg2 : tensor<4x8xf32>
      "ttir.yield"(%1) : (tensor<4x8xf32>) -> ()
    }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func @kernel(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: tensor<4x8xf32>) -> tensor<4x8xf32> {
    "ttir.kernel"(%arg0, %arg1) <{kind = @eltwise, op = @abs, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    %0 = "ttir.kernel"(%arg0, %arg2) <{kind = @eltwise, op = @abs, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (memref<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func @two_results(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
    %0:2 = "ttir.add"(%arg0, %arg1, %arg0, %arg1) <{operandSegmentSizes = array<i32: 2, 2>, operand_constraints = [#any_device, #any_device, #any_device, #any_device]}> : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
    return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xf32>
  }
  func.func @mixed_element_types(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xbf16>, %arg2: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %0 = "ttir.add"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    return %0 : tensor<4x8xf16>
  }
}

