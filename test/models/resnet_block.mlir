// A residual block with two convolutions and batch normalization, as jax.jit(resnet_block).lower(...).as_text()
// prints it: relu(x + norm(conv(relu(norm(conv(x, first))), second))), images of 9x7 pixels in 4 channels.

module @jit_resnet_block attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x9x7x4xf32>, %arg1: tensor<3x3x4x4xf32>, %arg2: tensor<3x3x4x4xf32>) -> (tensor<2x9x7x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[2.000000e-01, -1.000000e-01, 5.000000e-02, 4.000000e-01]> : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<[0.899999976, 1.100000e+00, 6.000000e-01, 1.300000e+00]> : tensor<4xf32>
    %cst_1 = stablehlo.constant dense<[1.000000e+00, 5.000000e-01, 1.500000e+00, 7.500000e-01]> : tensor<4xf32>
    %cst_2 = stablehlo.constant dense<[1.000000e-01, -2.000000e-01, 3.000000e-01, 0.000000e+00]> : tensor<4xf32>
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x9x7x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x9x7x4xf32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<2x9x7x4xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.add %cst_0, %4 : tensor<4xf32>
    %6 = stablehlo.rsqrt %5 : tensor<4xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %9 = stablehlo.multiply %3, %8 : tensor<2x9x7x4xf32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<2x9x7x4xf32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %15 = stablehlo.add %12, %14 : tensor<2x9x7x4xf32>
    %16 = call @relu(%15) : (tensor<2x9x7x4xf32>) -> tensor<2x9x7x4xf32>
    %17 = stablehlo.convolution(%16, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x9x7x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x9x7x4xf32>
    %18 = stablehlo.broadcast_in_dim %cst, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %20 = stablehlo.subtract %17, %19 : tensor<2x9x7x4xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %22 = stablehlo.add %cst_0, %21 : tensor<4xf32>
    %23 = stablehlo.rsqrt %22 : tensor<4xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %26 = stablehlo.multiply %20, %25 : tensor<2x9x7x4xf32>
    %27 = stablehlo.broadcast_in_dim %cst_1, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %29 = stablehlo.multiply %26, %28 : tensor<2x9x7x4xf32>
    %30 = stablehlo.broadcast_in_dim %cst_2, dims = [3] : (tensor<4xf32>) -> tensor<1x1x1x4xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3] : (tensor<1x1x1x4xf32>) -> tensor<2x9x7x4xf32>
    %32 = stablehlo.add %29, %31 : tensor<2x9x7x4xf32>
    %33 = stablehlo.add %arg0, %32 : tensor<2x9x7x4xf32>
    %34 = call @relu(%33) : (tensor<2x9x7x4xf32>) -> tensor<2x9x7x4xf32>
    return %34 : tensor<2x9x7x4xf32>
  }
  func.func private @relu(%arg0: tensor<2x9x7x4xf32>) -> tensor<2x9x7x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x9x7x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x9x7x4xf32>
    return %1 : tensor<2x9x7x4xf32>
  }
}
