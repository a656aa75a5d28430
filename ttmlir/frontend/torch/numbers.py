"""Numbers that torch reads out of tensors while it traces: `x.item()`, and `i` in `x[i]`.

They are places in tensors, or results. torch also checks the bounds of places; the checks are left
out, since the operations at these places keep within the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import Float32Type, IntegerType
from xdsl.ir import Attribute, SSAValue

from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Known, Number
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.places import refuse_node

_I64 = IntegerType(64)
_F32 = Float32Type()
_ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "div",
    "neg": "neg",
    "abs": "abs",
}


def number_of(node: Any, arguments: Sequence[Any]) -> Number:
    """The number that a node computes; what cannot be computed is refused where it is used."""
    name = str(getattr(node.target, "__name__", node.target))
    is_real = isinstance(node.meta.get("val"), torch_package().SymFloat)
    element: Attribute = _F32 if is_real else _I64
    if name.startswith("_local_scalar_dense"):
        return Number(lambda build: build.cast(_tensor(build, arguments[0], element), element))
    if name in _ARITHMETIC:
        return Number(
            lambda build: build.compute(
                _ARITHMETIC[name],
                *(build.cast(_tensor(build, each, element), element) for each in arguments),
            )
        )

    def refused(build: BodyBuilder) -> SSAValue:
        refuse_node(
            node,
            "of numbers that are computed from the numbers in tensors, as x.sum().item(), "
            f"supported are {', '.join(_ARITHMETIC)}; compute with the tensor instead",
        )

    return Number(refused)


def _tensor(build: BodyBuilder, argument: Any, element: Attribute) -> SSAValue:
    if isinstance(argument, int | float):
        return build.create_number_of_rank(argument, element, 0)
    return argument.create(build) if isinstance(argument, (Known, Number)) else argument
