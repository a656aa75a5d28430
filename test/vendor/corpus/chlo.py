"""Operations of CHLO as text: all unary ones, all broadcasting ones, and the rest."""

from __future__ import annotations

from corpus.program import Family, argument

FAMILY = Family()

UNARY = {
    "acos": "in -0.9 0.9",
    "acosh": "in 1.1 4",
    "asin": "in -0.9 0.9",
    "asinh": "",
    "atan": "",
    "atanh": "in -0.9 0.9",
    "bessel_i1e": "",
    "cosh": "",
    "digamma": "in 0.5 4",
    "erf": "",
    "erf_inv": "in -0.9 0.9",
    "erfc": "",
    "lgamma": "in 0.5 4",
    "sinh": "",
    "square": "",
    "tan": "in -1 1",
}
TESTS = ("is_inf", "is_neg_inf", "is_pos_inf")
BINARY = {
    "add": "f32",
    "subtract": "bf16",
    "multiply": "f32",
    "divide": "f32",
    "maximum": "bf16",
    "minimum": "f32",
    "power": "f32",
    "remainder": "f32",
    "atan2": "f32",
    "next_after": "f32",
    "polygamma": "f32",
    "zeta": "f32",
    "and": "i1",
    "or": "i32",
    "xor": "i1",
    "shift_left": "i32",
    "shift_right_arithmetic": "i32",
    "shift_right_logical": "u32",
}


def _add() -> None:
    write = FAMILY.write
    for name, domain in UNARY.items():
        taken = f"f32 5x7 {domain}".strip()
        body = f"%0 = chlo.{name} %arg0 : tensor<5x7xf32> -> tensor<5x7xf32>"
        write(f"chlo_{name}", f"{body}\nreturn %0 : tensor<5x7xf32>", taken)
    for name in TESTS:
        body = f"%0 = chlo.{name} %arg0 : tensor<5x7xf32> -> tensor<5x7xi1>"
        write(f"chlo_{name}", f"{body}\nreturn %0 : tensor<5x7xi1>", "f32 5x7 special")
    for name, dtype in BINARY.items():
        domain = {"i1": ""}.get(dtype, "whole" if name == "polygamma" else "in 1 3")
        operands = [f"{dtype} 33x70 {domain}".strip(), f"{dtype} 70 {domain}".strip()]
        first, second = (argument(operand).mlir_type for operand in operands)
        body = f"%0 = chlo.broadcast_{name} %arg0, %arg1 : ({first}, {second}) -> {first}"
        write(f"chlo_broadcast_{name}", f"{body}\nreturn %0 : {first}", *operands)
    write(
        "chlo_broadcast_add",
        """
        %0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 0>}
            : (tensor<5x7xf32>, tensor<5xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 5x7",
        "f32 5",
        variant="dimensions",
    )
    for direction in ("EQ", "LT"):
        write(
            "chlo_broadcast_compare",
            f"""
            %0 = chlo.broadcast_compare %arg0, %arg1 {{comparison_direction =
                #chlo<comparison_direction {direction}>}} : (tensor<33x70xf32>,
                tensor<70xf32>) -> tensor<33x70xi1>
            return %0 : tensor<33x70xi1>
            """,
            "f32 33x70",
            "f32 70",
            variant=direction.lower(),
        )
    write(
        "chlo_broadcast_select",
        """
        %0 = chlo.broadcast_select %arg0, %arg1, %arg2 : (tensor<33x1xi1>, tensor<33x70xf32>,
            tensor<70xf32>) -> tensor<33x70xf32>
        return %0 : tensor<33x70xf32>
        """,
        "i1 33x1",
        "f32 33x70",
        "f32 70",
    )
    write(
        "chlo_broadcast_complex",
        """
        %0 = chlo.broadcast_complex %arg0, %arg1 : (tensor<5x7xf32>, tensor<7xf32>)
            -> tensor<5x7xcomplex<f32>>
        %1 = stablehlo.abs %0 : (tensor<5x7xcomplex<f32>>) -> tensor<5x7xf32>
        return %1 : tensor<5x7xf32>
        """,
        "f32 5x7",
        "f32 7",
    )
    write(
        "chlo_conj",
        """
        %0 = stablehlo.complex %arg0, %arg1 : tensor<5x7xcomplex<f32>>
        %1 = chlo.conj %0 : tensor<5x7xcomplex<f32>> -> tensor<5x7xcomplex<f32>>
        %2 = stablehlo.imag %1 : (tensor<5x7xcomplex<f32>>) -> tensor<5x7xf32>
        return %2 : tensor<5x7xf32>
        """,
        "f32 5x7",
        "f32 5x7",
    )
    write(
        "chlo_constant",
        """
        %0 = chlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
        return %0 : tensor<2xf32>
        """,
        variant="f32-2",
    )
    write(
        "chlo_constant_like",
        """
        %0 = "chlo.constant_like"(%arg0) <{value = 2.5 : f32}>
            : (tensor<5x7xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
        """,
        "f32 5x7",
    )
    write(
        "chlo_top_k",
        """
        %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<5x33xf32>
            -> (tensor<5x3xf32>, tensor<5x3xi32>)
        return %values, %indices : tensor<5x3xf32>, tensor<5x3xi32>
        """,
        "f32 5x33 distinct",
    )
    write(
        "chlo_ragged_dot",
        """
        %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg2) <{ragged_dot_dimension_numbers =
            #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [],
            lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
            lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
            precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}>
            : (tensor<33x16xf32>, tensor<3x16x7xf32>, tensor<3xi32>) -> tensor<33x7xf32>
        return %0 : tensor<33x7xf32>
        """,
        "f32 33x16",
        "f32 3x16x7",
        "i32 3 in 11 12",
    )


_add()
PROGRAMS = FAMILY.programs
