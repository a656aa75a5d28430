// The parts of a complex number that was made of both are those.
// RUN: ttmlir-opt --stablehlo-aggressive-simplification %s | FileCheck %s

// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[A:.*]]: tensor<5x7xf32>, %[[B:.*]]: tensor<5x7xf32>)
// CHECK-NEXT: return %[[B]], %[[A]]
func.func @parts(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>) {
  %0 = stablehlo.complex %a, %b : tensor<5x7xcomplex<f32>>
  %1 = stablehlo.imag %0 : (tensor<5x7xcomplex<f32>>) -> tensor<5x7xf32>
  %2 = stablehlo.real %0 : (tensor<5x7xcomplex<f32>>) -> tensor<5x7xf32>
  return %1, %2 : tensor<5x7xf32>, tensor<5x7xf32>
}
