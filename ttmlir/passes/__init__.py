"""One pass per file; `pipelines` names the pipelines.

To scripts the package has tt-mlir's Python functions for pipelines and files, which are those of
`ttmlir.bindings`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ttmlir.errors import MissingNameError


def __getattr__(name: str) -> Any:
    """One of the functions, which are imported when a script asks for them."""
    if not name.startswith("_") and (found := _functions().get(name)) is not None:
        return found
    raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")


def _functions() -> dict[str, Any]:
    return import_module("ttmlir.bindings").PASS_FUNCTIONS
