// What complex numbers as pairs are refused for.
// RUN: not ttmlir-opt --stablehlo-complex-data-type-conversion --split-input-file %s 2>&1 | FileCheck %s

// CHECK: refusals.mlir:[[# @LINE + 2]]:8: error: failed to legalize operation 'stablehlo.reverse': complex numbers are taken by abs, add,
func.func @reverse(%a: tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>> {
  %0 = stablehlo.reverse %a, dims = [1] : tensor<3x5xcomplex<f32>>
  return %0 : tensor<3x5xcomplex<f32>>
}

// -----
// CHECK: :[[# @LINE + 2]]:8: error: failed to legalize operation 'stablehlo.compare': complex numbers are equal or not; they have no order
func.func @order(%a: tensor<3xcomplex<f32>>) -> tensor<3xi1> {
  %0 = stablehlo.compare LT, %a, %a : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}

// -----
// CHECK: :[[# @LINE + 3]]:24: error: failed to legalize operation 'stablehlo.reduce': of complex numbers there are only sums
func.func @product(%a: tensor<3x5xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %z = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.multiply across dimensions = [1] : (tensor<3x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}
