"""Functions of torch that it cannot trace, replaced while it traces a model."""

from __future__ import annotations

from typing import Any

from ttmlir.frontend.torch.decompositions.statistics import UNTRACEABLE
from ttmlir.frontend.torch.elements import torch_package


def replace_untraceable() -> Any:
    """A context in which functions and methods that torch cannot trace are those of ours."""
    torch = torch_package()
    replacements: dict[Any, Any] = {
        owner: function
        for name, function in UNTRACEABLE.items()
        for owner in (getattr(torch, name), getattr(torch.Tensor, name, None))
    }

    class Replacing(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return replacements.get(func, func)(*args, **(kwargs or {}))

    return Replacing()
