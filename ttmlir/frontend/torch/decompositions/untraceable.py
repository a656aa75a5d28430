"""Functions of torch that it cannot trace, replaced while it traces a model."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ttmlir.frontend.torch.decompositions import losses, statistics, tables
from ttmlir.frontend.torch.elements import torch_package


def own_functions() -> dict[Any, Any]:
    """What stands for functions and methods that torch cannot trace."""
    torch = torch_package()
    return {
        owner: function
        for name, function in _UNTRACEABLE.items()
        for owner in (attrgetter(name)(torch), getattr(torch.Tensor, name, None))
    }


def replace_untraceable() -> Any:
    """A context in which functions and methods that torch cannot trace are those of ours."""
    torch = torch_package()
    replacements = own_functions()

    class Replacing(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return replacements.get(func, func)(*args, **(kwargs or {}))

    return Replacing()


_UNTRACEABLE: dict[str, Callable[..., Any]] = {
    **losses.UNTRACEABLE,
    **statistics.UNTRACEABLE,
    **tables.UNTRACEABLE,
}
