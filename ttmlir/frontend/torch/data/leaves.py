"""What containers of torch's calls hold: tensors, and numbers that are not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ttmlir.frontend.torch.elements import torch_package


def without_modes() -> Any:
    """A context in which tensors are made that exist, although torch is tracing."""
    return torch_package().utils._python_dispatch._disable_current_modes()


def is_tensor(meta: Any) -> bool:
    """True for tensors, fake ones included."""
    return isinstance(meta, torch_package().Tensor)


def is_symbolic(meta: Any) -> bool:
    """True for a number or truth value that torch does not know."""
    torch = torch_package()
    return isinstance(meta, (torch.SymInt, torch.SymBool, torch.SymFloat))


def leaves(value: Any) -> list[Any]:
    """The items of nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in cast("list[Any]", value) for leaf in leaves(item)]
    return [value]


def replace_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """The same containers, with the results of a function for what they hold; ranges, too."""
    if isinstance(value, slice):
        return slice(*(replace_leaves(each, function) for each in _bounds(value)))
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {key: replace_leaves(each, function) for key, each in items}
    if isinstance(value, list | tuple):
        items = [replace_leaves(each, function) for each in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    return function(value)


def _bounds(value: Any) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step
