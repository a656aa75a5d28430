"""Modules that convert themselves while they are traced: `self.router.to(torch.float32)`.

torch cannot replace parameters then, and tries to even where all have the type already. Mixtures of
experts do that to be sure of the type of their scores.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ttmlir.frontend.torch.elements import torch_package


@contextmanager
def idle_conversions_skipped() -> Generator[None]:
    """Let `Module.to` return the module, while the context lasts, where it would change nothing."""
    torch = torch_package()
    convert: Any = torch.nn.Module.to

    def to(module: Any, *args: Any, **kwargs: Any) -> Any:
        return module if _is_idle(module, args, kwargs) else convert(module, *args, **kwargs)

    torch.nn.Module.to = to
    try:
        yield
    finally:
        torch.nn.Module.to = convert


def _is_idle(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    device, dtype, _, memory_format = torch_package()._C._nn._parse_to(*args, **kwargs)
    if memory_format is not None:
        return False
    return all(
        (device is None or tensor.device == device)
        and (dtype is None or tensor.dtype == dtype or not tensor.is_floating_point())
        for tensor in (*module.parameters(), *module.buffers())
    )
