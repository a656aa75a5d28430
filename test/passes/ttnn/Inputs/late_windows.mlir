func.func @main(%a: tensor<2x10x12x64xbf16>, %w: tensor<32x64x3x3xbf16>, %b: tensor<1x1x1x32xbf16>)
    -> tensor<2x8x10x32xbf16> {
  %0 = "ttir.conv2d"(%a, %w, %b) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32,
      groups = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1>}>
      : (tensor<2x10x12x64xbf16>, tensor<32x64x3x3xbf16>, tensor<1x1x1x32xbf16>)
      -> tensor<2x8x10x32xbf16>
  %1 = "ttir.cos"(%0) : (tensor<2x8x10x32xbf16>) -> tensor<2x8x10x32xbf16>
  return %1 : tensor<2x8x10x32xbf16>
}
