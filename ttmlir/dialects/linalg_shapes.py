"""Verifiers of linalg's operations: the shapes of operands must agree.

A named operation walks over a space of loops; each dimension of an operand is that of one loop, or,
in the image of a window, computed from two. The words are MLIR's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    MemRefType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import refuse
from ttmlir.optable.linalg import CONTRACTIONS, CONVOLUTIONS, DEPTHWISE, ELEMENTWISE, POOLINGS

Shape = tuple[int, ...]


@dataclass(frozen=True)
class _Window:
    """A dimension of an image: the places of a window, and those inside of it."""

    place: str
    inside: str
    number: int
    """Which of the strides and dilations it has."""


_Dim = str | _Window
_Operand = tuple[_Dim, ...]

_ARITY = {"powf": 2, "select": 3, **dict.fromkeys(("add", "div", "max", "min", "mul", "sub"), 2)}


def _image(dims: str, features: str) -> _Operand:
    return tuple(
        _Window(f"place {dim}", f"inside {dim}", int(dim))
        if dim.isdigit()
        else features
        if dim == "f"
        else dim
        for dim in dims
    )


def _place(dims: str, features: str) -> tuple[str, ...]:
    letters = {"f": features}
    return tuple(f"place {dim}" if dim.isdigit() else letters.get(dim, dim) for dim in dims)


def _inside(dims: str) -> tuple[str, ...]:
    return tuple(f"inside {dim}" if dim.isdigit() else dim for dim in dims)


def _loops() -> dict[str, tuple[_Operand, ...]]:
    """The loops of each dimension of each operand of the named operations."""
    found: dict[str, tuple[_Operand, ...]] = {
        name: tuple(tuple(dims) for dims in letters) for name, letters in CONTRACTIONS.items()
    }
    for name, (image, weight) in CONVOLUTIONS.items():
        found[name] = (_image(image, "i"), _inside(weight), _place(image, "o"))
    for name, (image, weight) in DEPTHWISE.items():
        multiplied = ("m",) if "m" in weight else ()
        found[name] = (_image(image, "c"), _inside(weight), (*_place(image, "c"), *multiplied))
    for name, (image, _) in POOLINGS.items():
        window = "".join(dim for dim in image if dim.isdigit())
        found[name] = (_image(image, "f"), _inside(window), _place(image, "f"))
    return {f"linalg.{name}": operands for name, operands in found.items()}


_LOOPS = _loops()
_ELEMENTWISE = {f"linalg.{name}": _ARITY.get(name, 1) for name in ELEMENTWISE}


def _shape(type: Attribute) -> Shape | None:
    """The shape, None for what is no tensor or memory, or has unknown extents."""
    if not isinstance(type, (TensorType, MemRefType)):
        return None
    shape = cast("TensorType[Attribute]", type).get_shape()
    return None if DYNAMIC_INDEX in shape else shape


def check_named(op: Operation, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> None:
    """Check a named operation, or `fill`."""
    check_results(op, inputs, outputs)
    operands = _LOOPS.get(op.name)
    count = len(operands) - 1 if operands else _ELEMENTWISE.get(op.name, 1)
    if len(inputs) != count or len(outputs) != 1:
        refuse(f"expected {count} inputs and 1 output, but found {len(inputs)} and {len(outputs)}")
    values = (*inputs, *outputs)
    if operands is None:
        rank = len(_shape(outputs[0].type) or ())
        operands = ((tuple(map(str, range(rank)))),) * len(values)
    shapes = [_shape(value.type) for value in values]
    if any(shape is None and is_shaped(value) for shape, value in zip(shapes, values, strict=True)):
        return
    for index, (shape, dims) in enumerate(zip(shapes, operands, strict=True)):
        if shape is not None and len(shape) != len(dims):
            refuse(
                f"expected operand rank ({len(shape)}) to match the result rank of indexing_map "
                f"#{index} ({len(dims)})"
            )
    _check_extents(op, shapes, operands)


def is_shaped(value: SSAValue) -> bool:
    """True for tensors and memory."""
    return isinstance(value.type, (TensorType, MemRefType))


def check_count(op: Operation, count: int) -> None:
    """Count the operands."""
    if len(op.operands) != count:
        refuse(f"expected {count} operands, but found {len(op.operands)}")


def check_results(op: Operation, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> None:
    """Check that the results have the types of the tensors that they begin with."""
    tensors = [value for value in outputs if isinstance(value.type, TensorType)]
    if len(op.results) != len(tensors):
        refuse(
            f"expected the number of tensor results ({len(op.results)}) to be equal to the number "
            f"of output tensors ({len(tensors)})"
        )
    for index, (output, result) in enumerate(zip(tensors, op.results, strict=True)):
        if output.type != result.type:
            refuse(
                f"expected type of operand #{len(inputs) + index} ('{ods.text(output.type)}') to "
                f"match type of corresponding result ('{ods.text(result.type)}')"
            )


_MOST_NUMBERS = 1 << 10
"""Most numbers that are looked at; one that repeats may stand for any number of them."""


def window_numbers(op: Operation, name: str, count: int) -> Shape:
    """The strides or dilations of a window of so many dimensions; ones if they are not there."""
    attr = op.properties.get(name, op.attributes.get(name))
    if not isinstance(attr, DenseIntOrFPElementsAttr):
        return (1,) * count
    if (given := math.prod(attr.get_shape())) > _MOST_NUMBERS:
        refuse(f"expected {count} {name} of 1 or more, but found {given} numbers")
    values = tuple(int(value) for value in attr.get_values())
    values = values * count if len(values) == 1 else values
    if len(values) != count or min(values, default=1) < 1:
        refuse(f"expected {count} {name} of 1 or more, but found {list(values)}")
    return values


def _check_extents(
    op: Operation, shapes: Sequence[Shape | None], operands: Sequence[_Operand]
) -> None:
    extents: dict[str, int] = {}
    for shape, dims in zip(shapes, operands, strict=True):
        for extent, dim in zip(shape or (), dims, strict=shape is not None):
            if isinstance(dim, str):
                extents.setdefault(dim, extent)
    count = sum(isinstance(dim, _Window) for dim in operands[0])
    strides, dilations = (window_numbers(op, name, count) for name in ("strides", "dilations"))
    for index, (shape, dims) in enumerate(zip(shapes, operands, strict=True)):
        for place, (extent, dim) in enumerate(zip(shape or (), dims, strict=shape is not None)):
            start = f"inferred input/output operand #{index} has shape's dimension #{place} to be "
            if isinstance(dim, str):
                if extent != extents[dim]:
                    refuse(f"{start}{extents[dim]}, but found {extent}")
                continue
            last = (extents[dim.place] - 1) * strides[dim.number]
            least = last + (extents[dim.inside] - 1) * dilations[dim.number] + 1
            if extent < least:
                refuse(f"{start}greater than or equal to {least}, but found {extent}")


def check_transpose(op: Operation, permutation: Shape) -> None:
    """Check the order and the extents of a transposition."""
    check_results(op, op.operands[:1], op.operands[1:])
    source, result = (_shape(value.type) for value in op.operands)
    if source is None or result is None:
        return
    if sorted(permutation) != list(range(len(permutation))):
        refuse("permutation is not valid")
    if len(source) != len(result):
        refuse(f"input rank {len(source)} does not match init rank {len(result)}")
    if len(permutation) != len(source):
        refuse(
            f"size of permutation {len(permutation)} does not match the argument rank {len(source)}"
        )
    for dim, from_ in enumerate(permutation):
        if result[dim] != source[from_]:
            refuse(
                f"dim(result, {dim}) = {result[dim]} doesn't match dim(input, permutation[{dim}]) "
                f"= {source[from_]}"
            )


def check_broadcast(op: Operation, added: Shape) -> None:
    """Check the new dimensions and the extents of a repetition."""
    check_results(op, op.operands[:1], op.operands[1:])
    source, result = (_shape(value.type) for value in op.operands)
    if source is None or result is None:
        return
    if len(source) + len(added) != len(result):
        refuse(
            "input rank plus added dimensions does not match init rank. input rank: "
            f"{len(source)}, dimensions size: {len(added)}, init rank: {len(result)}"
        )
    for index, dim in enumerate(added):
        if not 0 <= dim < len(result):
            refuse(
                f"dimension {index} is out of range. expected range: [0, {len(result) - 1}], "
                f"got: {dim}"
            )
    kept = [dim for dim in range(len(result)) if dim not in added]
    for index, (extent, dim) in enumerate(zip(source, kept, strict=False)):
        if extent != result[dim]:
            refuse(
                f"input dim {index} should match init dim {dim}. input: {extent}, "
                f"init: {result[dim]}"
            )
    if len(kept) != len(source):
        refuse("dimensions must be different")


def check_reduce(op: Operation, dimensions: Shape) -> None:
    """Check the dimensions, the extents and the body of a reduction."""
    count = len(op.operands) // 2
    inputs, outputs = op.operands[:count], op.operands[count:]
    if count == 0 or len(outputs) != count:
        refuse("expects at least one input, and as many inputs as inits")
    check_results(op, inputs, outputs)
    shapes = [_shape(value.type) for value in (inputs[0], outputs[0])]
    source, result = shapes
    if source is None or result is None:
        return
    for values in (inputs, outputs):
        if any(_shape(value.type) != _shape(values[0].type) for value in values):
            refuse("expects all inputs to have the same shapes, and all inits")
    for dim in dimensions:
        if not 0 <= dim < len(source):
            refuse(f"dimensions for reduction should be in the range [0, {len(source) - 1}].")
    if len(set(dimensions)) != len(dimensions):
        refuse("reduction dimensions should be different")
    if len(source) - len(dimensions) != len(result):
        refuse(
            f"number of dimensions after reduction {len(source) - len(dimensions)} doesn't match "
            f"the init rank {len(result)}"
        )
    left = [extent for dim, extent in enumerate(source) if dim not in dimensions]
    if left != list(result):
        refuse(
            f"init dimensions {_join(result)} doesn't match input dimensions after reduction "
            f"{_join(left)}"
        )
    _check_body(op, (*inputs, *outputs))


def _join(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def check_map(op: Operation) -> None:
    """Check the extents and the body of a function of elements."""
    if not op.operands:
        refuse("expected an init")
    *inputs, output = op.operands
    check_results(op, inputs, [output])
    expected = _shape(output.type)
    for value in inputs:
        shape = _shape(value.type)
        if shape is not None and expected is not None and shape != expected:
            refuse(
                f"expected shape of input ({', '.join(map(str, shape))}) to match shape of output "
                f"({', '.join(map(str, expected))})"
            )
    _check_body(op, inputs)


def _check_body(op: Operation, values: Sequence[SSAValue]) -> None:
    """Check that the body takes the elements of tensors and gives something."""
    blocks = op.regions[0].blocks
    if len(blocks) != 1:
        refuse("expects a region with one block")
    if len(blocks[0].args) != len(values):
        refuse(
            f"expects number of operands to match the arity of its body, but got: {len(values)} "
            f"and {len(blocks[0].args)}"
        )
    for value, argument in zip(values, blocks[0].args, strict=True):
        element = cast("TensorType[Attribute]", value.type).element_type
        if argument.type != element:
            refuse(
                f"expected element type of an operand {ods.text(element)} to match its body's "
                f"argument {ods.text(argument.type)}"
            )
    last = blocks[0].last_op
    if last is None or last.name != "linalg.yield" or len(last.operands) != max(1, len(op.results)):
        refuse("expects a body that ends in linalg.yield with one operand for each result")


def check_softmax(op: Operation, dimension: int) -> None:
    """Check the dimension and the extents of a softmax."""
    check_results(op, op.operands[:1], op.operands[1:])
    source, result = (_shape(value.type) for value in op.operands)
    if source is None or result is None:
        return
    if source != result:
        refuse("incompatible output shape")
    if not 0 <= dimension < len(source):
        refuse("incorrect dimension specified")
