"""Functions of torch that look at numbers while it traces them, replaced for that time.

Some compute by what they find. Others look for mistakes, and do nothing but raise an error if there
is one: a compiled model leaves that out, as Python leaves out assertions with `-O`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from ttmlir.frontend.torch.decompositions import losses, ordering, tables
from ttmlir.frontend.torch.elements import torch_package


def own_functions() -> dict[Any, Any]:
    """What stands for functions and methods that torch cannot trace."""
    torch = torch_package()
    return {
        owner: function
        for name, function in _UNTRACEABLE.items()
        for owner in (attrgetter(name)(torch), getattr(torch.Tensor, name, None))
    }


@contextmanager
def replace_untraceable() -> Generator[None]:
    """Let functions and methods that torch cannot trace be ours, and distributions not validate."""
    torch = torch_package()
    replacements = own_functions()

    class Replacing(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return replacements.get(func, func)(*args, **(kwargs or {}))

    with no_validation(), Replacing():
        yield


@contextmanager
def no_validation() -> Generator[None]:
    """Let no distribution look at its parameters and samples, also those that are told to."""
    base = torch_package().distributions.Distribution

    def write(distribution: Any, value: bool) -> None:
        vars(distribution)["_validate_args"] = value

    before = base._validate_args
    base._validate_args = property(lambda _: False, write)
    try:
        yield
    finally:
        base._validate_args = before


_UNTRACEABLE: dict[str, Callable[..., Any]] = {
    **losses.UNTRACEABLE,
    **ordering.UNTRACEABLE,
    **tables.UNTRACEABLE,
}
