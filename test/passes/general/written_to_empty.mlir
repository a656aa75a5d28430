// Passes of ttir on operations of late 2025, which write to a `ttir.empty`.
// RUN: ttmlir-opt %s --ttir-fusing | FileCheck %s --check-prefix=FUSED
// RUN: ttmlir-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL
// RUN: ttmlir-opt %s --ttir-to-ttir-decomposition | FileCheck %s --check-prefix=DECOMPOSED
// RUN: ttmlir-opt %s --ttir-flatten-sliding-window | FileCheck %s --check-prefix=FLAT
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s --check-prefix=TTNN

// FUSED-LABEL: @softmax
// FUSED: %[[OUT:.*]] = ttir.empty() : tensor<33x10xf32>
// FUSED: "ttir.softmax"(%arg0, %[[OUT]]) <{dimension = 1 : si32
// FUSED-NOT: ttir.div
// CANONICAL-LABEL: @softmax
func.func @softmax(%x: tensor<33x10xf32>) -> tensor<33x10xf32> {
  %0 = ttir.empty() : tensor<33x10xf32>
  %1 = "ttir.exp"(%x, %0) : (tensor<33x10xf32>, tensor<33x10xf32>) -> tensor<33x10xf32>
  %2 = ttir.empty() : tensor<33x1xf32>
  %3 = "ttir.sum"(%1, %2) {dim_arg = [1 : i32], keep_dim = true}
      : (tensor<33x10xf32>, tensor<33x1xf32>) -> tensor<33x1xf32>
  %4 = ttir.empty() : tensor<33x10xf32>
  %5 = "ttir.broadcast"(%3, %4) {broadcast_dimensions = array<i64: 1, 10>}
      : (tensor<33x1xf32>, tensor<33x10xf32>) -> tensor<33x10xf32>
  %6 = ttir.empty() : tensor<33x10xf32>
  %7 = "ttir.div"(%1, %5, %6)
      : (tensor<33x10xf32>, tensor<33x10xf32>, tensor<33x10xf32>) -> tensor<33x10xf32>
  return %7 : tensor<33x10xf32>
}

// CANONICAL-LABEL: @moves
// CANONICAL-NOT: ttir.permute
// CANONICAL: return %arg0
func.func @moves(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = ttir.empty() : tensor<5x3xf32>
  %1 = "ttir.permute"(%x, %0) <{permutation = array<i64: 1, 0>}>
      : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %2 = ttir.empty() : tensor<3x5xf32>
  %3 = "ttir.permute"(%1, %2) <{permutation = array<i64: 1, 0>}>
      : (tensor<5x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %3 : tensor<3x5xf32>
}

// DECOMPOSED-LABEL: @part
// DECOMPOSED: %[[OUT:.*]] = ttir.empty() : tensor<4x3xf32>
// DECOMPOSED: "ttir.slice_static"(%arg0, %[[OUT]]) <{begins = [0 : i32, 1 : i32], ends = [4 : i32, 7 : i32], step = [1 : i32, 2 : i32]}>
func.func @part(%x: tensor<4x9xf32>) -> tensor<4x3xf32> {
  %0 = ttir.empty() : tensor<4x3xf32>
  %1 = "ttir.index"(%x, %0) <{dim = 1 : i32, begin = 1 : i32, end = 7 : i32, step = 2 : i32}>
      : (tensor<4x9xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// FLAT-LABEL: @pool
// FLAT: "ttir.reshape"(%arg0, %{{.*}}) <{shape = [1 : i32, 1 : i32, 64 : i32, 5 : i32]}>
// FLAT: "ttir.max_pool2d"
// FLAT-SAME: #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 8>
func.func @pool(%x: tensor<1x8x8x5xbf16>) -> tensor<1x4x4x5xbf16> {
  %0 = ttir.empty() : tensor<1x4x4x5xbf16>
  %1 = "ttir.max_pool2d"(%x, %0) <{kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>,
      dilation = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, ceil_mode = false}>
      : (tensor<1x8x8x5xbf16>, tensor<1x4x4x5xbf16>) -> tensor<1x4x4x5xbf16>
  return %1 : tensor<1x4x4x5xbf16>
}

// Caches were results of what writes them.
// TTNN-LABEL: @caches
// TTNN: "ttnn.fill_cache"
// TTNN: "ttnn.update_cache"
func.func @caches(%cache: tensor<1x32x64x96xbf16>, %all: tensor<1x32x33x96xbf16>,
    %one: tensor<1x32x1x96xbf16>, %at: tensor<1xi32>) -> tensor<1x32x64x96xbf16> {
  %0 = "ttir.fill_cache"(%cache, %all) <{batch_offset = 0 : i32}>
      : (tensor<1x32x64x96xbf16>, tensor<1x32x33x96xbf16>) -> tensor<1x32x64x96xbf16>
  %1 = "ttir.update_cache"(%0, %one, %at) <{batch_offset = 0 : i32}>
      : (tensor<1x32x64x96xbf16>, tensor<1x32x1x96xbf16>, tensor<1xi32>) -> tensor<1x32x64x96xbf16>
  return %1 : tensor<1x32x64x96xbf16>
}

// General windows, which 2026 has no more.
// DECOMPOSED-LABEL: @convolution
// DECOMPOSED: "ttir.permute"(%arg0, %{{.*}}) <{permutation = array<i64: 0, 2, 3, 1>}>
// DECOMPOSED: "ttir.conv2d"(%{{.*}}, %arg1, %{{.*}}) <{{{.*}}dilation = array<i32: 1, 1>, groups = 1 : i32, {{.*}}padding = array<i32: 1, 1, 1, 1>, stride = array<i32: 2, 1>
// DECOMPOSED: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x5x9x7xbf16>, tensor<1x7x5x9xbf16>)
func.func @convolution(%x: tensor<1x3x10x9xbf16>, %w: tensor<7x3x3x3xbf16>)
    -> tensor<1x7x5x9xbf16> {
  %0 = ttir.empty() : tensor<1x7x5x9xbf16>
  %1 = "ttir.convolution"(%x, %w, %0) <{batch_group_count = 1 : i64, convolution_layout =
      #ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = 2x3,
      kernel_output_feature = 0, kernel_input_feature = 1, kernel_spatial_dimensions = 2x3,
      output_batch = 0, output_feature = 1, output_spatial_dimensions = 2x3>,
      feature_group_count = 1 : i64, input_dilation = array<i64: 1, 1>,
      padding = array<i64: 1, 1, 1, 1>, weight_dilation = array<i64: 1, 1>,
      window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}>
      : (tensor<1x3x10x9xbf16>, tensor<7x3x3x3xbf16>, tensor<1x7x5x9xbf16>) -> tensor<1x7x5x9xbf16>
  return %1 : tensor<1x7x5x9xbf16>
}

// DECOMPOSED-LABEL: @pooling
// DECOMPOSED: "ttir.max_pool2d"(%{{.*}}) <{ceil_mode = false, dilation = array<i32: 1, 1>, kernel = array<i32: 3, 2>, padding = array<i32: 1, 0, 1, 0>, stride = array<i32: 2, 2>}>
func.func @pooling(%x: tensor<1x5x8x6xbf16>) -> tensor<1x5x4x3xbf16> {
  %0 = ttir.empty() : tensor<1x5x4x3xbf16>
  %1 = "ttir.pooling"(%x, %0) <{base_dilations = array<i64: 1, 1, 1, 1>,
      operandSegmentSizes = array<i32: 1, 1>, padding = array<i64: 0, 0, 0, 0, 1, 1, 0, 0>,
      pooling_method = #ttir<pooling_method Max>, window_dilations = array<i64: 1, 1, 1, 1>,
      window_dimensions = array<i64: 1, 1, 3, 2>, window_strides = array<i64: 1, 1, 2, 2>}>
      : (tensor<1x5x8x6xbf16>, tensor<1x5x4x3xbf16>) -> tensor<1x5x4x3xbf16>
  return %1 : tensor<1x5x4x3xbf16>
}
