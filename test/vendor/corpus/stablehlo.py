"""What JAX does not say, as text of StableHLO: rarer operations and forms, one program for each."""

from __future__ import annotations

from corpus.program import Family

FAMILY = Family()

_SUM = """
^bb0(%a: tensor<f32>, %b: tensor<f32>):
%s = stablehlo.add %a, %b : tensor<f32>
stablehlo.return %s : tensor<f32>
"""


def _normalization() -> None:
    write = FAMILY.write
    write(
        "batch_norm_inference",
        """
        %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4)
            {epsilon = 1.0e-5 : f32, feature_index = 1 : i64}
            : (tensor<2x5x7x9xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>,
            tensor<5xf32>) -> tensor<2x5x7x9xf32>
        return %0 : tensor<2x5x7x9xf32>
        """,
        "f32 2x5x7x9",
        "f32 5",
        "f32 5",
        "f32 5",
        "f32 5 in 0.5 2",
    )
    write(
        "batch_norm_inference",
        """
        %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4)
            {epsilon = 1.0e-3 : f32, feature_index = 3 : i64}
            : (tensor<2x8x8x32xbf16>, tensor<32xbf16>, tensor<32xbf16>, tensor<32xbf16>,
            tensor<32xbf16>) -> tensor<2x8x8x32xbf16>
        return %0 : tensor<2x8x8x32xbf16>
        """,
        "bf16 2x8x8x32",
        "bf16 32",
        "bf16 32",
        "bf16 32",
        "bf16 32 in 0.5 2",
        variant="channels_last",
    )
    write(
        "batch_norm_training",
        """
        %0:3 = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg2)
            {epsilon = 1.0e-5 : f32, feature_index = 1 : i64}
            : (tensor<2x5x7x9xf32>, tensor<5xf32>, tensor<5xf32>)
            -> (tensor<2x5x7x9xf32>, tensor<5xf32>, tensor<5xf32>)
        return %0#0, %0#1, %0#2 : tensor<2x5x7x9xf32>, tensor<5xf32>, tensor<5xf32>
        """,
        "f32 2x5x7x9",
        "f32 5",
        "f32 5",
    )
    write(
        "batch_norm_grad",
        """
        %0:3 = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg2, %arg3, %arg4)
            {epsilon = 1.0e-5 : f32, feature_index = 1 : i64}
            : (tensor<2x5x7x9xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>,
            tensor<2x5x7x9xf32>) -> (tensor<2x5x7x9xf32>, tensor<5xf32>, tensor<5xf32>)
        return %0#0, %0#1, %0#2 : tensor<2x5x7x9xf32>, tensor<5xf32>, tensor<5xf32>
        """,
        "f32 2x5x7x9",
        "f32 5",
        "f32 5",
        "f32 5 in 0.5 2",
        "f32 2x5x7x9",
    )


def _windows() -> None:
    write = FAMILY.write
    write(
        "reduce_window",
        f"""
        %c = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = "stablehlo.reduce_window"(%arg0, %c) <{{window_dimensions = array<i64: 2, 3>,
            window_strides = array<i64: 2, 1>, base_dilations = array<i64: 1, 2>,
            window_dilations = array<i64: 2, 1>, padding = dense<[[1, 0], [0,
            2]]> : tensor<2x2xi64>}}> ({{{_SUM}}}) : (tensor<9x11xf32>, tensor<f32>)
            -> tensor<4x21xf32>
        return %0 : tensor<4x21xf32>
        """,
        "f32 9x11",
        variant="dilations",
    )
    write(
        "reduce_window",
        """
        %c = stablehlo.constant dense<1> : tensor<i32>
        %0 = "stablehlo.reduce_window"(%arg0, %c) <{window_dimensions = array<i64: 2, 2>,
            window_strides = array<i64: 1, 1>}> ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.multiply %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
        }) : (tensor<5x7xi32>, tensor<i32>) -> tensor<4x6xi32>
        return %0 : tensor<4x6xi32>
        """,
        "i32 5x7",
        variant="product",
    )
    write(
        "reduce_window",
        """
        %c = stablehlo.constant dense<0.0> : tensor<f32>
        %0:2 = "stablehlo.reduce_window"(%arg0, %arg1, %c, %c) <{window_dimensions = array<i64: 2,
            2>, window_strides = array<i64: 2, 2>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %a, %p : tensor<f32>
        %t = stablehlo.maximum %b, %q : tensor<f32>
        stablehlo.return %s, %t : tensor<f32>, tensor<f32>
        }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>)
            -> (tensor<2x3xf32>, tensor<2x3xf32>)
        return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xf32>
        """,
        "f32 4x6",
        "f32 4x6",
        variant="two",
    )
    write(
        "reduce_window",
        f"""
        %c = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = "stablehlo.reduce_window"(%arg0, %c) <{{window_dimensions = array<i64: 1, 33>,
            padding = dense<[[0, 0], [32, 0]]> : tensor<2x2xi64>}}> ({{{_SUM}}})
            : (tensor<5x33xf32>, tensor<f32>) -> tensor<5x33xf32>
        return %0 : tensor<5x33xf32>
        """,
        "f32 5x33",
        variant="cumulative",
    )
    for kind in ("GE", "LE"):
        write(
            "select_and_scatter",
            f"""
            %c = stablehlo.constant dense<0.0> : tensor<f32>
            %0 = "stablehlo.select_and_scatter"(%arg0, %arg1,
                %c) <{{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1,
                2, 2, 1>}}> ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %p = stablehlo.compare {kind}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
            }}, {{{_SUM}}}) : (tensor<1x8x10x4xf32>, tensor<1x4x5x4xf32>, tensor<f32>)
                -> tensor<1x8x10x4xf32>
            return %0 : tensor<1x8x10x4xf32>
            """,
            "f32 1x8x10x4",
            "f32 1x4x5x4",
            variant=kind.lower(),
        )
    write(
        "reduce",
        """
        %c = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%arg0 init: %c) across dimensions = [0]
            : (tensor<33x70xf32>, tensor<f32>) -> tensor<70xf32>
        reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %m = stablehlo.multiply %a, %b : tensor<f32>
        %s = stablehlo.add %a, %m : tensor<f32>
        stablehlo.return %s : tensor<f32>
        }
        return %0 : tensor<70xf32>
        """,
        "f32 33x70",
        variant="other_body",
    )
    write(
        "reduce",
        """
        %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1]
            : (tensor<33x70xf32>, tensor<f32>) -> tensor<33xf32>
        return %0 : tensor<33xf32>
        """,
        "f32 33x70",
        "f32 scalar",
        variant="other_start",
    )


def _random() -> None:
    write = FAMILY.write
    write(
        "rng",
        """
        %a = stablehlo.constant dense<0.0> : tensor<f32>
        %b = stablehlo.constant dense<1.0> : tensor<f32>
        %s = stablehlo.constant dense<[33, 70]> : tensor<2xi64>
        %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM
            : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<33x70xf32>
        return %0 : tensor<33x70xf32>
        """,
        variant="f32-33x70-uniform",
    )
    write(
        "rng",
        """
        %a = stablehlo.constant dense<0.0> : tensor<f32>
        %b = stablehlo.constant dense<1.0> : tensor<f32>
        %s = stablehlo.constant dense<[5, 7]> : tensor<2xi64>
        %0 = stablehlo.rng %a, %b, %s, distribution = NORMAL
            : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        variant="f32-5x7-normal",
    )
    for algorithm in ("DEFAULT", "THREE_FRY", "PHILOX"):
        write(
            "rng_bit_generator",
            f"""
            %0:2 = stablehlo.rng_bit_generator %arg0, algorithm = {algorithm}
                : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x7xui32>)
            return %0#0, %0#1 : tensor<2xui64>, tensor<5x7xui32>
            """,
            "u64 2 in 0 1000",
            variant=algorithm.lower(),
        )


def _forms() -> None:
    write = FAMILY.write
    write(
        "get_dimension_size",
        """
        %0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<33x70xf32>) -> tensor<i32>
        return %0 : tensor<i32>
        """,
        "f32 33x70",
    )
    write(
        "set_dimension_size",
        """
        %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0
            : (tensor<5x7xf32>, tensor<i32>) -> tensor<?x7xf32, #stablehlo.bounds<5, ?>>
        return %0 : tensor<?x7xf32, #stablehlo.bounds<5, ?>>
        """,
        "f32 5x7",
        "i32 scalar in 1 5",
    )
    write(
        "tuple",
        """
        %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<5x7xf32>, tensor<3xi32>>
        %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<5x7xf32>, tensor<3xi32>>)
            -> tensor<5x7xf32>
        return %1 : tensor<5x7xf32>
        """,
        "f32 5x7",
        "i32 3",
    )
    write(
        "if",
        """
        %0 = "stablehlo.if"(%arg0) ({
        %1 = stablehlo.add %arg1, %arg1 : tensor<5x7xf32>
        stablehlo.return %1 : tensor<5x7xf32>
        }, {
        %2 = stablehlo.negate %arg1 : tensor<5x7xf32>
        stablehlo.return %2 : tensor<5x7xf32>
        }) : (tensor<i1>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "i1 scalar",
        "f32 5x7",
    )
    write(
        "map",
        """
        %0 = "stablehlo.map"(%arg0, %arg1) <{dimensions = array<i64: 0, 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = stablehlo.multiply %a, %b : tensor<f32>
        stablehlo.return %m : tensor<f32>
        }) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 5x7",
        "f32 5x7",
    )
    write(
        "dot",
        """
        %0 = stablehlo.dot %arg0, %arg1, precision = [DEFAULT, HIGHEST]
            : (tensor<33x70xf32>, tensor<70x31xf32>) -> tensor<33x31xf32>
        return %0 : tensor<33x31xf32>
        """,
        "f32 33x70",
        "f32 70x31",
    )
    write(
        "dot_general",
        """
        %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [2],
            contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT],
            algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16,
            accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
            num_primitive_operations = 1, allow_imprecise_accumulation = false>
            : (tensor<3x5x33xf32>, tensor<33x7x3xf32>) -> tensor<3x5x7xf32>
        return %0 : tensor<3x5x7xf32>
        """,
        "f32 3x5x33",
        "f32 33x7x3",
        variant="algorithm",
    )
    write(
        "broadcast",
        """
        %0 = stablehlo.broadcast %arg0, sizes = [3, 2] : (tensor<5x7xf32>) -> tensor<3x2x5x7xf32>
        return %0 : tensor<3x2x5x7xf32>
        """,
        "f32 5x7",
    )
    write(
        "einsum",
        """
        %0 = stablehlo.einsum %arg0, %arg1, config = "ij,jk->ik"
            : (tensor<5x33xf32>, tensor<33x7xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 5x33",
        "f32 33x7",
    )
    write(
        "unary_einsum",
        """
        %0 = stablehlo.unary_einsum %arg0, config = "ij->ji"
            : (tensor<5x33xf32>) -> tensor<33x5xf32>
        return %0 : tensor<33x5xf32>
        """,
        "f32 5x33",
    )
    write(
        "torch_index_select",
        """
        %0 = "stablehlo.torch_index_select"(%arg0, %arg1) <{batch_dims = 0 : i64,
            dim = 1 : i64}> : (tensor<5x33xf32>, tensor<3xi32>) -> tensor<5x3xf32>
        return %0 : tensor<5x3xf32>
        """,
        "f32 5x33",
        "i32 3 in 0 33",
    )
    write(
        "compare",
        """
        %0 = stablehlo.compare LT, %arg0, %arg1, TOTALORDER : (tensor<5x7xf32>,
            tensor<5x7xf32>) -> tensor<5x7xi1>
        return %0 : tensor<5x7xi1>
        """,
        "f32 5x7 special",
        "f32 5x7 special",
        variant="total_order",
    )
    write(
        "cholesky",
        """
        %0 = stablehlo.cholesky %arg0, lower = true : tensor<5x5xf32>
        return %0 : tensor<5x5xf32>
        """,
        "f32 5x5 definite",
        variant="operation",
    )
    write(
        "triangular_solve",
        """
        %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true,
            transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
            : (tensor<5x5xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 5x5 definite",
        "f32 5x7",
        variant="operation",
    )
    write(
        "fft",
        """
        %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<5x8xf32>)
            -> tensor<5x5xcomplex<f32>>
        %1 = stablehlo.real %0 : (tensor<5x5xcomplex<f32>>) -> tensor<5x5xf32>
        return %1 : tensor<5x5xf32>
        """,
        "f32 5x8",
        variant="real_part",
    )
    write(
        "reshape",
        """
        %0 = stablehlo.reshape %arg0 : (tensor<5x7xf32>) -> tensor<35x1xf32>
        %1 = stablehlo.reshape %0 : (tensor<35x1xf32>) -> tensor<7x5xf32>
        return %1 : tensor<7x5xf32>
        """,
        "f32 5x7",
        variant="twice",
    )
    write(
        "sort",
        """
        %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = false}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %p = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
        }) : (tensor<5x33xf32>) -> tensor<5x33xf32>
        return %0 : tensor<5x33xf32>
        """,
        "f32 5x33 distinct",
        variant="unstable",
    )
    write(
        "exponential",
        """
        %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode =
            #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 5x7",
        variant="accuracy",
    )


def _constants() -> None:
    write = FAMILY.write
    forms = {
        "f32-splat": ("dense<2.5> : tensor<5x7xf32>", "tensor<5x7xf32>"),
        "f32-dense": (
            "dense<[[1.0, -2.5, 3.25], [0.1, 1.0e10, -0.0]]> : tensor<2x3xf32>",
            "tensor<2x3xf32>",
        ),
        "f32-special": (
            "dense<[0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<3xf32>",
            "tensor<3xf32>",
        ),
        "bf16-dense": ("dense<[1.0, 0.333, -7.0]> : tensor<3xbf16>", "tensor<3xbf16>"),
        "f64-dense": ("dense<[1.0, 0.1]> : tensor<2xf64>", "tensor<2xf64>"),
        "i32-dense": ("dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>", "tensor<2x2xi32>"),
        "i64-dense": ("dense<[1, 4294967296]> : tensor<2xi64>", "tensor<2xi64>"),
        "u8-dense": ("dense<[1, 255]> : tensor<2xui8>", "tensor<2xui8>"),
        "i1-dense": ("dense<[true, false, true]> : tensor<3xi1>", "tensor<3xi1>"),
        "i1-splat": ("dense<true> : tensor<5x7xi1>", "tensor<5x7xi1>"),
        "f32-scalar": ("dense<3.0> : tensor<f32>", "tensor<f32>"),
        "f32-empty": ("dense<> : tensor<0x5xf32>", "tensor<0x5xf32>"),
        "f32-hexadecimal": ('dense<"0x0000803F0000004000004040"> : tensor<3xf32>', "tensor<3xf32>"),
    }
    for variant, (value, kind) in forms.items():
        write("constant", f"%0 = stablehlo.constant {value}\nreturn %0 : {kind}", variant=variant)


def _gathers() -> None:
    write = FAMILY.write
    write(
        "gather",
        """
        %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims =
            [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2,
            3>, indices_are_sorted = true}> : (tensor<5x33xf32>, tensor<4x2xi32>)
            -> tensor<4x2x3xf32>
        return %0 : tensor<4x2x3xf32>
        """,
        "f32 5x33",
        "i32 4x2 in 0 4",
        variant="windows",
    )
    write(
        "gather",
        """
        %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims =
            [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
            start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
            slice_sizes = array<i64: 1, 1, 5>}> : (tensor<3x33x5xf32>, tensor<3x4xi32>)
            -> tensor<3x4x5xf32>
        return %0 : tensor<3x4x5xf32>
        """,
        "f32 3x33x5",
        "i32 3x4 in 0 33",
        variant="batching_dims",
    )
    write(
        "dynamic_gather",
        """
        %s = stablehlo.constant dense<[1, 33]> : tensor<2xi32>
        %0 = "stablehlo.dynamic_gather"(%arg0, %arg1, %s) <{dimension_numbers =
            #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
            start_index_map = [0], index_vector_dim = 1>}> : (tensor<5x33xf32>, tensor<3x1xi32>,
            tensor<2xi32>) -> tensor<3x33xf32>
        return %0 : tensor<3x33xf32>
        """,
        "f32 5x33",
        "i32 3x1 in 0 5",
    )
    write(
        "scatter",
        f"""
        %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{{scatter_dimension_numbers =
            #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0,
            1], index_vector_dim = 1>, unique_indices = true}}> ({{{_SUM}}})
            : (tensor<9x33xf32>, tensor<2x2xi32>, tensor<2x2x3xf32>) -> tensor<9x33xf32>
        return %0 : tensor<9x33xf32>
        """,
        "f32 9x33",
        "i32 2x2 in 0 7",
        "f32 2x2x3",
        variant="windows",
    )
    write(
        "scatter",
        """
        %0:2 = "stablehlo.scatter"(%arg0, %arg1, %arg2, %arg3,
            %arg4) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
            index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %a, %p : tensor<f32>
        %t = stablehlo.maximum %b, %q : tensor<f32>
        stablehlo.return %s, %t : tensor<f32>, tensor<f32>
        }) : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<2x1xi32>, tensor<2x7xf32>, tensor<2x7xf32>)
            -> (tensor<5x7xf32>, tensor<5x7xf32>)
        return %0#0, %0#1 : tensor<5x7xf32>, tensor<5x7xf32>
        """,
        "f32 5x7",
        "f32 5x7",
        "i32 2x1 in 0 5",
        "f32 2x7",
        "f32 2x7",
        variant="two",
    )


def _dynamic() -> None:
    write = FAMILY.write
    write(
        "dynamic_reshape",
        """
        %s = stablehlo.constant dense<[7, 5]> : tensor<2xi32>
        %0 = stablehlo.dynamic_reshape %arg0, %s : (tensor<5x7xf32>, tensor<2xi32>)
            -> tensor<7x5xf32>
        return %0 : tensor<7x5xf32>
        """,
        "f32 5x7",
    )
    write(
        "dynamic_broadcast_in_dim",
        """
        %s = stablehlo.constant dense<[5, 7]> : tensor<2xi32>
        %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %s, dims = [1]
            : (tensor<7xf32>, tensor<2xi32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 7",
    )
    write(
        "dynamic_iota",
        """
        %s = stablehlo.constant dense<[5, 7]> : tensor<2xi32>
        %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        variant="f32-5x7",
    )
    write(
        "dynamic_pad",
        """
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %l = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %h = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
        %i = stablehlo.constant dense<0> : tensor<2xi32>
        %0 = stablehlo.dynamic_pad %arg0, %z, %l, %h, %i : (tensor<5x7xf32>, tensor<f32>,
            tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<6x9xf32>
        return %0 : tensor<6x9xf32>
        """,
        "f32 5x7",
    )
    write(
        "real_dynamic_slice",
        """
        %l = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %h = stablehlo.constant dense<[4, 7]> : tensor<2xi32>
        %i = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %0 = stablehlo.real_dynamic_slice %arg0, %l, %h, %i : (tensor<5x7xf32>, tensor<2xi32>,
            tensor<2xi32>, tensor<2xi32>) -> tensor<3x4xf32>
        return %0 : tensor<3x4xf32>
        """,
        "f32 5x7",
    )


def _quantized() -> None:
    write = FAMILY.write
    tensor = "tensor<5x7x!quant.uniform<i8:f32, 0.1:3>>"
    write(
        "uniform_quantize",
        f"""
        %0 = stablehlo.uniform_quantize %arg0 : (tensor<5x7xf32>) -> {tensor}
        %1 = stablehlo.uniform_dequantize %0 : ({tensor}) -> tensor<5x7xf32>
        return %1 : tensor<5x7xf32>
        """,
        "f32 5x7",
        variant="and_back",
    )
    write(
        "uniform_quantize",
        """
        %0 = stablehlo.uniform_quantize %arg0 : (tensor<5x3xf32>)
            -> tensor<5x3x!quant.uniform<i8:f32:1, {0.1:0, 0.2:1, 0.3:-2}>>
        %1 = stablehlo.uniform_dequantize %0 : (tensor<5x3x!quant.uniform<i8:f32:1,
            {0.1:0, 0.2:1, 0.3:-2}>>) -> tensor<5x3xf32>
        return %1 : tensor<5x3xf32>
        """,
        "f32 5x3",
        variant="per_axis",
    )
    write(
        "add",
        f"""
        %0 = stablehlo.uniform_quantize %arg0 : (tensor<5x7xf32>) -> {tensor}
        %1 = stablehlo.add %0, %0 : ({tensor}, {tensor}) -> {tensor}
        %2 = stablehlo.uniform_dequantize %1 : ({tensor}) -> tensor<5x7xf32>
        return %2 : tensor<5x7xf32>
        """,
        "f32 5x7",
        variant="quantized",
    )
    write(
        "dot_general",
        """
        %0 = stablehlo.uniform_quantize %arg0 : (tensor<5x32xf32>)
            -> tensor<5x32x!quant.uniform<i8:f32, 0.1>>
        %1 = stablehlo.uniform_quantize %arg1 : (tensor<32x7xf32>)
            -> tensor<32x7x!quant.uniform<i8:f32, 0.2>>
        %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]
            : (tensor<5x32x!quant.uniform<i8:f32, 0.1>>, tensor<32x7x!quant.uniform<i8:f32,
            0.2>>) -> tensor<5x7x!quant.uniform<i32:f32, 0.02>>
        %3 = stablehlo.uniform_dequantize %2 : (tensor<5x7x!quant.uniform<i32:f32, 0.02>>)
            -> tensor<5x7xf32>
        return %3 : tensor<5x7xf32>
        """,
        "f32 5x32",
        "f32 32x7",
        variant="quantized",
    )


def _collectives() -> None:
    write = FAMILY.write
    groups = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
    handle = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
    write(
        "all_reduce",
        f"""
        %0 = "stablehlo.all_reduce"(%arg0) <{{{groups}, {handle},
            use_global_device_ids}}> ({{{_SUM}}}) : (tensor<33x70xf32>) -> tensor<33x70xf32>
        return %0 : tensor<33x70xf32>
        """,
        "f32 33x70",
    )
    write(
        "all_gather",
        f"""
        %0 = "stablehlo.all_gather"(%arg0) <{{all_gather_dim = 1 : i64, {groups},
            {handle}, use_global_device_ids}}> : (tensor<32x64xf32>) -> tensor<32x64xf32>
        return %0 : tensor<32x64xf32>
        """,
        "f32 32x64",
    )
    write(
        "reduce_scatter",
        f"""
        %0 = "stablehlo.reduce_scatter"(%arg0) <{{scatter_dimension = 1 : i64, {groups},
            {handle}, use_global_device_ids}}> ({{{_SUM}}}) : (tensor<32x64xf32>)
            -> tensor<32x64xf32>
        return %0 : tensor<32x64xf32>
        """,
        "f32 32x64",
    )
    write(
        "all_to_all",
        f"""
        %0 = "stablehlo.all_to_all"(%arg0) <{{split_dimension = 1 : i64,
            concat_dimension = 0 : i64, split_count = 1 : i64, {groups}}}>
            : (tensor<32x64xf32>) -> tensor<32x64xf32>
        return %0 : tensor<32x64xf32>
        """,
        "f32 32x64",
    )
    write(
        "collective_permute",
        """
        %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0,
            0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1,
            type = 1>}> : (tensor<32x64xf32>) -> tensor<32x64xf32>
        return %0 : tensor<32x64xf32>
        """,
        "f32 32x64",
    )
    write(
        "collective_broadcast",
        f"""
        %0 = "stablehlo.collective_broadcast"(%arg0) <{{{groups}, {handle}}}>
            : (tensor<32x64xf32>) -> tensor<32x64xf32>
        return %0 : tensor<32x64xf32>
        """,
        "f32 32x64",
    )
    for name in ("partition_id", "replica_id"):
        write(name, f"%0 = stablehlo.{name} : tensor<ui32>\nreturn %0 : tensor<ui32>")
    write(
        "infeed",
        """
        %t = stablehlo.create_token : !stablehlo.token
        %0:2 = "stablehlo.infeed"(%t) <{infeed_config = ""}>
            : (!stablehlo.token) -> (tensor<5x7xf32>, !stablehlo.token)
        return %0#0 : tensor<5x7xf32>
        """,
    )
    write(
        "outfeed",
        """
        %t = stablehlo.create_token : !stablehlo.token
        %u = "stablehlo.outfeed"(%arg0, %t) <{outfeed_config = ""}>
            : (tensor<5x7xf32>, !stablehlo.token) -> !stablehlo.token
        return %arg0 : tensor<5x7xf32>
        """,
        "f32 5x7",
    )
    write(
        "after_all",
        """
        %t = stablehlo.create_token : !stablehlo.token
        %u = stablehlo.after_all %t, %t : !stablehlo.token
        return %arg0 : tensor<5x7xf32>
        """,
        "f32 5x7",
    )
    write(
        "custom_call",
        """
        %0 = stablehlo.custom_call @unknown_target(%arg0) {backend_config = "some"}
            : (tensor<5x7xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 5x7",
        variant="unknown",
    )
    write(
        "custom_call",
        """
        %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{replicated}"}
            : (tensor<5x7xf32>) -> tensor<5x7xf32>
        %1 = stablehlo.add %0, %0 : tensor<5x7xf32>
        return %1 : tensor<5x7xf32>
        """,
        "f32 5x7",
        variant="sharding",
    )


def _modules() -> None:
    """Modules whose form around the operations is what matters."""
    module = FAMILY.write_module
    module(
        "module",
        """func.func @main(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  return %x : tensor<5x7xf32>
}
""",
        "f32 5x7",
        variant="without_module",
    )
    module(
        "module",
        """module {
  func.func @main(%x: tensor<5x7xf32> {tt.note = "first"}, %w: tensor<5x7xf32>
      {ttcore.argument_type = 1 : i32}) -> (tensor<5x7xf32> {jax.result_info = "y"}) attributes
      {corpus.note = 3 : i64} {
    %0 = stablehlo.add %x, %w {corpus.note = "sum"} : tensor<5x7xf32>
    return %0 : tensor<5x7xf32>
  }
}
""",
        "f32 5x7",
        "f32 5x7",
        variant="attributes",
    )
    module(
        "module",
        """module @named {
  func.func private @double(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.add %x, %x : tensor<5x7xf32>
    return %0 : tensor<5x7xf32>
  }
  func.func public @main(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
    %0 = func.call @double(%x) : (tensor<5x7xf32>) -> tensor<5x7xf32>
    %1 = call @double(%0) : (tensor<5x7xf32>) -> tensor<5x7xf32>
    return %1 : tensor<5x7xf32>
  }
  func.func private @unused() -> tensor<f32> {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    return %0 : tensor<f32>
  }
}
""",
        "f32 5x7",
        variant="functions",
    )
    module(
        "module",
        """#a = loc("model.py":10:4)
#b = loc("layer/linear"(#a))
#c = loc(fused["first", #a])
#d = loc(callsite(#b at #a))
module @locations {
  func.func public @main(%x: tensor<5x7xf32> loc("input")) -> tensor<5x7xf32> {
    %0 = stablehlo.exponential %x : tensor<5x7xf32> loc(#b)
    %1 = stablehlo.negate %0 : tensor<5x7xf32> loc(#c)
    %2 = stablehlo.tanh %1 : tensor<5x7xf32> loc(#d)
    %3 = stablehlo.add %2, %x : tensor<5x7xf32> loc(unknown)
    %4 = stablehlo.multiply %3, %2 : tensor<5x7xf32> loc("with \\"quotes\\"")
    %5 = stablehlo.abs %4 : tensor<5x7xf32> loc(fused<"pass">[#a, #b])
    %6 = stablehlo.sine %5 : tensor<5x7xf32> loc("model.py":10:4 to 12:7)
    return %6 : tensor<5x7xf32> loc(#a)
  } loc(#a)
} loc("module")
""",
        "f32 5x7",
        variant="locations",
    )
    module(
        "module",
        """module @empty {
  func.func public @main() {
    return
  }
}
""",
        variant="without_results",
    )
    module(
        "composite",
        """module @composites {
  func.func public @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = stablehlo.composite "corpus.double" %x {composite_attributes =
        {factor = 2.0 : f32}, decomposition = @double, version = 1 : i32}
        : (tensor<33x70xf32>) -> tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
  func.func private @double(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = stablehlo.add %x, %x : tensor<33x70xf32>
    return %0 : tensor<33x70xf32>
  }
}
""",
        "f32 33x70",
        variant="text",
    )


_normalization()
_windows()
_random()
_forms()
_constants()
_gathers()
_dynamic()
_quantized()
_collectives()
_modules()
PROGRAMS = FAMILY.programs
