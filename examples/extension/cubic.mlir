func.func @cubic(%x: tensor<32x48xf32>) -> tensor<32x48xf32> {
  %0 = "poly.evaluate"(%x) <{coefficients = [1.0 : f32, 0.0 : f32, -2.0 : f32, 0.5 : f32]}>
      : (tensor<32x48xf32>) -> tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}
