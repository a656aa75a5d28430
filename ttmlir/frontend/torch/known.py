"""What torch can compute while the program is read: masks, positions, numbers of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import Known
from ttmlir.frontend.torch.data.leaves import is_tensor, leaves
from ttmlir.frontend.torch.elements import static_shape, torch_package

LIMIT = 1 << 16
"""Tensors of more elements are left to the compiled program, parameters of a model above all."""


def compute(node: Any, arguments: Mapping[str, Any]) -> Known | None:
    """The result of a call on known tensors; None where something is unknown, random or large."""
    operands = leaves(list(arguments.values()))
    meta = node.meta.get("val")
    if any(isinstance(operand, SSAValue) for operand in operands) or not is_tensor(meta):
        return None
    if torch_package().Tag.nondeterministic_seeded in node.target.tags:
        return None
    known = [operand.tensor for operand in operands if isinstance(operand, Known)]
    sizes = [math.prod(static_shape(meta) or ()), *(tensor.numel() for tensor in known)]
    # A range that is not of whole numbers has no rule: its numbers always stand in the program.
    is_range = node.target.overloadpacket.__name__ == "arange"
    if max(sizes) > LIMIT and not (is_range and meta.dtype.is_floating_point):
        return None
    schema = node.target._schema.arguments
    keywords = {a.name: _torch_value(arguments[a.name]) for a in schema if a.name in node.kwargs}
    positional = [_torch_value(arguments[a.name]) for a in schema[: len(node.args)]]
    with torch_package().no_grad():
        return Known(node.target(*positional, **keywords))


def _torch_value(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_torch_value(item) for item in cast("list[Any]", argument)]
    return argument.tensor if isinstance(argument, Known) else argument
