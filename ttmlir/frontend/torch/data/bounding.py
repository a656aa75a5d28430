"""Programs whose shapes depend on data, as programs of fixed shapes.

    y = x[mask]; z[mask] = f(y)      all rows of x, of which those with a true mask count

torch traces such programs with sizes that it calls u0, u1, ...; they are interpreted once more,
with the largest sizes there can be, and `Rows` for what has such a size. Loops over what
`nonzero` finds are written out for all positions, and what they write counts where it was found.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from ttmlir.frontend.torch.data.iterations import BEGIN, END
from ttmlir.frontend.torch.elements import (
    is_symbolic,
    is_tensor,
    leaves,
    replace_leaves,
    torch_package,
)
from ttmlir.frontend.torch.locations import refuse_node
from ttmlir.frontend.torch.support import instead_of
from ttmlir.frontend.torch.training.holding import hold

# --- Rows -----------------------------------------------------------------------------------------
# Tensors some of whose rows do not count: what `x[mask]` is where shapes have to be known.
#
# `x[mask]` keeps all rows of `x`, in their order, and notes which of them count. What is computed
# of each row alone is computed of all; sums and writes leave out those that do not count.


@dataclass(eq=False)
class Axis:
    """A dimension of which only some positions count."""

    valid: Any
    """A truth value for each position."""
    compacting: tuple[Any, Axis] | None = None

    @property
    def size(self) -> int:
        """Of all positions."""
        return self.valid.shape[0]

    def count(self) -> Any:
        """How many positions count, a tensor of no dimension."""
        return self.valid.to(torch_package().int64).sum()

    def ranks(self) -> Any:
        """The number of each position among those that count."""
        return self.valid.to(torch_package().int64).cumsum(0) - 1

    def compact(self) -> tuple[Any, Axis]:
        """The positions that count, in order, then any others; and the axis that they make."""
        if self.compacting is None:
            torch = torch_package()
            # Each position goes to its rank, all others after the last one, and away.
            row = torch.where(self.valid, self.ranks(), self.size)
            order = torch.zeros(self.size + 1, dtype=torch.int64)
            order = order.scatter(0, row, torch.arange(self.size)).narrow(0, 0, self.size)
            dense = Axis(torch.arange(self.size) < self.count())
            dense.compacting = (None, dense)
            self.compacting = order, dense
        return self.compacting


@dataclass(frozen=True)
class Rows:
    """A tensor with the dimensions of which only some positions count."""

    data: Any
    axes: Mapping[int, Axis]

    def compact(self, dim: int) -> Rows:
        """The same with the positions that count first."""
        order, dense = self.axes[dim].compact()
        data = self.data if order is None else self.data.index_select(dim, order)
        return Rows(data, {**self.axes, dim: dense})

    def resize(self, dim: int, size: int) -> Rows:
        """The first `size` positions that count, where all of those are known to be so many."""
        rows = self.compact(dim)
        missing = size - rows.data.shape[dim]
        data = rows.data
        if missing > 0:
            shape = [*data.shape]
            shape[dim] = missing
            data = torch_package().cat([data, data.new_zeros(shape)], dim)
        axes = {each: axis for each, axis in rows.axes.items() if each != dim}
        return Rows(data.narrow(dim, 0, size), axes)

    def valid(self, dims: Sequence[int] | None = None) -> Any:
        """Which elements count, as far as these dimensions decide it; broadcasts."""
        found: Any = None
        for dim, axis in self.axes.items():
            if dims is not None and dim not in dims:
                continue
            shape = [1] * self.data.dim()
            shape[dim] = axis.size
            each = axis.valid.reshape(shape)
            found = each if found is None else found & each
        return found

    def fill(self, number: Any, dims: Sequence[int] | None = None) -> Any:
        """The tensor with a number where its elements do not count."""
        valid = self.valid(dims)
        return self.data if valid is None else torch_package().where(valid, self.data, number)


@dataclass(frozen=True)
class Count:
    """A number that the program computes, and the axis whose positions it counts."""

    tensor: Any
    axis: Axis | None = None


@dataclass
class Masks:
    """The axes that masks make; a mask makes one, so that what it selects goes together."""

    _axes: dict[int, tuple[Any, Axis]] = field(default_factory=dict[int, tuple[Any, Axis]])

    def axis(self, mask: Any) -> Axis:
        """The axis of the elements of a mask."""
        if id(mask) not in self._axes:
            self._axes[id(mask)] = mask, Axis(mask.reshape(-1))
        return self._axes[id(mask)][1]


def align(values: Sequence[Any]) -> tuple[list[Any], dict[int, Axis]]:
    """The tensors of values that broadcast together, with positions that count at equal positions.

    Returns them with the axes of what is computed of them.
    """
    tensors = [rows_of(each) for each in values]
    rank = max(each.data.dim() for each in tensors)
    axes: dict[int, Axis] = {}
    for dim in range(rank):
        here = [(n, dim - rank + each.data.dim()) for n, each in enumerate(tensors)]
        found = [(n, at) for n, at in here if at >= 0]
        held = [(n, at) for n, at in found if at in tensors[n].axes]
        others = [tensors[n].data.shape[at] for n, at in found if at not in tensors[n].axes]
        static = max((extent for extent in others if extent != 1), default=None)
        if not held:
            continue
        if static is not None:
            for n, at in held:
                tensors[n] = tensors[n].resize(at, static)
            continue
        kinds = {id(tensors[n].axes[at]) for n, at in held}
        if len(kinds) > 1:
            size = min(tensors[n].axes[at].size for n, at in held)
            kept = tensors[held[0][0]].axes[held[0][1]].compact()[1]
            axis = Axis(kept.valid.narrow(0, 0, size))
            axis.compacting = (None, axis)
            for n, at in held:
                resized = tensors[n].resize(at, size)
                tensors[n] = Rows(resized.data, {**resized.axes, at: axis})
        first, at = held[0]
        axes[dim] = tensors[first].axes[at]
    return [each.data for each in tensors], axes


def rows_of(value: Any) -> Rows:
    """A tensor whose positions all count, or rows as they are."""
    return value if isinstance(value, Rows) else Rows(value, {})


def made(data: Any, axes: Mapping[int, Axis]) -> Any:
    """Rows, or the tensor itself if all of its positions count."""
    return Rows(data, axes) if axes else data


def lowest(dtype: Any) -> Any:
    """The number below all others of a type."""
    torch = torch_package()
    if dtype == torch.bool:
        return False
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    """The number above all others of a type."""
    torch = torch_package()
    if dtype == torch.bool:
        return True
    return torch.inf if dtype.is_floating_point else torch.iinfo(dtype).max


# --- Selecting ------------------------------------------------------------------------------------
# Operations that select rows, or write to selected ones, for programs of fixed shapes.
#
# Handlers return None for what they leave to the operation itself.


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
    """The positions that are not 0: all positions, of which those count."""
    torch = torch_package()
    x = call.args[0]
    if isinstance(x, Rows):
        return _refuse_rows(call)
    axis = call.masks.axis(x)
    if axis.valid.dtype != torch.bool:
        axis.valid = axis.valid != 0
    columns = _positions(x.shape)
    if call.name in ("where", "nonzero_numpy"):
        return [Rows(column, {0: axis}) for column in columns]
    return Rows(torch.stack(columns, 1), {0: axis})


def _positions(shape: Sequence[int]) -> list[Any]:
    """Where the elements of a shape are, in order: a column for each dimension."""
    places = torch_package().arange(math.prod(shape))
    columns: list[Any] = []
    for extent in reversed(shape):
        columns.append(places % extent)
        places = places // extent
    return columns[::-1]


def _where(call: Selection) -> Any:
    return _nonzero(call) if len(call.args) == 1 else None


def _masked_select(call: Selection) -> Any:
    torch = torch_package()
    x, mask = call.args
    if isinstance(x, Rows) or isinstance(mask, Rows):
        return _refuse_rows(call)
    if x.shape == mask.shape:
        return Rows(x.reshape(-1).clone(), {0: call.masks.axis(mask)})
    x, mask = torch.broadcast_tensors(x, mask)
    return Rows(x.reshape(-1).clone(), {0: Axis(mask.reshape(-1))})


def _index(call: Selection) -> Any:
    """`x[mask]`, and `x[positions]` of positions that are rows."""
    x, indices = rows_of(call.args[0]), list(call.args[1])
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    if len(given) == 1 and _is_mask(given[0][1]):
        return _select(call, x, *given[0])
    indices = _without_masks(call, indices)
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    for dim, _ in given:
        if dim in x.axes:
            x = x.compact(dim)
    tensors, axes = align([_as_places(each) for _, each in given])
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


def _as_places(index: Any) -> Any:
    """An index that may be rows, whose numbers that do not count need not be places."""
    return Rows(index.fill(0), index.axes) if isinstance(index, Rows) else index


def _select(call: Selection, x: Rows, dim: int, mask: Any) -> Any:
    if isinstance(mask, Rows):
        axis = x.axes.get(dim)
        if axis is None or mask.data.dim() != 1 or mask.axes.get(0) is not axis:
            return _refuse_rows(call)
        return Rows(x.data.clone(), {**x.axes, dim: Axis(axis.valid & mask.data)})
    shape, after = x.data.shape, dim + mask.dim()
    if any(dim <= each < after for each in x.axes):
        return _refuse_rows(call)
    # What is written to the selection in place, as by `x[mask] += 1`, is not written to x here.
    data = x.data.reshape((*shape[:dim], -1, *shape[after:])).clone()
    axes = {each if each < dim else each - after + dim + 1: axis for each, axis in x.axes.items()}
    return Rows(data, {**axes, dim: call.masks.axis(mask)})


def _is_mask(index: Any) -> bool:
    data = rows_of(index).data
    return is_tensor(data) and data.dtype == torch_package().bool


def _without_masks(call: Selection, indices: Sequence[Any]) -> list[Any]:
    """The indices with the positions of what masks select instead of them."""
    found: list[Any] = []
    for each in indices:
        if each is None or not _is_mask(each):
            found.append(each)
        elif isinstance(each, Rows):
            return _refuse_rows(call)
        else:
            axis = call.masks.axis(each)
            found += [Rows(column, {0: axis}) for column in _positions(each.shape)]
    return found


def _take(call: Selection) -> Any:
    """One position among those that count."""
    x, index = call.args[0], call.get("index")
    if not isinstance(x, Rows):
        # A view, to which the program may write.
        return (
            x.select(call.dim(x.dim()), index.tensor.item()) if isinstance(index, Count) else None
        )
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


def _index_select(call: Selection) -> Any:
    """Some of those that count, by their numbers among them."""
    x, index = call.args[0], call.get("index")
    if not isinstance(x, Rows):
        return None
    dim = call.dim(x.data.dim())
    if dim not in x.axes or isinstance(index, Rows):
        return None
    data = x.compact(dim).data.index_select(dim, index)
    return made(data, {each: axis for each, axis in x.axes.items() if each != dim})


def _scalar_tensor(call: Selection) -> Any:
    """A count as a tensor."""
    number = call.args[0]
    return number.tensor.to(call.node.meta["val"].dtype) if isinstance(number, Count) else None


def _select_scatter(call: Selection) -> Any:
    """A tensor with other elements at a place that may be a count."""
    x, source, index = call.args[0], call.args[1], call.get("index")
    if isinstance(x, Rows) or isinstance(source, Rows):
        return _refuse_rows(call)
    place = index.tensor.item() if isinstance(index, Count) else index
    return torch_package().select_scatter(x, source, call.dim(x.dim()), place)


def _slice(call: Selection) -> Any:
    """Places from one to another, of which either may be a count."""
    torch = torch_package()
    x = rows_of(call.args[0])
    dim, step = call.dim(x.data.dim()), call.get("step", 1)
    start, end = call.get("start"), call.get("end")
    is_counted = isinstance(start, Count) or isinstance(end, Count)
    if dim not in x.axes and not is_counted:
        return None
    count = _length_of_slice(call.node)
    if isinstance(start, Count) and count is not None and dim not in x.axes and step == 1:
        size = x.data.shape[dim]
        begin = torch.where(start.tensor < 0, start.tensor + size, start.tensor)
        # A view, to which the program may write; torch has to be told that it is inside.
        count, place = min(count, size), begin.item()
        torch._check(place >= 0)
        torch._check(place + count <= size)
        return made(x.data.narrow(dim, place, count), x.axes)
    if step != 1:
        return call.refuse("steps in positions that depend on data are not supported; take all")
    size = x.data.shape[dim]
    if dim in x.axes:
        x = x.compact(dim)
        count = x.axes[dim].count()
    else:
        count = torch.full((), size)
    begin, beyond = (_bound(each, count, other) for each, other in ((start, 0), (end, count)))
    position = torch.arange(size)
    valid = (position >= begin) & (position < torch.minimum(beyond, count))
    return Rows(x.data, {**x.axes, dim: Axis(valid)})


def _length_of_slice(node: Any) -> int | None:
    """How far two computed bounds are apart, as those of `x[n : n + 2]`; None if nobody knows."""
    if len(node.args) < 4:
        return None
    (first, begin), (second, end) = map(_base_and_distance, node.args[2:4])
    return end - begin if first is second and begin <= end else None


def _base_and_distance(bound: Any) -> tuple[Any, int]:
    """The node of the number to which others are added, and their sum."""
    if not hasattr(bound, "op") or bound.op != "call_function":
        return bound, 0
    name, args = _name_of(bound).partition(".")[0], bound.args
    if name in ("item", "_local_scalar_dense"):
        return _base_and_distance(args[0])
    if name in ("add", "sub") and not bound.kwargs and type(args[1]) is int:
        base, distance = _base_and_distance(args[0])
        return base, distance + (args[1] if name == "add" else -args[1])
    if name == "add" and not bound.kwargs and type(args[0]) is int:
        base, distance = _base_and_distance(args[1])
        return base, distance + args[0]
    return bound, 0


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
    position = torch.arange(x.data.shape[dim])
    parts: list[Any] = []
    begin: Any = torch.zeros((), dtype=torch.int64)
    for size in sizes:
        end = begin + (size.tensor if isinstance(size, Count) else size)
        valid = (position >= begin) & (position < end)
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
    """The numbers of positions that count."""
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
        if isinstance(mask, Rows):
            return _refuse_rows(call)
        return _put_masked(call, x, mask, values, accumulate, dim)
    indices = _without_masks(call, indices)
    given = [(dim, each) for dim, each in enumerate(indices) if each is not None]
    tensors, axes = align([_as_places(each) for _, each in given])
    return _put_rows(x, [dim for dim, _ in given], tensors, axes, values, accumulate)


def _put_rows(
    x: Any,
    dims: list[int],
    indices: list[Any],
    axes: Mapping[int, Axis],
    values: Rows,
    accumulate: bool,
) -> Any:
    """Rows written to positions; those that do not count go after the last position, and away."""
    torch = torch_package()
    first, rank = dims[0], max(each.dim() for each in indices)
    # Dimensions of indices that do not stand side by side are the first ones of the values.
    is_joined = dims == list(range(first, first + len(dims)))
    after = x.dim() - len(dims) - (first if is_joined else 0)
    data = values
    for dim, axis in axes.items():
        at = values.data.dim() - after - rank + dim
        data = Rows(_as_rows_of(data, axis, at), {d: a for d, a in data.axes.items() if d != at})
    for dim, axis in data.axes.items():
        extents = torch.broadcast_shapes(*(each.shape for each in indices))
        at = dim - (values.data.dim() - after - rank)
        data = data.resize(dim, extents[at] if 0 <= at < rank else axis.size)
    valid = Rows(torch.broadcast_tensors(*indices)[0], axes).valid()
    extent = x.shape[first]
    longer = torch.cat([x, x.narrow(first, 0, 1)], first)
    position = torch.where(indices[0] < 0, indices[0] + extent, indices[0])
    position = _in_longer(position, valid, extent)
    where: list[Any] = [None] * x.dim()
    for dim, index in zip(dims, [position, *indices[1:]], strict=True):
        where[dim] = index
    written = torch.ops.aten.index_put(longer, where, data.data.to(x.dtype), accumulate)
    return written.narrow(first, 0, extent)


def _in_longer(numbers: Any, valid: Any, extent: int) -> Any:
    """Places in a tensor that is one longer, to which those that do not count go.

    Those that the tensor does not have are not there either, so that they are refused.
    """
    torch = torch_package()
    inside = torch.logical_and(numbers >= 0, numbers < extent)
    places = torch.where(inside, numbers, extent + 1)
    return places if valid is None else torch.where(valid, places, extent)


def _as_rows_of(values: Rows, axis: Axis, dim: int) -> Any:
    """The numbers of rows, at the positions of an axis."""
    if dim < 0 or (dim not in values.axes and values.data.shape[dim] == 1):
        return values.data
    if values.axes.get(dim) is axis:
        return values.data
    # In order: the first row that counts belongs to the first position that does.
    dense = values.compact(dim).data if dim in values.axes else values.data
    rank = axis.ranks().clamp(0, dense.shape[dim] - 1)
    return dense.index_select(dim, rank)


def _put_masked(
    call: Selection, x: Any, mask: Any, values: Rows, accumulate: bool = False, first: int = 0
) -> Any:
    """What a mask of the dimensions from `first` on selects replaced by as many rows, in order."""
    torch = torch_package()
    if call.name == "masked_scatter":
        x, mask = torch.broadcast_tensors(x, mask)
        if any(values.axes):
            return _refuse_rows(call)
        dense = values.compact(0) if values.axes else values
        data = Rows(dense.data.reshape(-1), {})
    else:
        data = values
    after = x.dim() - mask.dim() - first
    dim = data.data.dim() - after - 1
    found = _as_rows_of(data, call.masks.axis(mask), dim)
    if dim >= 0:
        selected = (1,) * mask.dim() if found.shape[dim] == 1 else mask.shape
        found = found.reshape((*found.shape[:dim], *selected, *found.shape[dim + 1 :]))
    found = found.to(x.dtype)
    shaped = mask.reshape((*mask.shape, *(1,) * after))
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
    return torch.index_add(x, dim, index.fill(0), source.fill(0), alpha=alpha)


def _scatter(call: Selection) -> Any:
    """Elements written to places; those that do not count go after the last place, and away."""
    torch = torch_package()
    x, index = call.args[0], rows_of(call.get("index"))
    given = call.args[3]
    if isinstance(x, Rows) or (not index.axes and not isinstance(given, Rows)):
        return None if not isinstance(x, Rows) else _refuse_rows(call)
    if not index.axes:
        return _refuse_rows(call)
    dim = call.dim(x.dim())
    if is_tensor(given) or isinstance(given, Rows):
        source = rows_of(given)
        for at, axis in index.axes.items():
            source = Rows(_as_rows_of(source, axis, at), {})
        given = source.data
    extent = x.shape[dim]
    longer = torch.cat([x, x.narrow(dim, 0, 1)], dim)
    places = _in_longer(index.data, index.valid(), extent)
    written = call.node.target.overloadpacket
    # What writes to its first argument has another name.
    function = getattr(torch.ops.aten, written.__name__.removesuffix("_"))
    found = function(longer, dim, places, given, *call.args[4:], **call.kwargs)
    return found.narrow(dim, 0, extent)


# -- reducing and turning round ------------------------------------------------------------------


def _deviate(call: Selection) -> Any:
    """Variances and standard deviations of what counts, and the means before them."""
    torch = torch_package()
    x = call.args[0]
    if not isinstance(x, Rows):
        return None
    rank = x.data.dim()
    given = call.get("dim")
    listed = [given] if isinstance(given, int) else given
    dims = [dim % rank for dim in listed] if listed else list(range(rank))
    keep = bool(call.get("keepdim", False))
    correction = call.get("correction")
    if correction is None:
        correction = 1 if call.get("unbiased", True) else 0
    count: Any = 1
    for dim in dims:
        count = count * (x.axes[dim].count() if dim in x.axes else x.data.shape[dim])
    mean = x.fill(0, dims).sum(dims, keepdim=True) / count
    valid = x.valid(dims)
    away = x.data - mean
    away = away if valid is None else torch.where(valid, away, 0)
    divisor = torch.clamp(torch.as_tensor(count - correction), min=0)
    found = away.square().sum(dims, keepdim=True) / divisor
    if call.name.startswith("std"):
        found = found.sqrt()
    axes = {
        dim if keep else dim - sum(each < dim for each in dims): axis
        for dim, axis in x.axes.items()
        if dim not in dims
    }
    results = [made(each if keep else each.squeeze(dims), axes) for each in (found, mean)]
    return results if call.name.endswith("mean") else results[0]


def _flip(call: Selection) -> Any:
    """The positions that count in the other direction, before all others."""
    torch = torch_package()
    x = call.args[0]
    if not isinstance(x, Rows):
        return None
    for dim in (each % x.data.dim() for each in call.get("dims")):
        if dim not in x.axes:
            x = Rows(x.data.flip(dim), x.axes)
            continue
        x = x.compact(dim)
        axis = x.axes[dim]
        places = (axis.count() - 1 - torch.arange(axis.size)).clamp(min=0)
        x = Rows(x.data.index_select(dim, places), x.axes)
    return x


def _top(call: Selection) -> Any:
    """The largest or smallest of those that count, which are known to be no fewer."""
    torch = torch_package()
    x, count = call.args[0], call.get("k")
    if not isinstance(x, Rows) or not isinstance(count, int):
        return None
    dim = call.get("dim", -1) % x.data.dim()
    if dim not in x.axes:
        return None
    x = x.compact(dim)
    largest = bool(call.get("largest", True))
    edge = (lowest if largest else highest)(x.data.dtype)
    found = torch.topk(x.fill(edge, [dim]), count, dim, largest, bool(call.get("sorted", True)))
    axes = {each: axis for each, axis in x.axes.items() if each != dim}
    return [made(each, axes) for each in found]


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
    "flip": _flip,
    "index": _index,
    "index_add": _index_add,
    "index_put": _index_put,
    "index_select": _index_select,
    "masked_scatter": _masked_scatter,
    "masked_select": _masked_select,
    "nonzero": _nonzero,
    "nonzero_numpy": _nonzero,
    "scalar_tensor": _scalar_tensor,
    "scatter": _scatter,
    "scatter_add": _scatter,
    "scatter_reduce": _scatter,
    "select": _take,
    "select_scatter": _select_scatter,
    "slice": _slice,
    "split_with_sizes": _split,
    "std": _deviate,
    "std_mean": _deviate,
    "sym_numel": _numel,
    "sym_size": _size,
    "topk": _top,
    "unique_consecutive": _unique,
    "var": _deviate,
    "var_mean": _deviate,
    "where": _where,
}
"""What becomes of operations, by their names without the underscore of those that write."""


# --- Bounding -------------------------------------------------------------------------------------

REMEDY = "as those of x[mask] and nonzero do; torch.where(mask, x, other) keeps the shape"

_LOST = (
    "what an iteration of a loop over the positions of a mask computes is used after it, where it "
    "is not known how many iterations there were; let the loop write to a tensor that was made in "
    "front of it: "
    "total += ..., out.index_add_(...), out[i] = ..."
)


def has_unknown_sizes(graph: Any) -> bool:
    """True for a program with shapes that depend on data, or with loops over positions."""
    return any(
        BEGIN in str(node.target)
        or _selects_by_data(node)
        or any(_unknown_dims(meta) for meta in leaves(node.meta.get("val")))
        for node in graph.nodes
        if node.op == "call_function"
    )


def _selects_by_data(node: Any) -> bool:
    """True for what masks select, even as many elements as torch expects of what stands beside it.

    A write of equal elements to all that one mask selects has a rule of its own.
    """
    name = _name_of(node).removesuffix("_")
    if name in ("nonzero", "masked_select"):
        return True
    if name not in ("index", "index_put"):
        return False
    indices = [each and each.meta["val"] for each in node.args[1]]
    given = [each for each in indices if each is not None]
    if all(each.dtype != torch_package().bool for each in given):
        return False
    if name == "index" or len(given) > 1:
        return True
    x, values = node.args[0].meta["val"], node.args[2].meta["val"]
    after = x.dim() - given[0].dim() - indices.index(given[0])
    return values.dim() > after and values.shape[-1 - after] != 1


def _unknown_dims(meta: Any) -> list[int]:
    """The dimensions of a tensor whose extents torch does not know."""
    if not is_tensor(meta):
        return []
    return [dim for dim, extent in enumerate(meta.shape) if _expression(extent) is not None]


def _expression(extent: Any) -> Any:
    """What torch knows of an extent; None if that is its number."""
    if not is_symbolic(extent) or extent.node.maybe_as_int() is not None:
        return None
    return extent.node.expr


def create_bounded(exported: Any) -> Any:
    """A module with the state and results of an exported program, in which all sizes are known."""
    torch = torch_package()
    graph: Any = exported.module(check_guards=False)
    state = {**dict(graph.named_parameters()), **dict(graph.named_buffers())}

    class Bounded(torch.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            named = {**dict(self.named_parameters()), **dict(self.named_buffers())}
            values = torch.utils._pytree.tree_leaves((args, kwargs))
            with torch.fx.traceback.preserve_node_meta():
                results = _Bounding(graph, named).run(values)
            return torch.utils._pytree.tree_unflatten(results, exported.call_spec.out_spec)

    return hold(Bounded(), state)


class _Bounding:
    """One walk over a graph of torch, with rows for tensors of unknown sizes."""

    def __init__(self, graph: Any, named: Mapping[str, Any]) -> None:
        self._module = graph
        self._named = named
        self._env: dict[Any, Any] = {}
        self._masks = Masks()
        self._guard: Any = None
        self._wrote = False
        self._iteration = 0
        self._iterations: dict[Any, int] = {}

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The results for these arguments."""
        results = self._walk(self._module, inputs)
        for node, value in results:
            if isinstance(value, Rows):
                self._refuse(node, "the result has a shape that")
        return [
            # A size that torch does not know is a tensor of the program, also where it is known.
            torch_package().tensor(value)
            if hasattr(node, "op") and type(value) is int
            else _as_tensor(value)
            for node, value in results
        ]

    def _walk(self, module: Any, inputs: Sequence[Any]) -> list[tuple[Any, Any]]:
        """What a graph returns, with the nodes that compute it."""
        given = iter(inputs)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._env[node] = next(given)
            elif node.op == "get_attr":
                self._env[node] = self._attribute(module, node.target)
            elif node.op == "call_function":
                with torch_package().fx.traceback.set_current_meta(node):
                    self._env[node] = _resized(self._call(node), node.meta.get("val"))
                self._iterations[node] = self._iteration if self._guard is not None else 0
            elif node.op == "output":
                return [(each, self._value(each)) for each in leaves(node.args[0])]
        raise AssertionError("graphs end with their results")

    def _attribute(self, module: Any, name: str) -> Any:
        if name in self._named:
            return self._named[name]
        found = module
        for part in name.split("."):
            found = getattr(found, part)
        return found

    # -- calls ---------------------------------------------------------------------------------

    def _call(self, node: Any) -> Any:
        name = _name_of(node)
        if name == BEGIN:
            return self._begin(node)
        if name == END:
            self._end(node)
            self._guard = None
            return None
        if "assert" in name or name.startswith("sym_constrain"):
            return None
        self._check_iterations(node)
        args = replace_leaves(tuple(node.args), self._value)
        kwargs = replace_leaves(dict(node.kwargs), self._value)
        if self._guard is not None and _writes(node):
            return self._write(node, name, args, kwargs)
        return self._compute(node, name, args, kwargs)

    def _value(self, argument: Any) -> Any:
        return self._env[argument] if hasattr(argument, "op") else argument

    def _compute(self, node: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in _REGIONS:
            # What is in `with torch.no_grad():` is a graph of its own.
            return [
                value for _, value in self._walk(args[_REGIONS[name]], args[_REGIONS[name] + 1 :])
            ]
        values = leaves([*args, *kwargs.values()])
        is_special = any(isinstance(each, Rows | Count) for each in values)
        makes = any(_unknown_dims(meta) for meta in leaves(node.meta.get("val")))
        if name in ("item", "_local_scalar_dense"):
            return Count(args[0])
        if name == "sym_storage_offset":
            # torch checks where views begin, which nobody needs.
            return 0
        if not is_special and not makes and not _selects_by_data(node):
            return node.target(*args, **kwargs)
        if not hasattr(node.target, "_schema"):
            return self._arithmetic(node, name, args)
        base = name.removesuffix("_") if _writes(node) else name
        call = Selection(node, base, args, kwargs, self._masks)
        if base in HANDLERS:
            found = HANDLERS[base](call)
            if found is not None:
                return self._written(node, args, found)
        if not is_special and any(_unknown_dims(n.meta.get("val")) for n in node.all_input_nodes):
            # What made the sizes that torch does not know has made them known.
            return node.target(*args, **kwargs)
        found = self._spread(node, base, args, kwargs)
        return self._written(node, args, found) if isinstance(args[0], Rows) else found

    def _written(self, node: Any, args: Any, found: Any) -> Any:
        if not _writes(node):
            return found
        target = args[0]
        if isinstance(target, Rows):
            # Of a slice, what does not count belongs to the tensor that it is a part of.
            kept = torch_package().where(target.valid(), rows_of(found).data, target.data)
            target.data.copy_(kept)
        else:
            target.copy_(found)
        return target

    def _arithmetic(self, node: Any, name: str, args: Any) -> Any:
        """Of sizes, and of items of lists."""
        if name == "getitem":
            return args[0][args[1]]
        if any(isinstance(each, Rows) for each in args):
            self._refuse(node)
        given = [each.tensor if isinstance(each, Count) else each for each in args]
        torch = torch_package()
        function: Callable[..., Any] | None = _ARITHMETIC.get(name) or getattr(torch, name, None)
        if function is None:
            return node.target(*given)
        return Count(function(*given))

    # -- operations of each row ----------------------------------------------------------------

    def _spread(self, node: Any, name: str, args: Any, kwargs: Any) -> Any:
        """An operation that computes rows apart, or that leaves out those that do not count."""
        torch = torch_package()
        if name in _ELEMENTWISE or torch.Tag.pointwise in node.target.tags:
            return self._elementwise(node, args, kwargs)
        if name in _EXTREMES_WITH_PLACES:
            args = replace_leaves(args, _compacted)
        axes = self._axes_by_size(node)
        if name in _SORTS:
            return self._sort(node, name, args[0])
        kept = {axis for axis in self._result_axes(node, axes) if axis is not None}
        fill = self._fill_of(node, name, kept, args)
        mean = name == "mean"
        data = replace_leaves(args, lambda each: _plain(each, fill))
        more = replace_leaves(kwargs, lambda each: _plain(each, fill))
        if mean:
            return self._mean(node, args[0], data, more, axes)
        if any(isinstance(each, Count) for each in leaves([*data, *more.values()])):
            data = replace_leaves(data, _as_tensor)
            more = replace_leaves(more, _as_tensor)
        # The overload may be another one, with a tensor instead of a number.
        result = _function_of(node, args)(*data, **more)
        return self._as_rows(node, result, axes, data, args)

    def _fill_of(self, node: Any, name: str, kept: set[Axis], args: Any) -> Any:
        """The number that makes no difference, or a function of a type; None if none is needed."""
        rows = [each for each in leaves([*args]) if isinstance(each, Rows)]
        if name in _VIEWS:
            return None
        if name in _ALONG:
            return _ALONG[name]
        if name in _REDUCTIONS:
            return _REDUCTIONS[name]
        lost = any(axis not in kept for each in rows for axis in each.axes.values())
        first = all(not dim for each in rows for dim in each.axes)
        is_batch = name in _BATCHED and all(each.data.dim() >= _BATCHED[name] for each in rows)
        trains = name == "batch_norm" and bool(args[5])
        if lost or not (name in _ROWWISE or (is_batch and first and not trains)):
            self._refuse(node)
        if name in _ALONG_ONE and any(self._along(node, name, each) in each.axes for each in rows):
            self._refuse(node)
        return 0 if name in _LOOKUPS else None

    def _along(self, node: Any, name: str, rows: Rows) -> int:
        call = Selection(node, name, node.args, node.kwargs, self._masks)
        dim = call.get("dim", -1)
        return (dim if isinstance(dim, int) else -1) % rows.data.dim()

    def _sort(self, node: Any, name: str, rows: Any) -> Any:
        torch = torch_package()
        if not isinstance(rows, Rows):
            self._refuse(node)
        call = Selection(node, name, node.args, node.kwargs, self._masks)
        descends, dim = bool(call.get("descending", False)), self._along(node, name, rows)
        if dim in rows.axes:
            rows = rows.compact(dim)
        edge = lowest if descends else highest
        found = torch.sort(
            rows.fill(edge(rows.data.dtype), [dim]), dim=dim, descending=descends, stable=True
        )
        results = [Rows(each, rows.axes) for each in found]
        return results[1] if name == "argsort" else results

    def _mean(self, node: Any, given: Any, data: Any, more: Any, axes: Any) -> Any:
        torch = torch_package()
        rows = rows_of(given)
        rank = rows.data.dim()
        dims = data[1] if len(data) > 1 and data[1] else list(range(rank))
        dims = [dim % rank for dim in dims]
        keep = bool(data[2]) if len(data) > 2 else bool(more.get("keepdim"))
        count: Any = 1
        for dim in dims:
            count = count * (rows.axes[dim].count() if dim in rows.axes else rows.data.shape[dim])
        total = torch.sum(data[0], dims, keep, dtype=more.get("dtype"))
        return self._as_rows(node, total / count, axes, data, (given,))

    def _elementwise(self, node: Any, args: Any, kwargs: Any) -> Any:
        positions = [each for each in leaves([*args]) if is_tensor(each) or isinstance(each, Rows)]
        more = {k: v.tensor if isinstance(v, Count) else v for k, v in kwargs.items()}
        tensors, axes = align(positions)
        given = dict(zip(map(id, positions), tensors, strict=True))
        data = replace_leaves(args, lambda each: given.get(id(each), _as_tensor(each)))
        return made(_function_of(node, args)(*data, **more), axes)

    # -- sizes ---------------------------------------------------------------------------------

    def _axes_by_size(self, node: Any) -> dict[Any, Axis]:
        """The axes of arguments by what torch calls their sizes."""
        found: dict[Any, Axis] = {}
        for argument in node.all_input_nodes:
            value, meta = self._env[argument], argument.meta.get("val")
            if isinstance(value, Count) and value.axis is not None:
                found[_expression(meta)] = value.axis
            elif isinstance(value, Rows):
                for dim, axis in value.axes.items():
                    size = _expression(meta.shape[dim])
                    if found.setdefault(size, axis) is not axis:
                        self._refuse(node)
        return found

    def _result_axes(self, node: Any, axes: Mapping[Any, Axis]) -> list[Axis | None]:
        metas = [meta for meta in leaves(node.meta.get("val")) if is_tensor(meta)]
        sizes = [_expression(extent) for meta in metas for extent in meta.shape]
        return [axes.get(size) for size in sizes if size is not None]

    def _as_rows(
        self, node: Any, result: Any, axes: Mapping[Any, Axis], data: Any, args: Any
    ) -> Any:
        metas = iter(leaves(node.meta.get("val")))

        def rows(each: Any) -> Any:
            meta = next(metas)
            if not is_tensor(each):
                return each
            found: dict[int, Axis] = {}
            for dim in _unknown_dims(meta):
                axis = axes.get(_expression(meta.shape[dim]))
                if axis is None or axis.size != each.shape[dim]:
                    axis = self._axis_of_view(node, dim, data, args)
                found[dim] = axis
            return made(each, found)

        return replace_leaves(result, rows)

    def _axis_of_view(self, node: Any, dim: int, data: Any, args: Any) -> Axis:
        """The axis of a dimension that several have become: of what counts, the same view."""
        if _name_of(node) not in _VIEWS or not isinstance(args[0], Rows):
            self._refuse(node)
        torch = torch_package()
        valid = args[0].valid().expand(args[0].data.shape).to(torch.int64)
        view = node.target(valid, *data[1:])
        others = [each for each in range(view.dim()) if each != dim]
        return Axis((view.amax(others) if others else view) > 0)

    # -- loops ---------------------------------------------------------------------------------

    def _begin(self, node: Any) -> Any:
        mask, number = self._value(node.args[0]), node.args[1]
        if isinstance(mask, Rows):
            self._refuse(node)
        self._end(node)
        self._iteration += 1
        self._wrote = False
        self._guard = mask.reshape(-1).select(0, number) != 0
        self._iterations[node] = self._iteration
        torch = torch_package()
        positions: list[int] = []
        for extent in reversed(mask.shape):
            positions.append(number % extent)
            number //= extent
        return torch.tensor(positions[::-1], dtype=torch.int64)

    def _end(self, node: Any) -> None:
        """An iteration without effect has left its position in a variable of Python's."""
        if self._guard is not None and not self._wrote:
            refuse_node(node, _LOST)

    def _check_iterations(self, node: Any) -> None:
        """Keep what an iteration writes; what it computes is lost, for it may not happen."""
        for argument in node.all_input_nodes:
            iteration = self._iterations.get(argument, 0)
            if iteration and iteration != (self._iteration if self._guard is not None else 0):
                if _writes(argument):
                    continue
                refuse_node(node, _LOST)

    def _write(self, node: Any, name: str, args: Any, kwargs: Any) -> Any:
        """A write in an iteration of a loop that may not happen."""
        torch = torch_package()
        self._wrote = True
        target = args[0]
        if isinstance(target, Rows):
            written = self._compute(
                node, name, (Rows(target.data.clone(), target.axes), *args[1:]), kwargs
            )
            new, old = rows_of(written).data, target.data
        else:
            new = rows_of(self._compute(node, name, (target.clone(), *args[1:]), kwargs)).data
            old = target
        old.copy_(torch.where(self._guard, new, old))
        return target

    def _refuse(self, node: Any, beginning: str = "") -> NoReturn:
        metas = leaves([each.meta.get("val") for each in (*node.all_input_nodes, node)])
        unknown = [meta for meta in metas if _unknown_dims(meta)]
        shape = "x".join(map(str, unknown[-1].shape)) if unknown else "of a result"
        reason = f"{beginning or f'the shape {shape}'} depends on the numbers in a tensor, {REMEDY}"
        refuse_node(node, instead_of(str(node.target)) or reason)


def _resized(value: Any, meta: Any) -> Any:
    """Rows without the axes of which torch knows the sizes, by what stands beside them."""
    if isinstance(value, Rows) and is_tensor(meta):
        unknown = _unknown_dims(meta)
        rows = value
        for dim in value.axes:
            if dim not in unknown:
                rows = rows.resize(dim, int(meta.shape[dim]))
        return made(rows.data, rows.axes)
    if isinstance(value, list | tuple) and isinstance(meta, list | tuple):
        pairs = zip(cast("list[Any]", value), cast("list[Any]", meta), strict=True)
        return [_resized(*each) for each in pairs]
    return cast("Any", value)


def _name_of(node: Any) -> str:
    target = node.target
    return (
        target._opname if hasattr(target, "_opname") else getattr(target, "__name__", str(target))
    )


def _function_of(node: Any, args: Any) -> Any:
    """The operation of a node, or what computes its result where it would write to rows."""
    function = node.target.overloadpacket
    if _writes(node) and isinstance(args[0], Rows):
        return getattr(torch_package().ops.aten, function.__name__.removesuffix("_"))
    return function


def _writes(node: Any) -> bool:
    """True for an operation that changes its first argument."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable and _name_of(node).endswith("_")


def _plain(value: Any, fill: Any) -> Any:
    if isinstance(value, Rows):
        number = fill(value.data.dtype) if callable(fill) else fill
        return value.data if number is None else value.fill(number)
    if isinstance(value, Count) and value.axis is not None:
        return value.axis.size
    return value


def _as_tensor(value: Any) -> Any:
    return value.tensor if isinstance(value, Count) else value


def _compacted(value: Any) -> Any:
    if isinstance(value, Rows):
        for dim in value.axes:
            value = value.compact(dim)
    return value


def _real(number: Any) -> Any:
    return number.to(torch_package().get_default_dtype())


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("truediv", "floordiv", "mod")},
    "sym_float": _real,
}
_ELEMENTWISE = (
    *("to", "_to_copy", "type_as", "clone", "contiguous", "detach", "alias", "dropout", "lift"),
    *("silu", "relu", "relu6", "selu", "celu", "elu", "gelu", "hardtanh", "hardswish", "mish"),
    *("leaky_relu", "zeros_like", "ones_like", "full_like", "copy", "where", "masked_fill"),
    *("float_power", "square", "clamp", "lift_fresh_copy", "expand_as", "feature_dropout"),
    *("log_sigmoid", "softplus", "threshold", "fill", "zero"),
)
_VIEWS = (
    *("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze", "permute"),
    *("transpose", "t", "movedim", "expand", "repeat", "select", "slice", "narrow", "unbind"),
    *("split", "chunk", "swapaxes", "swapdims", "mT", "numpy_T", "split_with_sizes", "ravel"),
)
_ALONG_ONE = ("topk", "gather", "index_select", "glu", "cumprod", "cummax", "cummin")
"""Operations along a dimension, of which all positions have to count."""
_LOOKUPS = ("embedding", "gather", "index_select")
"""Operations that take places, which numbers that do not count need not be."""
_ROWWISE = (
    *_ALONG_ONE,
    *("layer_norm", "rms_norm", "embedding", "one_hot", "stack", "cat", "constant_pad_nd", "pad"),
    *("new_zeros", "new_ones", "new_full", "full", "zeros", "ones", "cdist", "bilinear"),
)
"""Operations of each row where they keep the dimensions of rows."""
_BATCHED = {
    **{"conv1d": 3, "conv2d": 4, "conv3d": 5, "convolution": 3, "group_norm": 2, "batch_norm": 2},
    **{"max_pool1d": 3, "max_pool2d": 4, "avg_pool1d": 3, "avg_pool2d": 4, "instance_norm": 3},
    **{"adaptive_avg_pool2d": 4, "scaled_dot_product_attention": 3},
}
"""Operations of each item of a batch, and the least dimensions that they have with a batch."""
_ALONG: dict[str, Any] = {"cumsum": 0, "softmax": lowest, "log_softmax": lowest, "_softmax": lowest}
"""Operations along rows that keep them, and the number that makes no difference to the others."""
_REDUCTIONS: dict[str, Any] = {
    **dict.fromkeys(("sum", "mean", "nansum", "count_nonzero", "norm", "linalg_vector_norm"), 0),
    **dict.fromkeys(("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum"), 0),
    **dict.fromkeys(("amax", "max", "argmax", "logsumexp"), lowest),
    **dict.fromkeys(("amin", "min", "argmin"), highest),
    "prod": 1,
    "any": False,
    "all": True,
}
"""The number that leaves the results of operations on several rows as they are."""
_REGIONS = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}
"""Operations that call graphs, and where among their arguments those are."""
_SORTS = ("sort", "argsort")
_EXTREMES_WITH_PLACES = ("argmax", "argmin", "max", "min")
