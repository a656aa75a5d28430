// Rows behind several indexed dimensions: those are one, as jax-tt-plugin 0.1.3 has them.
// RUN: ttmlir-opt --convert-stablehlo-to-ttir %s | FileCheck %s

// CHECK-LABEL: func.func @gather(
// CHECK: %[[TABLE:.*]] = "ttir.reshape"(%arg0) <{shape = [1 : i32, 320 : i32, 5 : i32]}> : (tensor<20x16x5xf32>) -> tensor<1x320x5xf32>
// CHECK: "ttir.rows_gather"(%[[TABLE]], %{{.*}}) <{column = false, fill_out_of_bounds = false, sizes = array<i64: 20, 16>, windows = array<i64: 1, 1>}> : (tensor<1x320x5xf32>, tensor<1x2x9xsi32>) -> tensor<1x9x5xf32>
func.func @gather(%x: tensor<20x16x5xf32>, %i: tensor<9x2xi32>) -> tensor<9x5xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 5>, indices_are_sorted = false}> : (tensor<20x16x5xf32>, tensor<9x2xi32>) -> tensor<9x5xf32>
  return %0 : tensor<9x5xf32>
}

// CHECK-LABEL: func.func @scatter(
// CHECK: "ttir.rows_scatter"(%{{.*}}, %{{.*}}, %{{.*}}) <{column = false, reduce = #ttcore.reduce_type<invalid>, sizes = array<i64: 20, 16>, windows = array<i64: 1, 1>}> : (tensor<1x320x5xf32>, tensor<1x2x9xsi32>, tensor<1x9x5xf32>) -> tensor<1x320x5xf32>
func.func @scatter(%x: tensor<20x16x5xf32>, %i: tensor<9x2xi32>, %u: tensor<9x5xf32>) -> tensor<20x16x5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<20x16x5xf32>, tensor<9x2xi32>, tensor<9x5xf32>) -> tensor<20x16x5xf32>
  return %0 : tensor<20x16x5xf32>
}
