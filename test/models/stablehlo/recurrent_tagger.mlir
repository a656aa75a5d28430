// A gated recurrent network that tags words, as JAX writes it: calls, a loop, argmax and softmax.
module @jit_model attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3x5xf32>, %arg1: tensor<13x8xf32>, %arg2: tensor<13x8xf32>, %arg3: tensor<8x6xf32>) -> (tensor<3x6xf32> {jax.result_info = "result[0]"}, tensor<4x3xi32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2:7 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %arg1, %iterArg_5 = %arg2, %iterArg_6 = %arg3, %iterArg_7 = %c_0, %iterArg_8 = %0, %iterArg_9 = %1) : tensor<4x3x5xf32>, tensor<13x8xf32>, tensor<13x8xf32>, tensor<8x6xf32>, tensor<i32>, tensor<3x8xf32>, tensor<4x3xi32>
    cond {
      %c_10 = stablehlo.constant dense<4> : tensor<i32>
      %15 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %15 : tensor<i1>
    } do {
      %15 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_7) : (tensor<4x3x5xf32>, tensor<i32>) -> tensor<3x5xf32>
      %16:2 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_8, %15) : (tensor<13x8xf32>, tensor<13x8xf32>, tensor<8x6xf32>, tensor<3x8xf32>, tensor<3x5xf32>) -> (tensor<3x8xf32>, tensor<3xi32>)
      %17 = func.call @dynamic_update_index_in_dim(%iterArg_9, %16#1, %iterArg_7) : (tensor<4x3xi32>, tensor<3xi32>, tensor<i32>) -> tensor<4x3xi32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_7, %c_10 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %iterArg_6, %18, %16#0, %17 : tensor<4x3x5xf32>, tensor<13x8xf32>, tensor<13x8xf32>, tensor<8x6xf32>, tensor<i32>, tensor<3x8xf32>, tensor<4x3xi32>
    }
    %3 = stablehlo.dot_general %2#5, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<3x6xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<3xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x6xf32>
    %9 = stablehlo.subtract %3, %8 : tensor<3x6xf32>
    %10 = stablehlo.exponential %9 : tensor<3x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<3x6xf32>, tensor<f32>) -> tensor<3xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x6xf32>
    %14 = stablehlo.divide %10, %13 : tensor<3x6xf32>
    return %14, %2#6 : tensor<3x6xf32>, tensor<4x3xi32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x3x5xf32>, %arg1: tensor<i32>) -> tensor<3x5xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 3, 5] : (tensor<4x3x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
    return %1 : tensor<3x5xf32>
  }
  func.func private @closed_call(%arg0: tensor<13x8xf32>, %arg1: tensor<13x8xf32>, %arg2: tensor<8x6xf32>, %arg3: tensor<3x8xf32>, %arg4: tensor<3x5xf32>) -> (tensor<3x8xf32>, tensor<3xi32>) {
    %0 = stablehlo.concatenate %arg4, %arg3, dim = 1 : (tensor<3x5xf32>, tensor<3x8xf32>) -> tensor<3x13xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x13xf32>, tensor<13x8xf32>) -> tensor<3x8xf32>
    %2 = stablehlo.negate %1 : tensor<3x8xf32>
    %3 = stablehlo.exponential %2 : tensor<3x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %5 = stablehlo.add %4, %3 : tensor<3x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %7 = stablehlo.divide %6, %5 : tensor<3x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %9 = stablehlo.subtract %8, %7 : tensor<3x8xf32>
    %10 = stablehlo.multiply %9, %arg3 : tensor<3x8xf32>
    %11 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x13xf32>, tensor<13x8xf32>) -> tensor<3x8xf32>
    %12 = stablehlo.tanh %11 : tensor<3x8xf32>
    %13 = stablehlo.multiply %7, %12 : tensor<3x8xf32>
    %14 = stablehlo.add %10, %13 : tensor<3x8xf32>
    %15 = stablehlo.dot_general %14, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
    %16 = call @argmax(%15) : (tensor<3x6xf32>) -> tensor<3xi32>
    return %14, %16 : tensor<3x8xf32>, tensor<3xi32>
  }
  func.func private @argmax(%arg0: tensor<3x6xf32>) -> tensor<3xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<3x6xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<3x6xf32>, tensor<3x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<3xi32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x3xi32>, %arg1: tensor<3xi32>, %arg2: tensor<i32>) -> tensor<4x3xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xi32>) -> tensor<1x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x3xi32>, tensor<1x3xi32>, tensor<i32>, tensor<i32>) -> tensor<4x3xi32>
    return %1 : tensor<4x3xi32>
  }
}
