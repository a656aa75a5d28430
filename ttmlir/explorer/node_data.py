"""What colours the nodes: memory, accuracy, and what became of overrides.

A node's value is a number or a word. Numbers are coloured by a gradient from the least to the
greatest of the graph, or by colours of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ttmlir.explorer.graph import Json, clean_name, clean_text
from ttmlir.explorer.overrides import Effect, State
from ttmlir.explorer.program_graph import (
    CONSTANTS,
    FOLDED,
    inputs_of,
    node_id,
    outputs_of,
)
from ttmlir.layout.enums import MemorySpace
from ttmlir.runtime.binary import BinaryProgram, TensorRef
from ttmlir.runtime.element import Numerics
from ttmlir.runtime.golden import GoldenResult, Tolerance
from ttmlir.runtime.ttrt.running.inputs import fit_inputs, generate_inputs
from ttmlir.runtime.ttrt.running.program import RunSettings, run_operations

GREEN, YELLOW, RED = "#52b788", "#ffe066", "#e5383b"
"""Good, in part, bad."""

HEAT = ((0.0, "#fff3b0"), (0.5, "#fb8500"), (1.0, "#d00000"))
"""Yellow to red, as times are shown."""
WATER = ((0.0, "#e0f2fe"), (0.5, "#38bdf8"), (1.0, "#1e3a8a"))
"""Light to dark blue, as memory is shown."""

Value = float | int | str


@dataclass(frozen=True, kw_only=True)
class NodeData:
    """A value for each of some nodes of a graph."""

    name: str
    values: Mapping[str, Value]
    colours: Mapping[str, str] = field(default_factory=dict[str, str])
    gradient: Sequence[tuple[float, str]] = ()

    def as_json(self) -> Json:
        """The `GraphNodeData` of Model Explorer."""
        results: dict[str, Json] = {}
        for node, value in self.values.items():
            shown = clean_text(value) if isinstance(value, str) else value
            results[node] = {"value": shown}
            if node in self.colours:
                results[node]["bgColor"] = self.colours[node]
        data: Json = {"name": clean_name(self.name), "results": results}
        if self.gradient:
            data["gradient"] = [{"stop": stop, "bgColor": colour} for stop, colour in self.gradient]
        return data


def list_memory(program: BinaryProgram) -> list[NodeData]:
    """Bytes in L1 and in DRAM while each operation runs, by the life of the tensors."""
    uses = _last_uses(program)
    live: dict[MemorySpace, int] = {}
    held: dict[int, TensorRef] = {}
    series: dict[MemorySpace, dict[str, Value]] = {
        MemorySpace.DEVICE_L1: {},
        MemorySpace.DEVICE_DRAM: {},
    }

    def hold(refs: Iterable[TensorRef]) -> None:
        for ref in refs:
            if ref.global_id not in held and ref.desc.is_on_device:
                held[ref.global_id] = ref
                space = ref.desc.memory_space
                live[space] = live.get(space, 0) + ref.desc.size_in_bytes

    hold(program.inputs)
    for operation in program.operations:
        written = outputs_of(operation)
        if operation.table in FOLDED:
            continue
        hold(written)
        if operation.table not in CONSTANTS:
            for space, values in series.items():
                values[node_id(operation)] = live.get(space, 0)
        for ref in (*inputs_of(operation), *written):
            if uses.get(ref.global_id, -1) <= operation.index and ref.global_id in held:
                del held[ref.global_id]
                live[ref.desc.memory_space] -= ref.desc.size_in_bytes
    names = {
        MemorySpace.DEVICE_L1: "L1 in use (bytes)",
        MemorySpace.DEVICE_DRAM: "DRAM in use (bytes)",
    }
    return [
        NodeData(name=names[space], values=values, gradient=WATER)
        for space, values in series.items()
    ]


def _last_uses(program: BinaryProgram) -> dict[int, int]:
    """The last operation that reads each tensor; results of the program live to its end."""
    uses = {
        ref.global_id: operation.index
        for operation in program.operations
        for ref in inputs_of(operation)
    }
    end = len(program.operations)
    return uses | {ref.global_id: end for ref in program.outputs}


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
        ),
        NodeData(
            name="max absolute error",
            values={node_id(each.operation): each.accuracy.max_absolute_error for each in results},
            gradient=HEAT,
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
