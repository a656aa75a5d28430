"""Operations of ttnn: tables over the definitions of `ttmlir.optable`, a file for each family."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ttmlir.errors import MissingNameError


def __getattr__(name: str) -> Any:
    """The modules that programs name without an import of their own, as upstream has them."""
    if name in ("activations", "moreh"):
        return import_module(f"{__name__}.{name}")
    raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
