"""Rules of `ttnn-fusing`: functions of single elements become part of operations of two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerType, StringAttr

from ttmlir.dialects import ttnn
from ttmlir.dialects.ttnn.configs import Conv2dConfigAttr, UnaryWithParamAttr
from ttmlir.ir.tensor_types import element_type, scalar_of
from ttmlir.ir.ttnn_types import set_type
from ttmlir.passes.ttnn.conversion.convert_values import has_activations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Attribute, Operation

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_UNARY = {
    f"ttnn.{name}": name
    for name in (
        *("abs", "neg", "exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "relu", "gelu", "silu"),
        *("sigmoid", "hardsigmoid", "tanh", "sin", "cos", "tan", "floor", "ceil", "sign"),
        *("reciprocal", "atan", "asin", "acos", "erf", "erfc", "cbrt", "square"),
    )
} | {"ttnn.logical_not": "logical_not_unary"}
"""What the kernels of operations of two tensors compute, too."""
_BINARY = tuple(cls.name for cls in ttnn.TTNN.operations if has_activations(cls))
_OPERANDS = ("input_tensor_a_activations", "input_tensor_b_activations")


def _activations(op: Operation, name: str) -> tuple[Attribute, ...]:
    return tuple(cast("ArrayAttr[Attribute]", op.properties.get(name, ArrayAttr(()))).data)


def _attribute(op: Operation) -> Attribute:
    return UnaryWithParamAttr((("op_type", _UNARY[op.name]),))


def _before(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What an operand alone is computed for is computed by the operation."""
    for index, name in enumerate(_OPERANDS):
        operand = op.operands[index]
        maker = operand.owner
        if getattr(maker, "name", "") not in _UNARY or not operand.has_one_use():
            continue
        unary = cast("Operation", maker)
        op.properties[name] = ArrayAttr((_attribute(unary), *_activations(op, name)))
        rewriter.set_operand(op, index, unary.operands[0])
        rewriter.erase(unary)
        return True
    return False


def _after(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What is made of the result alone is made by the operation."""
    operand = op.operands[0]
    maker = operand.owner
    if getattr(maker, "name", "") not in _BINARY or not operand.has_one_use():
        return False
    binary = cast("Operation", maker)
    if binary.results[0].type != op.results[0].type or _compares_integers(binary):
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


_FLOATS = ("f32", "bf16")


def _narrow(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What is converted alone is written so."""
    operand = op.operands[0]
    maker = operand.owner
    if getattr(maker, "name", "") not in _BINARY or not operand.has_one_use():
        return False
    kinds = [str(element_type(value)) for value in (operand, op.results[0])]
    if kinds != list(_FLOATS):
        return False
    new = set_type(operand, op.results[0].type)
    rewriter.replace(op, new)
    rewriter.add(cast("Operation", maker))
    return True


_PRODUCTS = {f"ttnn.{name}": name for name in ("sigmoid", "silu", "gelu")}
_CONVOLUTIONS = {f"ttnn.{name}": name for name in ("relu", "relu6", "silu", "sigmoid")}
"""What kernels of products and of convolutions compute of their results."""


def _of_product(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What is made of a product, or of a convolution in any shape, alone is its part."""
    source = op.operands[0]
    maker = source.owner
    is_reshaped = getattr(maker, "name", "") == "ttnn.reshape"
    if is_reshaped and source.has_one_use():
        source = cast("Operation", maker).operands[0]
        maker = source.owner
    kind = getattr(maker, "name", "")
    if not source.has_one_use() or "activation" in cast("Operation", maker).properties:
        return False
    product = cast("Operation", maker)
    if kind in ("ttnn.matmul", "ttnn.linear") and op.name in _PRODUCTS and not is_reshaped:
        product.properties["activation"] = StringAttr(_PRODUCTS[op.name])
    elif kind in ("ttnn.conv2d", "ttnn.conv_transpose2d") and op.name in _CONVOLUTIONS:
        config = cast("Conv2dConfigAttr", product.properties["conv2d_config"])
        said = dict(config.data)
        if "activation" in said:
            return False
        weight = scalar_of(product.operands[1].type).data_type
        activation = UnaryWithParamAttr((("op_type", _CONVOLUTIONS[op.name]),))
        fields = {"weights_dtype": weight, "activation": activation, **said}
        product.properties["conv2d_config"] = Conv2dConfigAttr(tuple(fields.items()))
    else:
        return False
    rewriter.replace(op, op.operands[0])
    return True


RULES: Mapping[str, Sequence[Rule]] = {
    **dict.fromkeys(_BINARY, (_before,)),
    **dict.fromkeys(_UNARY, (_after,)),
    **dict.fromkeys(_PRODUCTS, (_of_product, _after)),
    **dict.fromkeys(_CONVOLUTIONS, (_of_product, _after)),
    "ttnn.typecast": (_narrow,),
}
"""Rules by the name of the operation."""
