"""From a torch module or function to an exported program of few ATen operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr

from ttmlir.frontend.calls.call_layout import CallLayout, read_call
from ttmlir.frontend.calls.containers import Layout, read_layout
from ttmlir.frontend.torch.containers import OPENER
from ttmlir.frontend.torch.conversions import idle_conversions_skipped
from ttmlir.frontend.torch.data.bounding import create_bounded, has_unknown_sizes
from ttmlir.frontend.torch.data.values import KnownValues
from ttmlir.frontend.torch.data.watching import watch
from ttmlir.frontend.torch.decompositions import own_decompositions
from ttmlir.frontend.torch.decompositions.untraceable import no_validation
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.places import place_of_error, place_of_trace, user_frames_kept
from ttmlir.frontend.torch.quiet import CHOICES, COUNTING_NORM, quiet, reason_of
from ttmlir.frontend.torch.random.seeding import SEED, create_seeded, is_random
from ttmlir.frontend.torch.rules import rule_of
from ttmlir.frontend.torch.training.gradients import (
    GradientsAsked,
    gradients_refused,
    lower_gradients,
)
from ttmlir.frontend.torch.training.holding import take_names
from ttmlir.mlir.reporting.diagnostics import LocatedError


@dataclass(frozen=True)
class TracedModel:
    """A module or function as torch has traced it for example arguments.

    `exported` takes and returns tensors in a row; the layouts say where they are in a call.
    """

    exported: Any
    call: CallLayout
    results: Layout


def trace_model(
    name: str, model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> TracedModel:
    """Trace a module, a method of one, or a function, for these example arguments.

    Containers of any kind may be arguments and results; torch sees the tensors in them alone.
    Raises `DiagnosticError` at the user's own line for what torch cannot trace.
    """
    is_module = isinstance(model, torch_package().nn.Module)
    function = model.forward if is_module else model
    owner: Any = getattr(function, "__self__", None)
    if not isinstance(owner, torch_package().nn.Module):
        owner = None
    if isinstance(owner, torch_package().fx.GraphModule):
        owner = _without_graph(owner)
    call, leaves = read_call(name, function, (args, dict(kwargs)), OPENER)
    found: list[Layout] = []

    def run(*tensors: Any) -> tuple[Any, ...]:
        args, kwargs = call.unflatten(tensors)
        # A module is called, for its hooks; a method of one is not.
        with _attributes_of(owner, before) if is_module else nullcontext():
            returned = (model if is_module else function)(*args, **kwargs)
        layout, results = read_layout(returned, OPENER)
        found.append(layout)
        return tuple(results)

    # The module itself is traced, so that names of weights and of modules in messages are the
    # user's; its call is replaced while that is done.
    after: dict[str, Any] = {"forward": run, "_forward_hooks": {}, "_forward_pre_hooks": {}}
    before: dict[str, Any] = {}
    if owner is not None:
        before = {name: _held_by(owner).get(name) for name in after}
    tensors = [torch_package().as_tensor(leaf) for leaf in leaves]
    with _attributes_of(owner, after):
        exported = export(_as_module(run) if owner is None else owner, tensors)
    if takes_seed(exported) and SEED in (*call.binding.positions, *call.binding.keywords):
        raise LocatedError(UNKNOWN_LOC, _TWO_SEEDS)
    return TracedModel(exported, call, found[-1])


def _without_graph(module: Any) -> Any:
    """A module with the weights and modules of another, of which torch would run the graph."""
    plain = torch_package().nn.Module()
    _held_by(plain).update(_held_by(module))
    return plain


@contextmanager
def _attributes_of(module: Any, values: Mapping[str, Any]) -> Generator[None]:
    """Let a module have other attributes for a while; None is for those of its class."""
    if module is None:
        yield
        return
    held = _held_by(module)
    before = {name: held.get(name) for name in values}
    _set_attributes(module, values)
    try:
        yield
    finally:
        _set_attributes(module, before)


def _held_by(module: Any) -> dict[str, Any]:
    return module.__dict__


def _set_attributes(module: Any, values: Mapping[str, Any]) -> None:
    held = _held_by(module)
    for name, value in values.items():
        if value is None:
            held.pop(name, None)
        else:
            held[name] = value


def export(
    function: Any,
    arguments: Sequence[Any] = (),
    keywords: Mapping[str, Any] | None = None,
) -> Any:
    """A `torch.export.ExportedProgram` of a module or function, for these example arguments.

    Raises `DiagnosticError` at the user's own line for what torch cannot trace.
    """
    torch = torch_package()
    module = function if isinstance(function, torch.nn.Module) else _as_module(function)
    args, kwargs = _distinct((tuple(arguments), dict(keywords or {})))
    try:
        return _export_seeded(module, args, kwargs)
    except LocatedError:
        raise
    except Exception as error:
        # Whatever torch or the user's own code raises is about the line that was being traced.
        raise _untraceable(error, place_of_error(error)) from error


def _export_seeded(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The program of a module; if it draws random numbers, a seed is an argument of it, too."""
    try:
        with gradients_refused(module):
            return take_seed(module, _export(module, args, kwargs), args, kwargs)
    except GradientsAsked:
        lowered = lower_gradients(module, args, kwargs)
    if lowered.takes_seed:
        return _export_with_seed(lowered, args, kwargs)
    with torch_package().no_grad():
        return _export(lowered, args, kwargs)


def take_seed(module: Any, exported: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The program of a module, with a seed as a further argument if it draws random numbers.

    The module may be the program itself, for arguments like those that it was exported for.
    """
    # Most programs do not, and decomposing takes as long as exporting.
    if not is_random(exported.graph):
        return exported
    decomposed = decompose(exported)
    if not is_random(decomposed.graph):
        return exported
    if module is exported:
        module = exported.module()
    seeded = take_names(create_seeded(decomposed), module, SEED)
    return _export_with_seed(seeded, args, kwargs)


def _export_with_seed(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    torch = torch_package()
    if SEED in kwargs:
        raise LocatedError(UNKNOWN_LOC, _TWO_SEEDS)
    with torch.no_grad():
        seed = torch.zeros((), dtype=torch.int32)
        exported = _export(module, args, {**kwargs, SEED: seed})
    exported.graph_module.meta[_TAKES_SEED] = True
    return exported


_TAKES_SEED = "ttmlir.takes_seed"
_TWO_SEEDS = (
    f"a program with random numbers is called with {SEED}=..., which is an argument of the model "
    "itself; give that another name"
)


def takes_seed(exported: Any) -> bool:
    """True for an exported program whose last input is a seed of ours."""
    return bool(exported.graph_module.meta.get(_TAKES_SEED))


def _export(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with user_frames_kept(), quiet(), idle_conversions_skipped(), warnings.catch_warnings():
        # torch's own recurrent layers keep their weights in a list besides.
        warnings.filterwarnings("ignore", r"The tensor attributes? self\.[\w.]*_flat_weights")
        known = KnownValues(module, dict(module.named_buffers()))
        with no_validation(), watch(known):
            exported = torch_package().export.export(module, args, kwargs, strict=False)
        if has_unknown_sizes(exported.graph):
            bounded = take_names(create_bounded(exported), module)
            with no_validation(), watch(known):
                exported = torch_package().export.export(bounded, args, kwargs, strict=False)
        exported.graph_module.meta[_DECIDED] = known.decided
        return exported


def _untraceable(error: Exception, place: LocationAttr) -> LocatedError:
    return LocatedError(place, f"torch cannot trace this: {reason_of(error)}")


def _distinct(values: Any) -> Any:
    """The values with a copy of each tensor that occurs again: torch takes equal ones for one."""
    torch = torch_package()
    seen: set[int] = set()

    def distinct(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or id(leaf) not in seen:
            seen.add(id(leaf))
            return leaf
        return leaf.detach().clone()

    return torch.utils._pytree.tree_map(distinct, values)


def _as_module(function: Callable[..., Any]) -> Any:
    """A module that calls a function."""
    torch = torch_package()

    class Function(torch.nn.Module):
        def forward(self, *arguments: Any, **keywords: Any) -> Any:
            return function(*arguments, **keywords)

    return Function()


def decompose(exported: Any) -> Any:
    """The program with its operations expressed by those that have rules, as far as possible."""
    with quiet(), warnings.catch_warnings():
        # torch tells of its own deprecated parts here.
        warnings.simplefilter("ignore")
        try:
            table = {**_decompositions(), **own_decompositions()}
            decomposed = exported.run_decompositions(table)
        except Exception as error:
            # The program was traced, but not all of it, as with torch.func.grad.
            place = place_of_trace(str(error))
            raise _untraceable(error, place) from error
    _check_decisions(exported, decomposed)
    return decomposed


_DECIDED = "ttmlir.decided"


def _check_decisions(exported: Any, decomposed: Any) -> None:
    """Refuse decisions by buffers that a program changes: the next call might decide otherwise."""
    decided: Mapping[str, LocationAttr] = exported.graph_module.meta.get(_DECIDED, {})
    for name in decomposed.graph_signature.buffers_to_mutate.values():
        if name in decided:
            remedy = COUNTING_NORM if name.endswith("num_batches_tracked") else CHOICES
            reason = (
                f"what it does depends on the numbers in a tensor; the buffer '{name}', by which "
                f"Python decides, changes in each call; {remedy}"
            )
            raise LocatedError(decided[name], f"torch cannot trace this: {reason}")


@cache
def _decompositions() -> dict[Any, Any]:
    """torch's decompositions of the operations that have no rule."""
    torch = torch_package()
    table: dict[Any, Any] = dict(torch.export.default_decompositions())
    return {key: function for key, function in table.items() if rule_of(str(key)) is None}
