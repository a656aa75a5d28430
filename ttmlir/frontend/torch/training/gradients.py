"""Functions of torch that compute gradients, as modules of plain operations.

`torch.export` keeps autograd out. So a function that asks for gradients is traced below autograd
first; what comes out is a graph of operations without any, which is exported like other modules.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

from ttmlir.frontend.torch.decompositions.untraceable import replace_untraceable
from ttmlir.frontend.torch.distributed.exchanges import (
    check_alike,
    check_results,
    write_exchanges,
)
from ttmlir.frontend.torch.distributed.one_device import as_device
from ttmlir.frontend.torch.distributed.placing import Devices, is_distributed
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.locations import refuse_node, user_frames_kept
from ttmlir.frontend.torch.random.seeding import SEED, generators_in, is_draw, run_seeded
from ttmlir.frontend.torch.replacing import attributes_replaced
from ttmlir.frontend.torch.training.holding import hold, take_names


class GradientsAsked(Exception):
    """The function that is traced computes gradients."""


_ENTRIES = (
    ("torch.autograd", "_engine_run_backward"),
    ("torch._functorch.eager_transforms", "grad_increment_nesting"),
    ("torch._functorch.eager_transforms", "jvp_increment_nesting"),
)
"""Through which all ways to gradients go: `backward`, `torch.autograd.grad`, `torch.func`."""


@contextmanager
def gradients_refused(module: Any) -> Generator[None]:
    """Raise GradientsAsked where a module computes gradients, or if it says that it does."""
    if getattr(module, "computes_gradients", False):
        raise GradientsAsked

    def refusing(original: Any) -> Any:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            if _is_asked_by_torch():
                return original(*args, **kwargs)
            raise GradientsAsked

        return refuse

    with ExitStack() as stack:
        for path, name in _ENTRIES:
            home = import_module(path)
            if hasattr(home, name):
                replaced = {name: refusing(getattr(home, name))}
                stack.enter_context(attributes_replaced(home, replaced))
        yield


def _is_asked_by_torch() -> bool:
    """True where torch looks for the gradient of a loop beforehand, should anybody ask for it."""
    frame = inspect.currentframe()
    while frame is not None and _home_of(frame).startswith(_PASSED):
        frame = frame.f_back
    return frame is not None and _home_of(frame).startswith("torch._functorch._aot_autograd")


def _home_of(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name


_PASSED = (__name__, "torch.autograd", "torch.overrides", "torch.fx")
"""Modules between who asks for a gradient and what computes it."""


def lower_gradients(
    module: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    devices: Devices | None = None,
) -> Any:
    """A module with the parameters and buffers of another one, and the same results.

    Its gradients are operations like others, for arguments like these. On several devices it takes
    and returns whole tensors, and says what one device computes of their parts.
    """
    torch = torch_package()
    pytree: Any = torch.utils._pytree
    leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
    is_tensor = [isinstance(leaf, torch.Tensor) for leaf in leaves]
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    structure: list[Any] = []
    is_plain: list[bool] = []

    def flat(values: Sequence[Any], tensors: Sequence[Any]) -> Any:
        given = iter(tensors if devices is None else devices.divide_arguments(tensors))
        rest = [
            next(given) if tensor else leaf for tensor, leaf in zip(is_tensor, leaves, strict=True)
        ]
        call_args, call_kwargs = pytree.tree_unflatten(rest, spec)
        before = dict(zip(state, values, strict=True))
        current = before if devices is None else devices.divide_weights(before)
        for name, tensor in current.items():
            take_hooks(tensor, state[name])
        result = torch.func.functional_call(module, current, call_args, call_kwargs)
        results, result_spec = pytree.tree_flatten(result)
        structure[:] = [
            result_spec,
            [None if isinstance(leaf, torch.Tensor) else leaf for leaf in results],
        ]
        tensors_of_results = [leaf for leaf in results if isinstance(leaf, torch.Tensor)]
        if devices is not None:
            is_plain[:] = [not is_distributed(leaf) for leaf in tensors_of_results]
            tensors_of_results = [devices.join(leaf) for leaf in tensors_of_results]
            current = devices.join_state(before, current)
        return [current[name] for name in state], tensors_of_results

    tensors = [leaf for leaf, tensor in zip(leaves, is_tensor, strict=True) if tensor]
    if devices is None:
        graph = _trace(flat, list(state.values()), tensors)
    else:
        graph = _trace_for_devices(flat, list(state.values()), tensors, devices)
        check_results(graph, is_plain, [*state])
    lowered = _lowered(state, graph, structure)
    return take_names(lowered, module, *((SEED,) if lowered.generators else ()))


def take_hooks(tensor: Any, other: Any) -> None:
    """Let the gradient of a tensor go through what the gradient of another one goes through."""
    if not tensor.requires_grad:
        return
    hooks: dict[int, Any] = other._backward_hooks or {}
    for hook in hooks.values():
        tensor.register_hook(hook)
    hooks = getattr(other, "_post_accumulate_grad_hooks", None) or {}
    for hook in hooks.values():
        tensor.register_post_accumulate_grad_hook(hook)


def _trace_for_devices(
    function: Any, state: Sequence[Any], tensors: Sequence[Any], devices: Devices
) -> Any:
    """The graph of what all devices compute."""
    graphs: list[Any] = []
    for place in devices.corners:
        with as_device(devices.mesh, place):
            graphs.append(_trace(function, state, tensors))
            write_exchanges(graphs[-1], devices)
    check_alike(*graphs)
    for node in graphs[0].graph.nodes:
        if is_draw(node):
            refuse_node(
                node,
                "devices draw no random numbers; draw them before, and give them as an argument",
            )
    return graphs[0]


def _trace(function: Any, *arguments: Any) -> Any:
    """The graph of a function below autograd."""
    proxies: Any = import_module("torch.fx.experimental.proxy_tensor")
    trace = proxies.make_fx(
        function,
        tracing_mode="fake",
        _allow_non_fake_inputs=True,
        record_stack_traces=True,
    )
    with plain_gradients():
        graph = trace(*arguments)
    move_to_forwards(graph)
    _check_writes(graph)
    return graph


@contextmanager
def plain_gradients() -> Generator[None]:
    """Let torch compute gradients by plain operations, and remember what they are of."""
    torch = torch_package()
    with ExitStack() as stack:
        stack.enter_context(user_frames_kept())
        stack.enter_context(warnings.catch_warnings())
        # torch warns about its own deprecated parts here.
        warnings.simplefilter("ignore")
        # The forms of other libraries and of fused kernels have no plain operations as gradients.
        stack.callback(torch._C._set_mkldnn_enabled, torch._C._get_mkldnn_enabled())
        torch._C._set_mkldnn_enabled(False)
        kind = torch.nn.attention.SDPBackend.MATH
        stack.enter_context(torch.nn.attention.sdpa_kernel(kind))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(replace_untraceable())
        stack.enter_context(_forwards_remembered())
        yield


@contextmanager
def _forwards_remembered() -> Generator[None]:
    """Let torch number operations, and those of a gradient as that which they are of.

    What `backward` leaves in modules that a function closes over is taken away at the end.
    """
    torch = torch_package()
    home, name = import_module("torch.autograd"), "_engine_run_backward"
    hooks: Any = import_module("torch._functorch._aot_autograd.logging_utils")
    remember = getattr(hooks, "setup_stacktrace_preservation_hooks_from_tensors", None)
    original = getattr(home, name, None)
    if remember is None or original is None:
        yield
        return
    kept: list[Any] = []

    def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        remember(outputs)
        kept.extend(_leaves_of(outputs))
        # torch notes here that what puts locations back is queued, and forgets it if a gradient
        # fails: later ones would put none back.
        with attributes_replaced(hooks, {"callback_set": False}):
            return original(outputs, *args, **kwargs)

    try:
        with attributes_replaced(home, {name: run}), torch.fx.traceback.preserve_node_meta():
            yield
    finally:
        for leaf in kept:
            leaf.grad = None


def _leaves_of(outputs: Sequence[Any]) -> list[Any]:
    """The parameters that exist, not as tensors of a trace alone, and without a gradient yet."""
    torch = torch_package()
    found: list[Any] = []
    functions = [each.grad_fn for each in outputs if each.grad_fn is not None]
    seen = set(functions)
    while functions:
        function = functions.pop()
        leaf: Any = getattr(function, "variable", None)
        if type(leaf) is torch.nn.Parameter and leaf.grad is None:
            found.append(leaf)
        following = {each for each, _ in function.next_functions if each is not None} - seen
        seen |= following
        functions += following
    return found


def move_to_forwards(graph: Any) -> None:
    """Give operations of a gradient the location of the operation that they are of."""
    forwards: dict[int, Any] = {}
    for node in graph.graph.nodes:
        number = node.meta.get("seq_nr")
        if number is None or node.op != "call_function":
            continue
        if not node.meta.get("autograd_backward"):
            # The first one made the function whose gradient it is.
            forwards.setdefault(number, node)
        elif number in forwards and forwards[number].stack_trace:
            node.stack_trace = forwards[number].stack_trace


def _check_writes(graph: Any) -> None:
    """Refuse changes of tensors that are no arguments: they would be lost."""
    for node in graph.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is None:
            continue
        for argument, value in zip(schema.arguments, node.args, strict=False):
            is_written = argument.alias_info is not None and argument.alias_info.is_write
            if is_written and getattr(value, "op", "") == "get_attr":
                refuse_node(
                    node,
                    "the function changes parameters or buffers of a module that it closes over; "
                    "ttmlir.train_step keeps them as state, ttmlir.train_function keeps those of "
                    "its models, or pass them as arguments to torch.func.functional_call and "
                    "return the new ones",
                )


def _lowered(state: Mapping[str, Any], graph: Any, structure: Sequence[Any]) -> Any:
    """The module that runs a graph, with the state of the module that it was traced from.

    What modules share is in it once: torch.export takes two names for two tensors.
    """
    torch = torch_package()
    pytree: Any = torch.utils._pytree
    result_spec, constants = structure

    class Lowered(torch.nn.Module):
        generators = generators_in(graph.graph, {})

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            seed = kwargs.pop(SEED) if self.generators else None
            tensors = [
                leaf
                for leaf in pytree.tree_leaves((args, kwargs))
                if isinstance(leaf, torch.Tensor)
            ]
            named = {**dict(self.named_parameters()), **dict(self.named_buffers())}
            values = [named[name] for name in state]
            with torch.fx.traceback.preserve_node_meta():
                changed, results = run_seeded(graph, seed, [*values, *tensors])
            for old, new in zip(values, changed, strict=True):
                if new is not old:
                    old.copy_(new)
            given = iter(results)
            leaves = [next(given) if leaf is None else leaf for leaf in constants]
            return pytree.tree_unflatten(leaves, result_spec)

    return hold(Lowered(), state)
