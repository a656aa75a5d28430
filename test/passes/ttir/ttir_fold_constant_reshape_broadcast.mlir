// Constants that are reshaped or repeated are constants.

// RUN: ttmlir-opt --ttir-fold-constant-reshape-broadcast %s | FileCheck %s

// CHECK-LABEL: func.func @reshape
// CHECK-NEXT: "ttir.constant"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>}>
// CHECK-NEXT: return
func.func @reshape() -> tensor<2x2xf32> {
  %0 = "ttir.constant"() <{value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 2 : i32]}> : (tensor<4xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT: "ttir.constant"() <{value = dense<{{\[\[}}1, 1, 1], [2, 2, 2]]> : tensor<2x3xi32>}>
// CHECK-NEXT: return
func.func @broadcast() -> tensor<2x3xi32> {
  %0 = "ttir.constant"() <{value = dense<[[1], [2]]> : tensor<2x1xi32>}> : () -> tensor<2x1xi32>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<2x1xi32>) -> tensor<2x3xi32>
  return %1 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @one_number
// CHECK-NEXT: "ttir.full"() <{fill_value = 2.500000e+00 : f32, shape = array<i32: 4, 64>}>
// CHECK-NEXT: return
func.func @one_number() -> tensor<4x64xf32> {
  %0 = "ttir.full"() <{fill_value = 2.5 : f32, shape = array<i32: 64>}> : () -> tensor<64xf32>
  %1 = "ttir.reshape"(%0) <{shape = [1 : i32, 64 : i32]}> : (tensor<64xf32>) -> tensor<1x64xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x64xf32>) -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}

// CHECK-LABEL: func.func @argument
// CHECK-NEXT: "ttir.reshape"(%arg0)
func.func @argument(%arg0: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [2 : i32, 2 : i32]}> : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
