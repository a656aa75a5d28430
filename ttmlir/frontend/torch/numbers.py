"""Numbers that torch reads out of tensors while it traces: `x.item()`, and `i` in `x[i]`.

They are whole numbers, used as places in tensors. torch also checks their bounds; the checks are
left out, since the operations at these places keep within the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Known, Number
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.places import refuse_node

_I64 = IntegerType(64)
_ARITHMETIC = {"add": "add", "sub": "subtract", "mul": "multiply"}


def is_symbolic(meta: Any) -> bool:
    """True for a number or truth value that torch does not know."""
    torch = torch_package()
    return isinstance(meta, (torch.SymInt, torch.SymBool, torch.SymFloat))


def number_of(node: Any, arguments: Sequence[Any]) -> Number:
    """The number that a node computes; what cannot be computed is refused where it is used."""
    name = str(getattr(node.target, "__name__", node.target))
    if name.startswith("_local_scalar_dense"):
        return Number(lambda build: build.cast(_tensor(build, arguments[0]), _I64))
    if name in _ARITHMETIC:
        return Number(
            lambda build: build.compute(
                _ARITHMETIC[name], *(_tensor(build, argument) for argument in arguments)
            )
        )

    def refused(build: BodyBuilder) -> SSAValue:
        refuse_node(
            node,
            "a number that is computed from the numbers in tensors can only be a place; supported "
            f"are item(), {', '.join(_ARITHMETIC)}",
        )

    return Number(refused)


def _tensor(build: BodyBuilder, argument: Any) -> SSAValue:
    if isinstance(argument, int):
        return build.create_number_of_rank(argument, _I64, 0)
    return argument.create(build) if isinstance(argument, (Known, Number)) else argument
