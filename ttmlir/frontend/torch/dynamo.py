"""The backend of `torch.compile`: `torch.compile(model, backend="ttmlir")`.

    model = torch.compile(model, backend="ttmlir", options={"numerics": "device"})
    y = model(x)
    loss(y).backward()

torch finds it by the entry point of the installed package; importing this module registers it, too.
torch splits what it cannot trace into several graphs; each of them, and each graph of a gradient,
becomes a program for each set of shapes that it is called with. Weights are arguments of the
programs, so that an optimizer may change them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ttmlir.frontend.compiled import CompiledModel
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.model import import_traced
from ttmlir.mlir.reporting.diagnostics import listening

NAME = "ttmlir"
"""Of the backend."""

OPTIONS = ("numerics", "target", "options", "board")
"""Names in `options` of `torch.compile`; each means what it means for `ttmlir.compile`."""

Graph = Any
"""A `torch.fx.GraphModule`."""


def compile_graph(
    graph: Graph,
    inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """What torch calls for each graph of a function: the function that computes it.

    CompilationError, at the user's own line, for operations that are not supported; ValueError for
    options that nobody knows.
    """
    del mode  # How hard other backends search for fast code.
    settings = dict(options or {})
    for name in settings:
        if name not in OPTIONS:
            raise ValueError(f"options of the backend are {', '.join(OPTIONS)}, not '{name}'")
    _report_graph_breaks()
    common: Any = torch_package()._dynamo.backends.common

    def compile_part(part: Graph, _: Sequence[Any]) -> Callable[..., Any]:
        boxed: Any = torch_package()._functorch.aot_autograd.make_boxed_func
        return boxed(_Graph(part, settings))

    return common.aot_autograd(fw_compiler=compile_part, bw_compiler=compile_part)(graph, inputs)


class _Graph:
    """A graph of ATen operations, compiled once for each set of shapes."""

    def __init__(self, graph: Graph, settings: Mapping[str, Any]) -> None:
        self._graph = graph
        self._settings = settings
        self._programs: dict[tuple[Any, ...], CompiledModel] = {}

    def __call__(self, *inputs: Any) -> Any:
        """The results of the graph, as tuples."""
        tensor = torch_package().Tensor
        key = tuple(
            (each.shape, each.dtype) if isinstance(each, tensor) else each for each in inputs
        )
        if key not in self._programs:
            self._programs[key] = self._compile(inputs)
        return self._programs[key](*inputs)

    def _compile(self, inputs: Sequence[Any]) -> CompiledModel:
        fx: Any = torch_package().fx
        interpreter: Any = fx.Interpreter(self._graph)

        def run(*arguments: Any) -> Any:
            # The user's own lines are those of the graph's nodes.
            with fx.traceback.preserve_node_meta():
                return interpreter.run(*arguments)

        # torch is in the middle of a call here; in a thread of its own it traces as it always does.
        with ThreadPoolExecutor(1) as thread:
            imported = thread.submit(import_traced, "graph", run, inputs).result()
        with listening() as heard:
            model = CompiledModel(imported, **self._settings)
        told = [each.message for each in heard.values() if each.severity == "warning"]
        for message in dict.fromkeys([*imported.warnings, *told]):
            warnings.warn(f"torch.compile: {message}", UserWarning, stacklevel=2)
        return model


_reported: set[str] = set()


def _report_graph_breaks() -> None:
    """Warn of the places where torch has split a function, once for each."""
    for found in torch_package()._dynamo.utils.graph_break_reasons:
        stack: Sequence[Any] = found.user_stack
        place = f"{stack[-1].filename}:{stack[-1].lineno}: " if stack else ""
        lines = [line.strip() for line in str(found.reason).split("\n")]
        reason = ": ".join(line.removeprefix("Explanation: ") for line in lines[:2] if line)
        message = (
            f"{place}torch.compile breaks the graph here; what is before and behind it becomes "
            f"programs of their own ({reason})"
        )
        if message not in _reported:
            _reported.add(message)
            warnings.warn(message, UserWarning, stacklevel=2)


def register() -> None:
    """Make the name known to torch."""
    dynamo: Any = torch_package()._dynamo
    if NAME not in dynamo.list_backends(()):
        dynamo.register_backend(compile_graph, NAME)


register()
