func.func @main(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%a) : (tensor<33x70xf32>) -> tensor<33x70xf32> loc("twice")
  %1 = "ttir.neg"(%0) : (tensor<33x70xf32>) -> tensor<33x70xf32> loc("twice")
  return %1 : tensor<33x70xf32>
}
