"""Plans of torch in which devices have parts of a sequence between the layers that are divided.

Sums of products become parts of sums (reduce_scatter), and are put together (all_gather) in front
of the next product; norms and what is added in between are computed for the positions that a
device has.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

Plan = Mapping[str, str]
"""Styles of modules by their names, as Python of `torch.distributed.tensor.parallel`."""

COLUMNS, ROWS = "ColwiseParallel()", "RowwiseParallel()"

_WHOLE, _PARTS = "Replicate()", "Shard(1)"


@dataclass(frozen=True)
class ModuleCall:
    """How a module is called."""

    inputs: int
    """Positional arguments."""
    keyword: str
    """The name of the first tensor, if that has one."""
    rank: int
    """Dimensions of the first tensor."""


@contextmanager
def recording(model: Any) -> Generator[dict[str, ModuleCall]]:
    """How each module is called the first time, by its name, in their order."""
    found = dict[str, ModuleCall]()

    tensor: Any = import_module("torch").Tensor

    def recorder(name: str) -> Any:
        def record(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            given = [*(("", each) for each in args), *kwargs.items()]
            for key, each in given:
                if isinstance(each, tensor):
                    found.setdefault(name, ModuleCall(len(args), key, each.dim()))
                    return

        return record

    hooks = [
        module.register_forward_pre_hook(recorder(name), with_kwargs=True)
        for name, module in model.named_modules()
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def pattern(name: str) -> str:
    """The name of a module or an argument without numbers of layers."""
    return re.sub(r"\d+", "#", name)


def divide_sequences(
    model: Any, plan: Plan, calls: Mapping[str, ModuleCall], layers: str = ""
) -> Plan:
    """A plan with the second dimension of what is between layers in parts; empty for no such one.

    `calls` are those of modules; of the equal ones in the list `layers` one is enough.

    Sequences begin at embeddings, or at the first argument, and end at a layer behind all others,
    or at the result. What needs all positions is in modules that are called with all of them:
    those whose layers are divided, unless they have the norm in front of these, too.
    """
    if "" not in calls or ROWS not in plan.values():
        return {}
    found = _Sequences(dict(model.named_modules()), plan, calls, layers)
    styles = {name: found.style_of(name) for name in found.modules}
    return {name: style for name, style in styles.items() if style}


class _Sequences:
    """What there is between sequences in parts and whole ones."""

    def __init__(
        self, modules: dict[str, Any], plan: Plan, calls: Mapping[str, ModuleCall], layers: str
    ) -> None:
        """Find where sequences begin and end, and what takes whole ones."""
        nn: Any = import_module("torch").nn
        self.modules, self._plan, self._calls = modules, plan, calls
        self._norms = (nn.LayerNorm, nn.RMSNorm)
        self._by_pattern = {pattern(name): call for name, call in calls.items()}
        self._tables = [name for name, each in modules.items() if isinstance(each, nn.Embedding)]
        parents = {_parent(name) for name, style in plan.items() if style == ROWS}
        self._gathering = {name for name in parents if name and not self._begins_with_norm(name)}
        last = [*calls][-1]
        is_repeated = layers != "" and _is_in(last, {layers})
        is_head = type(modules[last]) is nn.Linear and plan.get(last) not in (COLUMNS, ROWS)
        self._head = last if is_head and not is_repeated else ""

    def _begins_with_norm(self, name: str) -> bool:
        """Whether a module has a norm of as many features as its first layer takes."""
        children = [each for _, each in self.modules[name].named_children()]
        taken = [each.in_features for each in children if hasattr(each, "in_features")]
        return any(
            isinstance(each, self._norms) and [*each.normalized_shape] == taken[:1]
            for each in children
        )

    def style_of(self, name: str) -> str:
        """The style of a module; empty for none."""
        call = self._calls.get(name) or self._by_pattern.get(pattern(name))
        if call is None:
            return ""
        if name == "":
            begins = [] if self._tables else ["input"]
            return _border(begins, [] if self._head else ["output"], call)
        if name in self._gathering:
            return _gather(call)
        style = self._plan.get(name)
        if name in self._tables:
            parts = f"Shard({call.rank - 1})"
            return _end("RowwiseParallel" if style else "", _WHOLE, parts)
        if name == self._head:
            return _end("ColwiseParallel" if style else "", _PARTS, _WHOLE)
        if style == COLUMNS and _parent(name) not in self._gathering:
            return f"ColwiseParallel(input_layouts={_PARTS})"
        if style == ROWS:
            return f"RowwiseParallel(output_layouts={_PARTS})"
        is_norm = isinstance(self.modules[name], self._norms) and call.rank == 3
        if is_norm and not _is_in(name, self._gathering):
            return "SequenceParallel(use_local_output=True)"
        return COLUMNS if style == COLUMNS else ""


def _parent(name: str) -> str:
    return name.rpartition(".")[0]


def _is_in(name: str, parents: set[str]) -> bool:
    return any(name.startswith(f"{parent}.") for parent in parents)


def _gather(call: ModuleCall) -> str:
    """Give a module all positions."""
    if call.keyword:
        layouts = (f"{{{call.keyword!r}: {each}}}" for each in (_PARTS, _WHOLE))
        before, after = layouts
        names = "input_kwarg_layouts", "desired_input_kwarg_layouts"
    else:
        before, after = (_first(each, call.inputs) for each in (_PARTS, _WHOLE))
        names = "input_layouts", "desired_input_layouts"
    return f"PrepareModuleInput({names[0]}={before}, {names[1]}={after}, use_local_output=True)"


def _end(kind: str, before: str, after: str) -> str:
    """Let a module take and give parts of sequences, by a style of its weights if there is one."""
    if kind:
        return f"{kind}(input_layouts={before}, output_layouts={after})"
    return f"PrepareModuleOutput(output_layouts={before}, desired_output_layouts={after})"


def _border(begins: list[str], ends: list[str], call: ModuleCall) -> str:
    """Divide what a model is given, and put together what it returns."""
    options = list[str]()
    if begins:
        options += [
            f"input_layouts={_first(_WHOLE, call.inputs)}",
            f"desired_input_layouts={_first(_PARTS, call.inputs)}",
            f"use_local_{'input' if ends else 'output'}=True",
        ]
    if ends:
        options += [f"output_layouts={_PARTS}", f"desired_output_layouts={_WHOLE}"]
    kind = "".join(each.capitalize() for each in (*begins, *ends))
    return f"PrepareModule{kind}({', '.join(options)})" if kind else ""


def _first(layout: str, count: int) -> str:
    """The layout of the first of so many arguments; the others stay as they are."""
    return f"({', '.join([layout] + ['None'] * (count - 1))},)"
