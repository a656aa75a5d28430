"""What becomes of the operations of the tensor dialect that stand around linalg."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, tensor_of, value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.linalg.scalar_values import as_tensor, number_type, places_as_tensor


def _reshape(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.operands[0].type)
    check_static_shape(op, op.results[0].type)
    replace(op, builder.reshape(op.operands[0], value_shape(op.results[0])))


def _cast(op: Operation) -> None:
    if op.operands[0].type != op.results[0].type:
        check_static_shape(op, op.results[0].type)
        check_static_shape(op, op.operands[0].type)
    replace(op, op.operands[0])


def _known(op: Operation, name: str, operands: Sequence[SSAValue]) -> tuple[int, ...]:
    """Numbers of a property, or operands that are constants where it leaves numbers open."""
    given = iter(operands)
    numbers: list[int] = []
    for value in cast("DenseArrayBase[IntegerType]", op.properties[name]).iter_values():
        found = constant_numbers(next(given)) if value == DYNAMIC_INDEX else (value,)
        if found is None:
            kind = name.removeprefix("static_")
            refuse_to_legalize(op, f"some of its {kind} are computed; supported are constants")
        numbers.append(int(found[0]))
    return tuple(numbers)


@dataclass(frozen=True)
class _Slice:
    """A part of a tensor."""

    starts: tuple[SSAValue | int, ...]
    """Numbers, or values of the program."""
    sizes: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def known_starts(self) -> tuple[int, ...] | None:
        """Where it begins; None if a place is computed."""
        known = tuple(start for start in self.starts if isinstance(start, int))
        return known if len(known) == len(self.starts) else None


def _slice(op: Operation) -> _Slice:
    """The part that an operation reads or writes."""
    groups = cast("DenseArrayBase[IntegerType]", op.properties["operandSegmentSizes"])
    offsets, sizes, strides = tuple(groups.iter_values())[-3:]
    operands = op.operands[len(op.operands) - offsets - sizes - strides :]
    return _Slice(
        _starts(op, operands[:offsets]),
        _known(op, "static_sizes", operands[offsets : offsets + sizes]),
        _known(op, "static_strides", operands[offsets + sizes :]),
    )


def _starts(op: Operation, operands: Sequence[SSAValue]) -> tuple[SSAValue | int, ...]:
    given = iter(operands)
    starts: list[SSAValue | int] = []
    for number in cast(
        "DenseArrayBase[IntegerType]", op.properties["static_offsets"]
    ).iter_values():
        if number != DYNAMIC_INDEX:
            starts.append(number)
            continue
        value = next(given)
        found = constant_numbers(value)
        starts.append(value if found is None else int(found[0]))
    return tuple(starts)


def _pad(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.results[0].type)
    groups = cast("DenseArrayBase[IntegerType]", op.properties["operandSegmentSizes"])
    _, lows, highs = groups.iter_values()
    low = _known(op, "static_low", op.operands[1 : 1 + lows])
    high = _known(op, "static_high", op.operands[1 + lows : 1 + lows + highs])
    yielded = op.regions[0].block.last_op
    assert yielded is not None, "a body ends in tensor.yield"
    found = constant_numbers(yielded.operands[0])
    if found is None:
        refuse_to_legalize(op, "what it pads with is computed; supported are constants")
    padding = tuple(count for pair in zip(low, high, strict=True) for count in pair)
    if not any(padding):
        replace(op, op.operands[0])
        return
    replace(
        op,
        builder.create(
            "pad", op.operands[:1], op.results[0].type, padding=padding, value=float(found[0])
        ),
    )


def _extract_slice(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.operands[0].type)
    wanted = _slice(op)
    bounds = zip(wanted.sizes, wanted.steps, strict=True)
    spans = [(size - 1) * step + 1 if size else 0 for size, step in bounds]
    source, starts = op.operands[0], wanted.known_starts
    if starts is None:
        begins = places_as_tensor(op, wanted.starts)
        source = builder.create_inferred("slice_dynamic", source, begins, sizes=tuple(spans))
        starts = (0,) * len(spans)
    ends = [start + span for start, span in zip(starts, spans, strict=True)]
    part = builder.slice(source, starts, ends, wanted.steps)
    # A slice may drop dimensions of extent 1.
    replace(op, builder.reshape(part, value_shape(op.results[0])))


def _insert_slice(op: Operation) -> None:
    builder = Builder.before(op)
    part, whole = op.operands[:2]
    check_static_shape(op, whole.type)
    written = _slice(op)
    if any(step != 1 for step in written.steps):
        refuse_to_legalize(op, f"its strides are {list(written.steps)}; supported are strides of 1")
    part = builder.reshape(part, written.sizes)
    starts = written.known_starts
    if starts is not None:
        replace(op, _insert(builder, part, whole, starts, 0))
        return
    begins = places_as_tensor(op, written.starts)
    replace(op, builder.create_inferred("slice_write", whole, part, begins))


def _insert_element(op: Operation) -> None:
    """A tensor with one element replaced."""
    number, whole, *places = op.operands
    check_static_shape(op, whole.type)
    builder = Builder.before(op)
    element = builder.reshape(as_tensor(op, number), (1,) * len(places))
    if not places:
        replace(op, element)
        return
    known = [constant_numbers(place) for place in places]
    if all(found is not None for found in known):
        starts = [int(found[0]) for found in known if found is not None]
        replace(op, _insert(builder, element, whole, starts, 0))
        return
    begins = places_as_tensor(op, places)
    replace(op, builder.create_inferred("slice_write", whole, element, begins))


def _insert(
    builder: Builder, part: SSAValue, whole: SSAValue, starts: Sequence[int], dim: int
) -> SSAValue:
    """A tensor with a part of it, which is as large in front of dimension `dim`, replaced."""
    extents = value_shape(whole)
    if value_shape(part) == extents:
        return part
    begin, end = starts[dim], starts[dim] + value_shape(part)[dim]

    def cut(first: int, last: int) -> SSAValue:
        begins = [first if d == dim else 0 for d in range(len(extents))]
        ends = [last if d == dim else extent for d, extent in enumerate(extents)]
        return builder.slice(whole, begins, ends)

    inner = _insert(builder, part, cut(begin, end), starts, dim + 1)
    outer = [cut(0, begin)] if begin else []
    rest = [cut(end, extents[dim])] if end < extents[dim] else []
    return builder.concat([*outer, inner, *rest], dim)


def _concat(op: Operation) -> None:
    builder = Builder.before(op)
    dim = cast("IntegerAttr", op.properties["dim"]).value.data
    replace(op, builder.create("concat", op.operands, op.results[0].type, dim=dim))


def _splat(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.results[0].type)
    shape = value_shape(op.results[0])
    scalar = as_tensor(op, op.operands[0])
    replace(op, builder.broadcast(builder.reshape(scalar, (1,) * len(shape)), shape))


def _from_elements(op: Operation) -> None:
    builder = Builder.before(op)
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    check_static_shape(op, op.results[0].type)
    shape = type_.get_shape()
    element = number_type(element_type(op.results[0]))
    found = [constant_numbers(value) for value in op.operands]
    if all(numbers is not None for numbers in found):
        numbers = [number for numbers in found if numbers is not None for number in numbers]
        replace(op, builder.create_numbers(numbers, tensor_of(element, shape)))
        return
    parts = [builder.reshape(as_tensor(op, value), (1,)) for value in op.operands]
    replace(op, builder.reshape(builder.concat(parts, 0), shape))


RULES: dict[str, ConversionRule] = {
    "tensor.cast": _cast,
    "tensor.collapse_shape": _reshape,
    "tensor.concat": _concat,
    "tensor.expand_shape": _reshape,
    "tensor.extract_slice": _extract_slice,
    "tensor.from_elements": _from_elements,
    "tensor.insert": _insert_element,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.reshape": _reshape,
    "tensor.splat": _splat,
}
"""What becomes of each operation."""
