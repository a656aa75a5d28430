// What Tenstorrent's compiler (jax-tt-plugin 0.1.3) fuses of orders and repetitions.
// RUN: ttmlir-opt --ttir-fusing %s | FileCheck %s

// CHECK-LABEL: func.func @largest(
// CHECK-NEXT: %values, %indices = "ttir.topk"(%arg0) <{dim = 1 : i32, k = 4 : i32, largest = true, sorted = true}>
// CHECK-NEXT: return %values, %indices
func.func @largest(%a: tensor<5x33xf32>) -> (tensor<5x4xf32>, tensor<5x4xi32>) {
  %v, %i = "ttir.sort"(%a) <{descending = true, dim = 1 : si32, stable = true}> : (tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5x33xi32>)
  %0 = "ttir.slice_static"(%v) <{begins = [0 : i32, 0 : i32], ends = [5 : i32, 4 : i32], step = [1 : i32, 1 : i32]}> : (tensor<5x33xf32>) -> tensor<5x4xf32>
  %1 = "ttir.slice_static"(%i) <{begins = [0 : i32, 0 : i32], ends = [5 : i32, 4 : i32], step = [1 : i32, 1 : i32]}> : (tensor<5x33xi32>) -> tensor<5x4xi32>
  return %0, %1 : tensor<5x4xf32>, tensor<5x4xi32>
}

// Whoever takes all numbers gets them sorted.
// CHECK-LABEL: func.func @all(
// CHECK: "ttir.sort"
func.func @all(%a: tensor<5x33xf32>) -> (tensor<5x4xf32>, tensor<5x33xi32>) {
  %v, %i = "ttir.sort"(%a) <{descending = true, dim = 1 : si32, stable = true}> : (tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5x33xi32>)
  %0 = "ttir.slice_static"(%v) <{begins = [0 : i32, 0 : i32], ends = [5 : i32, 4 : i32], step = [1 : i32, 1 : i32]}> : (tensor<5x33xf32>) -> tensor<5x4xf32>
  return %0, %i : tensor<5x4xf32>, tensor<5x33xi32>
}

// Not even the largest number is needed.
// CHECK-LABEL: func.func @none(
// CHECK: "ttir.sort"
func.func @none(%a: tensor<5x33xf32>) -> tensor<5x0xf32> {
  %v, %i = "ttir.sort"(%a) <{descending = true, dim = 1 : si32, stable = true}> : (tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5x33xi32>)
  %0 = "ttir.slice_static"(%v) <{begins = [0 : i32, 0 : i32], ends = [5 : i32, 0 : i32], step = [1 : i32, 1 : i32]}> : (tensor<5x33xf32>) -> tensor<5x0xf32>
  return %0 : tensor<5x0xf32>
}

// CHECK-LABEL: func.func @repeated(
// CHECK-NEXT: "ttir.repeat_interleave"(%arg0) <{dim = 0 : si32, repeats = 3 : ui32}> : (tensor<5x33xbf16>) -> tensor<15x33xbf16>
func.func @repeated(%a: tensor<5x33xbf16>) -> tensor<15x33xbf16> {
  %0 = "ttir.reshape"(%a) <{shape = [5 : i32, 1 : i32, 33 : i32]}> : (tensor<5x33xbf16>) -> tensor<5x1x33xbf16>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 1, 3, 1>}> : (tensor<5x1x33xbf16>) -> tensor<5x3x33xbf16>
  %2 = "ttir.reshape"(%1) <{shape = [15 : i32, 33 : i32]}> : (tensor<5x3x33xbf16>) -> tensor<15x33xbf16>
  return %2 : tensor<15x33xbf16>
}
