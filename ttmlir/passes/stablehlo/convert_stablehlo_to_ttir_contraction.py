"""Rules of StableHLO's sums of products, for `convert-stablehlo-to-ttir`.

Plain products of two matrices are `ttir.matmul`, all others `ttir.dot_general`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, f64
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, value_shape
from ttmlir.optable.row import Shape
from ttmlir.passes.core.ttir_conversion import ConversionRule

if TYPE_CHECKING:
    from xdsl.dialects.builtin import TensorType

    from ttmlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr


def _dot_general(op: Operation) -> None:
    numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
    _product(
        op,
        numbers.lhs_batching_dimensions,
        numbers.lhs_contracting_dimensions,
        numbers.rhs_batching_dimensions,
        numbers.rhs_contracting_dimensions,
    )


def _dot(op: Operation) -> None:
    """The older form: the last dimension of lhs meets the first of rhs."""
    check_static_shape(op, op.operands[0].type)
    _product(op, (), (len(value_shape(op.operands[0])) - 1,), (), (0,))


def _product(
    op: Operation,
    lhs_batch: Shape,
    lhs_contract: Shape,
    rhs_batch: Shape,
    rhs_contract: Shape,
) -> None:
    builder = Builder.before(op)
    for value in (*op.operands, op.results[0]):
        check_static_shape(op, value.type)
    element = element_type(op.results[0])
    factors = [_factor(builder, value, element) for value in op.operands]
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    ranks = [len(value_shape(value)) for value in factors]
    if ranks == [2, 2] and not lhs_batch and (lhs_contract, rhs_contract) == ((1,), (0,)):
        replace(op, builder.create("matmul", factors, type_))
        return
    product = builder.create(
        "dot_general",
        factors,
        type_,
        batch_dims_lhs=lhs_batch,
        contract_dims_lhs=lhs_contract,
        batch_dims_rhs=rhs_batch,
        contract_dims_rhs=rhs_contract,
    )
    replace(op, product)


def _factor(builder: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    """An operand in the type of the sums, unless products of its type are exact enough already."""
    are_floats = isinstance(element_type(value), AnyFloat) and isinstance(element, AnyFloat)
    # Products of 16-bit numbers are computed in 32 bits without a cast.
    if are_floats and element != f64:
        return value
    return builder.cast(value, element)


RULES: dict[str, ConversionRule] = {
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot_general,
}
"""Rules by the full name of the operation."""
