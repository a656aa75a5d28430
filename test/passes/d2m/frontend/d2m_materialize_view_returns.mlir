// RUN: ttmlir-opt --d2m-materialize-view-returns %s | FileCheck %s

#layout = #ttcore.metal_layout<logical_shape = 64x64, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
#swap = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3, d2)>
!tensor = tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #layout>

// CHECK-LABEL: func.func @returned
func.func @returned(%arg0: !tensor) -> (!tensor, !tensor) {
  // CHECK: %[[VIEW:.*]] = d2m.view_layout %arg0
  // CHECK: %[[OUT:.*]] = d2m.empty()
  // CHECK: %[[COPY:.*]] = d2m.generic {{.*}}grid = #ttcore.grid<2x2>{{.*}}#d2m.thread<unified>
  // CHECK-NEXT: ins(%[[VIEW]]
  // CHECK-NEXT: outs(%[[OUT]]
  // CHECK: %[[BLOCK:.*]] = d2m.remote_load %{{.*}} %[[VIEW]][%{{.*}}, %{{.*}}]
  // CHECK: d2m.remote_store %[[OUT]][%{{.*}}, %{{.*}}] %[[BLOCK]]
  // CHECK: return %[[COPY]], %arg0
  %0 = d2m.view_layout %arg0 remapping = #swap : !tensor -> !tensor
  return %0, %arg0 : !tensor, !tensor
}

// CHECK-LABEL: func.func @to_host
func.func @to_host(%arg0: !tensor) -> tensor<64x64xf32> {
  %out = tensor.empty() : tensor<64x64xf32>
  %0 = d2m.view_layout %arg0 remapping = #swap : !tensor -> !tensor
  // CHECK: %[[COPY:.*]] = d2m.generic
  // CHECK: d2m.to_layout %[[COPY]]
  %1 = d2m.to_layout %0, %out : !tensor into tensor<64x64xf32> -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// A view that a generic reads, or another view, stays what it is.
// CHECK-LABEL: func.func @inside
// CHECK-NOT: d2m.remote_load
func.func @inside(%arg0: !tensor) {
  %0 = d2m.view_layout %arg0 remapping = #swap : !tensor -> !tensor
  %1 = d2m.view_layout %0 remapping = #swap : !tensor -> !tensor
  return
}

// In 2025 the type of a view has the map; that of the buffer has none.
#seen = #ttcore.metal_layout<logical_shape = 64x64, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1, index_map = (d0, d1, d2, d3) -> (d1, d0, d3, d2)>
#plain = #ttcore.metal_layout<logical_shape = 64x64, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
// CHECK-LABEL: func.func @map_in_type
// CHECK: d2m.empty() : tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #[[PLAIN:layout[0-9]*]]>
// CHECK: d2m.to_layout %{{.*}} : tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #[[PLAIN]]> into tensor<64x64xf32>
func.func @map_in_type(%arg0: tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #plain>) -> tensor<64x64xf32> {
  %out = tensor.empty() : tensor<64x64xf32>
  %0 = d2m.view_layout %arg0 : tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #plain> -> tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #seen>
  %1 = d2m.to_layout %0, %out : tensor<2x2x1x1x!ttcore.tile<32x32, f32>, #seen> into tensor<64x64xf32> -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
