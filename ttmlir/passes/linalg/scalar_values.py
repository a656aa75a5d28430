"""Numbers of a program as tensors without dimensions, which ttir computes with."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import tensor_of, value_shape
from ttmlir.passes.linalg.convert_arith_to_ttir import compute


def number_type(type: Attribute) -> Attribute:
    """The type of the elements that hold a number; places are 32-bit integers."""
    return i32 if isinstance(type, IndexType) else type


def as_tensor(site: Operation, value: SSAValue) -> SSAValue:
    """A tensor without dimensions that holds a number of the program.

    New operations stand in front of `site`. Numbers are followed back to constants, elements of
    tensors and what arith and math compute from them; others are refused.
    """
    builder = Builder.before(site)
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name == "arith.constant":
            found = constant_numbers(value)
            assert found is not None, "the constant is a number"
            return builder.create_numbers(found, tensor_of(number_type(value.type), ()))
        if owner.name == "tensor.extract":
            return _element(builder, owner)
        if owner.name.startswith(("arith.", "math.")):
            operands = [as_tensor(site, operand) for operand in owner.operands]
            return compute(builder, owner, operands, number_type(value.type))
    refuse_to_legalize(
        site,
        f"it uses a number of type {value.type} that comes from elsewhere; supported are "
        "constants, elements of tensors, and what arith and math compute from "
        "them",
    )


def places_as_tensor(site: Operation, places: Sequence[SSAValue | int]) -> SSAValue:
    """Places along the dimensions of a tensor, which are numbers or computed, as one tensor."""
    builder = Builder.before(site)
    parts = [
        builder.create_splat(place, tensor_of(i32, (1,)))
        if isinstance(place, int)
        else builder.reshape(builder.cast(as_tensor(site, place), i32), (1,))
        for place in places
    ]
    return builder.concat(parts, 0)


def _element(builder: Builder, op: Operation) -> SSAValue:
    """The element of a tensor at a place."""
    tensor, *places = op.operands
    if len(places) != len(value_shape(tensor)):
        refuse_to_legalize(op, "it has another number of places than the tensor has dimensions")
    known = [constant_numbers(place) for place in places]
    if any(found is None for found in known):
        begins = places_as_tensor(op, places)
        part = builder.create_inferred("slice_dynamic", tensor, begins, sizes=(1,) * len(places))
    else:
        starts = [int(found[0]) for found in known if found is not None]
        part = builder.slice(tensor, starts, [start + 1 for start in starts])
    element = builder.reshape(part, ())
    return builder.cast(element, number_type(op.results[0].type))
