"""Operations on lists of tensors (`torch._foreach_add`), as optimizers and averages have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _of_each(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    """The results of a function for lists of arguments; what is no list is the same for all."""

    def apply(*args: Any, **kwargs: Any) -> list[Any]:
        count = next(len(each) for each in args if _is_list(each))

        def at(value: Any, number: int) -> Any:
            return value[number] if _is_list(value) else value

        return [
            function(
                *(at(each, number) for each in args),
                **{name: at(each, number) for name, each in kwargs.items()},
            )
            for number in range(count)
        ]

    return apply


def _add_scaled(name: str) -> Callable[..., Any]:
    def function(x: Any, first: Any, second: Any, value: Any = 1) -> Any:
        other = first * second if name == "mul" else first / second
        return x + value * other

    return function


def _norm(x: Any, ord: float = 2, dtype: Any = None) -> Any:
    return torch_package().linalg.vector_norm(x, ord, dtype=dtype)


def _sum_of_powers(x: Any, ord: float = 2, dtype: Any = None) -> Any:
    return x.to(dtype or x.dtype).abs().pow(ord).sum()


def _copy(x: Any, source: Any, non_blocking: bool = False) -> Any:
    return source.to(x.dtype).expand(x.shape).clone()


def _largest(x: Any) -> Any:
    return x.amax()


def _zeros(x: Any) -> Any:
    return torch_package().zeros_like(x)


def _named(name: str) -> Callable[..., Any]:
    return lambda *args, **kwargs: getattr(torch_package(), name)(*args, **kwargs)


_SAME = (
    *("abs", "acos", "add", "asin", "atan", "ceil", "clamp_max", "clamp_min", "clone", "cos"),
    *("cosh", "div", "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp", "lgamma", "log"),
    *(
        "log10",
        "log1p",
        "log2",
        "mm",
        "mul",
        "neg",
        "pow",
        "reciprocal",
        "round",
        "rsqrt",
        "sigmoid",
    ),
    *("sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "trunc"),
)
"""Functions that are called as those of single tensors are."""
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _named(name) for name in _SAME},
    "addcdiv": _add_scaled("div"),
    "addcmul": _add_scaled("mul"),
    "copy": _copy,
    "max": _largest,
    "maximum": _named("clamp_min"),
    "minimum": _named("clamp_max"),
    "norm": _norm,
    "powsum": _sum_of_powers,
    "zero": _zeros,
}
DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    f"_foreach_{name}": _of_each(function) for name, function in _FUNCTIONS.items()
}
"""The functions by the names of the operations that they express."""


def add_scaled_by_tensor(name: str, *, in_place: bool = False) -> Callable[..., Any]:
    """`torch._foreach_addcdiv` and its kin: torch looks at factors that are one tensor."""
    path = f"_foreach_addc{name}{'_' * in_place}"

    def function(self: Any, tensor1: Any, tensor2: Any, *rest: Any, **keywords: Any) -> Any:
        scalars: Any = next(iter((*rest, *keywords.values())), 1)
        if not hasattr(scalars, "dim"):
            return getattr(torch_package(), path)(self, tensor1, tensor2, scalars)
        factors = list(scalars.unbind())
        found = _of_each(_add_scaled(name))(list(self), list(tensor1), list(tensor2), factors)
        if not in_place:
            return tuple(found)
        for old, new in zip(self, found, strict=True):
            old.copy_(new)
        return None

    return function
