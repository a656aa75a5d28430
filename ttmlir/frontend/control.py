"""Functions that loops and branches call, and rows of tensors at places that loops count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir.frontend.body import BodyBuilder
from ttmlir.ir.tensor_types import element_type, value_shape

B = TypeVar("B", bound=BodyBuilder)


def add_function(
    functions: list[FuncOp],
    kind: str,
    types: Sequence[Attribute],
    build: Callable[[Block], B],
    body: Callable[[B, Sequence[SSAValue]], Sequence[SSAValue]],
    location: LocationAttr,
) -> FuncOp:
    """Add a private function, of which `body` adds the operations.

    It may insert further arguments, and add the functions that it calls.
    """
    block = Block(arg_types=types)
    inner = build(block)
    inner.location = location
    results = body(inner, block.args)
    inner.location = location
    inner.finish(results)
    signature = [each.type for each in block.args], [value.type for value in results]
    name = f"main_{kind}{len(functions)}"
    function = FuncOp(name, signature, Region(block), visibility="private")
    function.location = location
    functions.append(function)
    return function


def choose(
    build: BodyBuilder, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
) -> SSAValue:
    """One of two tensors of the same type, by a truth value."""
    if on_true is on_false:
        return on_true
    rank = len(value_shape(on_true))
    shaped = build.reshape(predicate, (1,) * rank)
    return build.compute("where", shaped, on_true, on_false)


def read_row(build: BodyBuilder, source: SSAValue, number: SSAValue) -> SSAValue:
    """The part of a tensor with a number along its first dimension, without it."""
    shape = value_shape(source)
    begins = _begins(build, number, len(shape))
    row = build.create_inferred("slice_dynamic", source, begins, sizes=(1, *shape[1:]))
    return build.reshape(row, shape[1:])


def write_row(build: BodyBuilder, stack: SSAValue, row: SSAValue, number: SSAValue) -> SSAValue:
    """A tensor with another part with a number along its first dimension."""
    shape = value_shape(stack)
    part = build.reshape(row, (1, *shape[1:]))
    return build.create_inferred("slice_write", stack, part, _begins(build, number, len(shape)))


def _begins(build: BodyBuilder, number: SSAValue, rank: int) -> SSAValue:
    first = build.reshape(number, (1,))
    zeros = [build.create_number_of_rank(0, element_type(number), 1)] * (rank - 1)
    return build.concat([first, *zeros], 0)
