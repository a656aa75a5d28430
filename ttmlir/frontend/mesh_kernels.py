"""Models of several devices as kernels: programs of each chip, and exchanges over the fabric.

Programs are those of one chip, on the simulator; all chips run the same ones. Between them kernels
send what devices exchange over the links of a board (`ttmlir.bridge.fabric_exchange`). What a
program takes and gives lies with the host in between, which cuts and joins tensors there.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from ttmlir.compiler import divide_options, transform, write_ttm
from ttmlir.errors import ArgumentError, plural
from ttmlir.files import write_file
from ttmlir.frontend.calls import CallableModel, CallArguments, Number, NumericsName
from ttmlir.frontend.compiled import (
    CompiledModel,
    ImportedModel,
    find_target,
    lower_to_ttir,
    options_for_board,
    public_function,
)
from ttmlir.frontend.mesh_steps import Division, Exchange, Segment, Steps, cut_into_steps
from ttmlir.frontend.summary import align_left
from ttmlir.ir.constants import own_constants
from ttmlir.ir.rewriting import refuse_at
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reporting import file_line_col
from ttmlir.runtime.binary import chip_of
from ttmlir.runtime.errors import ExecutionError, InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.system_desc import board_text, find_system
from ttmlir.runtime.tensor import Array, Numerics, TensorDesc, convert, host_desc
from ttmlir.terminal import ShownAsText, show_wait

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import SSAValue

    from ttmlir.runtime.metal_program import MetalProgram

# --- Profiles -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MeshStep:
    """A program of all chips, or an exchange between them."""

    name: str
    """The operation that exchanges, or how many programs of kernels there are."""
    where: str
    """The place in the source; empty for what is of several."""
    cycles: tuple[int, ...]
    """Of each chip."""
    clock_hz: int
    link_bytes: Mapping[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """What each link carried, by the numbers of the chip that sent and of its neighbour."""


@dataclass(frozen=True, kw_only=True)
class MeshProfile(ShownAsText):
    """One run of a model of several devices; printed as a table of its steps."""

    name: str
    board: str
    output: Any = field(repr=False)
    """What the call returned."""
    steps: tuple[MeshStep, ...] = field(repr=False)

    @property
    def cycles(self) -> int:
        """Of all steps, each of which ends when the last chip has ended."""
        return sum(max(each.cycles) for each in self.steps)

    @property
    def cycles_of_chips(self) -> tuple[int, ...]:
        """How long each chip was busy."""
        return tuple(map(sum, zip(*(each.cycles for each in self.steps), strict=True)))

    @property
    def nanoseconds(self) -> float:
        """`cycles` in time."""
        return sum(max(each.cycles) / each.clock_hz * 1e9 for each in self.steps)

    @property
    def link_bytes(self) -> dict[tuple[int, int], int]:
        """What each link carried, by the numbers of the chip that sent and of its neighbour."""
        found: dict[tuple[int, int], int] = {}
        for step in self.steps:
            for link, count in step.link_bytes.items():
                found[link] = found.get(link, 0) + count
        return found

    def trace(self) -> str:
        """The timeline, as JSON that chrome://tracing and ui.perfetto.dev show: a track per chip.

        Each step begins when the last chip has ended the one before. Bytes of links are counters.
        """
        chips = len(self.steps[0].cycles) if self.steps else 0
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "pid": chip, "args": {"name": f"chip {chip}"}}
            for chip in range(chips)
        ]
        start = 0.0
        for step in self.steps:
            scale = 1e6 / step.clock_hz
            category = "exchange" if step.link_bytes else "kernels"
            shared = {"ph": "X", "name": step.name, "cat": category, "tid": 0, "ts": start}
            for chip, cycles in enumerate(step.cycles):
                told = {"cycles": cycles, "place": step.where}
                events.append({**shared, "pid": chip, "dur": cycles * scale, "args": told})
            end = start + max(step.cycles) * scale
            for (here, there), count in step.link_bytes.items():
                counter = {"ph": "C", "name": f"bytes to chip {there}", "pid": here}
                events.append({**counter, "ts": start, "args": {"bytes": count}})
                events.append({**counter, "ts": end, "args": {"bytes": 0}})
            start = end
        return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})

    def write_trace(self, path: str | Path) -> None:
        """Write the timeline to a file."""
        write_file(path, self.trace().encode())

    def __str__(self) -> str:
        """A row for each step."""
        rows = [("step", "chips", "cycles", "most on a link", "of")]
        for step in self.steps:
            busiest = max(step.link_bytes.items(), key=lambda each: each[1], default=None)
            link = ""
            if busiest is not None:
                (here, there), count = busiest
                link = f"{count:,} bytes, {here} to {there}"
            busy = sum(cycles > 0 for cycles in step.cycles)
            rows.append((step.name, str(busy), f"{max(step.cycles):,}", link, step.where))
        chips = len(self.steps[0].cycles) if self.steps else 0
        head = (
            f"{self.name} on {self.board}, {plural(chips, 'chip')}: {self.cycles:,} cycles, "
            f"{self.nanoseconds / 1e3:,.1f} us"
        )
        return "\n".join([head, *align_left(rows)])


# --- Models ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Program:
    """A segment that is compiled."""

    segment: Segment
    lowered: ModuleOp
    program: MetalProgram


Parts = Sequence["Array"]


class MeshKernels(CompiledModel):
    """A model of several devices that was compiled to kernels; it has no file.

    compiled = ttmlir.compile(function, x, target="kernels")   # x is divided over a mesh
    y = compiled(x)
    print(compiled.profile(x))                                 # cycles of chips, bytes of links
    """

    def __init__(
        self,
        imported: ImportedModel,
        *,
        numerics: NumericsName = "exact",
        options: str = "",
        board: str | os.PathLike[str] | None = None,
        examples: CallArguments | None = None,
    ) -> None:
        """Compile the program of each device; CompilationError for what is not supported.

        `board` is one with a rectangle of as many chips, by default the smallest, of Wormhole
        before others.
        """
        self._imported = imported
        self._state = None
        self._examples = examples
        self._target = find_target("kernels")
        CallableModel.__init__(self, b"", imported, file_name=imported.name, numerics=numerics)
        start = time.perf_counter()
        with self._in_terms_of_the_user(), show_wait(f"compiling {imported.name}"):
            self._divided = self._divide(options)
            self.board = self._find_board(board)
            self._options = options_for_board(self.board, options)
            self._programs = self._compile()
        own_constants(imported.module)
        self.seconds = time.perf_counter() - start

    def _divide(self, options: str) -> ModuleOp:
        """The module in ttir of 2026, with exchanges."""
        module = cloned(self._imported.module)
        front, _ = divide_options(options, self.target)
        lower_to_ttir(module, self._imported.stage, "ttnn", "spelling=2026", front)
        return module

    def _find_board(self, board: str | os.PathLike[str] | None) -> str:
        count = self._steps.devices
        boards = _boards_of(self._steps.mesh)
        if board is None:
            if not boards:
                refuse_at(
                    self._steps.function,
                    f"the program is for {count} devices; no board has a rectangle of as many",
                )
            return boards[0]
        name = board_text(board)
        if name not in boards:
            is_large = name in BOARD_NAMES and find_system(name).num_chips >= count
            problem = (
                f"are no rectangle of chips of '{name}'"
                if is_large
                else (f"'{name}' does not have")
            )
            raise InputError(
                f"'{self.name}' is for {plural(count, 'device')}, which {problem}; "
                f"boards with as many are {', '.join(boards) or 'none'}"
            )
        return name

    @cached_property
    def _steps(self) -> Steps:
        module = cloned(self._divided)
        return cut_into_steps(module, public_function(module))

    def _compile(self) -> list[_Program]:
        known: dict[str, tuple[ModuleOp, MetalProgram]] = {}
        programs: list[_Program] = []
        for segment in self._steps.steps:
            if not isinstance(segment, Segment) or segment.is_known:
                continue
            # Layers that are alike are compiled once.
            text = print_module(segment.module)
            if text not in known:
                lowered = cloned(segment.module)
                self._target.lower(lowered, self._divided_options[1])
                binary = read_binary(write_ttm(lowered), self._imported.name)
                known[text] = lowered, cast("MetalProgram", binary.program(0))
            programs.append(_Program(segment, *known[text]))
        return programs

    # -- calls -----------------------------------------------------------------------------------

    @property
    def _is_late(self) -> bool:
        return True

    @property
    def _taken(self) -> Sequence[TensorDesc]:
        return [_desc_of(value) for value in self._function.body.block.args]

    @property
    def outputs(self) -> tuple[TensorDesc, ...]:
        """Descriptions of the arrays that the program computes."""
        end = self._function.body.block.last_op
        return () if end is None else tuple(_desc_of(value) for value in end.operands)

    @property
    def _function(self) -> FuncOp:
        return public_function(self._divided)

    def run_arrays(
        self,
        given: Sequence[Array | Number],
        *,
        numerics: NumericsName | None = None,
        change: Callable[[Sequence[Array]], Sequence[Array]] = list,
    ) -> Any:
        """Run the model on what `flatten` gives; `change` is made to the arrays of the results."""
        values, _ = self._run(self._complete(given), self._numerics(numerics), timed=False)
        return self._returned(values, change)

    def _returned(
        self,
        values: Mapping[int, Parts],
        change: Callable[[Sequence[Array]], Sequence[Array]] = list,
    ) -> Any:
        found = [
            convert(values[number][0], desc.element.host)
            for number, desc in zip(self._steps.outputs, self.outputs, strict=True)
        ]
        for number, whole in zip(self._steps.outputs, found, strict=True):
            for device, part in enumerate(values[number]):
                if part is not values[number][0] and not np.array_equal(
                    part, whole, equal_nan=whole.dtype.kind not in "iub"
                ):
                    raise ExecutionError(
                        f"'{self.name}' returns what device 0 and device {device} have different "
                        "numbers of; use run_on_devices"
                    )
        found = [
            part if source is None else part.astype(source)
            for part, source in zip(
                found, self._source_result_types or [None] * len(found), strict=True
            )
        ]
        return self._convention.unflatten(change(found))

    def run_on_devices(
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> list[list[Array]]:
        """Run the model, and return what each device has of each result: lists of arrays."""
        arrays = self.arrays_of_call(args, kwargs)
        values, _ = self._run(arrays, self._numerics(numerics), timed=False)
        joined = {
            each.result: each.source
            for each in self._steps.steps
            if isinstance(each, Division) and not each.is_whole_before
        }
        return [
            [convert(part, desc.element.host) for part in values[joined.get(number, number)]]
            for number, desc in zip(self._steps.outputs, self.outputs, strict=True)
        ]

    def profile(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> MeshProfile:
        """Run the model on a timed simulator: cycles of each chip, and bytes of each link."""
        arrays = self.arrays_of_call(args, kwargs)
        values, steps = self._run(arrays, self._numerics(numerics), timed=True)
        return MeshProfile(
            name=self.name,
            board=self.board,
            output=self._returned(values),
            steps=tuple(steps),
        )

    def _run(
        self, arrays: Sequence[Array], numerics: NumericsName, *, timed: bool
    ) -> tuple[dict[int, Parts], list[MeshStep]]:
        """What each device has of all values, and what the steps did."""
        plan, programs = self._steps, iter(self._programs)
        values: dict[int, Parts] = {
            number: [array] * plan.devices
            for number, array in zip(plan.inputs, arrays, strict=True)
        }
        done: list[MeshStep] = []
        with show_wait(f"running {self.name}", len(plan.steps)) as advance:
            for step in plan.steps:
                match step:
                    case Segment(is_known=True):
                        self._compute_known(step, values)
                    case Segment():
                        done.append(self._compute(next(programs), values, numerics, timed=timed))
                    case Division():
                        act = step.cut if step.is_whole_before else step.join
                        values[step.result] = act(values[step.source])
                    case Exchange():
                        done.append(self._exchange(step, values, timed=timed))
                advance()
        return values, done

    def _compute(
        self, compiled: _Program, values: dict[int, Parts], numerics: NumericsName, *, timed: bool
    ) -> MeshStep:
        """Run a program on each chip; chips that have the same numbers compute the same."""
        from ttmlir.runtime.generic import simulator_options
        from ttmlir.runtime.metal_session import execute, needed_leniencies

        program, segment = compiled.program, compiled.segment
        options = replace(
            simulator_options(Numerics(numerics)),
            timed=timed,
            leniencies=needed_leniencies(program),
        )
        found: dict[tuple[int, ...], tuple[list[Array], int]] = {}
        results: list[list[Array]] = []
        cycles: list[int] = []
        for device in range(self._steps.devices):
            given = [values[number][device] for number in segment.inputs]
            key = tuple(map(id, given))
            if key not in found:
                inputs = [
                    convert(array, ref.desc.element.compute)
                    for array, ref in zip(given, program.inputs, strict=True)
                ]
                run = execute(program, inputs, options)
                outputs = [
                    convert(array, ref.desc.element.host)
                    for array, ref in zip(run.outputs, program.outputs, strict=True)
                ]
                found[key] = outputs, run.cycles
            outputs, taken = found[key]
            results.append(outputs)
            cycles.append(taken)
        for number, parts in zip(segment.outputs, zip(*results, strict=True), strict=True):
            values[number] = parts
        return MeshStep(
            name=plural(len(program.launches), "program"),
            where="",
            cycles=tuple(cycles),
            clock_hz=chip_of(program.binary).clock_hz,
        )

    def _compute_known(self, segment: Segment, values: dict[int, Parts]) -> None:
        """What follows from the number of a device: the host gives it as it gives constants."""
        from ttmlir.interpreter.execution import execute

        module = cloned(segment.module)
        transform(module, "convert-spelling{to=2024}")
        results = [
            execute(module, [values[number][device] for number in segment.inputs])
            for device in range(self._steps.devices if segment.inputs else 1)
        ]
        if not segment.inputs:
            results *= self._steps.devices
        for number, parts in zip(segment.outputs, zip(*results, strict=True), strict=True):
            values[number] = parts

    def _exchange(self, step: Exchange, values: dict[int, Parts], *, timed: bool) -> MeshStep:
        from ttmlir.bridge.fabric_exchange import Move, exchange

        cut = [step.cut(np.asarray(part)) for part in values[step.source]]
        piece = cut[0][0]
        rectangle = _rectangle(self._steps.mesh, self.board)
        assert rectangle is not None, "the board has it"
        run = exchange(
            [[np.ascontiguousarray(each).tobytes() for each in own] for own in cut],
            [Move(*move) for move in step.moves],
            board=self.board,
            mesh=rectangle,
            timed=timed,
        )
        values[step.result] = [
            step.join(
                {
                    slot: np.frombuffer(data, piece.dtype).reshape(piece.shape)
                    for slot, data in slots.items()
                },
                piece,
            )
            for slots in run.slots
        ]
        place = file_line_col(step.op.location)
        return MeshStep(
            name=step.op.name,
            where="" if place is None else f"{Path(place.file).name}:{place.line}",
            cycles=run.cycles,
            clock_hz=run.clock_hz,
            link_bytes=run.links,
        )

    # -- what there is to see ----------------------------------------------------------------------

    @property
    def stages(self) -> tuple[str, ...]:
        """What `text` shows."""
        return tuple(dict.fromkeys((self._imported.stage, "ttir", self._target.dialect, "cpp")))

    def text(self, stage: str, *, elide_above: int | None = None) -> str:
        """The program of a mesh, or those of one chip that it has become, one after the other."""
        if stage not in self.stages:
            raise ArgumentError(
                f"'{self.name}' has no stage '{stage}'; its stages are {', '.join(self.stages)}"
            )
        if stage == self._imported.stage:
            return print_module(self._imported.module, elide_larger_than=elide_above)
        if stage == "ttir":
            return print_module(self._divided, elide_larger_than=elide_above)
        modules = list(dict.fromkeys(each.lowered for each in self._programs))
        if stage == "cpp":
            return "\n".join(self._target.write_cpp(each, elide_above) for each in modules)
        return "\n".join(print_module(each, elide_larger_than=elide_above) for each in modules)

    def __repr__(self) -> str:
        """Signature, devices and programs."""
        launches = sum(len(each.program.launches) for each in self._programs)
        exchanges = sum(isinstance(each, Exchange) for each in self._steps.steps)
        return (
            f"MeshKernels({self._spell_signature()}, {self._steps.devices} devices of "
            f"{self.board}, {plural(launches, 'program')} of kernels, "
            f"{plural(exchanges, 'exchange')}, numerics={self.numerics})"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def _refuse_file(self) -> NoReturn:
        raise InputError(
            f"'{self.name}' is kernels for {plural(self._steps.devices, 'device')}, of which there "
            "is no file: .ttm files have no exchanges between chips; compile it with target='ttnn'"
        )

    @property
    def binary(self) -> NoReturn:  # pyright: ignore[reportIncompatibleVariableOverride]
        """InputError: there is no file."""
        self._refuse_file()

    def to_bytes(self) -> bytes:
        """InputError: there is no file."""
        self._refuse_file()

    def save(self, path: str | Path, *, golden: bool | tuple[Any, ...] = False) -> Path:
        """InputError: there is no file."""
        self._refuse_file()

    def _refuse_report(self, what: str) -> NoReturn:
        raise InputError(
            f"'{self.name}' is kernels, which have no {what}: profile(...) runs them and says how "
            "long they take"
        )

    def estimate(self, board: str | os.PathLike[str] | None = None, *, traced: bool = True) -> Any:
        """InputError: kernels are simulated."""
        self._refuse_report("estimate")

    def summary(self, board: str | os.PathLike[str] | None = None) -> Any:
        """InputError: kernels are simulated."""
        self._refuse_report("summary of times")

    def bisect(self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any) -> Any:
        """InputError: levels of kernels are compared on one device."""
        raise InputError(
            f"'{self.name}' is kernels for several devices, which are not compared level by level; "
            "compile it with target='ttnn', or for one device"
        )


def _boards_of(mesh: tuple[int, int]) -> list[str]:
    """The boards with so many chips, the smallest first, of Wormhole before others."""
    systems = {name: find_system(name) for name in BOARD_NAMES if _rectangle(mesh, name)}
    return sorted(
        systems,
        key=lambda name: (systems[name].num_chips, systems[name].chip_descs[0].arch.value),
    )


def _rectangle(mesh: tuple[int, int], board: str) -> tuple[int, int] | None:
    """Rows and columns of chips that a mesh takes of a board, None if it has none.

    Packets go along columns, then along rows: in a rectangle there are chips on all ways.
    """
    places = find_system(board).chip_coords
    rows, columns = max(at.y for at in places) + 1, max(at.x for at in places) + 1
    count = math.prod(mesh)
    shapes = [mesh, *((n, count // n) for n in range(1, count + 1) if count % n == 0)]
    return next((each for each in shapes if each[0] <= rows and each[1] <= columns), None)


def _desc_of(value: SSAValue) -> TensorDesc:
    from ttmlir.interpreter.execution import runtime_element

    element = runtime_element(element_type(value))
    assert element is not None, "ttir has element types of the runtime"
    return host_desc(value_shape(value), element)
