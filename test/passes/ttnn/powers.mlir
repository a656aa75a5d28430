// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=spelling=2026 %s | FileCheck %s

// The library takes no negative number for an exponent, but a tensor of them.

// CHECK: %[[NUMBER:.*]] = ttcore.load_cached
// CHECK: "ttnn.pow_scalar"(%{{.*}}) <{rhs = 2.500000e+00 : f32}>
// CHECK: "ttnn.pow_tensor"(%{{.*}}, %[[NUMBER]])
func.func @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.full"() <{fill_value = 2.5 : f32, shape = array<i32: 33, 70>}> : () -> tensor<33x70xf32>
  %1 = "ttir.full"() <{fill_value = -1.5 : f32, shape = array<i32: 33, 70>}> : () -> tensor<33x70xf32>
  %2 = "ttir.pow"(%x, %0) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %3 = "ttir.pow"(%2, %1) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %3 : tensor<33x70xf32>
}
