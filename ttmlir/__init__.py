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
    from ttmlir.errors import (
        CompilationError,
        Error,
        ExecutionError,
        FileError,
        InputError,
        KernelError,
    )
    from ttmlir.explorer.server import explore
    from ttmlir.frontend.bucketed import BucketedModel
    from ttmlir.frontend.buckets import Buckets
    from ttmlir.frontend.compiled import CompiledModel, CompiledPrograms, Example, LoadedModel, load
    from ttmlir.frontend.dispatch import compile, compile_programs
    from ttmlir.frontend.torch.distributed.virtual_devices import virtual_devices
    from ttmlir.frontend.torch.training.step import train_function, train_step
    from ttmlir.frontend.weights.loading import WeightFiles, load_weights
    from ttmlir.generation.generator import Generation, Generator, Token, generate
    from ttmlir.generation.torch_steps import KeyValueCache
    from ttmlir.program import register_custom_call, unregister_custom_call
    from ttmlir.tuning.boards import compare_boards
    from ttmlir.tuning.models import tune
    from ttmlir.tuning.plans import tune_plan
    from ttmlir.tuning.report import report
    from ttmlir.tuning.shardings import tune_shardings
    from ttmlir.tuning.suggestions import suggest

_HOMES = {
    "BucketedModel": "ttmlir.frontend.bucketed",
    "Buckets": "ttmlir.frontend.buckets",
    "CompilationError": "ttmlir.errors",
    "CompiledModel": "ttmlir.frontend.compiled",
    "CompiledPrograms": "ttmlir.frontend.compiled",
    "Error": "ttmlir.errors",
    "Example": "ttmlir.frontend.compiled",
    "ExecutionError": "ttmlir.errors",
    "FileError": "ttmlir.errors",
    "Generation": "ttmlir.generation.generator",
    "Generator": "ttmlir.generation.generator",
    "InputError": "ttmlir.errors",
    "KernelError": "ttmlir.errors",
    "KeyValueCache": "ttmlir.generation.torch_steps",
    "LoadedModel": "ttmlir.frontend.compiled",
    "Token": "ttmlir.generation.generator",
    "WeightFiles": "ttmlir.frontend.weights.loading",
    "compare_boards": "ttmlir.tuning.boards",
    "compile": "ttmlir.frontend.dispatch",
    "compile_programs": "ttmlir.frontend.dispatch",
    "explore": "ttmlir.explorer.server",
    "generate": "ttmlir.generation.generator",
    "load": "ttmlir.frontend.compiled",
    "load_weights": "ttmlir.frontend.weights.loading",
    "register_custom_call": "ttmlir.program",
    "report": "ttmlir.tuning.report",
    "suggest": "ttmlir.tuning.suggestions",
    "train_function": "ttmlir.frontend.torch.training.step",
    "train_step": "ttmlir.frontend.torch.training.step",
    "tune": "ttmlir.tuning.models",
    "tune_plan": "ttmlir.tuning.plans",
    "tune_shardings": "ttmlir.tuning.shardings",
    "unregister_custom_call": "ttmlir.program",
    "virtual_devices": "ttmlir.frontend.torch.distributed.virtual_devices",
}

__all__ = [
    "BucketedModel",
    "Buckets",
    "CompilationError",
    "CompiledModel",
    "CompiledPrograms",
    "Error",
    "Example",
    "ExecutionError",
    "FileError",
    "Generation",
    "Generator",
    "InputError",
    "KernelError",
    "KeyValueCache",
    "LoadedModel",
    "Token",
    "WeightFiles",
    "__version__",
    "compare_boards",
    "compile",
    "compile_programs",
    "explore",
    "generate",
    "load",
    "load_weights",
    "register_custom_call",
    "report",
    "suggest",
    "train_function",
    "train_step",
    "tune",
    "tune_plan",
    "tune_shardings",
    "unregister_custom_call",
    "virtual_devices",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        from ttmlir.errors import MissingNameError

        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    import_module("ttmlir.lazy_methods").defer_methods()
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
