"""Rules of `ttnn-fusing`: functions of single elements become part of operations of two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, BFloat16Type, Float32Type, FloatAttr, IntegerType

from ttmlir.dialects import ttnn
from ttmlir.dialects.ttnn.configs import UnaryWithParamAttr
from ttmlir.ir.tensor_types import element_type
from ttmlir.passes.ttnn.conversion.convert_values import has_activations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_UNARY = {
    f"ttnn.{name}": name
    for name in (
        *("abs", "neg", "exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "relu", "gelu", "silu"),
        *("sigmoid", "hardsigmoid", "tanh", "sin", "cos", "tan", "floor", "ceil", "sign"),
        *("atan", "asin", "acos", "erf", "erfc", "square", "round"),
    )
} | {"ttnn.logical_not": "logical_not_unary", "ttnn.reciprocal": "recip"}
"""What the kernels of operations of two tensors compute, too."""
BINARY = tuple(cls.name for cls in ttnn.TTNN.operations if has_activations(cls))
"""Operations of two tensors that compute functions of single elements, too."""
_PARAMS = {"ttnn.round": (FloatAttr(0.0, 32),)}
"""Numbers that the kernel of a function takes: decimals."""
_PARTS = ("ttnn.slice", "ttnn.slice_static")
_OPERANDS = ("input_tensor_a_activations", "input_tensor_b_activations")


def _activations(op: Operation, name: str) -> tuple[Attribute, ...]:
    return tuple(cast("ArrayAttr[Attribute]", op.properties.get(name, ArrayAttr(()))).data)


def _attribute(op: Operation) -> Attribute:
    fields: list[tuple[str, object]] = [("op_type", _UNARY[op.name])]
    if op.name in _PARAMS:
        fields.append(("params", _PARAMS[op.name]))
    return UnaryWithParamAttr(tuple(fields))


def _is_computed_within(value: SSAValue) -> bool:
    """True for the numbers of which operations of two tensors compute functions."""
    return isinstance(element_type(value), Float32Type | BFloat16Type)


def _gates(op: Operation) -> bool:
    """True for the silu of a part of a product, which stays an operation."""
    part = op.operands[0].owner
    if op.name != "ttnn.silu" or getattr(part, "name", "") not in _PARTS:
        return False
    product = cast("Operation", part).operands[0].owner
    return getattr(product, "name", "") in ("ttnn.matmul", "ttnn.linear")


def _before(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What an operand alone is computed for is computed by the operation."""
    for index, name in enumerate(_OPERANDS):
        operand = op.operands[index]
        maker = operand.owner
        if getattr(maker, "name", "") not in _UNARY or not operand.has_one_use():
            continue
        unary = cast("Operation", maker)
        if not _is_computed_within(operand) or _gates(unary):
            continue
        op.properties[name] = ArrayAttr((_attribute(unary), *_activations(op, name)))
        rewriter.set_operand(op, index, unary.operands[0])
        rewriter.erase(unary)
        return True
    return False


def _after(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What is made of the result alone is made by the operation."""
    operand = op.operands[0]
    maker = operand.owner
    if getattr(maker, "name", "") not in BINARY or not operand.has_one_use():
        return False
    binary = cast("Operation", maker)
    if binary.results[0].type != op.results[0].type or not _is_computed_within(operand):
        return False
    if _compares_integers(binary):
        return False
    after = (*_activations(binary, "activations"), _attribute(op))
    binary.properties["activations"] = ArrayAttr(after)
    rewriter.replace(op, binary.results[0])
    rewriter.add(binary)
    return True


def _compares_integers(op: Operation) -> bool:
    return element_type(op.operands[0]) != element_type(op.results[0]) and isinstance(
        element_type(op.operands[0]), IntegerType
    )


RULES: Mapping[str, Sequence[Rule]] = {
    **dict.fromkeys(BINARY, (_before,)),
    **dict.fromkeys(_UNARY, (_after,)),
}
"""Rules by the name of the operation."""
