"""The frontend for ONNX: models of files, of bytes and of protobufs as modules in the ttir dialect.

    from ttmlir.frontend.onnx import import_model

    imported = import_model("model.onnx", (x,), {})
    print(imported.module)

Each operator of the standard becomes operations of ttir by a rule from a table (`rules`), or is a
function of the standard whose body consists of such operators.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ttmlir.errors import MissingNameError

if TYPE_CHECKING:
    from ttmlir.frontend.onnx.model import import_model, read_onnx
    from ttmlir.frontend.onnx.support import supported

_HOMES = {"import_model": "model", "read_onnx": "model", "supported": "support"}

__all__ = ["import_model", "read_onnx", "supported"]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    home = _HOMES.get(name)
    if home is None:
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
