"""The arguments of a call: its tensors, and what tells it apart from other calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn_jit.errors import CompilationError


@dataclass(frozen=True)
class Arguments:
    """What a function is called with."""

    signature: inspect.BoundArguments
    tensors: tuple[Tensor, ...]
    """All tensors in their order, those in lists, tuples and dictionaries too."""
    key: Hashable
    """The same for calls of equal structure, specifications and numbers, wherever tensors are."""

    def call(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
        """Call the function with other tensors in place of these."""
        remaining = iter(tensors)
        bound = self.signature
        args = [_replace(each, remaining) for each in bound.args]
        kwargs = {name: _replace(each, remaining) for name, each in bound.kwargs.items()}
        return function(*args, **kwargs)


def bind_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Arguments:
    """The arguments of a call; TypeError for those that the function does not take.

    CompilationError without tensors, and for values that cannot be compared.
    """
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    tensors: list[Tensor] = []
    key = _key_of((bound.args, bound.kwargs), tensors)
    if not tensors:
        raise CompilationError(
            f"{function.__name__} is called without a tensor; a function that is compiled takes "
            "its device from the first one"
        )
    return Arguments(bound, tuple(tensors), key)


def _key_of(value: Any, tensors: list[Tensor]) -> Hashable:
    match value:
        case Tensor():
            tensors.append(value)
            return ("tensor", value.spec)
        case float():
            # Equal numbers that behave differently are different: -0.0, nan, 1 and 1.0.
            return (float, value.hex())
        case list() | tuple():
            entries = cast("Sequence[Any]", value)
            return (type(entries), tuple(_key_of(each, tensors) for each in entries))
        case dict():
            named = cast("dict[Any, Any]", value)
            return (dict, tuple((name, _key_of(each, tensors)) for name, each in named.items()))
        case _:
            try:
                hash(value)
            except TypeError:
                raise CompilationError(
                    f"an argument of type {type(value).__name__} cannot be a part of the key that "
                    "finds what was compiled before; give numbers, or tensors of ttnn"
                ) from None
            return (cast("type[Any]", type(value)), value)


def _replace(value: Any, tensors: Any) -> Any:
    match value:
        case Tensor():
            return next(tensors)
        case list() | tuple():
            entries = [_replace(each, tensors) for each in cast("Sequence[Any]", value)]
            return entries if isinstance(value, list) else tuple(entries)
        case dict():
            named = cast("dict[Any, Any]", value)
            return {name: _replace(each, tensors) for name, each in named.items()}
        case _:
            return value
