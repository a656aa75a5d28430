"""Tensors some of whose rows do not count: what `x[mask]` is where shapes have to be known.

`x[mask]` keeps all rows of `x`, in their order, and notes which of them count. What is computed of
each row alone is computed of all; sums and writes leave out those that do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


@dataclass(eq=False)
class Axis:
    """A dimension of which only some places count."""

    valid: Any
    """A truth value for each place."""
    compacting: tuple[Any, Axis] | None = None

    @property
    def size(self) -> int:
        """Of all places."""
        return self.valid.shape[0]

    def count(self) -> Any:
        """How many places count, a tensor of no dimension."""
        return self.valid.to(torch_package().int64).sum()

    def ranks(self) -> Any:
        """The number of each place among those that count."""
        return self.valid.to(torch_package().int64).cumsum(0) - 1

    def compact(self) -> tuple[Any, Axis]:
        """The places that count, in order, then any others; and the axis that they make."""
        if self.compacting is None:
            torch = torch_package()
            # Each place goes to its rank, all others behind the last one, and away.
            row = torch.where(self.valid, self.ranks(), self.size)
            order = torch.zeros(self.size + 1, dtype=torch.int64)
            order = order.scatter(0, row, torch.arange(self.size)).narrow(0, 0, self.size)
            dense = Axis(torch.arange(self.size) < self.count())
            dense.compacting = (None, dense)
            self.compacting = order, dense
        return self.compacting


@dataclass(frozen=True)
class Rows:
    """A tensor with the dimensions of which only some places count."""

    data: Any
    axes: Mapping[int, Axis]

    def compact(self, dim: int) -> Rows:
        """The same with the places that count first."""
        order, dense = self.axes[dim].compact()
        data = self.data if order is None else self.data.index_select(dim, order)
        return Rows(data, {**self.axes, dim: dense})

    def resize(self, dim: int, size: int) -> Rows:
        """The first `size` places that count, where all of those are known to be so many."""
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
    """A number that the program computes, and the axis whose places it counts."""

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
    """The tensors of values that broadcast together, with places that count at equal places.

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
    """A tensor whose places all count, or rows as they are."""
    return value if isinstance(value, Rows) else Rows(value, {})


def made(data: Any, axes: Mapping[int, Axis]) -> Any:
    """Rows, or the tensor itself if all of its places count."""
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
