// REQUIRES: mlir-opt
// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s > %t
// RUN: mlir-opt-19 --split-input-file --verify-diagnostics %s > %t

// Shapes that do not fit together are refused, in the words of MLIR.

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>, %c: tensor<2x5xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{'linalg.matmul' op inferred input/output operand #1 has shape's dimension #0 to be 3, but found 4}}
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<4x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'linalg.matmul' op inferred input/output operand #2 has shape's dimension #1 to be 5, but found 6}}
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// -----

func.func @f(%a: tensor<2x3x1xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) -> tensor<2x5xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected operand rank (3) to match the result rank of indexing_map #0 (2)}}
  %0 = linalg.matmul ins(%a, %b : tensor<2x3x1xf32>, tensor<3x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected type of operand #2 ('tensor<2x5xf32>') to match type of corresponding result ('tensor<2x6xf32>')}}
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'linalg.add' op inferred input/output operand #1 has shape's dimension #0 to be 2, but found 3}}
  %0 = linalg.add ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @f(%a: tensor<1x9x9x2xf32>, %b: tensor<3x3x2x4xf32>, %c: tensor<1x8x7x4xf32>) -> tensor<1x8x7x4xf32> {
  // expected-error@+1 {{'linalg.conv_2d_nhwc_hwcf' op inferred input/output operand #0 has shape's dimension #1 to be greater than or equal to 10, but found 9}}
  %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32>) outs(%c : tensor<1x8x7x4xf32>) -> tensor<1x8x7x4xf32>
  return %0 : tensor<1x8x7x4xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'linalg.transpose' op dim(result, 0) = 2 doesn't match dim(input, permutation[0]) = 3}}
  %0 = linalg.transpose ins(%a: tensor<2x3xf32>) outs(%c : tensor<2x3xf32>) permutation = [1, 0]
  return %0 : tensor<2x3xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'linalg.transpose' op permutation is not valid}}
  %0 = linalg.transpose ins(%a: tensor<2x3xf32>) outs(%c : tensor<2x3xf32>) permutation = [1, 1]
  return %0 : tensor<2x3xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // expected-error@+1 {{'linalg.broadcast' op input dim 1 should match init dim 2. input: 3, init: 4}}
  %0 = linalg.broadcast ins(%a: tensor<2x3xf32>) outs(%c : tensor<2x3x4xf32>) dimensions = [1]
  return %0 : tensor<2x3x4xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // expected-error@+1 {{'linalg.broadcast' op input rank plus added dimensions does not match init rank. input rank: 2, dimensions size: 2, init rank: 3}}
  %0 = linalg.broadcast ins(%a: tensor<2x3xf32>) outs(%c : tensor<2x3x4xf32>) dimensions = [1, 2]
  return %0 : tensor<2x3x4xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{'linalg.reduce' op init dimensions [3] doesn't match input dimensions after reduction [2]}}
  %0 = linalg.reduce { arith.addf } ins(%a: tensor<2x3xf32>) outs(%c : tensor<3xf32>) dimensions = [1]
  return %0 : tensor<3xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'linalg.reduce' op dimensions for reduction should be in the range [0, 1].}}
  %0 = linalg.reduce { arith.addf } ins(%a: tensor<2x3xf32>) outs(%c : tensor<2xf32>) dimensions = [2]
  return %0 : tensor<2xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // expected-error@+1 {{'linalg.map' op expected shape of input (2, 3) to match shape of output (3, 2)}}
  %0 = linalg.map { arith.addf } ins(%a, %b: tensor<2x3xf32>, tensor<3x2xf32>) outs(%c : tensor<3x2xf32>)
  return %0 : tensor<3x2xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{'linalg.generic' op inferred input/output operand #1 has shape's dimension #1 to be 3, but found 4}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'linalg.generic' op expected indexing_map #0 to have 1 dim(s) to match the number of loops}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel"]} ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'linalg.softmax' op incorrect dimension specified}}
  %0 = linalg.softmax dimension(2) ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @f(%a: tensor<2x3xf32>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // expected-error@+1 {{'linalg.softmax' op incompatible output shape}}
  %0 = linalg.softmax dimension(1) ins(%a : tensor<2x3xf32>) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
