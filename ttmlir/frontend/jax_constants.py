"""Large arrays that functions of JAX close over, without the copy that JAX makes of each.

JAX writes constants into its IR when it lowers a function. So a function with large ones is traced
again with these as its first arguments, which become constants of our module afterwards: of the
bytes that JAX's arrays hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.mlir.attributes.elements import LARGE, elements_attr

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp

    from ttmlir.runtime.element import Array

WORTH_TRACING = 8 << 20
"""Bytes of large constants from which on a function is traced twice."""


@dataclass(frozen=True, kw_only=True)
class Hoisted:
    """A function whose first arguments are what another one closes over."""

    traced: Any
    """The function in JAX's form."""
    constants: Sequence[Array]
    """The first arguments, in the memory of JAX's arrays."""
    input_names: Sequence[str]
    """What JAX calls the other arguments."""


def hoist_constants(jax: Any, traced: Any, *, keep_unused: bool) -> Hoisted | None:
    """A traced function with its large constants as arguments.

    None if there are too few of them, or if this version of JAX does not name arguments.
    """
    core: Any = import_module("jax.extend.core")
    closed = traced.jaxpr
    known = getattr(getattr(closed.jaxpr, "debug_info", None), "arg_names", None)
    places = [place for place, each in enumerate(closed.consts) if _is_large(jax, each)]
    arrays = [np.asarray(closed.consts[place]) for place in places]
    if known is None or sum(array.nbytes for array in arrays) < WORTH_TRACING:
        return None
    if len(known) != len(closed.in_avals):
        return None

    out_tree = jax.tree_util.tree_structure(traced.out_info)

    def run(constants: Sequence[Any], *arguments: Any) -> Any:
        values = list(closed.consts)
        for place, constant in zip(places, constants, strict=True):
            values[place] = constant
        results = core.jaxpr_as_fun(core.ClosedJaxpr(closed.jaxpr, values))(*arguments)
        return jax.tree_util.tree_unflatten(out_tree, results)

    run.__name__ = run.__qualname__ = traced.fun_name
    shape = jax.ShapeDtypeStruct
    examples = [
        shape(each.shape, each.dtype, weak_type=getattr(each, "weak_type", False))
        for each in closed.in_avals
    ]
    constants = [shape(array.shape, array.dtype) for array in arrays]
    return Hoisted(
        traced=jax.jit(run, keep_unused=keep_unused).trace(constants, *examples),
        constants=arrays,
        input_names=[name or f"argument {number}" for number, name in enumerate(known)],
    )


def _is_large(jax: Any, value: Any) -> bool:
    """True for many whole bytes of numbers in one piece, which nobody distributes."""
    if isinstance(value, jax.Array) and not (
        value.is_fully_addressable and len(value.devices()) == 1
    ):
        return False
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype) or getattr(value, "nbytes", 0) < LARGE:
        return False
    is_number = dtype.kind in "fiu" or dtype.name == "bfloat16"
    return is_number and np.asarray(value).flags.c_contiguous


def bind_constants(function: FuncOp, constants: Sequence[Array]) -> None:
    """Make constants of the first arguments of a function."""
    from xdsl.dialects.builtin import UNKNOWN_LOC, ArrayAttr, FunctionType
    from xdsl.rewriter import InsertPoint, Rewriter

    from ttmlir.dialects.stablehlo.creation import ConstantOp

    block = function.body.block
    count = len(constants)
    for array, argument in reversed(list(zip(constants, block.args[:count], strict=True))):
        type: Any = argument.type
        data = array.reshape(-1).view(np.uint8).data
        value = elements_attr(type, data)
        constant = ConstantOp.create(result_types=[type], properties={"value": value})
        # Where it is used first is a line of the user's.
        constant.location = next((use.operation.location for use in argument.uses), UNKNOWN_LOC)
        Rewriter.insert_op(constant, InsertPoint.at_start(block))
        argument.replace_all_uses_with(constant.results[0])
        block.erase_arg(argument)
    type = function.function_type
    inputs, outputs = type.inputs.data[count:], type.outputs.data
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
    if function.arg_attrs is not None:
        function.properties["arg_attrs"] = ArrayAttr(function.arg_attrs.data[count:])
