"""What a model consists of, layer by layer, as a table for terminals and notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttmlir.cost import Estimate, OperationEstimate, estimate_program
from ttmlir.cost.estimate import peak_flops
from ttmlir.errors import ArgumentError
from ttmlir.files import write_file
from ttmlir.frontend.errors import missing_package
from ttmlir.layout.enums import MathFidelity
from ttmlir.runtime.binary import BinaryProgram, TensorRef, chip_of
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.executor import GenericRunner
from ttmlir.runtime.execution.operations import function_of
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.generic import simulator_options
from ttmlir.runtime.locations import MAIN, layer_of
from ttmlir.runtime.metal_session import needed_leniencies
from ttmlir.runtime.ttrt.reports import KernelProgram, KernelRuns, perf_summary, trace_of
from ttmlir.runtime.ttrt.running import RunSettings, run_kernels, run_operations
from ttmlir.sim.timing.report import thread_table
from ttmlir.terminal import ShownAsText, printable

if TYPE_CHECKING:
    from ttmlir.runtime.tensor import Array, Numerics


# --- Model profile --------------------------------------------------------------------------------
# What a compiled model did on a simulated chip: cycles, traffic and waits of each program.


@dataclass(frozen=True)
class ModelProfile(ShownAsText):
    """One run of a compiled model; what is counted are its programs of kernels."""

    name: str
    output: Any = field(repr=False)
    """What the call returned."""
    runs: KernelRuns = field(repr=False)

    def __repr__(self) -> str:
        """How long and how much."""
        count = len(self.programs)
        return (
            f"ModelProfile({self.name}: {self.cycles:,} cycles, {self.nanoseconds / 1e3:,.1f} us, "
            f"{count} program{'s' * (count != 1)}, {self.dram_bytes:,} bytes of DRAM)"
        )

    @property
    def programs(self) -> tuple[KernelProgram, ...]:
        """The programs in the order in which they were launched."""
        return self.runs.programs

    @property
    def cycles(self) -> int:
        """Of all programs one after another, without launching them."""
        return self.runs.cycles

    @property
    def nanoseconds(self) -> float:
        """The same in time."""
        return sum(each.times.kernel_ns for each in self.programs)

    @property
    def dram_bytes(self) -> int:
        """Read from and written to DRAM by kernels."""
        return sum(each.dram_bytes for each in self.programs)

    def threads(self) -> str:
        """A table as CSV: for each thread its cycles, and in which calls it waited."""
        return thread_table([each.times for each in self.programs])

    def trace(self) -> str:
        """The timeline, as JSON that chrome://tracing and ui.perfetto.dev show."""
        return trace_of(self.runs)

    def write_trace(self, path: str | Path) -> None:
        """Write the timeline to a file."""
        write_file(path, self.trace().encode())

    def __str__(self) -> str:
        """The programs that take longest, and what binds them."""
        return perf_summary(self.name, [self.runs])


def run_recorded(
    program: BinaryProgram, inputs: list[Array], numerics: Numerics
) -> tuple[list[Array], KernelRuns]:
    """The outputs of a program, and what its kernels did; InputError if it has none."""
    settings = RunSettings(numerics=numerics)
    if program.binary.is_metal:
        options = replace(simulator_options(numerics), leniencies=needed_leniencies(program))
        run = run_kernels(program, inputs, settings, options, record=True)
    else:
        run = run_operations(program, inputs, settings, lambda: None, _make_runner(numerics))
    kernels = KernelRuns.of_run(program, run)
    if kernels is None:
        raise InputError(
            f"{program.where} has no kernels, and NumPy takes no cycles; compile the model with "
            "target='kernels'"
        )
    return run.outputs, kernels


def _make_runner(numerics: Numerics) -> Callable[[BinaryProgram], GenericRunner]:
    """What runs programs of kernels among the operations of a `.ttnn` file."""
    return lambda program: GenericRunner(
        chip_of(program.binary), simulator_options(numerics), record=True
    )


# --- Plot -----------------------------------------------------------------------------------------
# Pictures of an estimate: operations under the roofline of a board, and the time of layers.

PLOT_MOST_LAYERS = 20
"""Layers with bars of their own, those that take longest; the others share one."""


@dataclass(frozen=True)
class ModelPlot:
    """A picture, which notebooks show; `figure` is matplotlib's."""

    title: str
    figure: Any = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write a file of the kind that its name ends with: `.png`, `.svg` or `.pdf`."""
        suffix = Path(path).suffix.removeprefix(".")
        if suffix not in ("png", "svg", "pdf"):
            raise ArgumentError(f"{path}: a picture is written as .png, .svg or .pdf")
        write_file(path, self.render(suffix))
        return Path(path)

    def _repr_png_(self) -> bytes:
        """For notebooks."""
        return self.render("png")

    def render(self, kind: str) -> bytes:
        """The bytes of a file of a kind of `save`, the same for the same picture."""
        buffer = BytesIO()
        matplotlib: Any = import_module("matplotlib")
        with matplotlib.rc_context({"svg.hashsalt": self.title}):
            undated = {"Date": None} if kind == "svg" else {"CreationDate": None}
            self.figure.savefig(buffer, format=kind, metadata=None if kind == "png" else undated)
        return buffer.getvalue()


def plot_estimate(estimate: Estimate, name: str) -> ModelPlot:
    """The picture of an estimate; ImportError without matplotlib."""
    return draw(
        f"{name} on {estimate.place}",
        "drawing an estimate",
        (lambda axes: _draw_roofline(axes, estimate), lambda axes: _draw_layers(axes, estimate)),
    )


def draw(title: str, what: str, parts: Sequence[Callable[[Any], None]]) -> ModelPlot:
    """A picture of parts side by side, each drawn by a function of its axes.

    ImportError without matplotlib, which says `what` needs it.
    """
    try:
        figures: Any = import_module("matplotlib.figure")
    except ImportError:
        raise missing_package("matplotlib", "plot", what) from None
    figure = figures.Figure(figsize=(11, 5), layout="constrained")
    figure.suptitle(title, parse_math=False)
    axes = figure.subplots(1, len(parts), squeeze=False)[0]
    for part, each in zip(parts, axes, strict=True):
        part(each)
    # Laid out once: a second time would move parts by some points.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return ModelPlot(title, figure)


def _draw_roofline(axes: Any, estimate: Estimate) -> None:
    """Flops per second over flops per byte of DRAM, under what the board can do at most."""
    operations = [
        each for each in estimate.in_call if each.flops and each.bytes and each.kernels.mid
    ]
    bandwidth = estimate.machine.dram_rate * estimate.machine.clock_hz
    peak = peak_flops(estimate.machine, _least_fidelity(operations))
    intensities = [each.flops / each.bytes for each in operations]
    ridge = peak / bandwidth
    least, most = min([*intensities, ridge]) / 2, max([*intensities, ridge]) * 4
    axes.plot([least, ridge, most], [least * bandwidth, peak, peak], color="black")
    for bound in dict.fromkeys(each.bound_by for each in operations):
        chosen = [each for each in operations if each.bound_by == bound]
        axes.scatter(
            [each.flops / each.bytes for each in chosen],
            [each.flops / each.kernels.mid * 1e9 for each in chosen],
            s=[20 + 400 * estimate.share(each) for each in chosen],
            alpha=0.6,
            label=f"bound by {bound}",
        )
    axes.set(xscale="log", yscale="log", title="roofline")
    axes.set(xlabel="flops per byte of DRAM", ylabel="flops per second")
    if operations:
        axes.legend(fontsize="small", loc="lower right")


def _least_fidelity(operations: list[OperationEstimate]) -> MathFidelity:
    """The fastest fidelity of the operations, with the highest roof."""
    found = [each.fidelity for each in operations if each.fidelity is not None]
    return min(found, default=MathFidelity.HIFI4, key=int)


def _draw_layers(axes: Any, estimate: Estimate) -> None:
    """A bar for each layer, in order of time: what to expect, and the bounds."""
    times: dict[str, list[float]] = {}
    for each in estimate.in_call:
        sums = times.setdefault(layer_of(each.location), [0.0, 0.0, 0.0])
        for i, value in enumerate((each.low, each.mid, each.high)):
            sums[i] += value / 1e3
    slowest = sorted(times.items(), key=lambda each: -each[1][1])
    shown = slowest[:PLOT_MOST_LAYERS]
    others = [sums for _, sums in slowest[PLOT_MOST_LAYERS:]]
    if others:
        sums = [sum(column, 0.0) for column in zip(*others, strict=True)]
        shown.append((f"{len(others)} others", sums))
    names = [name for name, _ in shown]
    middle = [sums[1] for _, sums in shown]
    errors = [
        [sums[1] - sums[0] for _, sums in shown],
        [sums[2] - sums[1] for _, sums in shown],
    ]
    # Numbers as positions: matplotlib reads markup in names of categories.
    axes.barh(range(len(shown)), middle, xerr=errors, color="tab:blue", ecolor="gray")
    axes.set_yticks(range(len(shown)), names, parse_math=False)
    axes.invert_yaxis()
    axes.set(title="time of each layer", xlabel="us")


# --- Summary --------------------------------------------------------------------------------------

MOST_LAYERS = 40
"""Layers that are shown; `layers` has all."""
MOST_SLOWEST = 20
"""Layers that are shown in order of time, too, where not all are shown."""


@dataclass(kw_only=True)
class Layer:
    """A part of a model: the operations with one scope, module or line in their locations."""

    name: str
    operations: int = 0
    """Operations that compute, or launches of kernels."""
    parameters: int = 0
    """Numbers that it learns; where the frontend knows none, those in constants."""
    nanoseconds: float = 0
    """That its operations are expected to take, those that only move numbers included."""
    bound_by: dict[str, float] = field(default_factory=dict[str, float])
    """How many of the nanoseconds each unit binds."""

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to say about it."""
        return not (self.operations or self.parameters or self.nanoseconds)


@dataclass(frozen=True, kw_only=True)
class ModelSummary:
    """Layers in the order of the program; printed and shown in notebooks as a table.

    Where there are more than the table shows, those that take longest are in a second one.
    """

    signature: str
    layers: tuple[Layer, ...]
    facts: tuple[tuple[str, str], ...]
    """What there is to say about the whole model: a name and a value."""
    has_times: bool
    """False where nothing estimates the program."""
    knows_parameters: bool
    """False where the frontend has handed over constants without saying what is learned."""

    @property
    def operations(self) -> int:
        """Of all layers."""
        return sum(layer.operations for layer in self.layers)

    @property
    def parameters(self) -> int:
        """Of all layers."""
        return sum(layer.parameters for layer in self.layers)

    def by_time(self) -> ModelSummary:
        """The same with its layers in order of time, the longest first; as it is without times."""
        layers = sorted(self.layers, key=lambda layer: -layer.nanoseconds)
        return replace(self, layers=tuple(layers))

    def rows(self, most: int = MOST_LAYERS) -> list[tuple[str, ...]]:
        """The texts of the table with so many layers, its head first and the sums last."""
        return [*self._rows(most)]

    def _tables(self) -> list[list[tuple[str, ...]]]:
        """The table, and that of the layers that take longest if it has not all of them."""
        tables = [self.rows()]
        if len(self.layers) > MOST_LAYERS and self.has_times:
            head, *others = self.by_time().rows(MOST_SLOWEST)
            tables.append([(f"{MOST_SLOWEST} that take longest", *head[1:]), *others[:-2]])
        return tables

    def _rows(self, most: int) -> Iterator[tuple[str, ...]]:
        total = sum(layer.nanoseconds for layer in self.layers)

        def row(*texts: str) -> tuple[str, ...]:
            return texts if self.has_times else texts[:3]

        numbers = "parameters" if self.knows_parameters else "constants"
        yield row("layer", "operations", numbers, "us", "share", "bound by")
        for layer in self.layers[:most]:
            share = layer.nanoseconds / total if total else 0
            binding = max(layer.bound_by, key=layer.bound_by.__getitem__, default="")
            yield row(
                printable(layer.name),
                f"{layer.operations:,}",
                f"{layer.parameters:,}",
                f"{layer.nanoseconds / 1e3:,.1f}",
                f"{share:.0%}",
                binding,
            )
        if len(self.layers) > most:
            yield row(f"... {len(self.layers) - most} more", *[""] * 5)
        sums = (f"{self.operations:,}", f"{self.parameters:,}", f"{total / 1e3:,.1f}")
        yield row("all", *sums, "", "")

    def __str__(self) -> str:
        """Tables of text."""
        lines = [self.signature]
        for table in self._tables():
            lines += ["", *align(table)]
        width = max((len(name) for name, _ in self.facts), default=0)
        return "\n".join([*lines, "", *(f"{name:<{width}}  {value}" for name, value in self.facts)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return self.to_html()

    def to_html(self) -> str:
        """Tables in HTML; names from files are texts in them."""
        tables = "".join(map(html_table, self._tables()))
        facts = "".join(
            f"<div><b>{escape(name)}</b> {escape(value)}</div>" for name, value in self.facts
        )
        return f"<div><code>{escape(self.signature)}</code></div>{tables}{facts}"


def summarize(
    program: BinaryProgram,
    signature: str,
    size: int,
    board: str | os.PathLike[str] | None = None,
) -> ModelSummary:
    """The summary of a program in a file of `size` bytes; times are those of a board."""
    layers: dict[str, Layer] = {}

    def layer_at(location: str) -> Layer:
        name = layer_of(location)
        return layers.setdefault(name, Layer(name=name))

    # Layers stand in the order of the program.
    for operation in program.operations:
        layer_at(operation.location)
    for location in _computing_locations(program):
        layer_at(location).operations += 1
    parameters = program.signature.parameters if program.signature is not None else ()
    for name, count in parameters:
        module = "/".join(name.split(".")[:-1]) or MAIN
        layers.setdefault(module, Layer(name=module)).parameters += count
    if not parameters:
        for location, ref in _constants(program):
            layer_at(location).parameters += ref.desc.volume
    facts = [("file", f"{size:,} bytes")]
    estimate = None if program.binary.is_metal else estimate_program(program, board)
    if estimate is not None:
        facts += _estimate_facts(estimate)
        for each in estimate.in_call:
            layer = layer_at(each.location)
            layer.nanoseconds += each.mid
            layer.bound_by[each.bound_by] = layer.bound_by.get(each.bound_by, 0) + each.mid
    return ModelSummary(
        signature=signature,
        layers=tuple(layer for layer in layers.values() if not layer.is_empty),
        facts=tuple(facts),
        has_times=estimate is not None,
        knows_parameters=bool(parameters),
    )


def _computing_locations(program: BinaryProgram) -> list[str]:
    if program.binary.is_metal:
        from ttmlir.runtime.metal_program import MetalProgram

        assert isinstance(program, MetalProgram), "the file is a .ttm file"
        return [command.location for command in program.launches]
    steps = prepare(program).steps
    return [
        step.operation.location
        for step in steps
        if step.call is not None or step.generic is not None
    ]


def _constants(program: BinaryProgram) -> list[tuple[str, TensorRef]]:
    """Constants with the locations of the operations that make them, each once."""
    if program.binary.is_metal:
        from ttmlir.runtime.metal_program import MetalProgram

        assert isinstance(program, MetalProgram), "the file is a .ttm file"
        tensors = {
            tensor.ref.global_id: (command.location, tensor.ref)
            for command in program.commands
            for tensor in command.tensors
        }
        return [each for each in tensors.values() if each[1].constant is not None]
    whole = [program, *(program.binary.functions[number] for number in _called_in(program))]
    found = {
        (number, ref.global_id): (operation.location, ref)
        for number, each in enumerate(whole)
        for operation in each.operations
        if operation.table == "ConstantOp"
        for ref in [operation.tensor("out")]
    }
    return [each for each in found.values() if each[1].constant is not None]


def _called_in(program: BinaryProgram) -> list[int]:
    """The numbers of the functions that a program calls, and that these call, each once."""
    found: dict[int, None] = {}
    waiting = [program]
    while waiting:
        for operation in waiting.pop().operations:
            match operation.table:
                case "CallOp":
                    numbers = [operation.scalar("function")]
                case "WhileOp":
                    numbers = [operation.scalar("body")]
                case "CaseOp":
                    numbers = operation.numbers("branches")
                case _:
                    continue
            for number in map(int, numbers):
                if number not in found:
                    waiting.append(function_of(program, operation, number))
                    found[number] = None
    return [*found]


def _estimate_facts(estimate: Estimate) -> list[tuple[str, str]]:
    """Time and memory on the board."""
    total = estimate.total
    low, mid, high = (f"{each / 1e3:,.1f}" for each in (total.low, total.mid, total.high))
    facts = [(f"time on {estimate.place}", f"{mid} us ({low} to {high})")]
    for name, time in (("inputs, results", estimate.transfers), ("once, weights", estimate.once)):
        if time.mid:
            facts.append((name, f"{time.mid / 1e3:,.1f} us"))
    if estimate.exchanges.mid:
        facts.append(("of it: exchanges", f"{estimate.exchanges.mid / 1e3:,.1f} us"))
        facts += [("", str(use)) for use in estimate.links]
    if estimate.memory is not None:
        for use in (estimate.memory.dram, estimate.memory.l1):
            if use.peak:
                value = f"{use.total_bytes:,} bytes, {use.share:.1%} of the fullest bank"
                facts.append((f"peak of {use.space.keyword}", value))
    return facts


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def align_left(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, columns to the left; a row with fewer cells ends with a sentence."""
    full = [row for row in rows if len(row) == len(rows[0])]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    lines: list[str] = []
    for row in rows:
        count = len(row) if len(row) == len(widths) else len(row) - 1
        cells = (*map(str.ljust, row[:count], widths), *row[count:])
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return lines


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML, of a head and rows; what they say is text in it."""
    head, *others = rows
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in others)
    return f"<table><thead><tr>{_cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="text-align:{"left" if i == 0 else "right"}">{escape(text)}</{tag}>'
        for i, text in enumerate(texts)
    )
