// One of each operation, in the generic form, as jaxlib prints it.
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<i32>, tensor<2x3xi1>, !stablehlo.token, tensor<2x3xcomplex<f32>>, tensor<f32>, tensor<3xf32>, tensor<2x3xbf16>, tensor<?xf32>, tensor<2xi64>, tensor<2x3xi32>, tensor<4x3x3xf32>) -> (), sym_name = "f"}> ({
  ^bb0(%arg1: tensor<2x3xf32>, %arg2: tensor<i32>, %arg3: tensor<2x3xi1>, %arg4: !stablehlo.token, %arg5: tensor<2x3xcomplex<f32>>, %arg6: tensor<f32>, %arg7: tensor<3xf32>, %arg8: tensor<2x3xbf16>, %arg9: tensor<?xf32>, %arg10: tensor<2xi64>, %arg11: tensor<2x3xi32>, %arg12: tensor<4x3x3xf32>):
    %0 = "stablehlo.add"(%arg1, %arg1) {foo = 1 : i32} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = "stablehlo.exponential"(%arg1) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = "stablehlo.exponential"(%arg1) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = "stablehlo.exponential"(%arg1) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e+00, rtol = 5.000000e-01, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = "stablehlo.after_all"(%arg4, %arg4) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    %5 = "stablehlo.abs"(%arg5) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %6 = "stablehlo.and"(%arg3, %arg3) : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
    %7:3 = "stablehlo.batch_norm_training"(%arg1, %arg7, %arg7) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
    %8 = "stablehlo.bitcast_convert"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %9 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf32>) -> tensor<2x3xf32>
    %10 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
    %11 = "stablehlo.broadcast"(%arg7) <{broadcast_sizes = array<i64: 2, 3>}> : (tensor<3xf32>) -> tensor<2x3x3xf32>
    %12 = "stablehlo.case"(%arg2) ({
      "stablehlo.return"(%arg1) : (tensor<2x3xf32>) -> ()
    }, {
      "stablehlo.return"(%0) : (tensor<2x3xf32>) -> ()
    }) : (tensor<i32>) -> tensor<2x3xf32>
    %13 = "stablehlo.cholesky"(%arg12) <{lower = true}> : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %14 = "stablehlo.cholesky"(%arg12) : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %15 = "stablehlo.clamp"(%arg6, %arg1, %arg6) : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %16 = "stablehlo.clamp"(%arg1, %arg1, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %17 = "stablehlo.compare"(%arg1, %arg1) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %18 = "stablehlo.compare"(%arg1, %arg1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %19 = "stablehlo.complex"(%arg1, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
    %20 = "stablehlo.composite"(%arg1) <{composite_attributes = {x = 1 : i32}, decomposition = @g, name = "a.b", version = 2 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %21 = "stablehlo.concatenate"(%arg1, %arg1) <{dimension = 0 : i64}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %22 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> {foo = "a"} : () -> tensor<2xf32>
    %23 = "stablehlo.convert"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %24 = "stablehlo.convert"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %25 = "stablehlo.create_token"() : () -> !stablehlo.token
    %26:2 = "stablehlo.custom_call"(%arg1, %arg6) <{api_version = 2 : i32, backend_config = "cfg", call_target_name = "foo", called_computations = [@g], has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]}> {extra = 3 : i32} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    "stablehlo.custom_call"() <{call_target_name = "foo bar"}> : () -> ()
    %27 = "stablehlo.dot"(%arg1, %arg7) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
    %28 = "stablehlo.dot"(%arg1, %arg7) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
    %29 = "stablehlo.dot_general"(%arg1, %arg7) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
    %30 = "stablehlo.dot_general"(%arg12, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x3x3xf32>, tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %31 = "stablehlo.dynamic_broadcast_in_dim"(%arg7, %arg10) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64: 0>}> : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    %32 = "stablehlo.dynamic_iota"(%arg10) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<?x3xf32>
    %33 = "stablehlo.dynamic_pad"(%arg1, %arg6, %arg10, %arg10, %arg10) : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %34 = "stablehlo.dynamic_reshape"(%arg1, %arg10) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %35 = "stablehlo.dynamic_slice"(%arg1, %arg2, %arg2) <{slice_sizes = array<i64: 1, 2>}> : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %36 = "stablehlo.dynamic_update_slice"(%arg1, %35, %arg2, %arg2) : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %37 = "stablehlo.einsum"(%arg1, %arg7) <{einsum_config = "ab,b->a"}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
    %38 = "stablehlo.fft"(%arg5) <{fft_length = array<i64: 3>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %39 = "stablehlo.get_dimension_size"(%arg1) <{dimension = 1 : i64}> : (tensor<2x3xf32>) -> tensor<i32>
    %40 = "stablehlo.tuple"(%arg1, %arg6) : (tensor<2x3xf32>, tensor<f32>) -> tuple<tensor<2x3xf32>, tensor<f32>>
    %41 = "stablehlo.get_tuple_element"(%40) <{index = 1 : i32}> : (tuple<tensor<2x3xf32>, tensor<f32>>) -> tensor<f32>
    %42 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %43:2 = "stablehlo.if"(%42) ({
      "stablehlo.return"(%arg1, %arg6) : (tensor<2x3xf32>, tensor<f32>) -> ()
    }, {
      "stablehlo.return"(%0, %arg6) : (tensor<2x3xf32>, tensor<f32>) -> ()
    }) : (tensor<i1>) -> (tensor<2x3xf32>, tensor<f32>)
    %44 = "stablehlo.imag"(%arg5) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %45 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x3xf32>
    %46 = "stablehlo.is_finite"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %47 = "stablehlo.map"(%arg1, %arg1) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg33: tensor<f32>, %arg34: tensor<f32>):
      %97 = "stablehlo.add"(%arg33, %arg34) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%97) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %48:2 = "stablehlo.optimization_barrier"(%arg1, %arg6) : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<f32>)
    %49:2 = "stablehlo.optimization_barrier"(%arg1, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %50 = "stablehlo.optimization_barrier"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "stablehlo.optimization_barrier"() : () -> ()
    %51 = "stablehlo.pad"(%arg1, %arg6) <{edge_padding_high = array<i64: 1, 1>, edge_padding_low = array<i64: 0, -1>, interior_padding = array<i64: 0, 0>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %52 = "stablehlo.partition_id"() : () -> tensor<ui32>
    %53 = "stablehlo.real_dynamic_slice"(%arg1, %arg10, %arg10, %arg10) : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %54 = "stablehlo.real"(%arg5) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %55 = "stablehlo.reduce"(%arg1, %arg6) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %96 = "stablehlo.add"(%arg31, %arg32) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%96) : (tensor<f32>) -> ()
    }) {foo = 1 : i32} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %56 = "stablehlo.reduce"(%arg1, %arg6) <{dimensions = array<i64: 1, 0>}> ({
    ^bb0(%arg29: tensor<f32>, %arg30: tensor<f32>):
      %95 = "stablehlo.add"(%arg30, %arg29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%95) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %57:2 = "stablehlo.reduce"(%arg1, %arg11, %arg6, %arg2) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg25: tensor<f32>, %arg26: tensor<i32>, %arg27: tensor<f32>, %arg28: tensor<i32>):
      "stablehlo.return"(%arg25, %arg26) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    %58 = "stablehlo.reduce_precision"(%arg1) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %59 = "stablehlo.reduce_window"(%arg1, %arg6) <{window_dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %94 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%94) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
    %60 = "stablehlo.replica_id"() : () -> tensor<ui32>
    %61 = "stablehlo.reshape"(%arg1) : (tensor<2x3xf32>) -> tensor<6xf32>
    %62 = "stablehlo.reverse"(%arg1) <{dimensions = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %63 = "stablehlo.constant"() <{value = dense<1> : tensor<2xui64>}> : () -> tensor<2xui64>
    %64:2 = "stablehlo.rng_bit_generator"(%63) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    %65 = "stablehlo.rng"(%arg6, %arg6, %arg10) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %66 = "stablehlo.select"(%arg3, %arg1, %arg1) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %67 = "stablehlo.select"(%42, %arg1, %arg1) : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %68 = "stablehlo.set_dimension_size"(%arg1, %arg2) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
    %69 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %70:2 = "stablehlo.sort"(%arg1, %arg11) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>, %arg21: tensor<i32>, %arg22: tensor<i32>):
      %93 = "stablehlo.compare"(%arg19, %arg20) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%93) : (tensor<i1>) -> ()
    }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    %71 = "stablehlo.torch_index_select"(%arg1, %arg11) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3x3xf32>
    %72 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %73 = "stablehlo.triangular_solve"(%arg12, %arg12) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x3x3xf32>, tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %74 = "stablehlo.unary_einsum"(%arg1) <{einsum_config = "ab->a"}> : (tensor<2x3xf32>) -> tensor<2xf32>
    %75:2 = "stablehlo.while"(%arg1, %arg2) ({
    ^bb0(%arg17: tensor<2x3xf32>, %arg18: tensor<i32>):
      %92 = "stablehlo.compare"(%arg18, %arg18) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%92) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg15: tensor<2x3xf32>, %arg16: tensor<i32>):
      "stablehlo.return"(%arg15, %arg16) : (tensor<2x3xf32>, tensor<i32>) -> ()
    }) {foo = "x"} : (tensor<2x3xf32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<i32>)
    %76 = "chlo.erf"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %77:2 = "chlo.top_k"(%arg1) <{k = 2 : i64}> : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %78 = "chlo.is_inf"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %79 = "chlo.broadcast_add"(%arg1, %arg7) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %80 = "chlo.broadcast_compare"(%arg1, %arg7) <{comparison_direction = #chlo<comparison_direction LT>}> : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    %81 = "chlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %82 = "chlo.constant_like"(%arg1) <{value = 1.000000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %83 = "chlo.broadcast_select"(%arg3, %arg1, %arg6) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %84 = "chlo.next_after"(%arg1, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %85 = "chlo.polygamma"(%arg1, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %86 = "chlo.mulhi"(%arg11, %arg11) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %87 = "chlo.erf"(%arg9) : (tensor<?xf32>) -> tensor<?xf32>
    %88 = "stablehlo.dynamic_gather"(%arg1, %arg11, %arg10) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], start_index_map = [0], index_vector_dim = 2>}> : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x3x?x?xf32>
    %89 = "stablehlo.gather"(%arg1, %arg11) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3x3xf32>
    %90 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %91 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%91) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x3xf32>) -> tensor<2x3xf32>, sym_name = "g", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    "func.return"(%arg0) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
