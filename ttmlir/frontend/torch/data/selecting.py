"""Operations that select rows, or write to selected ones, for programs of fixed shapes.

Handlers return None for what they leave to the operation itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ttmlir.frontend.torch.data.leaves import is_tensor
from ttmlir.frontend.torch.data.rows import Axis, Count, Masks, Rows, align, made, rows_of
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.places import refuse_node


@dataclass(frozen=True)
class Selection:
    """A call of an operation, with values that may be rows or counts."""

    node: Any
    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    masks: Masks

    def get(self, name: str, default: Any = None) -> Any:
        """An argument by its name in the schema."""
        for number, argument in enumerate(self.node.target._schema.arguments):
            if argument.name == name and number < len(self.args):
                return self.args[number]
        return self.kwargs.get(name, default)

    def dim(self, rank: int, name: str = "dim") -> int:
        """A dimension, counted from 0."""
        return self.get(name, 0) % max(rank, 1)

    def refuse(self, reason: str) -> Any:
        """Fail at the user's line."""
        refuse_node(self.node, reason)


# -- selecting ---------------------------------------------------------------------------------


def _nonzero(call: Selection) -> Any:
    """The places that are not 0: all places, of which those count."""
    torch = torch_package()
    x = call.args[0]
    if isinstance(x, Rows):
        return _refuse_rows(call)
    axis = call.masks.axis(x)
    if axis.valid.dtype != torch.bool:
        axis.valid = axis.valid != 0
    places = torch.arange(math.prod(x.shape))
    columns: list[Any] = []
    for extent in reversed(x.shape):
        columns.append(places % extent)
        places = places // extent
    columns = columns[::-1]
    if call.name in ("where", "nonzero_numpy"):
        return [Rows(column, {0: axis}) for column in columns]
    return Rows(torch.stack(columns, 1), {0: axis})


def _where(call: Selection) -> Any:
    return _nonzero(call) if len(call.args) == 1 else None


def _masked_select(call: Selection) -> Any:
    torch = torch_package()
    x, mask = call.args
    if isinstance(x, Rows) or isinstance(mask, Rows):
        return _refuse_rows(call)
    if x.shape == mask.shape:
        return Rows(x.reshape(-1), {0: call.masks.axis(mask)})
    x, mask = torch.broadcast_tensors(x, mask)
    return Rows(x.reshape(-1), {0: Axis(mask.reshape(-1))})


def _index(call: Selection) -> Any:
    """`x[mask]`, and `x[places]` of places that are rows."""
    x, indices = rows_of(call.args[0]), list(call.args[1])
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    if len(given) == 1 and _is_mask(given[0][1]):
        return _select(call, x, *given[0])
    if any(_is_mask(each) for _, each in given):
        return call.refuse("a mask beside other indices is not supported; write x[mask][:, i]")
    for dim, _ in given:
        if dim in x.axes:
            x = x.compact(dim)
    tensors, axes = align([each for _, each in given])
    for (dim, _), tensor in zip(given, tensors, strict=True):
        indices[dim] = tensor
    found = x.data[tuple(slice(None) if each is None else each for each in indices)]
    rank = tensors[0].dim() if len(tensors) == 1 else max(each.dim() for each in tensors)
    dims = [dim for dim, _ in given]
    first = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    placed = {first + dim: axis for dim, axis in axes.items()}
    rest = [dim for dim in range(x.data.dim()) if dim not in dims]
    for number, dim in enumerate(rest):
        if dim in x.axes:
            placed[number if number < first else number + rank] = x.axes[dim]
    return made(found, placed)


def _select(call: Selection, x: Rows, dim: int, mask: Any) -> Any:
    if isinstance(mask, Rows):
        axis = x.axes.get(dim)
        if axis is None or mask.data.dim() != 1 or mask.axes.get(0) is not axis:
            return _refuse_rows(call)
        return Rows(x.data, {**x.axes, dim: Axis(axis.valid & mask.data)})
    if x.axes:
        return _refuse_rows(call)
    shape = x.data.shape
    data = x.data.reshape((*shape[:dim], -1, *shape[dim + mask.dim() :]))
    return Rows(data, {dim: call.masks.axis(mask)})


def _is_mask(index: Any) -> bool:
    data = rows_of(index).data
    return is_tensor(data) and data.dtype == torch_package().bool


def _take(call: Selection) -> Any:
    """One place among those that count."""
    x, index = call.args[0], call.get("index")
    if not isinstance(x, Rows):
        return None
    dim = call.dim(x.data.dim())
    if dim not in x.axes or not isinstance(index, int):
        return None
    rows = x.compact(dim)
    if index >= 0:
        data = rows.data.select(dim, index)
    else:
        at = (x.axes[dim].count() + index).clamp(min=0).reshape(1)
        data = rows.data.index_select(dim, at).squeeze(dim)
    axes = {each - (each > dim): axis for each, axis in rows.axes.items() if each != dim}
    return made(data, axes)


def _slice(call: Selection) -> Any:
    """Places from one to another, of which either may be a count."""
    torch = torch_package()
    x = rows_of(call.args[0])
    dim, step = call.dim(x.data.dim()), call.get("step", 1)
    start, end = call.get("start"), call.get("end")
    is_counted = isinstance(start, Count) or isinstance(end, Count)
    if dim not in x.axes and not is_counted:
        return None
    if step != 1:
        return call.refuse("steps in places that depend on data are not supported; take all")
    size = x.data.shape[dim]
    if dim in x.axes:
        x = x.compact(dim)
        count = x.axes[dim].count()
    else:
        count = torch.full((), size)
    begin, behind = (_bound(each, count, other) for each, other in ((start, 0), (end, count)))
    place = torch.arange(size)
    valid = (place >= begin) & (place < torch.minimum(behind, count))
    return Rows(x.data, {**x.axes, dim: Axis(valid)})


def _bound(given: Any, count: Any, default: Any) -> Any:
    torch = torch_package()
    if given is None:
        given = default
    if isinstance(given, Count):
        given = given.tensor
    if isinstance(given, int):
        return torch.full((), given) if given >= 0 else (count + given).clamp(min=0)
    return torch.where(given < 0, (count + given).clamp(min=0), given)


def _split(call: Selection) -> Any:
    """Parts of a tensor of as many rows as counts say."""
    torch = torch_package()
    x, sizes = rows_of(call.args[0]), call.args[1]
    dim = call.dim(x.data.dim())
    if not any(isinstance(each, Count) for each in sizes):
        return None
    if dim in x.axes:
        x = x.compact(dim)
    place = torch.arange(x.data.shape[dim])
    parts: list[Any] = []
    begin: Any = torch.zeros((), dtype=torch.int64)
    for size in sizes:
        end = begin + (size.tensor if isinstance(size, Count) else size)
        valid = (place >= begin) & (place < end)
        parts.append(Rows(x.data, {**x.axes, dim: Axis(valid)}))
        begin = end
    return parts


def _size(call: Selection) -> Any:
    x = call.args[0]
    if not isinstance(x, Rows):
        return None
    dim = call.dim(x.data.dim())
    if dim not in x.axes:
        return x.data.shape[dim]
    return Count(x.axes[dim].count(), x.axes[dim])


def _numel(call: Selection) -> Any:
    x = call.args[0]
    if not isinstance(x, Rows):
        return None
    count: Any = 1
    for dim, extent in enumerate(x.data.shape):
        count = count * (x.axes[dim].count() if dim in x.axes else extent)
    return Count(count)


def _arange(call: Selection) -> Any:
    """The numbers of places that count."""
    counts = [each for each in call.args if isinstance(each, Count)]
    begins = [each for each in call.args if not isinstance(each, Count)]
    if len(counts) != 1 or counts[0].axis is None or any(each != 0 for each in begins[:1]):
        return call.refuse(
            "a range as long as a number in a tensor is not supported; make one of a length that "
            "is known, and compare it with the number"
        )
    dtype = call.node.meta["val"].dtype
    return Rows(counts[0].axis.ranks().to(dtype), {0: counts[0].axis})


def _unique(call: Selection) -> Any:
    """Different numbers in order, where each is among them, and how often it is there."""
    torch = torch_package()
    x = call.args[0]
    if isinstance(x, Rows):
        return _refuse_rows(call)
    flat, count = x.reshape(-1), x.numel()
    is_sorted = call.name != "unique_consecutive"
    order = torch.argsort(flat, stable=True) if is_sorted else torch.arange(count)
    numbers = flat.index_select(0, order)
    begins = torch.ones(count, dtype=torch.bool)
    if count > 1:
        differs = numbers.narrow(0, 1, count - 1) != numbers.narrow(0, 0, count - 1)
        begins = torch.cat([begins.narrow(0, 0, 1), differs])
    axis = Axis(begins)
    rank = axis.ranks()
    values = Rows(numbers, {0: axis}).compact(0)
    inverse = torch.zeros(count, dtype=torch.int64).scatter(0, order, rank).reshape(x.shape)
    counts = torch.zeros(count, dtype=torch.int64)
    counts = counts.scatter_add(0, rank, torch.ones(count, dtype=torch.int64))
    return values, inverse, Rows(counts, values.axes)


# -- combining ---------------------------------------------------------------------------------


def _cat(call: Selection) -> Any:
    torch = torch_package()
    tensors = [rows_of(each) for each in call.args[0]]
    dim = call.dim(tensors[0].data.dim())
    if not any(dim in each.axes for each in tensors):
        return None
    others = {id(axis): d for each in tensors for d, axis in each.axes.items() if d != dim}
    if others:
        return _refuse_rows(call)
    valids = [
        each.axes[dim].valid
        if dim in each.axes
        else torch.ones(each.data.shape[dim], dtype=torch.bool)
        for each in tensors
    ]
    data = torch.cat([each.data for each in tensors], dim)
    return Rows(data, {dim: Axis(torch.cat(valids))})


def _masked_scatter(call: Selection) -> Any:
    x, mask, source = call.args
    if isinstance(x, Rows) or isinstance(mask, Rows):
        return _refuse_rows(call)
    return _put_masked(call, x, mask, rows_of(source))


# -- writing -----------------------------------------------------------------------------------


def _index_put(call: Selection) -> Any:
    x, indices, values = call.args[0], list(call.args[1]), rows_of(call.args[2])
    accumulate = bool(call.get("accumulate", False))
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    if isinstance(x, Rows):
        return _refuse_rows(call)
    if len(given) == 1 and _is_mask(given[0][1]):
        dim, mask = given[0]
        if isinstance(mask, Rows) or dim:
            return _refuse_rows(call)
        return _put_masked(call, x, mask, values, accumulate)
    if any(_is_mask(each) for _, each in given):
        return _refuse_rows(call)
    tensors, axes = align([each for _, each in given])
    rank = max(each.dim() for each in tensors)
    dims = [dim for dim, _ in given]
    if list(axes) != [0] or rank != 1 or dims != list(range(dims[0], dims[0] + len(dims))):
        return _refuse_rows(call)
    return _put_rows(x, dims, tensors, axes[0], values, accumulate)


def _put_rows(
    x: Any, dims: list[int], indices: list[Any], axis: Axis, values: Rows, accumulate: bool
) -> Any:
    """Rows written to places; those that do not count go behind the last place, and away."""
    torch = torch_package()
    first = dims[0]
    after = x.dim() - dims[-1] - 1
    data = _as_rows_of(values, axis, values.data.dim() - after - 1)
    extent = x.shape[first]
    behind = torch.cat([x, x.narrow(first, 0, 1)], first)
    place = torch.where(indices[0] < 0, indices[0] + extent, indices[0])
    place = torch.where(axis.valid, place, extent)
    where: list[Any] = [*(None for _ in range(first)), place, *indices[1:]]
    written = torch.ops.aten.index_put(behind, where, data.to(x.dtype), accumulate)
    return written.narrow(first, 0, extent)


def _as_rows_of(values: Rows, axis: Axis, dim: int) -> Any:
    """The numbers of rows, at the places of an axis."""
    if dim < 0 or (dim not in values.axes and values.data.shape[dim] == 1):
        return values.data
    if values.axes.get(dim) is axis:
        return values.data
    # In order: the first row that counts belongs to the first place that does.
    dense = values.compact(dim).data if dim in values.axes else values.data
    rank = axis.ranks().clamp(0, dense.shape[dim] - 1)
    return dense.index_select(dim, rank)


def _put_masked(call: Selection, x: Any, mask: Any, values: Rows, accumulate: bool = False) -> Any:
    """What a mask selects replaced by as many rows, in order."""
    torch = torch_package()
    if call.name == "masked_scatter":
        x, mask = torch.broadcast_tensors(x, mask)
        if any(values.axes):
            return _refuse_rows(call)
        dense = values.compact(0) if values.axes else values
        data = Rows(dense.data.reshape(-1), {})
    else:
        data = values
    behind = x.dim() - mask.dim()
    dim = data.data.dim() - behind - 1
    found = _as_rows_of(data, call.masks.axis(mask), dim)
    if dim >= 0 and found.shape[dim] != 1:
        found = found.reshape((*mask.shape, *found.shape[dim + 1 :]))
    found = found.to(x.dtype)
    shaped = mask.reshape((*mask.shape, *(1,) * behind))
    return torch.where(shaped, x + found if accumulate else found, x)


def _index_add(call: Selection) -> Any:
    torch = torch_package()
    x = call.args[0]
    index, source = rows_of(call.get("index")), rows_of(call.get("source"))
    if isinstance(x, Rows):
        return _refuse_rows(call)
    dim = call.dim(x.dim())
    if len(source.axes) > 1 or (source.axes and dim not in source.axes):
        return _refuse_rows(call)
    axis = index.axes.get(0)
    if axis is not None and source.axes.get(dim) is not axis:
        source = Rows(_as_rows_of(source, axis, dim), {dim: axis})
    elif axis is None and source.axes:
        source = source.resize(dim, index.data.shape[0])
    alpha = call.kwargs.get("alpha", 1)
    return torch.index_add(x, dim, index.data, source.fill(0), alpha=alpha)


def _refuse_rows(call: Selection) -> Any:
    return call.refuse(
        "this operation is not supported for tensors whose shapes depend on the numbers in a "
        "tensor; torch.where(mask, x, other) keeps the shape"
    )


HANDLERS: dict[str, Callable[[Selection], Any]] = {
    "_unique2": _unique,
    "arange": _arange,
    "argwhere": _nonzero,
    "cat": _cat,
    "concat": _cat,
    "index": _index,
    "index_add": _index_add,
    "index_put": _index_put,
    "masked_scatter": _masked_scatter,
    "masked_select": _masked_select,
    "nonzero": _nonzero,
    "nonzero_numpy": _nonzero,
    "select": _take,
    "slice": _slice,
    "split_with_sizes": _split,
    "sym_numel": _numel,
    "sym_size": _size,
    "unique_consecutive": _unique,
    "where": _where,
}
"""What becomes of operations, by their names without the underscore of those that write."""
