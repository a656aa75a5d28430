func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = linalg.matmul ins(%a: tensor<2x3xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-ml-program-to-func,inline{canonicalize=false},convert-linalg-to-ttir,ttir-decomposition)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
