"""Reading and writing elements whose places are numbers in a tensor, and running sums.

Three rules hold for all operations here. Numbers count from 0; negative ones do not count from the
end. A slice that would reach over the border is moved inside, as StableHLO's dynamic slices are.
What is written beyond the border is dropped, as StableHLO's scatter does it.
"""

from __future__ import annotations

from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
    Domain,
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
    Shape,
    check_dimension,
    require,
)

_LATER = "2026-08"
_DIM = Parameter(name="dim", kind=Kind.SI32, doc="Dimension that is numbered.")


def embedded_shape(input: Shape, weight: Shape) -> Shape:
    """Shape of looked-up rows: that of the row numbers and the width of the table."""
    require(len(weight) == 2, "Weight must be a 2D tensor")
    return (*input, weight[1])


def gathered_shape(input: Shape, index: Shape, *, dim: int) -> Shape:
    """Shape of picked elements: the larger extents of input and index, the index's at `dim`."""
    axis = check_dimension(dim, len(input))
    if len(index) != len(input):
        raise ArgumentError(f"Index must have as many dimensions as the input, {len(input)}.")
    for i, (extent, count) in enumerate(zip(input, index, strict=True)):
        if i != axis and extent != count and 1 not in (extent, count):
            raise ArgumentError(
                f"Index has {count} elements along dimension {i}, the input {extent}; outside of "
                f"dimension {axis} they must be equal, or one of them 1."
            )
    return tuple(
        count if i == axis or extent == 1 else extent
        for i, (extent, count) in enumerate(zip(input, index, strict=True))
    )


def scattered_shape(input: Shape, index: Shape, source: Shape, *, dim: int) -> Shape:
    """Shape of the tensor that is written to, after checking what is written and where."""
    axis = check_dimension(dim, len(input))
    if not len(index) == len(source) == len(input):
        raise ArgumentError(
            f"Index and source must have as many dimensions as the input, {len(input)}."
        )
    for i, extents in enumerate(zip(input, index, source, strict=True)):
        extent, places, count = extents
        if places not in (1, count) or (i == axis and places != count):
            raise ArgumentError(
                f"Index has {places} elements along dimension {i}, the source {count}; they must "
                f"be equal, or the index 1 outside of dimension {axis}."
            )
        if i != axis and count != extent:
            raise ArgumentError(
                f"Source has {count} elements along dimension {i}, the input {extent}; outside of "
                f"dimension {axis} they must be equal."
            )
    return input


def _check_begins(input: Shape, begins: Shape) -> None:
    if begins != (len(input),):
        raise ArgumentError(
            f"Begins must be a tensor of one dimension and {len(input)} elements, one for each "
            "dimension of the input."
        )


def dynamically_sliced_shape(input: Shape, begins: Shape, *, sizes: tuple[int, ...]) -> Shape:
    """The sizes, which lie within the input."""
    _check_begins(input, begins)
    if len(sizes) != len(input):
        raise ArgumentError(f"Sizes must have one entry for each of the {len(input)} dimensions.")
    for dim, (extent, size) in enumerate(zip(input, sizes, strict=True)):
        if not 0 <= size <= extent:
            raise ArgumentError(f"Size {size} of dimension {dim} must be from 0 to {extent}.")
    return sizes


def written_shape(input: Shape, update: Shape, begins: Shape) -> Shape:
    """Shape of the tensor that is written to, which has room for the update."""
    _check_begins(input, begins)
    if len(update) != len(input):
        raise ArgumentError(f"Update must have as many dimensions as the input, {len(input)}.")
    for dim, (extent, size) in enumerate(zip(input, update, strict=True)):
        if size > extent:
            raise ArgumentError(
                f"Update has {size} elements along dimension {dim}, more than the input, {extent}."
            )
    return input


def scanned_shape(input: Shape, *, dim: int) -> Shape:
    """The shape of the input, which has the dimension."""
    check_dimension(dim, len(input))
    return input


def window_at(xp: Any, extents: Shape, begins: Any, sizes: Shape) -> tuple[slice, ...]:
    """The slices of these sizes that begin at these numbers, moved inside where needed."""
    return tuple(
        slice(start, start + size)
        for start, size in (
            (min(max(int(begin), 0), extent - size), size)
            for begin, extent, size in zip(xp.asarray(begins).tolist(), extents, sizes, strict=True)
        )
    )


def check_numbers(numbers: Any, extent: int, what: str = "picked from") -> None:
    """Refuse numbers of elements that a dimension does not have; `what` is done with them."""
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < extent:
        raise ArgumentError(
            f"Elements {int(numbers.min())} to {int(numbers.max())} were {what} a dimension of "
            f"{extent}."
        )


def _gather(xp: Any, input: Any, index: Any, *, dim: int) -> Any:
    numbers = xp.asarray(index).astype(xp.int64)
    check_numbers(numbers, input.shape[dim])
    return xp.take_along_axis(input, numbers, axis=dim)


def _slice_dynamic(xp: Any, input: Any, begins: Any, *, sizes: tuple[int, ...]) -> Any:
    return input[window_at(xp, input.shape, begins, sizes)]


def _slice_write(xp: Any, input: Any, update: Any, begins: Any) -> Any:
    output = xp.array(input)
    output[window_at(xp, input.shape, begins, update.shape)] = update
    return output


def _cumsum(xp: Any, input: Any, *, dim: int) -> Any:
    return xp.cumsum(input, axis=dim)


def _scatter(
    mnemonic: str, kind: str, summary: str, formula: str, function: str | None
) -> OpDefinition:
    def reference(xp: Any, input: Any, index: Any, source: Any, *, dim: int) -> Any:
        output = xp.array(input)
        numbers = xp.broadcast_to(xp.asarray(index).astype(xp.int64), source.shape)
        inside = (numbers >= 0) & (numbers < input.shape[dim])
        places = [*xp.nonzero(inside)]
        places[dim] = numbers[inside]
        if function is None:
            output[tuple(places)] = source[inside]
        else:
            combine: Any = getattr(xp, function)
            combine.at(output, tuple(places), source[inside].astype(output.dtype))
        return output

    return OpDefinition(
        mnemonic=mnemonic,
        summary=summary,
        formula=formula,
        family=Family.LOOKUP,
        operands=(Operand(name="input"), Operand(name="index"), Operand(name="source")),
        parameters=(_DIM,),
        reference=reference,
        result_shape=scattered_shape,
        domains=(Domain.REAL, Domain.INTEGER, Domain.REAL),
        flatbuffer=Flatbuffer(
            table="ScatterOp",
            kind=kind,
            fields=(
                ("type", "type"),
                ("in", "input"),
                ("index", "index"),
                ("source", "source"),
                ("out", "output"),
                ("dim", "dim"),
            ),
        ),
        since=_LATER,
    )


def _combination(function: str, what: str, formula: str) -> OpDefinition:
    summary = f"Elements combined with others at given indices of a dimension: {what}."
    kind = f"Scatter{function.capitalize()}"
    return _scatter(f"scatter_{function}", kind, summary, formula, function)


def _embedding(xp: Any, input: Any, weight: Any) -> Any:
    rows = xp.asarray(input).astype(xp.int64)
    if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < weight.shape[0]:
        raise ArgumentError(
            f"Row numbers from {int(rows.min())} to {int(rows.max())} were looked up "
            f"in a table of {weight.shape[0]} rows."
        )
    return weight[rows]


DEFINITIONS = (
    OpDefinition(
        mnemonic="embedding",
        summary="Rows of a table, looked up by number.",
        formula="output[i..., :] = weight[input[i...], :]",
        family=Family.LOOKUP,
        operands=(Operand(name="input"), Operand(name="weight")),
        reference=_embedding,
        result_shape=embedded_shape,
        domains=(Domain.INDEX, Domain.REAL),
        flatbuffer=Flatbuffer(
            table="EmbeddingOp",
            fields=(("input", "input"), ("weight", "weight"), ("output", "output")),
        ),
    ),
    OpDefinition(
        mnemonic="gather",
        summary="Elements picked by their number along a dimension; input and index broadcast "
        "along the others.",
        formula="output[i, j] = input[index[i, j], j], for dimension 0",
        family=Family.LOOKUP,
        operands=(Operand(name="input"), Operand(name="index")),
        parameters=(_DIM,),
        reference=_gather,
        result_shape=gathered_shape,
        domains=(Domain.REAL, Domain.INDEX),
        flatbuffer=Flatbuffer(
            table="GatherOp",
            fields=(("in", "input"), ("index", "index"), ("out", "output"), ("dim", "dim")),
        ),
        since=_LATER,
    ),
    _scatter(
        "scatter",
        "Scatter",
        "Elements written to given indices of a dimension; the index broadcasts along the others. "
        "Of several elements for one index, one wins.",
        "output[index[i, j], j] = source[i, j], for dimension 0; input elsewhere",
        None,
    ),
    _combination("add", "sums", "input + source[i, j] at [index[i, j], j], for dimension 0"),
    _combination(
        "multiply", "products", "input * source[i, j] at [index[i, j], j], for dimension 0"
    ),
    _combination(
        "maximum", "the larger ones", "max(input, source) at [index[i, j], j], for dimension 0"
    ),
    _combination(
        "minimum", "the smaller ones", "min(input, source) at [index[i, j], j], for dimension 0"
    ),
    OpDefinition(
        mnemonic="slice_dynamic",
        summary="A slice whose position is computed; one that would reach over the border is moved "
        "inside.",
        formula="output[i, j] = input[b[0] + i, b[1] + j], b = clamp(begins, 0, extents - sizes)",
        family=Family.MOVEMENT,
        operands=(Operand(name="input"), Operand(name="begins")),
        parameters=(Parameter(name="sizes", kind=Kind.DENSE_I64, doc="Extents of the slice."),),
        reference=_slice_dynamic,
        result_shape=dynamically_sliced_shape,
        domains=(Domain.REAL, Domain.INTEGER),
        flatbuffer=Flatbuffer(
            table="SliceDynamicOp",
            fields=(("in", "input"), ("begins", "begins"), ("out", "output"), ("sizes", "sizes")),
        ),
        since=_LATER,
    ),
    OpDefinition(
        mnemonic="slice_write",
        summary="A tensor with a slice of it replaced; a slice that would reach over the border "
        "is moved inside.",
        formula="output[b[0] + i, b[1] + j] = update[i, j], "
        "b = clamp(begins, 0, extents of input - extents of update); input elsewhere",
        family=Family.MOVEMENT,
        operands=(Operand(name="input"), Operand(name="update"), Operand(name="begins")),
        reference=_slice_write,
        result_shape=written_shape,
        domains=(Domain.REAL, Domain.REAL, Domain.INTEGER),
        flatbuffer=Flatbuffer(
            table="SliceWriteOp",
            fields=(("in", "input"), ("update", "update"), ("begins", "begins"), ("out", "output")),
        ),
        since=_LATER,
    ),
    OpDefinition(
        mnemonic="cumsum",
        summary="Running sums along a dimension.",
        formula="output[i, j] = sum over k <= i of input[k, j], for dimension 0",
        family=Family.NORMALIZATION,
        operands=(Operand(name="input"),),
        parameters=(Parameter(name="dim", kind=Kind.SI32, doc="Dimension of the sums."),),
        reference=_cumsum,
        result_shape=scanned_shape,
        flatbuffer=Flatbuffer(
            table="CumsumOp", fields=(("in", "input"), ("out", "output"), ("dim", "dim"))
        ),
        since=_LATER,
    ),
)
