"""The backend of `torch.compile`: `torch.compile(model, backend="ttmlir")`.

    model = torch.compile(model, backend="ttmlir", options={"numerics": "device"})
    y = model(x)
    loss(y).backward()

torch finds it by the entry point of the installed package; importing this module registers it, too.
torch splits what it cannot trace into several graphs; each of them, and each graph of a gradient,
becomes a program for each set of shapes that it is called with. Weights are arguments of the
programs, so that an optimizer may change them; with the option `weights="constants"`, those of
graphs without gradients are constants, and a program is made anew when they have changed. With the
option `buckets=(16, 64)`, arguments of dynamic sizes are padded to the next of these, so that
graphs without gradients have a program for each of them instead of one for each size.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

from ttmlir.compiler import options_for
from ttmlir.errors import ArgumentError
from ttmlir.frontend.bucketed import STEPS, grows_slowly
from ttmlir.frontend.buckets import Buckets
from ttmlir.frontend.compiled import CompiledModel
from ttmlir.frontend.dispatch import complete_options
from ttmlir.frontend.targets import find_target
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.model import import_traced
from ttmlir.mlir.reporting import listening

NAME = "ttmlir"
"""Of the backend."""

OPTIONS = (
    *("numerics", "target", "options", "board", "spelling", "optimization_level"),
    *("weights", "buckets"),
)
"""Names in `options` of `torch.compile`; each means what it means for `ttmlir.compile`."""

WEIGHTS = ("arguments", "constants")
"""What parameters and buffers may be; arguments unless the option says otherwise."""

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
            raise ArgumentError(f"options of the backend are {', '.join(OPTIONS)}, not '{name}'")
    weights = settings.pop("weights", WEIGHTS[0])
    if weights not in WEIGHTS:
        raise ArgumentError(f"weights are {' or '.join(map(repr, WEIGHTS))}, not {weights!r}")
    buckets = settings.pop("buckets", None)
    sizes = None if buckets is None else _buckets_of(buckets)
    target = settings.get("target", "ttnn")
    find_target(target)
    spelling, level = (settings.pop(name, None) for name in ("spelling", "optimization_level"))
    said = complete_options(target, settings.get("options", ""), spelling, level)
    settings["options"] = said
    _report_graph_breaks()
    common: Any = torch_package()._dynamo.backends.common

    boxed: Any = torch_package()._functorch.aot_autograd.make_boxed_func

    def compile_part(part: Graph, _: Sequence[Any]) -> Callable[..., Any]:
        return boxed(_Graph(part, settings))

    def compile_without_gradient(part: Graph, _: Sequence[Any]) -> Callable[..., Any]:
        frozen = _indices_of_weights() if weights == "constants" else frozenset[int]()
        run = _Graph(part, settings, frozen)
        dynamic = None if sizes is None else DynamicSizes(part)
        if sizes is None or dynamic is None or not dynamic.can_be_padded(sizes[-1]):
            return boxed(run)
        return boxed(partial(dynamic.run, run, sizes))

    backend = common.aot_autograd(
        fw_compiler=compile_part,
        bw_compiler=compile_part,
        inference_compiler=compile_without_gradient,
    )
    return backend(graph, inputs)


def _indices_of_weights() -> frozenset[int]:
    """Which inputs of the graph that torch compiles at the moment are parameters and buffers."""
    context: Any = torch_package()._guards.TracingContext.try_get()
    facts = getattr(context, "fw_metadata", None)
    return frozenset(getattr(facts, "static_input_indices", None) or ())


class _Graph:
    """A graph of ATen operations, compiled once for each set of shapes."""

    def __init__(
        self, graph: Graph, settings: Mapping[str, Any], frozen: frozenset[int] = frozenset()
    ) -> None:
        self._graph = graph
        self._settings = settings
        self._frozen = frozen
        """The indices of inputs that are constants."""
        self._programs: dict[tuple[Any, ...], tuple[Any, CompiledModel]] = {}
        """For each set of shapes the state of the constants that the program holds, and it."""

    def __call__(self, *inputs: Any) -> Any:
        """The results of the graph, as tuples."""
        tensor = torch_package().Tensor
        passed = [each for index, each in enumerate(inputs) if index not in self._frozen]
        state = [_state_of(inputs[index]) for index in sorted(self._frozen)]
        key = tuple(
            (each.shape, each.dtype) if isinstance(each, tensor) else each for each in passed
        )
        known, program = self._programs.get(key, (None, None))
        if program is None or known != state:
            program = self._compile(inputs)
            self._programs[key] = state, program
        return program(*passed)

    def _compile(self, inputs: Sequence[Any]) -> CompiledModel:
        fx: Any = torch_package().fx
        interpreter: Any = fx.Interpreter(self._graph)
        passed = [each for index, each in enumerate(inputs) if index not in self._frozen]

        def run(*arguments: Any) -> Any:
            left = iter(arguments)
            whole = [
                each if index in self._frozen else next(left) for index, each in enumerate(inputs)
            ]
            # The user's own lines are those of the graph's nodes.
            with fx.traceback.preserve_node_meta():
                return interpreter.run(*whole)

        # torch is in the middle of a call here; in a thread of its own it traces as it always does.
        with ThreadPoolExecutor(1) as thread:
            imported = thread.submit(import_traced, "graph", run, passed).result()
        settings = dict(self._settings)
        target = settings.get("target", "ttnn")
        settings["options"] = options_for(imported.module, target, settings["options"])
        with listening() as captured:
            model = CompiledModel(imported, **settings)
        reported = [each.message for each in captured.values() if each.severity == "warning"]
        for message in dict.fromkeys([*imported.warnings, *reported]):
            warnings.warn(f"torch.compile: {message}", UserWarning, stacklevel=2)
        return model


def _buckets_of(given: Any) -> tuple[int, ...]:
    form = f"buckets are sizes, such as (16, 64), not {given!r}"
    if isinstance(given, Buckets):
        return given.sizes
    if not isinstance(given, tuple | list) or not all(
        type(each) is int for each in cast("Sequence[Any]", given)
    ):
        raise ArgumentError(form)
    return Buckets(*cast("Sequence[int]", given)).sizes


class DynamicSizes:
    """The sizes of a graph's inputs and results that torch takes for unknown ones."""

    def __init__(self, graph: Graph) -> None:
        """Read what torch has noted of inputs and results."""
        nodes = list(graph.graph.nodes)
        placeholders = [node.meta.get("val") for node in nodes if node.op == "placeholder"]
        returned: Sequence[Any] = nodes[-1].args[0]
        results = [each.meta.get("val") if hasattr(each, "meta") else each for each in returned]
        self._inputs = [*map(_extents_of, placeholders)]
        self._results = [*map(_extents_of, results)]

    def can_be_padded(self, largest: int) -> bool:
        """True if some inputs have unknown sizes, and if results begin with what belongs to the
        beginning of inputs.

        So does not what is larger than the input, such as what something else is joined to, or
        grows by more than one, such as a result whose dimensions are joined.
        """
        known = [each for extents in self._inputs for each in extents if not _is_number(each)]
        expressions = {
            each for extents in self._results for each in extents if not _is_number(each)
        }
        return (
            bool(known)
            and all(each.is_Symbol for each in known)
            and all(each.is_Symbol or _grows_slowly(each, largest) for each in expressions)
        )

    def run(self, function: Callable[..., Any], buckets: Sequence[int], *inputs: Any) -> Any:
        """The results of a graph for padded inputs, without what comes of the padding."""
        actual: dict[Any, int] = {}
        for extents, value in zip(self._inputs, inputs, strict=True):
            sizes = value.shape if hasattr(value, "shape") else (value,)
            pairs = zip(extents, sizes, strict=False)
            actual.update((each, int(size)) for each, size in pairs if not _is_number(each))
        chosen = {
            symbol: next((each for each in buckets if each >= size), size)
            for symbol, size in actual.items()
        }
        if chosen == actual:
            return function(*inputs)
        padded = [
            _resized(value, [chosen.get(each) for each in extents])
            for extents, value in zip(self._inputs, inputs, strict=True)
        ]
        return tuple(
            _resized(value, [None if _is_number(each) else _size(each, actual) for each in extents])
            for extents, value in zip(self._results, function(*padded), strict=True)
        )


def _extents_of(value: Any) -> tuple[Any, ...]:
    """The sizes of a tensor, or a number that is one, as numbers and expressions."""
    torch = torch_package()
    if isinstance(value, torch.SymInt):
        return (_expression_of(value),)
    return tuple(map(_expression_of, value.shape)) if isinstance(value, torch.Tensor) else ()


def _expression_of(size: Any) -> Any:
    expression = getattr(getattr(size, "node", None), "expr", size)
    return int(expression) if getattr(expression, "is_Integer", False) else expression


def _is_number(size: Any) -> bool:
    return isinstance(size, int)


def _size(expression: Any, values: Mapping[Any, int]) -> int:
    return int(expression.subs(values))


def _grows_slowly(expression: Any, largest: int) -> bool:
    """True for a size that is no larger than the only unknown one, and follows it slowly."""
    if len(expression.free_symbols) != 1:
        return False
    [symbol] = expression.free_symbols
    given = range(largest, largest + STEPS)
    return grows_slowly([_size(expression, {symbol: each}) for each in given], given)


def _resized(value: Any, sizes: Sequence[int | None]) -> Any:
    """A tensor padded with zeros, or without its last elements, where there is another size."""
    torch = torch_package()
    if not isinstance(value, torch.Tensor):
        return value if not sizes or sizes[0] is None else sizes[0]
    more = [
        0 if size is None else size - extent
        for size, extent in zip(sizes, value.shape, strict=True)
    ]
    if not any(more):
        return value
    margins = [each for size in reversed(more) for each in (0, size)]
    return torch.nn.functional.pad(value, margins).contiguous()


def _state_of(tensor: Any) -> tuple[int, int]:
    """What changes when a tensor gets other numbers: its memory, or how often it was written to."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


_reported: set[str] = set()


def _report_graph_breaks() -> None:
    """Warn of the lines where torch has split a function, once for each."""
    for found in torch_package()._dynamo.utils.graph_break_reasons:
        stack: Sequence[Any] = found.user_stack
        location = f"{stack[-1].filename}:{stack[-1].lineno}: " if stack else ""
        lines = [line.strip() for line in str(found.reason).split("\n")]
        reason = ": ".join(line.removeprefix("Explanation: ") for line in lines[:2] if line)
        message = (
            f"{location}torch.compile breaks the graph here; what is before and after it becomes "
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
