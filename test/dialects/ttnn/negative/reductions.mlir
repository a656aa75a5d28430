// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these operations.

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.sum' op Expected output shape (7), got (5)}}
  %r = "ttnn.sum"(%a0) <{dim_arg = [0 : i32], keep_dim = false}> : (tensor<5x7xf32>) -> tensor<5xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.mean' op Expected output shape (5, 1), got (5, 7)}}
  %r = "ttnn.mean"(%a0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.max' op Expected output shape (1, 1), got (7, 1)}}
  %r = "ttnn.max"(%a0) <{keep_dim = true}> : (tensor<5x7xf32>) -> tensor<7x1xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.min' op Expected output shape (5, 7), got (7)}}
  %r = "ttnn.min"(%a0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<5x7xf32>) -> tensor<7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xsi32>) {
  // expected-error@+1 {{'ttnn.reduce_bitwise_xor' op Expected output shape (7), got (7, 1)}}
  %r = "ttnn.reduce_bitwise_xor"(%a0) <{dim_arg = [-2 : i32], keep_dim = false}> : (tensor<5x7xsi32>) -> tensor<7x1xsi32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.argmax' op expected output shape (5), got (7)}}
  %r = "ttnn.argmax"(%a0) <{dim = 1 : si32, keep_dim = false}> : (tensor<5x7xf32>) -> tensor<7xui32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.argmax' op expected output shape (1, 1), got (1)}}
  %r = "ttnn.argmax"(%a0) <{keep_dim = true}> : (tensor<5x7xf32>) -> tensor<1xui32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<1x2x3x5x7xf32>) {
  // expected-error@+1 {{'ttnn.prod' op Input tensor rank is greater than 4 for reduce(product).}}
  %r = "ttnn.prod"(%a0) <{dim_arg = 0 : si64, keep_dim = false}> : (tensor<1x2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.cumulative' op reduction must be max, min or logsumexp, but got: sum}}
  %r = "ttnn.cumulative"(%a0) <{dim = 0 : si32, reduction = #ttcore.reduce_type<sum>, reverse = false}> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttir.cumulative' op reduction must be max, min or logsumexp, but got: mean}}
  %r = "ttir.cumulative"(%a0) <{dim = 0 : i64, reduction = #ttcore.reduce_type<mean>, reverse = false}> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x33xf32>) {
  // expected-error@+1 {{'ttnn.topk' op K should be between 1 and the size of the specified dimension (1), but got: 34}}
  %r:2 = "ttnn.topk"(%a0) <{dim = -1 : si32, k = 34 : i32, largest = true, sorted = true}> : (tensor<5x33xf32>) -> (tensor<5x4xf32>, tensor<5x4xsi32>)
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x33xf32>) {
  // expected-error@+1 {{'ttir.topk' op K should be between 1 and the size of the specified dimension (0), but got: 6}}
  %r:2 = "ttir.topk"(%a0) <{dim = 0 : i32, k = 6 : i32, largest = true, sorted = true}> : (tensor<5x33xf32>) -> (tensor<6x33xf32>, tensor<6x33xi32>)
  return
}
