func.func @random(%a: tensor<f32>, %b: tensor<f32>, %shape: tensor<1xi64>) -> tensor<3xf32> {
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
      : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
