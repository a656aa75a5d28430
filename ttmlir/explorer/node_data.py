"""What colours the nodes: memory, accuracy, and what became of overrides.

A node's value is a number or a word. Numbers are coloured by a gradient from the least to the
greatest of the graph, or by colours of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from ttmlir.cost import estimate_program
from ttmlir.explorer.graph import (
    PROGRAM_GRAPH_CONSTANTS,
    PROGRAM_GRAPH_FOLDED,
    Attributes,
    Json,
    clean_name,
    clean_text,
    node_id,
    spell_size,
)
from ttmlir.explorer.overrides import Effect, State
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.golden import GoldenResult, Tolerance
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.tensor import Numerics
from ttmlir.runtime.ttrt.running import RunSettings, fit_inputs, generate_inputs, run_operations

GREEN, YELLOW, RED = "#52b788", "#ffe066", "#e5383b"
"""Good, in part, bad."""

HEAT = ((0.0, "#fff3b0"), (0.5, "#fb8500"), (1.0, "#d00000"))
"""Yellow to red, as times are shown."""
WATER = ((0.0, "#e0f2fe"), (0.5, "#38bdf8"), (1.0, "#1e3a8a"))
"""Light to dark blue, as memory is shown."""

_WORD_COLOURS = ("#90caf9", "#ffcc80", "#a5d6a7", "#ce93d8", "#ef9a9a", "#80cbc4", "#e6ee9c")
"""One after the other for the words that there are."""

Value = float | int | str


class Combine(Enum):
    """How the values of several operations become one."""

    LAST = "last"
    SUM = "sum"
    LEAST = "least"
    MAX = "max"

    def apply(self, values: Sequence[Value]) -> Value:
        """One value; words have no sum, so it is the last of them."""
        numbers = [value for value in values if not isinstance(value, str)]
        if self is Combine.LAST or len(numbers) != len(values):
            return values[-1]
        match self:
            case Combine.SUM:
                return sum(numbers)
            case Combine.LEAST:
                return min(numbers)
            case _:
                return max(numbers)


@dataclass(frozen=True, kw_only=True)
class NodeData:
    """A value for each of some nodes of a graph."""

    name: str
    values: Mapping[str, Value]
    colours: Mapping[str, str] = field(default_factory=dict[str, str])
    gradient: Sequence[tuple[float, str]] = ()
    combine: Combine = Combine.LAST
    """What several operations of the program are to the one of the source that they come from."""
    is_signed: bool = False
    """True for differences: green below zero, red above, and white at zero."""
    digits: int = 4
    """Significant ones of the numbers that are shown; the name says the unit."""

    def rename(self, names: Mapping[str, str]) -> NodeData:
        """The same at nodes that are called otherwise."""
        values = {names.get(node, node): value for node, value in self.values.items()}
        colours = {names.get(node, node): colour for node, colour in self.colours.items()}
        return replace(self, values=values, colours=colours)

    def at_sources(self, sources: Mapping[str, Sequence[str]]) -> NodeData:
        """The values at the nodes of the source, each of which became several of the program."""
        values: dict[str, Value] = {}
        colours: dict[str, str] = {}
        for node, made in sources.items():
            known = [each for each in made if each in self.values]
            if known:
                values[node] = self.combine.apply([self.values[each] for each in known])
                at = next((each for each in known if self.values[each] == values[node]), known[-1])
                if at in self.colours:
                    colours[node] = self.colours[at]
        return replace(self, values=values, colours=colours)

    def as_json(self) -> Json:
        """The `GraphNodeData` of Model Explorer."""
        results: dict[str, Json] = {}
        colours = _signed_colours(self.values) if self.is_signed else self.colours
        for node, value in self.values.items():
            shown = clean_text(value) if isinstance(value, str) else _rounded(value, self.digits)
            results[node] = {"value": shown}
            if node in colours:
                results[node]["bgColor"] = colours[node]
        data: Json = {"name": clean_name(self.name), "results": results}
        if self.gradient:
            data["gradient"] = [{"stop": stop, "bgColor": colour} for stop, colour in self.gradient]
        return data


def _rounded(value: float, digits: int) -> float:
    """With this many significant digits, and those before the point."""
    if not math.isfinite(value):
        return value
    return round(value) if abs(value) >= 10 ** (digits - 1) else float(f"{value:.{digits}g}")


def _signed_colours(values: Mapping[str, Value]) -> dict[str, str]:
    numbers = {node: value for node, value in values.items() if not isinstance(value, str)}
    largest = max(map(abs, numbers.values()), default=0) or 1
    return {
        node: blend("#ffffff", RED if value > 0 else GREEN, abs(value) / largest)
        for node, value in numbers.items()
    }


def list_estimate(program: BinaryProgram, board: str | None) -> list[NodeData]:
    """How well the chip is used, what limits each operation, its share of the total, its time."""
    estimate = estimate_program(program, board)
    rows = {f"op{each.index}": each for each in estimate.in_call}
    kinds = sorted({each.bound_by for each in rows.values()})
    colour_of = dict(zip(kinds, _WORD_COLOURS * len(kinds), strict=False))
    exchanged = {
        node: sum(use.bytes for use in each.links) / 1e6
        for node, each in rows.items()
        if each.links
    }
    over_links = NodeData(
        name="over links (MB)", values=exchanged, gradient=HEAT, combine=Combine.SUM
    )
    return [
        *([over_links] if exchanged else []),
        NodeData(
            name="utilisation (%)",
            values={node: 100 * each.utilisation for node, each in rows.items()},
            gradient=((0.0, "#f1f5f9"), (1.0, GREEN)),
            combine=Combine.MAX,
        ),
        NodeData(
            name="bound by",
            values={node: each.bound_by for node, each in rows.items()},
            colours={node: colour_of[each.bound_by] for node, each in rows.items()},
        ),
        NodeData(
            name="share of the time (%)",
            values={node: 100 * estimate.share(each) for node, each in rows.items()},
            gradient=HEAT,
            combine=Combine.SUM,
        ),
        NodeData(
            name=f"time on {estimate.board} (us)",
            values={node: each.time.mid / 1000 for node, each in rows.items()},
            gradient=HEAT,
            combine=Combine.SUM,
        ),
    ]


def list_simulated(program: MetalProgram) -> list[NodeData]:
    """Runs a program of kernels on random inputs: what binds each launch, its share, its time."""
    # The simulator is loaded only for programs of kernels.
    from ttmlir.frontend.summary import run_recorded

    inputs = generate_inputs(program, "randn", np.random.default_rng(0))
    _, runs = run_recorded(program, inputs, Numerics.EXACT)
    launches = {
        f"command{command.index}": each
        for command, each in zip(program.launches, runs.programs, strict=True)
    }
    total = sum(each.times.kernel_ns for each in launches.values()) or 1
    binding = {node: each.bound_by for node, each in launches.items()}
    kinds = sorted(set(binding.values()))
    colour_of = dict(zip(kinds, _WORD_COLOURS * len(kinds), strict=False))
    return [
        NodeData(
            name="bound by",
            values=binding,
            colours={node: colour_of[kind] for node, kind in binding.items()},
        ),
        NodeData(
            name="share of the time (%)",
            values={node: 100 * each.times.kernel_ns / total for node, each in launches.items()},
            gradient=HEAT,
            combine=Combine.SUM,
        ),
        NodeData(
            name="simulated time (us)",
            values={node: each.times.kernel_ns / 1000 for node, each in launches.items()},
            gradient=HEAT,
            combine=Combine.SUM,
        ),
    ]


def describe_estimate(program: BinaryProgram, board: str | None) -> Attributes:
    """The total of a program, with its bounds, and its peaks of memory."""
    estimate = estimate_program(program, board)
    total, memory = estimate.total, estimate.memory
    mesh = "x".join(map(str, estimate.mesh))
    lines = [
        ("board", estimate.board),
        ("mesh", f"{mesh} devices" if math.prod(estimate.mesh) > 1 else ""),
        (
            "estimated time",
            f"{total.mid / 1000:,.1f} us ({total.low / 1000:,.1f} to {total.high / 1000:,.1f})",
        ),
        ("inputs and results", f"{estimate.transfers.mid / 1000:,.1f} us"),
        ("once, weights", f"{estimate.once.mid / 1000:,.1f} us"),
        *((f"links of axis {use.axis}", str(use)) for use in estimate.links),
    ]
    if estimate.exchanges.mid:
        lines.insert(3, ("of it: exchanges", f"{estimate.exchanges.mid / 1000:,.1f} us"))
    if memory is not None:
        for name, use in (("L1", memory.l1), ("DRAM", memory.dram)):
            lines.append(
                (
                    f"{name} at its peak",
                    f"{spell_size(use.peak)} of {spell_size(use.capacity)} of each bank",
                )
            )
        lines.append(("does not fit", memory.first_overflow or ""))
    return tuple(lines)


def describe_exchanges(program: BinaryProgram, board: str | None) -> dict[int, Attributes]:
    """What links carry, and how long, for each operation in which devices exchange something."""
    if math.prod(program.mesh) == 1:
        return {}
    estimate = estimate_program(program, board)
    return {
        each.index: tuple((f"links of axis {use.axis}", str(use)) for use in each.links)
        for each in estimate.operations
        if each.links
    }


def list_memory(program: BinaryProgram, board: str | None) -> list[NodeData]:
    """What of L1 and of DRAM is in use while each operation runs: of the fullest bank, in KiB."""
    memory = estimate_program(program, board).memory
    assert memory is not None, "programs have memory"
    nodes = [
        each
        for each in program.operations
        if each.table not in PROGRAM_GRAPH_FOLDED | PROGRAM_GRAPH_CONSTANTS
    ]
    return [
        NodeData(
            name=f"{name} in use (KiB of {use.capacity / 1024:,.1f})",
            values={node_id(each): use.by_operation[each.index] / 1024 for each in nodes},
            gradient=WATER,
            combine=Combine.MAX,
        )
        for name, use in (("L1", memory.l1), ("DRAM", memory.dram))
        if use.peak
    ]


def list_accuracy(program: BinaryProgram, numerics: Numerics, seed: int) -> list[NodeData]:
    """Runs the program beside its reference in 64 bits: how near each operation comes.

    Inputs are those of the reference run that the file holds, or else random.
    """
    stored = program.golden
    if stored is not None and len(stored.inputs) == len(program.inputs):
        inputs = fit_inputs(program, stored.inputs)
    else:
        inputs = generate_inputs(program, "randn", np.random.default_rng(seed))
    tolerance = Tolerance()
    settings = RunSettings(numerics=numerics, golden=True, tolerance=tolerance)
    run = run_operations(program, inputs, settings, lambda: None)
    assert run.golden is not None, "a golden run was asked for"
    results = run.golden.results
    return [
        NodeData(
            name="PCC",
            values={node_id(each.operation): each.accuracy.pcc for each in results},
            colours={
                node_id(each.operation): _accuracy_colour(each, tolerance) for each in results
            },
            combine=Combine.LEAST,
            digits=6,
        ),
        NodeData(
            name="max absolute error",
            values={node_id(each.operation): each.accuracy.max_absolute_error for each in results},
            gradient=HEAT,
            combine=Combine.MAX,
        ),
    ]


def _accuracy_colour(result: GoldenResult, tolerance: Tolerance) -> str:
    """Red for what is off; else from yellow, at the least accepted correlation, to green, at 1."""
    if not result.passed:
        return RED
    pcc = result.accuracy.pcc
    share = (pcc - tolerance.pcc) / (1 - tolerance.pcc) if np.isfinite(pcc) else 0.0
    return blend(YELLOW, GREEN, min(1.0, max(0.0, float(share))))


def blend(first: str, second: str, share: float) -> str:
    """A colour between two, as `#rrggbb`."""
    parts = (
        round(int(first[i : i + 2], 16) * (1 - share) + int(second[i : i + 2], 16) * share)
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


_COLOURS = {
    State.IN_FORCE: GREEN,
    State.IN_PART: YELLOW,
    State.CHANGED_NOTHING: YELLOW,
    State.REFUSED: RED,
    State.NOT_FOUND: RED,
}


def list_effects(effects: Sequence[Effect]) -> list[NodeData]:
    """What became of the overrides, at the operations that they are about."""
    if not effects:
        return []
    values: dict[str, Value] = {}
    colours: dict[str, str] = {}
    for effect in effects:
        for index in effect.operations:
            values[f"op{index}"] = f"{effect.state.value}: {effect.reason}"
            colours[f"op{index}"] = _COLOURS[effect.state]
    return [NodeData(name="overrides", values=values, colours=colours)]
