// One operation a line, nearly all of them wrong; the operands are those of test_verifier.py.
%0 = stablehlo.add %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.add %a, %ii : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
%0 = stablehlo.exponential %ii : tensor<2x3xi32>
%0 = stablehlo.exponential %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
%0 = stablehlo.and %a, %a : tensor<2x3xf32>
%0 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<3x2xi32>
%0 = stablehlo.is_finite %a : (tensor<2x3xf32>) -> tensor<3x2xi1>
%0 = stablehlo.abs %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
%0 = stablehlo.complex %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xcomplex<f32>>
%0 = stablehlo.complex %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f64>>
%0 = stablehlo.real %a : (tensor<2x3xf32>) -> tensor<3x3xf32>
%0 = stablehlo.compare LT, %a, %ii : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xi1>
%0 = stablehlo.compare LT, %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xi1>
%0 = stablehlo.compare LT, %a, %a, SIGNED : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
%0 = stablehlo.compare LT, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xi1>
%0 = stablehlo.select %p, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.select %p, %b, %b : tensor<2x3xi1>, tensor<4x3xf32>
%0 = stablehlo.clamp %v, %a, %s : (tensor<3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = stablehlo.clamp %i, %a, %s : (tensor<i32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.broadcast_in_dim %v, dims = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.broadcast_in_dim %a, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xi32>
%0 = stablehlo.broadcast %v, sizes = [2] : (tensor<3xf32>) -> tensor<2x4xf32>
%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<7xf32>
%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xi32>
%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.transpose %a, dims = [1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
%0 = stablehlo.transpose %a, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
%0 = stablehlo.reverse %a, dims = [2] : tensor<2x3xf32>
%0 = stablehlo.reverse %a, dims = [1, 1] : tensor<2x3xf32>
%0 = stablehlo.reverse %a, dims = [-1] : tensor<2x3xf32>
%0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
%0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
%0 = stablehlo.concatenate %a, %b, dim = 2 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
%0 = stablehlo.concatenate %a, %v, dim = 0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<6x3xf32>
%0 = stablehlo.pad %a, %s, low = [0], high = [1, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
%0 = stablehlo.pad %a, %s, low = [0, 0], high = [1, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
%0 = stablehlo.pad %a, %s, low = [0, 0], high = [1, 1], interior = [-1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
%0 = stablehlo.pad %a, %i, low = [0, 0], high = [1, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<i32>) -> tensor<3x4xf32>
%0 = stablehlo.slice %a [0:2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.slice %a [0:3, 0:1] : (tensor<2x3xf32>) -> tensor<3x1xf32>
%0 = stablehlo.slice %a [0:2, 2:1] : (tensor<2x3xf32>) -> tensor<2x1xf32>
%0 = stablehlo.slice %a [0:2, 0:2:0] : (tensor<2x3xf32>) -> tensor<2x1xf32>
%0 = stablehlo.slice %a [-1:2, 0:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
%0 = stablehlo.slice %a [0:2, 0:2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.dynamic_slice %a, %i, sizes = [1, 1] : (tensor<2x3xf32>, tensor<i32>) -> tensor<1x1xf32>
%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [3, 1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<3x1xf32>
%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
%0 = stablehlo.dynamic_update_slice %a, %b, %i, %i : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
%0 = stablehlo.dynamic_update_slice %a, %v, %i, %i : (tensor<2x3xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
%0 = stablehlo.dynamic_update_slice %a, %a, %i : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
%0 = stablehlo.iota dim = 2 : tensor<2x3xf32>
%0 = stablehlo.iota dim = 0 : tensor<f32>
%0 = stablehlo.get_dimension_size %a, dim = 2 : (tensor<2x3xf32>) -> tensor<i32>
%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<4x2xf32>
%0 = stablehlo.dot_general %a, %b, contracting_dims = [1, 0] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
%0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [2] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2xf32>
%0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [0] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
%0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [], contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
%0 = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.dot %a, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<i32>) -> tensor<2xf32>
%0 = stablehlo.reduce(%a init: %v) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x7x5xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x4xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
%0 = stablehlo.convolution(%im, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x5xf32>) -> tensor<1x6x6x5xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3xi16>
%0 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<3x3xi32>
%0 = stablehlo.cholesky %a : tensor<2x3xf32>
%0:2 = stablehlo.optimization_barrier %a, %s : tensor<2x3xf32>, tensor<f32>
%0 = "stablehlo.if"(%i) ({ stablehlo.return %a : tensor<2x3xf32> }, { stablehlo.return %a : tensor<2x3xf32> }) : (tensor<i32>) -> tensor<2x3xf32>
%0 = "stablehlo.case"(%i) ({ stablehlo.return %a : tensor<2x3xf32> }, { stablehlo.return %b : tensor<4x3xf32> }) : (tensor<i32>) -> tensor<2x3xf32>
%0 = "stablehlo.case"(%i) ({ stablehlo.return %b : tensor<4x3xf32> }) : (tensor<i32>) -> tensor<2x3xf32>
%0 = "stablehlo.case"(%i) : (tensor<i32>) -> tensor<2x3xf32>
%0 = stablehlo.while(%iterArg = %a) : tensor<2x3xf32> cond { stablehlo.return %a : tensor<2x3xf32> } do { stablehlo.return %iterArg : tensor<2x3xf32> }
%0 = stablehlo.while(%iterArg = %a) : tensor<2x3xf32> cond { %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> } do { stablehlo.return %b : tensor<4x3xf32> }
%0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
%0:2 = chlo.top_k(%a, k = 4) : tensor<2x3xf32> -> (tensor<2x4xf32>, tensor<2x4xi32>)
%0:2 = chlo.top_k(%a, k = 2) : tensor<2x3xf32> -> (tensor<2x3xf32>, tensor<2x2xi32>)
%0 = chlo.erf %a : tensor<2x3xf32> -> tensor<3x2xf32>
%0 = chlo.erf %ii : tensor<2x3xi32> -> tensor<2x3xi32>
%0 = "stablehlo.sort"(%a) <{dimension = 2 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({ ^bb0(%x: tensor<f32>): %c = stablehlo.compare LT, %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 2>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 2>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 0>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
%0 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v) <{epsilon = 1.0e-2 : f32, feature_index = 0 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v) <{epsilon = 1.0e-2 : f32, feature_index = 2 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.scatter"(%a, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %y : tensor<f32> }) : (tensor<2x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<3x3xf32>
%0 = "stablehlo.scatter"(%a, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %y : tensor<f32> }) : (tensor<2x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.map"(%a) <{dimensions = array<i64: 1, 0>}> ({ ^bb0(%x: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.fft %a, type = FFT, length = [3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.select_and_scatter"(%a, %a, %s) <{window_dimensions = array<i64: 1, 2>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %y : tensor<f32> }) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.get_tuple_element"(%a) <{index = 0 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({}, {}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 1>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 1>}> ({}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 1>}> ({}, {}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.select_and_scatter"(%a, %a, %s) <{window_dimensions = array<i64: 1, 1>}> : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.select_and_scatter"(%a, %a, %s) <{window_dimensions = array<i64: 1, 1>}> ({}) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.select_and_scatter"(%a, %a, %s) <{window_dimensions = array<i64: 1, 1>}> ({}, {}) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = "stablehlo.sort"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.sort"(%a) ({}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.sort"(%a) ({}, {}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({}, {}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({}) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({}, {}) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.while"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.while"(%a) ({}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.while"(%a) ({}, {}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({}, {}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64}> ({}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.reduce_scatter"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64}> ({}, {}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0:2 = "stablehlo.sort"(%a, %b) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>, tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>)
%0:2 = "stablehlo.sort"(%b, %a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<4x3xf32>, tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<2x3xf32>)
%0:2 = "stablehlo.sort"(%a, %a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
%0 = "stablehlo.sort"(%a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0:2 = "stablehlo.sort"(%a, %a) <{dimension = 2 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
%0:2 = "stablehlo.sort"(%a, %a) <{dimension = -3 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
%0:2 = "stablehlo.sort"(%a, %a) <{dimension = -2 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
%x = stablehlo.constant dense<0.0> : tensor<2x6x7x5xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x2x4xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x6x7x5xf32>, tensor<3x2x2x4xf32>) -> tensor<2x4x6x4xf32>
%x = stablehlo.constant dense<0.0> : tensor<2x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x2x4xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x6x7x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x4x6x4xf32>
%x = stablehlo.constant dense<0.0> : tensor<2x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x3x4xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x6x7x4xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x6x4xf32>
%x = stablehlo.constant dense<0.0> : tensor<2x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x2x4xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<2x6x7x4xf32>, tensor<3x2x2x4xf32>) -> tensor<2x4x6x4xf32>
%x = stablehlo.constant dense<0.0> : tensor<3x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x4xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<3x6x7x4xf32>, tensor<3x2x4x4xf32>) -> tensor<1x4x6x4xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x4xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x4xf32>) -> tensor<2x4x6x4xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = -2 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<2x4x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4xf32>) -> tensor<4x6x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, f, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x4x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x4x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, 1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x4x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1, -1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x4x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x2x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x9x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x10x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 0], [2, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x5x9x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x2x2x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x2x3x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x2x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<3x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x2x7x4xf32>, tensor<3x2x4x6xf32>) -> tensor<4x0x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<4x6x7x4xf32> %y = stablehlo.constant dense<0.0> : tensor<0x2x4x6xf32> %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x7x4xf32>, tensor<0x2x4x6xf32>) -> tensor<4x0x6x6xf32>
%x = stablehlo.constant dense<0.0> : tensor<2x2x2xf32> %0 = stablehlo.dot %x, %x : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2xf32>
%0 = stablehlo.dot %s, %v : (tensor<f32>, tensor<3xf32>) -> tensor<f32>
%0 = stablehlo.dot %a, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
%0 = stablehlo.dot_general %a, %b, contracting_dims = [-1] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
%x = stablehlo.constant dense<0.0> : tensor<3xf64> %0 = stablehlo.fft %x, type = RFFT, length = [3] : (tensor<3xf64>) -> tensor<2xcomplex<f64>>
%0 = stablehlo.fft %ii, type = RFFT, length = [3] : (tensor<2x3xi32>) -> tensor<2x2xcomplex<f32>>
%0 = stablehlo.cholesky %v : tensor<3xf32>
%0 = "stablehlo.triangular_solve"(%u, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({ ^bb0(%x: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({ ^bb0(%x: tensor<i32>, %y: tensor<i32>): stablehlo.return %x : tensor<i32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: -1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
%0:2 = "stablehlo.reduce"(%a, %b, %s, %s) <{dimensions = array<i64: 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xi32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 2>, padding = dense<1> : tensor<2x2xi64>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x4xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 2]]> : tensor<2x2xi64>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 2]]> : tensor<2x2xi64>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
%0 = "stablehlo.reduce_window"(%a, %s) <{window_dimensions = array<i64: 1, 2, 3>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
%0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({ ^bb0(%x: tensor<i32>, %y: tensor<f32>): %c = stablehlo.compare LT, %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.sort"(%a) <{dimension = -2 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.sort"(%a) <{dimension = -3 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0:2 = "stablehlo.sort"(%a, %b) <{dimension = 1 : i64}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %t: tensor<f32>): %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }) : (tensor<2x3xf32>, tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>)
%0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({ ^bb0(%x: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.map"() <{dimensions = array<i64: 0, 1>}> ({ ^bb0: stablehlo.return %s : tensor<f32> }) : () -> tensor<2x3xf32>
%0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<2xf32>
%0 = stablehlo.pad %a, %s, low = [-3, 0], high = [0, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
%0 = stablehlo.pad %a, %s, low = [-2, 0], high = [0, 1], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<0x4xf32>
%0 = stablehlo.pad %a, %s, low = [1, 0], high = [0, 1], interior = [2, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x6xf32>
%0 = stablehlo.pad %a, %s, low = [1, 0], high = [0, 1], interior = [2, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<6x6xf32>
%0 = stablehlo.slice %a [0:2:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
%0 = stablehlo.slice %a [0:2:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x1xf32>
%0 = stablehlo.slice %a [2:2, 0:3] : (tensor<2x3xf32>) -> tensor<0x3xf32>
%0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1, 1>, strides = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<1x1xf32>
%0 = stablehlo.dynamic_slice %a, %i, %i, %i, sizes = [1, 1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [-1, 1] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 3] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
%0 = stablehlo.dynamic_slice %a, %s, %s, sizes = [1, 1] : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x1xf32>
%0 = stablehlo.dynamic_update_slice %a, %a, %i, %i, %i : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
%0 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3x4xi16>
%0 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3x2xi16>
%0 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2xi64>
%0 = stablehlo.reverse %a, dims = [0, 1] : tensor<2x3xf32>
%0 = stablehlo.iota dim = -1 : tensor<2x3xf32>
%0 = stablehlo.get_dimension_size %a, dim = -1 : (tensor<2x3xf32>) -> tensor<i32>
%0 = stablehlo.broadcast %v, sizes = [2, 1] : (tensor<3xf32>) -> tensor<2x1x3xf32>
%0 = stablehlo.broadcast_in_dim %v, dims = [-1] : (tensor<3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.concatenate %a, %b, dim = -1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
%0 = stablehlo.concatenate %a, %ii, dim = 0 : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<4x3xf32>
%0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
%0 = "stablehlo.while"(%a) ({ ^bb0(%x: tensor<4x3xf32>): %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> }, { ^bb0(%x: tensor<2x3xf32>): stablehlo.return %x : tensor<2x3xf32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.while"(%a) ({ ^bb0(%x: tensor<2x3xf32>): %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> }, { ^bb0(%x: tensor<4x3xf32>): stablehlo.return %a : tensor<2x3xf32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.while"(%a) ({ ^bb0(%x: tensor<2x3xf32>): %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c, %c : tensor<i1>, tensor<i1> }, { ^bb0(%x: tensor<2x3xf32>): stablehlo.return %x : tensor<2x3xf32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.while"(%a) ({ ^bb0(%x: tensor<2x3xf32>): %c = stablehlo.constant dense<true> : tensor<2xi1> stablehlo.return %c : tensor<2xi1> }, { ^bb0(%x: tensor<2x3xf32>): stablehlo.return %x : tensor<2x3xf32> }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.while"(%a) ({ ^bb0(%x: tensor<2x3xf32>): %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> }, { ^bb0(%x: tensor<2x3xf32>): stablehlo.return %x : tensor<2x3xf32> }) : (tensor<2x3xf32>) -> tensor<4x3xf32>
%q = stablehlo.constant dense<true> : tensor<i1> %0 = "stablehlo.if"(%q) ({ ^bb0(%x: tensor<i1>): stablehlo.return %a : tensor<2x3xf32> }, { stablehlo.return %a : tensor<2x3xf32> }) : (tensor<i1>) -> tensor<2x3xf32>
%q = stablehlo.constant dense<true> : tensor<i1> %0 = "stablehlo.if"(%q) ({ stablehlo.return %a : tensor<2x3xf32> }, { stablehlo.return %b : tensor<4x3xf32> }) : (tensor<i1>) -> tensor<2x3xf32>
%q = stablehlo.constant dense<true> : tensor<i1> %0 = "stablehlo.if"(%q) ({ stablehlo.return %a : tensor<2x3xf32> }, { stablehlo.return %a, %a : tensor<2x3xf32>, tensor<2x3xf32> }) : (tensor<i1>) -> tensor<2x3xf32>
%0 = "stablehlo.case"(%i) ({ ^bb0(%x: tensor<i32>): stablehlo.return %a : tensor<2x3xf32> }) : (tensor<i32>) -> tensor<2x3xf32>
%0 = "stablehlo.case"(%i) ({ stablehlo.return %a : tensor<2x3xf32> }, { ^bb0(%x: tensor<i32>): stablehlo.return %a : tensor<2x3xf32> }) : (tensor<i32>) -> tensor<2x3xf32>
%0 = "stablehlo.select_and_scatter"(%s, %s, %s) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
%0 = "stablehlo.select_and_scatter"(%a, %v, %s) <{window_dimensions = array<i64: 1, 2>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %c = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c : tensor<i1> }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
%0 = stablehlo.clamp %v, %a, %v : (tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%0 = stablehlo.clamp %s, %a, %i : (tensor<f32>, tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
%0 = stablehlo.select %p, %a, %ii : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
%0 = stablehlo.compare LT, %ii, %ii, TOTALORDER : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
%0 = stablehlo.compare LT, %ii, %ii, UNSIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
%0 = stablehlo.compare LT, %p, %p, UNSIGNED : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
%0 = stablehlo.compare LT, %a, %a, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
%0 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v) <{epsilon = 1.0e-2 : f32, feature_index = -1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v) <{epsilon = 1.0e-2 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%0 = "stablehlo.batch_norm_inference"(%s, %v, %v, %v, %v) <{epsilon = 1.0e-2 : f32, feature_index = 0 : i64}> : (tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
%0:2 = chlo.top_k(%s, k = 1) : tensor<f32> -> (tensor<f32>, tensor<i32>)
%0:2 = chlo.top_k(%a, k = 3) : tensor<2x3xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3, 1>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, -1>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = -1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<2x3xf32>
%0 = "stablehlo.gather"(%a, %iv) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x4xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%b, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 3>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<4x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<4x3xf32>
%0 = "stablehlo.scatter"(%a, %iv, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) : (tensor<2x3xf32>, tensor<3x1xi32>, tensor<3x3xf32>) -> tensor<2x3xf32>
%x = stablehlo.constant dense<(0.0, 0.0)> : tensor<4xcomplex<f64>> %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<3xcomplex<f64>>
%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %i : tensor<i32> }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
