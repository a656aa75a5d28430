"""A Tenstorrent compiler stack in pure Python.

    import ttmlir

    compiled = ttmlir.compile(function, *example_inputs)
    result = compiled(*inputs)
    compiled.save("model.ttnn")
    loaded = ttmlir.load("model.ttnn")

`ttmlir.compile` takes functions of JAX arrays, torch modules and programs, and MLIR text or files.
Names are loaded on first use: importing the package imports nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ttmlir.version import VERSION as __version__

if TYPE_CHECKING:
    from ttmlir.explorer.exploring import explore
    from ttmlir.frontend.buckets import BucketedModel, Buckets
    from ttmlir.frontend.compiled import CompiledModel
    from ttmlir.frontend.dispatch import compile, compile_programs
    from ttmlir.frontend.errors import CompilationError
    from ttmlir.frontend.loaded import LoadedModel, load
    from ttmlir.frontend.programs import CompiledPrograms, Example
    from ttmlir.frontend.torch.training.step import train_function, train_step
    from ttmlir.program.registered import register_custom_call, unregister_custom_call
    from ttmlir.tuning.models import tune

_HOMES = {
    "BucketedModel": "ttmlir.frontend.buckets",
    "Buckets": "ttmlir.frontend.buckets",
    "CompilationError": "ttmlir.frontend.errors",
    "CompiledModel": "ttmlir.frontend.compiled",
    "CompiledPrograms": "ttmlir.frontend.programs",
    "Example": "ttmlir.frontend.programs",
    "LoadedModel": "ttmlir.frontend.loaded",
    "compile": "ttmlir.frontend.dispatch",
    "compile_programs": "ttmlir.frontend.dispatch",
    "explore": "ttmlir.explorer.exploring",
    "load": "ttmlir.frontend.loaded",
    "register_custom_call": "ttmlir.program.registered",
    "train_function": "ttmlir.frontend.torch.training.step",
    "train_step": "ttmlir.frontend.torch.training.step",
    "tune": "ttmlir.tuning.models",
    "unregister_custom_call": "ttmlir.program.registered",
}

__all__ = [
    "BucketedModel",
    "Buckets",
    "CompilationError",
    "CompiledModel",
    "CompiledPrograms",
    "Example",
    "LoadedModel",
    "__version__",
    "compile",
    "compile_programs",
    "explore",
    "load",
    "register_custom_call",
    "train_function",
    "train_step",
    "tune",
    "unregister_custom_call",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
