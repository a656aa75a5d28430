// RUN: ttmlir-opt --split-input-file --verify-diagnostics --ttnn-layout %s

func.func @argument(%a: tensor<3x5xf8E5M2>) -> tensor<3x5xf32> {
  // expected-error@+1 {{element type 'f8E5M2' has no storage format; supported are}}
  %0 = "ttir.typecast"(%a) : (tensor<3x5xf8E5M2>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @inside(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{element type 'f8E5M2' has no storage format; supported are}}
  %0 = "ttir.typecast"(%a) : (tensor<3x5xf32>) -> tensor<3x5xf8E5M2>
  %1 = "ttir.typecast"(%0) : (tensor<3x5xf8E5M2>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}
