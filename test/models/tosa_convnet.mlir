// A small convolutional network as TOSA writes it since MLIR 20: shapes, paddings and zero points are
// operands, weights constants and arguments.
module {
  func.func @convnet(%image: tensor<2x9x11x3xf32>, %w0: tensor<5x3x3x3xf32>, %b0: tensor<5xf32>,
                     %w1: tensor<3x3x5x2xf32>, %b1: tensor<10xf32>, %w2: tensor<10x4xf32>)
      -> (tensor<2x4xf32>, tensor<2xi32>) {
    %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %no_shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %0 = tosa.conv2d %image, %w0, %b0, %zp, %zp {acc_type = f32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
        : (tensor<2x9x11x3xf32>, tensor<5x3x3x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x9x11x5xf32>
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32, nan_mode = PROPAGATE} : (tensor<2x9x11x5xf32>) -> tensor<2x9x11x5xf32>
    %2 = tosa.max_pool2d %1 {kernel = array<i64: 3, 2>, stride = array<i64: 2, 3>, pad = array<i64: 0, 0, 1, 0>, nan_mode = PROPAGATE} : (tensor<2x9x11x5xf32>) -> tensor<2x4x4x5xf32>
    %3 = tosa.depthwise_conv2d %2, %w1, %b1, %zp, %zp {acc_type = f32, pad = array<i64: 1, 1, 0, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
        : (tensor<2x4x4x5xf32>, tensor<3x3x5x2xf32>, tensor<10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x4x10xf32>
    %4 = tosa.sigmoid %3 : (tensor<2x4x4x10xf32>) -> tensor<2x4x4x10xf32>
    %5 = tosa.mul %3, %4, %no_shift : (tensor<2x4x4x10xf32>, tensor<2x4x4x10xf32>, tensor<1xi8>) -> tensor<2x4x4x10xf32>
    %6 = tosa.avg_pool2d %5, %zp, %zp {acc_type = f32, kernel = array<i64: 4, 4>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>} : (tensor<2x4x4x10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x1x10xf32>
    %rows = tosa.const_shape {values = dense<[1, 2, 10]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %matrix = tosa.const_shape {values = dense<[1, 10, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %7 = tosa.reshape %6, %rows : (tensor<2x1x1x10xf32>, !tosa.shape<3>) -> tensor<1x2x10xf32>
    %8 = tosa.reshape %w2, %matrix : (tensor<10x4xf32>, !tosa.shape<3>) -> tensor<1x10x4xf32>
    %9 = tosa.matmul %7, %8, %zp, %zp : (tensor<1x2x10xf32>, tensor<1x10x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
    %10 = tosa.reduce_max %9 {axis = 2 : i32, nan_mode = PROPAGATE} : (tensor<1x2x4xf32>) -> tensor<1x2x1xf32>
    %11 = tosa.sub %9, %10 : (tensor<1x2x4xf32>, tensor<1x2x1xf32>) -> tensor<1x2x4xf32>
    %12 = tosa.exp %11 : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    %13 = tosa.reduce_sum %12 {axis = 2 : i32} : (tensor<1x2x4xf32>) -> tensor<1x2x1xf32>
    %14 = tosa.reciprocal %13 : (tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
    %15 = tosa.mul %12, %14, %no_shift : (tensor<1x2x4xf32>, tensor<1x2x1xf32>, tensor<1xi8>) -> tensor<1x2x4xf32>
    %out = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %16 = tosa.reshape %15, %out : (tensor<1x2x4xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
    %17 = tosa.argmax %16 {axis = 1 : i32, nan_mode = PROPAGATE} : (tensor<2x4xf32>) -> tensor<2xi32>
    return %16, %17 : tensor<2x4xf32>, tensor<2xi32>
  }
}
