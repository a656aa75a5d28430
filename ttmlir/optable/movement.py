"""Operations that move elements without computing on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
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


def transposed_shape(input: Shape, *, dim0: int, dim1: int) -> Shape:
    """Shape with two dimensions exchanged."""
    shape, rank = list(input), len(input)
    for number, dim in enumerate((dim0, dim1)):
        require(
            -rank <= dim < rank,
            f"Dimension {number} attribute must be within the bounds of the input tensor",
        )
    shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
    return tuple(shape)


def concatenated_shape(*inputs: Shape, dim: int) -> Shape:
    """Shape of tensors put one after the other along `dim`, alike in all other dimensions."""
    require(bool(inputs), "Concatenation requires at least one input tensor.")
    first, rank = inputs[0], len(inputs[0])
    require(-rank <= dim < rank, f"Invalid dimension {dim} for concatenation.")
    axis = dim % rank
    before, after = first[:axis], first[axis + 1 :]
    for shape in inputs:
        require(len(shape) == rank, "All input tensors must have the same rank.")
        require(
            shape[:axis] == before and shape[axis + 1 :] == after,
            f"All input tensors must have the same dimensions, except for dimension {axis}.",
        )
    return (*before, sum(shape[axis] for shape in inputs), *after)


def reshaped_shape(input: Shape, *, shape: tuple[int, ...]) -> Shape:
    """The new shape, its one -1 replaced by what is left of the number of elements."""
    elements = math.prod(input)
    known = [extent for extent in shape if extent != -1]
    unknown = len(shape) - len(known)
    require(unknown <= 1, "Shape attribute must have at most one -1 element")
    require(
        all(extent > 0 or extent == 0 == elements for extent in known),
        "All dimensions must be positive except the one with -1",
    )
    part = math.prod(known)
    if not unknown:
        require(part == elements, "Input and output tensors must have the same number of elements")
        return tuple(shape)
    require(
        not part or elements % part == 0,
        "Invalid shape: the dimensions do not multiply to the total number of elements in the "
        "tensor",
    )
    rest = elements // part if part else 0
    return tuple(rest if extent == -1 else extent for extent in shape)


def squeezed_shape(input: Shape, *, dim: int) -> Shape:
    """Shape without dimension `dim`, whose extent is 1."""
    axis = dim + len(input) if dim < 0 else dim
    require(0 <= axis < len(input), f"Invalid dimension {axis} for squeezing.")
    require(input[axis] == 1, f"Dimension {axis} in the input tensor must be 1.")
    return input[:axis] + input[axis + 1 :]


def unsqueezed_shape(input: Shape, *, dim: int) -> Shape:
    """Shape with an extent of 1 put in front of dimension `dim`."""
    rank = len(input) + 1
    require(
        -rank <= dim < rank, "Dimension attribute must be within the bounds of the input tensor"
    )
    axis = dim % rank
    return (*input[:axis], 1, *input[axis:])


def sliced_shape(
    input: Shape, *, begins: tuple[int, ...], ends: tuple[int, ...], step: tuple[int, ...]
) -> Shape:
    """Shape of a slice; negative bounds count from the end of the dimension."""
    rank = len(input)
    if not len(begins) == len(ends) == len(step) == rank:
        raise ArgumentError(
            f"Begins, ends and step must have one entry for each of the {rank} dimensions."
        )
    result: list[int] = []
    for dim, (extent, begin, end, stride) in enumerate(zip(input, begins, ends, step, strict=True)):
        if stride <= 0:
            raise ArgumentError(f"Step {stride} of dimension {dim} must be positive.")
        first = begin + extent if begin < 0 else begin
        last = end + extent if end < 0 else end
        if not 0 <= first <= last <= extent:
            raise ArgumentError(
                f"Slice from {begin} to {end} of dimension {dim} must lie within its extent "
                f"{extent}."
            )
        result.append(-(-(last - first) // stride))
    return tuple(result)


def repeated_shape(input: Shape, *, repeat_dimensions: tuple[int, ...]) -> Shape:
    """Shape of a tensor repeated so many times along each dimension."""
    if len(repeat_dimensions) != len(input):
        raise ArgumentError(
            f"Repeat dimensions must have one entry for each of the {len(input)} dimensions."
        )
    if any(count <= 0 for count in repeat_dimensions):
        raise ArgumentError("Repeat dimensions must be positive.")
    return tuple(e * n for e, n in zip(input, repeat_dimensions, strict=True))


def permuted_shape(input: Shape, *, permutation: tuple[int, ...]) -> Shape:
    """Shape whose dimension i is dimension `permutation[i]` of the input."""
    if sorted(permutation) != list(range(len(input))):
        raise ArgumentError(
            f"Permutation must name each of the {len(input)} dimensions exactly once."
        )
    return tuple(input[dim] for dim in permutation)


def padded_shape(input: Shape, *, padding: tuple[int, ...], value: float) -> Shape:
    """Shape of a padded tensor; `padding` holds a low and a high count for each dimension."""
    if len(padding) != 2 * len(input):
        raise ArgumentError(
            f"Padding must have two entries for each of the {len(input)} dimensions."
        )
    if any(count < 0 for count in padding):
        raise ArgumentError("Padding must not be negative.")
    return tuple(
        low + extent + high
        for extent, low, high in zip(input, padding[::2], padding[1::2], strict=True)
    )


def _transpose(xp: Any, input: Any, *, dim0: int, dim1: int) -> Any:
    return xp.swapaxes(input, dim0, dim1)


def _concat(xp: Any, *inputs: Any, dim: int) -> Any:
    return xp.concatenate(inputs, axis=dim)


def _reshape(xp: Any, input: Any, *, shape: Shape) -> Any:
    return xp.reshape(input, shape)


def _squeeze(xp: Any, input: Any, *, dim: int) -> Any:
    return xp.squeeze(input, axis=dim)


def _unsqueeze(xp: Any, input: Any, *, dim: int) -> Any:
    return xp.expand_dims(input, axis=dim)


def _repeat(xp: Any, input: Any, *, repeat_dimensions: tuple[int, ...]) -> Any:
    return xp.tile(input, repeat_dimensions)


def _permute(xp: Any, input: Any, *, permutation: tuple[int, ...]) -> Any:
    return xp.transpose(input, permutation)


def _broadcast(xp: Any, input: Any, *, dimension: tuple[int, ...], shape: Shape) -> Any:
    if input.ndim < len(shape) and len(dimension) == input.ndim:
        placed = [1] * len(shape)
        for extent, dim in zip(input.shape, dimension, strict=True):
            placed[dim] = extent
        input = xp.reshape(input, placed)
    return xp.broadcast_to(input, shape)


def _slice(
    xp: Any, input: Any, *, begins: tuple[int, ...], ends: tuple[int, ...], step: tuple[int, ...]
) -> Any:
    bounds = zip(input.shape, begins, ends, step, strict=True)
    return input[
        tuple(
            slice(b + extent if b < 0 else b, e + extent if e < 0 else e, s)
            for extent, b, e, s in bounds
        )
    ]


def reversed_shape(input: Shape, *, dimensions: tuple[int, ...]) -> Shape:
    """The same shape; ValueError for a dimension that is missing or named twice."""
    named = {check_dimension(dim, len(input)) for dim in dimensions}
    if len(named) != len(dimensions):
        raise ArgumentError("Dimensions to reverse must differ from each other.")
    return input


def _reverse(xp: Any, input: Any, *, dimensions: tuple[int, ...]) -> Any:
    return xp.flip(input, dimensions)


def _pad(xp: Any, input: Any, *, padding: tuple[int, ...], value: float) -> Any:
    widths = list(zip(padding[::2], padding[1::2], strict=True))
    if xp.issubdtype(input.dtype, xp.integer):
        # The ends of a type need not be numbers that f32 holds.
        limits = xp.iinfo(input.dtype)
        value = int(min(max(value, limits.min), limits.max))
    return xp.pad(input, widths, constant_values=value) if widths else input


def _concat_parameters(
    parameters: Mapping[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    return {"dim": parameters["dim"] % len(result)}


def _reshape_parameters(
    parameters: Mapping[str, Any], shapes: Sequence[Shape], result: Shape
) -> dict[str, Any]:
    return {"shape": result}


def _movement(
    mnemonic: str,
    summary: str,
    reference: Callable[..., Any],
    result_shape: Callable[..., Shape] | None,
    *parameters: Parameter,
    table: str | None,
    moves: bool = True,
    is_reshape: bool = False,
    since: str = "880154e3c2",
) -> OpDefinition:
    """A definition with one operand; its table holds the parameters under their own names."""
    fields = (("in", "input"), ("out", "output"), *((p.name, p.name) for p in parameters))
    return OpDefinition(
        mnemonic=mnemonic,
        summary=summary,
        family=Family.MOVEMENT,
        operands=(Operand(name="input"),),
        parameters=parameters,
        reference=reference,
        result_shape=result_shape,
        in_ttnn=table is not None,
        flatbuffer=None if table is None else Flatbuffer(table=table, fields=fields),
        moves=moves,
        ttnn_form="reshape" if is_reshape else "",
        ttnn_parameters=_reshape_parameters if is_reshape else None,
        since=since,
    )


DEFINITIONS = (
    _movement(
        "transpose",
        "Exchange of two dimensions.",
        _transpose,
        transposed_shape,
        Parameter(name="dim0", kind=Kind.SI32, doc="First dimension."),
        Parameter(name="dim1", kind=Kind.SI32, doc="Second dimension."),
        table="TransposeOp",
    ),
    OpDefinition(
        mnemonic="concat",
        summary="Tensors put one after the other along a dimension.",
        family=Family.MOVEMENT,
        operands=(Operand(name="inputs", variadic=True),),
        parameters=(Parameter(name="dim", kind=Kind.SI32, doc="Dimension that grows."),),
        reference=_concat,
        result_shape=concatenated_shape,
        flatbuffer=Flatbuffer(
            table="ConcatOp", fields=(("inputs", "inputs"), ("out", "output"), ("dim", "dim"))
        ),
        moves=True,
        ttnn_parameters=_concat_parameters,
    ),
    _movement(
        "broadcast",
        "Repetition along dimensions of extent 1 or dimensions that are added.",
        _broadcast,
        None,
        Parameter(
            name="dimension",
            kind=Kind.I64_ARRAY,
            doc="Where the input has fewer dimensions than the output: for each of its "
            "dimensions, the dimension of the output that it becomes.",
        ),
        table=None,
    ),
    _movement(
        "reshape",
        "The same elements in row-major order under another shape.",
        _reshape,
        reshaped_shape,
        Parameter(name="shape", kind=Kind.I32_ARRAY, doc="New shape; one extent may be -1."),
        table="ReshapeOp",
    ),
    _movement(
        "squeeze",
        "Removal of a dimension of extent 1.",
        _squeeze,
        squeezed_shape,
        Parameter(name="dim", kind=Kind.SI32, doc="Dimension to remove."),
        table=None,
        is_reshape=True,
    ),
    _movement(
        "unsqueeze",
        "Insertion of a dimension of extent 1.",
        _unsqueeze,
        unsqueezed_shape,
        Parameter(name="dim", kind=Kind.SI32, doc="Position of the new dimension in the result."),
        table=None,
        is_reshape=True,
    ),
    _movement(
        "slice",
        "Every step-th element between two bounds of each dimension.",
        _slice,
        sliced_shape,
        Parameter(name="begins", kind=Kind.I32_ARRAY, doc="First element per dimension."),
        Parameter(name="ends", kind=Kind.I32_ARRAY, doc="End, exclusive, per dimension."),
        Parameter(name="step", kind=Kind.I32_ARRAY, doc="Distance of elements, positive."),
        table="SliceOp",
        since=_LATER,
    ),
    _movement(
        "repeat",
        "The whole tensor repeated along each dimension.",
        _repeat,
        repeated_shape,
        Parameter(name="repeat_dimensions", kind=Kind.DENSE_I64, doc="Repetitions per dimension."),
        table="RepeatOp",
        since=_LATER,
    ),
    _movement(
        "permute",
        "Reordering of the dimensions.",
        _permute,
        permuted_shape,
        Parameter(
            name="permutation",
            kind=Kind.DENSE_I64,
            doc="For each dimension of the result, the dimension of the input it is.",
        ),
        table="PermuteOp",
        since=_LATER,
    ),
    _movement(
        "pad",
        "A constant put around the tensor.",
        _pad,
        padded_shape,
        Parameter(
            name="padding",
            kind=Kind.DENSE_I32,
            doc="Elements added below and above, two entries per dimension.",
        ),
        Parameter(name="value", kind=Kind.F32, doc="Value of the added elements."),
        table="PadOp",
        moves=False,
        since=_LATER,
    ),
    _movement(
        "reverse",
        "The elements in the opposite order along some dimensions.",
        _reverse,
        reversed_shape,
        Parameter(name="dimensions", kind=Kind.DENSE_I64, doc="Dimensions to reverse."),
        table="ReverseOp",
        since=_LATER,
    ),
)
