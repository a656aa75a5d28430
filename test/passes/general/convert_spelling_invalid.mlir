// RUN: ttmlir-opt --split-input-file --verify-diagnostics --convert-spelling %s

func.func @library(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  // expected-error@+1 {{failed to legalize operation 'ttnn.exp': only operations of ttir change their spelling; convert ttir}}
  %1 = "ttnn.exp"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// -----

func.func @later() -> tensor<5x8xf32> {
  // expected-error@+1 {{failed to legalize operation 'ttir.rand': it came after 2024 and is not made of operations of that year}}
  %0 = "ttir.rand"() <{dtype = f32, high = 1.0 : f32, low = 0.0 : f32, seed = 0 : ui32, size = [5 : i32, 8 : i32]}> : () -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// -----

// expected-error@+1 {{the mesh 'mesh' has 1x2 devices; 1 is supported}}
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @mesh(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @pool(%a: tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32> {
  // expected-error@+1 {{failed to legalize operation 'ttir.avg_pool2d': divides by 0}}
  %0 = "ttir.avg_pool2d"(%a) <{ceil_mode = false, divisor_override = 0 : i32, kernel = 2 : i32, stride = 2 : i32}> : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  return %0 : tensor<1x4x4x3xf32>
}

// -----

func.func @steps(%a: tensor<8x4xf32>, %b: tensor<2xi32>, %e: tensor<2xi32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{failed to legalize operation 'ttir.slice_dynamic': takes neighbouring elements; steps other than 1 are not supported}}
  %0 = "ttir.slice_dynamic"(%a, %b, %e) <{step = [2 : i32, 1 : i32]}> : (tensor<8x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
