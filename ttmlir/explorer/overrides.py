"""Overrides: what a user asks of single operations, and what became of it.

Overrides are options of the pipelines to ttnn, so what the page tries is what `ttmlir-opt` does
with the file that is saved. If the compiler refuses some of them, the rest stays in force.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from ttmlir.errors import ArgumentError, CompilationError, InputError
from ttmlir.explorer.graph import (
    PROGRAM_GRAPH_CONSTANTS,
    PROGRAM_GRAPH_FOLDED,
    grid_of,
    operation_name,
    scope_of,
)
from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.passes.placement.layout_overrides import (
    GRID_OVERRIDES,
    LAYOUT_OVERRIDES,
    MATH_FIDELITIES_BY_NAME,
    WEIGHT_DTYPES_BY_NAME,
    LayoutOverride,
)
from ttmlir.runtime.binary import Binary, BinaryProgram, Operation
from ttmlir.runtime.residency import results_of
from ttmlir.runtime.tensor import TensorDesc

MAX_OVERRIDES = 1000
_GRIDS = "override-grid-sizes"
_OPTIONS = {
    _GRIDS: ("layouts", GRID_OVERRIDES),
    "override-output-layout": ("layouts", LAYOUT_OVERRIDES),
    "override-weight-dtype": ("weights", WEIGHT_DTYPES_BY_NAME),
    "override-math-fidelity": ("fidelities", MATH_FIDELITIES_BY_NAME),
}
"""Options of the pipelines, the field that holds what they say, and how that is written."""

_OPTION = re.compile(rf"(?:^|\s)({'|'.join(_OPTIONS)})=")


@dataclass(frozen=True)
class Overrides:
    """What is asked for, by the names of the operations, in the order in which it was asked."""

    layouts: Mapping[str, LayoutOverride] = field(default_factory=dict[str, LayoutOverride])
    """Of results."""
    weights: Mapping[str, DataType] = field(default_factory=dict[str, DataType])
    """Formats of the weights of products."""
    fidelities: Mapping[str, MathFidelity] = field(default_factory=dict[str, MathFidelity])
    """Of products."""

    @classmethod
    def parse(cls, options: str) -> Overrides:
        """What `options` gives; ValueError for other text."""
        other, *parts = _OPTION.split(options)
        if other.strip():
            raise ArgumentError(f"'{other.strip()}' is none of {', '.join(_OPTIONS)}")
        given: dict[str, dict[str, Any]] = {}
        for option, text in zip(parts[::2], parts[1::2], strict=True):
            kind, type_ = _OPTIONS[option]
            values: dict[str, Any] = dict(type_.parse(text.strip()))
            if option == _GRIDS:
                values = {name: LayoutOverride(grid=grid) for name, grid in values.items()}
            given.setdefault(kind, {}).update(values)
        return cls(**given)

    def with_layout(self, name: str, words: str) -> Overrides:
        """The overrides with the layout of an operation replaced; InputError for other keywords."""
        try:
            override = LayoutOverride.parse(words)
        except ValueError as error:
            raise InputError(str(error)) from error
        return self._with("layouts", name, override)

    def with_weight(self, name: str, data_type: DataType) -> Overrides:
        """The overrides with the format of the weights of one operation replaced."""
        return self._with("weights", name, data_type)

    def with_fidelity(self, name: str, fidelity: MathFidelity) -> Overrides:
        """The overrides with the fidelity of one operation replaced."""
        return self._with("fidelities", name, fidelity)

    def _with(self, kind: str, name: str, value: object) -> Overrides:
        if not name or any(letter in name for letter in ",\"'{}\n\\") or name != name.strip():
            raise InputError(
                f"an operation is picked by the 'override_name' that it shows, without commas, "
                f"quotes, braces or backslashes, not by {name!r}"
            )
        old: Mapping[str, object] = getattr(self, kind)
        if len(old) >= MAX_OVERRIDES and name not in old:
            raise InputError(f"there are {MAX_OVERRIDES} overrides already")
        return replace(self, **{kind: {**old, name: value}})

    @property
    def names(self) -> tuple[str, ...]:
        """The operations that something is asked of."""
        return tuple(dict.fromkeys((*self.layouts, *self.weights, *self.fidelities)))

    def without(self, name: str) -> Overrides:
        """The overrides without those of an operation."""
        if name not in self.names:
            raise InputError(f"there is no override for '{name}'")
        return self.only([each for each in self.names if each != name])

    def only(self, names: Sequence[str]) -> Overrides:
        """The overrides of these operations."""
        return Overrides(
            {name: self.layouts[name] for name in names if name in self.layouts},
            {name: self.weights[name] for name in names if name in self.weights},
            {name: self.fidelities[name] for name in names if name in self.fidelities},
        )

    def __bool__(self) -> bool:
        """True if something is asked for."""
        return bool(self.names)

    @property
    def options(self) -> str:
        """As options of a pipeline; empty if nothing is asked for.

        Grids alone are `override-grid-sizes=...`, other layouts `override-output-layout=...`.
        """
        grids = {
            name: override.grid
            for name, override in self.layouts.items()
            if override.parts.keys() == {"grid"} and "=" not in name
        }
        layouts = {name: each for name, each in self.layouts.items() if name not in grids}
        values = (grids, layouts, self.weights, self.fidelities)
        return " ".join(
            f"{name}={type_.format(tuple(given.items()))}"
            for (name, (_, type_)), given in zip(_OPTIONS.items(), values, strict=True)
            if given
        )

    def words(self, name: str) -> str:
        """What is asked of an operation, in words: `l1:interleaved, weights bfp_bf8, lofi`."""
        parts = [str(self.layouts[name])] if name in self.layouts else []
        parts += [f"weights {self.weights[name].keyword}"] if name in self.weights else []
        parts += [self.fidelities[name].keyword] if name in self.fidelities else []
        return ", ".join(parts)


class State(Enum):
    """What became of an override."""

    IN_FORCE = "took effect"
    IN_PART = "took effect in part"
    REFUSED = "refused"
    NOT_FOUND = "found no operation"
    CHANGED_NOTHING = "changed nothing"


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What became of the override of one operation."""

    name: str
    override: LayoutOverride
    state: State
    reason: str = ""
    """What changed, or why not."""
    operations: tuple[int, ...] = ()
    """Indices of the operations of the first program that it is about."""

    def __str__(self) -> str:
        """One line."""
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.name} = {self.override} {self.state.value}{reason}"


def compile_with(
    overrides: Overrides, compile_them: Callable[[Overrides], Binary]
) -> tuple[Binary, dict[str, str]]:
    """A program with as many overrides as the compiler takes, and why it refused the others.

    Raises what the compiler says of the program without any.
    """
    try:
        return compile_them(overrides), {}
    except CompilationError:
        if not overrides:
            raise
    binary = compile_them(Overrides())
    taken: list[str] = []
    refused: dict[str, str] = {}
    for name in overrides.names:
        try:
            binary = compile_them(overrides.only([*taken, name]))
            taken.append(name)
        except CompilationError as error:
            refused[name] = error.diagnostics[0].message
    return binary, refused


def judge(
    overrides: Overrides, before: BinaryProgram, after: BinaryProgram, refused: Mapping[str, str]
) -> list[Effect]:
    """What became of each override: compares the program without any and the compiled one."""
    old, new = computing_by_name(before), computing_by_name(after)
    return [
        _judge(name, override, old.get(name, []), new.get(name, []), refused.get(name), list(new))
        for name, override in overrides.layouts.items()
    ]


def override_name(operation: Operation) -> str:
    """The name that overrides of an operation have; empty if it has none."""
    return scope_of(operation.location).override_name


def computing_by_name(program: BinaryProgram) -> dict[str, list[Operation]]:
    """The operations that compute, by the names of their overrides."""
    found: dict[str, list[Operation]] = {}
    moves = {
        "ToLayoutOp",
        "ToDeviceOp",
        "ToMemoryConfigOp",
        "CallOp",
        *PROGRAM_GRAPH_FOLDED,
        *PROGRAM_GRAPH_CONSTANTS,
    }
    for operation in program.operations:
        if operation.table not in moves and (name := override_name(operation)):
            found.setdefault(name, []).append(operation)
    return found


def _judge(
    name: str,
    override: LayoutOverride,
    old: list[Operation],
    new: list[Operation],
    refusal: str | None,
    names: list[str],
) -> Effect:
    def effect(state: State, reason: str) -> Effect:
        indices = tuple(operation.index for operation in new)
        return Effect(name=name, override=override, state=state, reason=reason, operations=indices)

    if refusal is not None:
        return effect(State.REFUSED, refusal)
    if not new:
        near = difflib.get_close_matches(name, names)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return effect(
            State.NOT_FOUND,
            "the compiled program has no operation of this name, or it became part of another"
            f"{hint}",
        )
    missing = {
        f"{operation_name(operation)} is {places[part]} instead of {word}"
        for operation in new
        for places in [_place(results_of(operation)[0].desc)]
        for part, word in override.parts.items()
        if places[part] != word
    }
    changes = _describe_changes(old, new)
    if not missing:
        state = State.IN_FORCE if changes else State.CHANGED_NOTHING
        return effect(state, "; ".join(changes) or "the result is there without it, too")
    state = State.IN_PART if changes else State.REFUSED
    return effect(state, "; ".join(sorted(missing)))


def _describe_changes(old: list[Operation], new: list[Operation]) -> list[str]:
    changes: dict[str, None] = {}
    for before, after in zip(old, new, strict=False):
        first, second = (results_of(each)[0].desc for each in (before, after))
        if (one := _spell(first)) != (other := _spell(second)):
            changes[f"{operation_name(after)}: {one} → {other}"] = None
    return list(changes)


def _place(desc: TensorDesc) -> dict[str, str]:
    return {
        "grid": "x".join(map(str, grid_of(desc))),
        "memory_space": desc.memory_space.keyword,
        "memory_layout": desc.memory_layout.keyword,
        "page_layout": "tile" if desc.is_tiled else "row_major",
        "data_type": desc.data_type.keyword,
    }


def _spell(desc: TensorDesc) -> str:
    return " ".join(_place(desc).values())
