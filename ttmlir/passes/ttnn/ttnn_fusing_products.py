"""Rules of `ttnn-fusing`: products and convolutions compute what is made of their results alone.

Operations of two tensors make what they are converted to, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import StringAttr

from ttmlir.dialects.ttnn.configs import Conv2dConfigAttr, UnaryWithParamAttr
from ttmlir.ir.tensor_types import element_type, scalar_of
from ttmlir.ir.ttnn_types import set_type
from ttmlir.passes.ttnn.ttnn_fusing_activations import BINARY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_FLOATS = ("f32", "bf16")


def _narrow(op: Operation, rewriter: GreedyRewriter) -> bool:
    """What is converted alone is written so."""
    operand = op.operands[0]
    maker = operand.owner
    if getattr(maker, "name", "") not in BINARY or not operand.has_one_use():
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
    **dict.fromkeys((*_PRODUCTS, *_CONVOLUTIONS), (_of_product,)),
    "ttnn.typecast": (_narrow,),
}
"""Rules by the name of the operation."""
