"""Modules that stand for others: with tensors of the same names, called by the same names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


def hold(root: Any, tensors: Mapping[str, Any]) -> Any:
    """A module with these parameters and buffers; dots in their names are modules."""
    torch = torch_package()
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        home = root
        for part in path:
            if part not in home._modules:
                home.add_module(part, torch.nn.Module())
            home = home._modules[part]
        if isinstance(tensor, torch.nn.Parameter):
            home.register_parameter(last, tensor)
        else:
            home.register_buffer(last, tensor)
    return root


def take_names(module: Any, other: Any, *keywords: str) -> Any:
    """The module, with arguments that have the names of another one's, and further keywords."""
    forward = module.forward
    signature = inspect.signature(other.forward)
    own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in keywords]
    parameters = list(signature.parameters.values())
    rest = [each for each in parameters if each.kind is inspect.Parameter.VAR_KEYWORD]
    named = [each for each in parameters if each.kind is not inspect.Parameter.VAR_KEYWORD]

    def call(*args: Any, **kwargs: Any) -> Any:
        return forward(*args, **kwargs)

    call.__signature__ = signature.replace(parameters=[*named, *own, *rest])
    module.forward = call
    return module
