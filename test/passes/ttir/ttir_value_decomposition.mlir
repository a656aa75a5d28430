// General operations of 2026 become those of the library, as Tenstorrent's compiler (jax-tt-plugin 0.1.3) has them.
// RUN: ttmlir-opt --ttir-to-ttir-decomposition --canonicalize %s | FileCheck %s

// A matrix and a wide vector.
// CHECK-LABEL: func.func @vector_matrix(
// CHECK-NEXT: %[[A:.*]] = "ttir.reshape"(%arg0) <{shape = [1 : i32, 64 : i32]}>
// CHECK-NEXT: %[[P:.*]] = "ttir.matmul"(%[[A]], %arg1) <{transpose_a = false, transpose_b = false}> {{.*}} -> tensor<1x96xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%[[P]]) <{shape = [96 : i32]}>
// CHECK-NEXT: return %[[R]]
func.func @vector_matrix(%a: tensor<64xf32>, %b: tensor<64x96xf32>) -> tensor<96xf32> {
  %0 = "ttir.dot_general"(%a, %b) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 0>, contract_dims_rhs = array<i64: 0>}> : (tensor<64xf32>, tensor<64x96xf32>) -> tensor<96xf32>
  return %0 : tensor<96xf32>
}

// Up to 32 columns are multiplied element by element, the wide operand first.
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: %[[A:.*]] = "ttir.reshape"(%arg0) <{shape = [70 : i32, 1 : i32]}>
// CHECK-NEXT: %[[P:.*]] = "ttir.multiply"(%arg1, %[[A]]) {{.*}} -> tensor<70x31xf32>
// CHECK-NEXT: %[[S:.*]] = "ttir.sum"(%[[P]]) <{dim_arg = [0 : i32], keep_dim = false}>
// CHECK-NEXT: return %[[S]]
func.func @narrow(%a: tensor<70xf32>, %b: tensor<70x31xf32>) -> tensor<31xf32> {
  %0 = "ttir.dot_general"(%a, %b) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 0>, contract_dims_rhs = array<i64: 0>}> : (tensor<70xf32>, tensor<70x31xf32>) -> tensor<31xf32>
  return %0 : tensor<31xf32>
}

// The reversed dimensions come to the front, and elements are picked from the last one.
// CHECK-LABEL: func.func @reversed(
// CHECK: "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 1>}> {{.*}} -> tensor<3x7x5xf32>
// CHECK: "ttir.arange"() <{{.*}}end = -1 : si64, start = 20 : si64, step = -1 : si64
// CHECK: "ttir.rows_gather"({{.*}}sizes = array<i64: 21>, windows = array<i64: 1>
// CHECK: "ttir.permute"({{.*}}permutation = array<i64: 0, 2, 1>
func.func @reversed(%a: tensor<3x5x7xf32>) -> tensor<3x5x7xf32> {
  %0 = "ttir.reverse"(%a) <{dimensions = array<i64: 0, 2>}> : (tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
  return %0 : tensor<3x5x7xf32>
}

// Margins below 0 are cut off before others are added.
// CHECK-LABEL: func.func @cut(
// CHECK-NEXT: %[[S:.*]] = "ttir.slice_static"(%arg0) <{begins = [1 : i32, 0 : i32], ends = [31 : i32, 30 : i32], step = [1 : i32, 1 : i32]}>
// CHECK-NEXT: "ttir.pad"(%[[S]]) <{padding = array<i32: 0, 2, 0, 0>, value = 0.000000e+00 : f32}>
func.func @cut(%a: tensor<31x33xf32>) -> tensor<32x30xf32> {
  %0 = "ttir.pad"(%a) <{padding = array<i32: -1, 2, 0, -3>, value = 0.0 : f32}> : (tensor<31x33xf32>) -> tensor<32x30xf32>
  return %0 : tensor<32x30xf32>
}
