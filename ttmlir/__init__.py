"""A Tenstorrent compiler stack in pure Python.

    import ttmlir

    compiled = ttmlir.compile(function, *example_inputs)
    result = compiled(*inputs)
    compiled.save("model.ttnn")

`ttmlir.compile` takes functions of JAX arrays, torch modules and programs, and MLIR text or files.
Names are loaded on first use: importing the package imports nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttmlir.explorer.exploring import explore
    from ttmlir.frontend.compiled import CompiledModel
    from ttmlir.frontend.dispatch import compile
    from ttmlir.frontend.errors import CompilationError
    from ttmlir.program.registered import register_custom_call, unregister_custom_call

_HOMES = {
    "CompilationError": "ttmlir.frontend.errors",
    "CompiledModel": "ttmlir.frontend.compiled",
    "compile": "ttmlir.frontend.dispatch",
    "explore": "ttmlir.explorer.exploring",
    "register_custom_call": "ttmlir.program.registered",
    "unregister_custom_call": "ttmlir.program.registered",
}

__all__ = [
    "CompilationError",
    "CompiledModel",
    "compile",
    "explore",
    "register_custom_call",
    "unregister_custom_call",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
