// RUN: ttmlir-opt --convert-linalg-to-ttir --split-input-file --verify-diagnostics %s > %t

// What linalg, tensor and arith say and ttir cannot compute is refused at the operation.

func.func @memory(%a: memref<2x3xf32>, %b: memref<2x3xf32>) {
  // expected-error @+1 {{failed to legalize operation 'linalg.exp': it works on memory; supported are operations on tensors}}
  linalg.exp ins(%a : memref<2x3xf32>) outs(%b : memref<2x3xf32>)
  return
}

// -----

func.func @unknown_extent(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // expected-error @+1 {{failed to legalize operation 'linalg.exp': the shape of tensor<?x3xf32> is not known; give every tensor a static shape}}
  %0 = linalg.exp ins(%a : tensor<?x3xf32>) outs(%b : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

func.func @reduced_result(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{failed to legalize operation 'linalg.generic': supported are results with one dimension for each parallel loop, and none for reductions}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %t = arith.addf %x, %sum : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @zeros(%i: tensor<3x2xi32>) -> tensor<3x2xi32> {
  // expected-error @+1 {{failed to legalize operation 'math.cttz': of arith and math, ttir has}}
  %0 = math.cttz %i : tensor<3x2xi32>
  return %0 : tensor<3x2xi32>
}

// -----

func.func @differences(%a: tensor<3x5xi32>, %b: tensor<3xi32>) -> tensor<3xi32> {
  // expected-error @+1 {{in another way than by a sum, product, maximum, minimum, and, or, exclusive or, or the index of the maximum}}
  %0 = linalg.reduce { arith.subi } ins(%a : tensor<3x5xi32>) outs(%b : tensor<3xi32>) dimensions = [1]
  return %0 : tensor<3xi32>
}
