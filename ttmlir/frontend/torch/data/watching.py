"""What torch cannot trace, replaced while it traces a model: functions, and looks at numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from ttmlir.frontend.torch.data.iterations import iterations
from ttmlir.frontend.torch.decompositions.untraceable import own_functions
from ttmlir.frontend.torch.elements import (
    is_symbolic,
    is_tensor,
    replace_leaves,
    torch_package,
    without_modes,
)
from ttmlir.frontend.torch.locations import pass_through

if TYPE_CHECKING:
    from ttmlir.frontend.torch.data.values import KnownValues

pass_through(__file__)


def watch(known: KnownValues) -> Any:
    """A context in which functions and methods that torch cannot trace are those of ours.

    Where numbers of tensors are known, Python may look at them, and shapes may depend on them.
    """
    known.begin_trace()
    torch = torch_package()
    replacements: dict[Any, Any] = {
        **own_functions(),
        torch.Tensor.__getitem__: _select,
        torch.Tensor.__setitem__: _write,
        torch.Tensor.__deepcopy__: _copy,
        torch.Tensor.item: _item,
        **dict.fromkeys((torch.narrow, torch.Tensor.narrow), _narrow),
        torch.select: _select_place,
    }

    class Watching(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if torch.compiler.is_dynamo_compiling():
                # Bodies of loops and branches are read by another tracer, this method with them.
                return func(*args, **kwargs)
            name = getattr(func, "__name__", "")
            if name in ("__get__", "__set__") or _changes_nothing(func):
                return func(*args, **kwargs)
            if name in _READERS and (found := _read(known, func, args, kwargs)) is not None:
                return found[0]
            if _is_sized(name, args, kwargs):
                found = _read(known, func, args, kwargs)
                if found is not None:
                    return replace_leaves(found[0], lambda each: _traced(known, each))
                func = _by_places(known, name, args, kwargs) or func
            if name == "unbind" and args[1:] in ((), (0,)) and not kwargs:
                mask = known.mask_of(args[0])
                if mask is not None:
                    return iterations(mask, known)
            args, kwargs = _with_numbers(known, name, args, kwargs)
            pending = known.begin(func, args, kwargs)
            result = replacements.get(func, func)(*args, **kwargs)
            known.end(pending, result)
            if name == "nonzero" and len(args) == 1 and not kwargs:
                known.found(result, args[0])
            return result

    return Watching()


def _changes_nothing(func: Any) -> bool:
    """True for what torch calls itself on the way down, unless it writes to its operands."""
    return isinstance(func, torch_package()._ops.OpOverload) and not func._schema.is_mutable


_READERS = (
    *("item", "tolist", "is_nonzero", "equal", "allclose", "__bool__", "__int__", "__float__"),
    *("__index__", "__format__", "__contains__"),
)
"""Functions that give Python numbers."""
_SIZED = (
    *("nonzero", "argwhere", "where", "masked_select", "unique", "unique_consecutive", "bincount"),
    "repeat_interleave",
)
"""Functions whose results have the shapes that numbers ask for."""
_LISTS = (
    *("pad", "interpolate", "upsample", "view", "reshape", "expand", "repeat", "zeros", "ones"),
    *("full", "empty", "new_zeros", "new_ones", "new_full", "new_empty", "arange", "narrow"),
    *("linspace", "split", "chunk", "topk", "tile", "eye", "one_hot", "unflatten", "roll"),
    *("tensor_split", "range", "multinomial"),
)
"""Functions that take sizes, which may be tensors of one number."""


def _within(x: Any, *position: Any) -> tuple[Any, ...]:
    """The arguments of a selection, with a position that exists: others have no iteration."""
    if len(position) != 2 or not all(isinstance(each, int) for each in position):
        return (x, *position)
    dim, index = position
    return (x, dim, min(index, x.shape[dim] - 1))


def _is_sized(name: str, args: Any, kwargs: Any) -> bool:
    return name in _SIZED and (name != "where" or len(args) + len(kwargs) == 1)


def _traced(known: KnownValues, value: Any) -> Any:
    """A tensor that exists, as one that the program may change."""
    if not is_tensor(value):
        return value
    fake = value.clone()
    known.keep(fake, value)
    return fake


def _by_places(known: KnownValues, name: str, args: Any, kwargs: Any) -> Any:
    """A function like one whose other argument is known, a mask or counts; None if it is not."""
    torch = torch_package()
    given: Any = kwargs.get("mask", kwargs.get("repeats")) if len(args) < 2 else args[1]
    value = known.read(given) if args and is_tensor(given) else None
    if value is None:
        return None

    def select(x: Any, *_: Any, **__: Any) -> Any:
        shape = torch.broadcast_shapes(x.shape, value.shape)
        return x.expand(shape)[tuple(_places(value, shape))]

    def repeat(x: Any, _: Any = None, dim: int | None = None, **__: Any) -> Any:
        x, dim = (x.reshape(-1), 0) if dim is None else (x, dim)
        with torch._C.DisableTorchFunction(), without_modes():
            positions = torch.arange(x.shape[dim]).repeat_interleave(value)
        return x.index_select(dim, positions)

    return {"masked_select": select, "repeat_interleave": repeat}.get(name)


def _read(known: KnownValues, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The result of a function of known tensors in a tuple; None if one is not known."""
    pending = known.begin(func, args, kwargs)
    if pending.result is None:
        return None
    known.decide(pending.result)
    return (pending.result.tensor,)


def _with_numbers(known: KnownValues, name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments, with Python's numbers and positions for known sizes and masks among them."""
    torch = torch_package()
    if known.in_iteration and name == "select":
        return _within(*args), kwargs

    def number(each: Any) -> Any:
        if not is_tensor(each) or each.dim() or each.dtype.is_floating_point:
            return each
        value = known.read(each)
        return each if value is None else value.item()

    if name in _LISTS:
        first, rest = args[:1], args[1:]
        if first and not is_tensor(first[0]):
            first = replace_leaves(first, number)
        return (*first, *replace_leaves(rest, number)), replace_leaves(kwargs, number)
    if name in ("__getitem__", "__setitem__") and not isinstance(args[0], tuple):
        indices = args[1] if isinstance(args[1], tuple) else (args[1],)
        found: list[Any] = []
        for each in indices:
            value = None
            if isinstance(each, slice) or (is_tensor(each) and each.dtype != torch.bool):
                each = replace_leaves(each, number)
            elif is_tensor(each) and each.dtype == torch.bool:
                value = known.read(each)
            found += [each] if value is None else _places(value)
        return (args[0], tuple(found), *args[2:]), kwargs
    return args, kwargs


def _select(x: Any, indices: Any) -> Any:
    """`x[indices]`, masks beside other tensors as numbers; torch loses count of what they find."""
    listed = cast("tuple[Any, ...]", indices if isinstance(indices, tuple) else (indices,))
    if sum(is_tensor(each) and each.dim() > 0 for each in listed) < 2:
        return x[indices]
    found: list[Any] = []
    for each in listed:
        is_mask = is_tensor(each) and each.dim() > 0 and each.dtype == torch_package().bool
        found += each.nonzero().unbind(1) if is_mask else [each]
    return x[tuple(found)]


def _differs_in_batch(index: Any) -> bool:
    """True for a place that is another one for each element of a batch of `vmap`."""
    return is_tensor(index) and torch_package()._C._functorch.is_batchedtensor(index)


def _copy(x: Any, _: Any) -> Any:
    """`copy.deepcopy(x)`, which looks at the memory of other tensors than those of a trace."""
    return x.clone()


def _item(x: Any) -> Any:
    """The number that torch wants of a place before it selects, which stays a tensor in a batch."""
    return x if _differs_in_batch(x) else x.item()


def _select_place(x: Any, dim: int, index: Any) -> Any:
    if _differs_in_batch(index):
        return x.index_select(dim, index.reshape(1) % x.shape[dim]).squeeze(dim)
    return torch_package().select(x, dim, index)


def _narrow(x: Any, dim: int, start: Any, length: int) -> Any:
    """`x.narrow(dim, start, length)` of a place that is a tensor, for which torch makes two."""
    if _differs_in_batch(start):
        places = start % x.shape[dim] + torch_package().arange(length)
        return x.index_select(dim, places)
    return torch_package().narrow(x, dim, start.item() if is_tensor(start) else start, length)


def _write(x: Any, indices: Any, value: Any) -> None:
    """`x[indices] = value`; torch reads elements at a computed place, but cannot replace them."""
    if not _is_view(indices):
        x[indices] = value
        return
    x.copy_(_replaced(x, _by_dimension(x, indices), 0, torch_package().as_tensor(value)))


def _is_view(indices: Any) -> bool:
    """True for indices of one element along each dimension, or a slice, with a computed one."""
    listed = cast("tuple[Any, ...]", indices if isinstance(indices, tuple) else (indices,))
    return any(is_tensor(each) or _has_computed_bounds(each) for each in listed) and all(
        not each.dim() and not each.is_floating_point() and each.dtype != torch_package().bool
        if is_tensor(each)
        else each is None or each is Ellipsis or isinstance(each, slice) or type(each) is int
        for each in listed
    )


def _by_dimension(x: Any, indices: Any) -> list[Any]:
    """The indices with slices for all dimensions that they leave out."""
    listed: list[Any] = [*indices] if isinstance(indices, tuple) else [indices]
    taken = sum(each is not None and each is not Ellipsis for each in listed)
    place = next((i for i, each in enumerate(listed) if each is Ellipsis), len(listed))
    listed[place : place + 1] = [slice(None)] * (x.dim() - taken)
    return listed


def _replaced(x: Any, indices: Sequence[Any], dim: int, value: Any) -> Any:
    """The tensor with other elements at such indices of its dimensions from `dim` on.

    No view of a computed place is written to: torch could not differentiate that.
    """
    if not indices:
        while value.dim() > x.dim() and value.shape[0] == 1:
            value = value[0]
        return value.expand(x.shape).to(x.dtype)
    first, *rest = indices
    if first is None:
        return _replaced(x.unsqueeze(dim), rest, dim + 1, value).squeeze(dim)
    if isinstance(first, slice):
        if first == slice(None):
            return _replaced(x, rest, dim + 1, value)
        bounds = cast("slice[Any, Any, Any]", first)
        if _has_computed_bounds(bounds):
            return _replaced_between(x, bounds, rest, dim, value)
        part = _replaced(x[(*[slice(None)] * dim, bounds)], rest, dim + 1, value)
        return x.slice_scatter(part, dim, bounds.start, bounds.stop, bounds.step or 1)
    if _differs_in_batch(first):
        new = _replaced(_select_place(x, dim, first), rest, dim, value).unsqueeze(dim)
        place = torch_package().arange(x.shape[dim]) == first % x.shape[dim]
        return torch_package().where(place.reshape(-1, *(1,) * (x.dim() - dim - 1)), new, x)
    index = first.item() if is_tensor(first) else first
    return x.select_scatter(_replaced(x.select(dim, index), rest, dim, value), dim, index)


def _has_computed_bounds(index: Any) -> bool:
    """True for a slice of all elements from one to another, of which the program knows one."""
    if not isinstance(index, slice):
        return False
    bounds = cast("slice[Any, Any, Any]", index)
    is_computed = any(is_tensor(each) or is_symbolic(each) for each in (bounds.start, bounds.stop))
    return is_computed and bounds.step in (None, 1)


def _replaced_between(
    x: Any, bounds: slice[Any, Any, Any], rest: Sequence[Any], dim: int, value: Any
) -> Any:
    """The tensor with other elements between places of a dimension, as many as the value has."""
    torch, extent = torch_package(), x.shape[dim]

    def place(bound: Any, default: int) -> Any:
        given = default if bound is None else bound
        tensor = given if is_tensor(given) else torch.scalar_tensor(given, dtype=torch.int64)
        return torch.where(tensor < 0, tensor + extent, tensor).clamp(min=0)

    begin, end, positions = place(bounds.start, 0), place(bounds.stop, extent), torch.arange(extent)
    axis = value.dim() - 1 - sum(each is None or isinstance(each, slice) for each in rest)
    if axis >= 0 and not (type(value.shape[axis]) is int and value.shape[axis] == 1):
        offsets = (positions - begin).clamp(min=0)
        value = value.index_select(axis, offsets.clamp(max=value.shape[axis] - 1))
    inside = ((positions >= begin) & (positions < end)).reshape(-1, *(1,) * (x.dim() - dim - 1))
    return torch.where(inside, _replaced(x, rest, dim + 1, value), x)


def _places(mask: Any, shape: Sequence[int] | None = None) -> list[Any]:
    """The numbers of the elements where a known mask is true, one tensor for each dimension."""
    with torch_package()._C.DisableTorchFunction(), without_modes():
        whole = mask if shape is None else mask.expand(shape)
        return [each.clone() for each in whole.nonzero(as_tuple=True)]
