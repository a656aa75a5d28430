// Caches of keys and values are written in place, where each user has one new position.
// RUN: ttmlir-opt --ttir-fusing %s | FileCheck %s

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %arg0: tensor<2x3x64x8xf32> {ttcore.kv_cache}
// CHECK-NEXT: %[[AT:.*]] = "ttir.reshape"(%arg2) <{shape = [2 : i32]}> : (tensor<2x1xi32>) -> tensor<2xi32>
// CHECK-NEXT: %[[NEW:.*]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 2 : i32, 3 : i32, 8 : i32]}>
// CHECK-NEXT: "ttir.paged_update_cache"(%arg0, %[[NEW]], %[[AT]]) <{share_cache = false}>
// CHECK-NEXT: %[[SUM:.*]] = "ttir.sum"(%arg0)
// CHECK-NEXT: return %arg0, %[[SUM]]
func.func @step(%cache: tensor<2x3x64x8xf32>, %new: tensor<2x3x1x8xf32>, %at: tensor<2x1xi32>) -> (tensor<2x3x64x8xf32>, tensor<2x3x1x8xf32>) {
  %0 = "ttir.typecast"(%at) <{conservative_folding = false}> : (tensor<2x1xi32>) -> tensor<2x1xi64>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x1xi64>) -> tensor<2x1x1x1xi64>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 1, 3, 1, 8>}> : (tensor<2x1x1x1xi64>) -> tensor<2x3x1x8xi64>
  %3 = "ttir.scatter"(%cache, %2, %new) <{dim = 2 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}> : (tensor<2x3x64x8xf32>, tensor<2x3x1x8xi64>, tensor<2x3x1x8xf32>) -> tensor<2x3x64x8xf32>
  %4 = "ttir.sum"(%3) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<2x3x64x8xf32>) -> tensor<2x3x1x8xf32>
  return %3, %4 : tensor<2x3x64x8xf32>, tensor<2x3x1x8xf32>
}

// What the cache was before is used, too.
// CHECK-LABEL: func.func @kept(
// CHECK: "ttir.scatter"
func.func @kept(%cache: tensor<2x3x64x8xf32>, %new: tensor<2x3x1x8xf32>, %at: tensor<2x1x1x1xi32>) -> (tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>) {
  %0 = "ttir.broadcast"(%at) <{broadcast_dimensions = array<i64: 1, 3, 1, 8>}> : (tensor<2x1x1x1xi32>) -> tensor<2x3x1x8xi32>
  %1 = "ttir.scatter"(%cache, %0, %new) <{dim = 2 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}> : (tensor<2x3x64x8xf32>, tensor<2x3x1x8xi32>, tensor<2x3x1x8xf32>) -> tensor<2x3x64x8xf32>
  return %1, %cache : tensor<2x3x64x8xf32>, tensor<2x3x64x8xf32>
}

// Each number has a place of its own.
// CHECK-LABEL: func.func @anywhere(
// CHECK: "ttir.scatter"
func.func @anywhere(%cache: tensor<2x3x64x8xf32>, %new: tensor<2x3x1x8xf32>, %at: tensor<2x3x1x8xi32>) -> tensor<2x3x64x8xf32> {
  %0 = "ttir.scatter"(%cache, %at, %new) <{dim = 2 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}> : (tensor<2x3x64x8xf32>, tensor<2x3x1x8xi32>, tensor<2x3x1x8xf32>) -> tensor<2x3x64x8xf32>
  return %0 : tensor<2x3x64x8xf32>
}

// The library has no cache of 40 positions, and adds nothing in place.
// CHECK-LABEL: func.func @odd(
// CHECK: "ttir.scatter"
// CHECK-LABEL: func.func @added(
// CHECK: "ttir.scatter"
func.func @odd(%cache: tensor<2x3x40x8xf32>, %new: tensor<2x3x1x8xf32>, %at: tensor<2x1x1x1xi32>) -> tensor<2x3x40x8xf32> {
  %0 = "ttir.broadcast"(%at) <{broadcast_dimensions = array<i64: 1, 3, 1, 8>}> : (tensor<2x1x1x1xi32>) -> tensor<2x3x1x8xi32>
  %1 = "ttir.scatter"(%cache, %0, %new) <{dim = 2 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}> : (tensor<2x3x40x8xf32>, tensor<2x3x1x8xi32>, tensor<2x3x1x8xf32>) -> tensor<2x3x40x8xf32>
  return %1 : tensor<2x3x40x8xf32>
}
func.func @added(%cache: tensor<2x3x64x8xf32>, %new: tensor<2x3x1x8xf32>, %at: tensor<2x1x1x1xi32>) -> tensor<2x3x64x8xf32> {
  %0 = "ttir.broadcast"(%at) <{broadcast_dimensions = array<i64: 1, 3, 1, 8>}> : (tensor<2x1x1x1xi32>) -> tensor<2x3x1x8xi32>
  %1 = "ttir.scatter"(%cache, %0, %new) <{dim = 2 : i32, scatter_reduce_type = #ttcore.reduce_type<sum>}> : (tensor<2x3x64x8xf32>, tensor<2x3x1x8xi32>, tensor<2x3x1x8xf32>) -> tensor<2x3x64x8xf32>
  return %1 : tensor<2x3x64x8xf32>
}
