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

// One position of all users, which is clamped, as `lax.dynamic_update_slice` does.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %arg0: tensor<2x3x64x8xf32> {ttcore.kv_cache}
// CHECK: %[[AT:.*]] = "ttir.clamp_scalar"
// CHECK-NEXT: %[[BY_USER:.*]] = "ttir.permute"(%arg1) <{permutation = array<i64: 2, 1, 0, 3>}> : (tensor<2x3x1x8xf32>) -> tensor<1x3x2x8xf32>
// CHECK-NEXT: %[[ONE:.*]] = "ttir.reshape"(%[[AT]]) <{shape = [1 : i32]}>
// CHECK-NEXT: "ttir.update_cache"(%arg0, %[[BY_USER]], %[[ONE]]) <{batch_offset = 0 : i32}>
// CHECK-NOT: rows_scatter
func.func @shared(%cache: tensor<2x3x64x8xf32>, %new: tensor<2x3x1x8xf32>, %at: tensor<i32>) -> tensor<2x3x64x8xf32> {
  %0 = "ttir.reshape"(%at) <{shape = [1 : i32, 1 : i32]}> : (tensor<i32>) -> tensor<1x1xi32>
  %1 = "ttir.clamp_scalar"(%0) <{max = 63 : i32, min = 0 : i32}> : (tensor<1x1xi32>) -> tensor<1x1xsi32>
  %2 = "ttir.reshape"(%1) <{shape = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x1xsi32>) -> tensor<1x1x1xsi32>
  %3 = "ttir.reshape"(%cache) <{shape = [6 : i32, 64 : i32, 8 : i32]}> : (tensor<2x3x64x8xf32>) -> tensor<6x64x8xf32>
  %4 = "ttir.reshape"(%new) <{shape = [6 : i32, 1 : i32, 8 : i32]}> : (tensor<2x3x1x8xf32>) -> tensor<6x1x8xf32>
  %5 = "ttir.rows_scatter"(%3, %2, %4) <{column = false, reduce = #ttcore.reduce_type<invalid>, sizes = array<i64: 64>, windows = array<i64: 1>}> : (tensor<6x64x8xf32>, tensor<1x1x1xsi32>, tensor<6x1x8xf32>) -> tensor<6x64x8xf32>
  %6 = "ttir.reshape"(%5) <{shape = [2 : i32, 3 : i32, 64 : i32, 8 : i32]}> : (tensor<6x64x8xf32>) -> tensor<2x3x64x8xf32>
  return %6 : tensor<2x3x64x8xf32>
}

// Positions that are not there are left out by scattering.
// CHECK-LABEL: func.func @outside(
// CHECK: "ttir.rows_scatter"
func.func @outside(%cache: tensor<2x3x64x8xf32>, %new: tensor<6x1x8xf32>, %at: tensor<1x1x1xsi32>) -> tensor<2x3x64x8xf32> {
  %rows = "ttir.reshape"(%cache) <{shape = [6 : i32, 64 : i32, 8 : i32]}> : (tensor<2x3x64x8xf32>) -> tensor<6x64x8xf32>
  %0 = "ttir.rows_scatter"(%rows, %at, %new) <{column = false, reduce = #ttcore.reduce_type<invalid>, sizes = array<i64: 64>, windows = array<i64: 1>}> : (tensor<6x64x8xf32>, tensor<1x1x1xsi32>, tensor<6x1x8xf32>) -> tensor<6x64x8xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 3 : i32, 64 : i32, 8 : i32]}> : (tensor<6x64x8xf32>) -> tensor<2x3x64x8xf32>
  return %1 : tensor<2x3x64x8xf32>
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
