"""Parts of tensors by brackets."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

from ttmlir.errors import ArgumentTypeError, IndexRangeError, UsageError, plural
from ttmlir.ttnn.operations.operation import Operation, operations_of, store
from ttmlir.ttnn.tensor.storage import DeviceStorage
from ttmlir.ttnn.tensor.tensor import Tensor


def get_item(tensor: Tensor, index: Any) -> Tensor:
    """The part at integers, slices with positive steps and at most one ellipsis.

    IndexError outside of the tensor, TypeError for other indices.
    """
    places = full_index(tensor, index)
    part = tensor.array[tuple(places)]
    if part.shape == tensor.shape:
        return tensor
    return store(part, (tensor,), device=tensor.device(), exact=True)


def full_index(tensor: Tensor, index: Any) -> list[Any]:
    """An integer or a slice for each dimension; raises as `get_item` does."""
    shape = tensor.shape
    places: list[Any] = [*index] if isinstance(index, tuple) else [index]
    if sum(isinstance(each, EllipsisType) for each in places) > 1:
        raise IndexRangeError("a tensor's index has one ellipsis at most")
    for position, each in enumerate(places):
        if isinstance(each, EllipsisType):
            missing = len(shape) - (len(places) - 1)
            places[position : position + 1] = [slice(None)] * missing
            break
    if len(places) > len(shape):
        raise IndexRangeError(f"{plural(len(places), 'index')} for a tensor of {shape}")
    for extent, each in zip(shape, places, strict=False):
        _check(each, extent, isinstance(tensor.storage, DeviceStorage))
    return places + [slice(None)] * (len(shape) - len(places))


def _check(place: Any, extent: int, on_device: bool) -> None:
    match place:
        case bool() | None:
            raise ArgumentTypeError("a tensor's index has integers, slices and an ellipsis")
        case int():
            if not -extent <= place < extent:
                raise IndexRangeError(f"index {place} is out of range for an extent of {extent}")
        case slice():
            _, _, step = place.indices(extent)
            if step < 1:
                raise UsageError(f"the step of a slice is positive, got {step}")
            if step != 1 and not on_device:
                raise UsageError("slices of tensors on the host have step 1; use to_device first")
        case _:
            raise ArgumentTypeError("a tensor's index has integers, slices and an ellipsis")


OPERATIONS: dict[str, Operation] = operations_of(get_item)
