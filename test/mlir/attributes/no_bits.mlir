// RUN: ttmlir-opt %s | FileCheck %s

// Integers without bits have one value.

// CHECK: dense<0> : tensor<i0>
func.func @main() -> tensor<i0> {
  %0 = "ttir.constant"() <{value = dense<0> : tensor<i0>}> : () -> tensor<i0>
  return %0 : tensor<i0>
}
