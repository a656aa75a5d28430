"""What operations of several families have in common: operands, dimensions, given results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import as_dimension, common_device, require_tensor, store
from ttmlir.ttnn.operations.reductions import as_dimensions
from ttmlir.ttnn.operations.signature import fits, spell_value
from ttmlir.ttnn.tensor.tensor import Tensor

CONFIG = "memory_config=None, compute_kernel_config"


def take_tensors(
    values: Mapping[str, Any], *names: str, optional: Sequence[str] = ()
) -> tuple[Tensor, ...]:
    """The operands of some names, all of one device; errors as `require_tensor`, `common_device`.

    Optional ones follow; those that are None are left out.
    """
    given = [name for name in optional if values[name] is not None]
    found = tuple(require_tensor(values[name], name) for name in (*names, *given))
    common_device(*found)
    return found


def read_number(value: Any, name: str) -> float:
    """A number that an argument has to be; ArgumentTypeError for what is none."""
    if not fits(value, float):
        raise ArgumentTypeError(f"{name} is a number, not {spell_value(value)}")
    return float(value)


def read_flags(value: Any, count: int) -> list[bool]:
    """Which of some results are asked for; errors for what are not so many truth values."""
    if not fits(value, Sequence[bool]):
        raise ArgumentTypeError(
            f"are_required_outputs is a list of True and False, not {spell_value(value)}"
        )
    listed = [bool(each) for each in value]
    if len(listed) != count:
        raise ArgumentError(f"are_required_outputs has {count} truth values, got {len(listed)}")
    return listed


def read_shape(value: Any, name: str) -> tuple[int, ...]:
    """A shape, as of `ttnn.Shape`; ArgumentTypeError for what is none."""
    if not fits(value, Sequence[int]):
        raise ArgumentTypeError(f"{name} is a ttnn.Shape, not {spell_value(value)}")
    return tuple(int(extent) for extent in value)


def keep(
    array: Array,
    model: Tensor,
    values: Mapping[str, Any],
    output: str = "output",
    config: str = "memory_config",
) -> Tensor:
    """A result with the data type and layout of an operand, in the tensor that is given for it."""
    return store(
        np.asarray(array),
        (model,),
        device=common_device(model),
        memory_config=values.get(config),
        output_tensor=values.get(output),
    )


def keep_given(
    array: Array, model: Tensor, values: Mapping[str, Any], output: str, *, wanted: bool = True
) -> Tensor | None:
    """A result in the tensor that is given for it; None where there is none.

    ArgumentError if it is `wanted` and there is none: a card does not allocate it.
    """
    if values[output] is None:
        if wanted:
            raise ArgumentError(f"{output} is missing: give a tensor for it, as of ttnn.empty_like")
        return None
    return store(
        np.asarray(array), (model,), device=common_device(model), output_tensor=values[output]
    )


def read_dims(dim: Any, rank: int) -> tuple[int, ...]:
    """The dimensions that an argument names; all for None and for an empty list.

    ArgumentError for those that a tensor of the rank does not have: none is counted from the end.
    """
    dims = as_dimensions(dim) or tuple(range(rank))
    if min(dims) < 0:
        raise ArgumentError(f"dim={dim} is negative; dimensions are counted from 0 on")
    return tuple(sorted({as_dimension(each, rank) for each in dims}))


def reduce_shape(shape: Sequence[int], dims: Sequence[int], *, keepdim: bool) -> tuple[int, ...]:
    """The shape of a reduction: of the last two dimensions each is kept with extent 1."""
    rank = len(shape)
    if len(dims) == rank and not keepdim:
        return (1, 1)
    return tuple(
        1 if each in dims else extent
        for each, extent in enumerate(shape)
        if each not in dims or keepdim or each >= rank - 2
    )


def restore_dims(
    array: Array, shape: Sequence[int], dims: Sequence[int], *, keepdim: bool, name: str
) -> Array:
    """Numbers of a reduction's result, with extent 1 where dimensions of a shape were reduced."""
    expected = reduce_shape(shape, dims, keepdim=keepdim)
    if array.shape != expected:
        raise ArgumentError(
            f"{name} has {list(array.shape)}; it is Shape({list(expected)}), that of the result"
        )
    return array.reshape([1 if i in dims else extent for i, extent in enumerate(shape)])
