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

// -----

func.func @first(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = call @second(%a) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

func.func @second(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{'func.call' op calls @first while that runs; recursion is not supported: make it a loop}}
  %0 = call @first(%a) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
