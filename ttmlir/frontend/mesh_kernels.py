"""Models of several devices as kernels: programs of each chip, and exchanges over the fabric.

Programs are those of one chip, on the simulator; all chips run the same ones. Between them kernels
send what devices exchange over the links of a board. The file has the programs, and the steps in
which they and the exchanges follow each other; `ttmlir.runtime.mesh_kernels` runs it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

import numpy as np

from ttmlir.compiler import divide_options, transform, write_mesh_ttm
from ttmlir.errors import ArgumentError, plural
from ttmlir.files import write_file
from ttmlir.frontend.calls import CallableModel, CallArguments, NumericsName
from ttmlir.frontend.compiled import (
    CompiledModel,
    ImportedModel,
    find_target,
    lower_to_ttir,
    options_for_board,
    public_function,
)
from ttmlir.frontend.mesh_steps import (
    BranchOf,
    DivisionOf,
    ExchangeOf,
    LoopOf,
    Segment,
    Step,
    Steps,
    cut_into_steps,
)
from ttmlir.frontend.summary import align_left
from ttmlir.frontend.targets import find_cuts, with_cuts
from ttmlir.interpreter.execution import runtime_element
from ttmlir.ir.constants import own_constants
from ttmlir.ir.rewriting import refuse_at
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import OpLinePrinter
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.mesh_kernels import Division, MeshPlan, MeshRun, MeshStep, boards_of_mesh
from ttmlir.runtime.system_desc import board_text, find_system
from ttmlir.runtime.tensor import Array, Numerics, convert
from ttmlir.target.flatbuffer.programs import DEBUG_TEXT
from ttmlir.target.flatbuffer.tensors import Golden, golden_tensor
from ttmlir.target.flatbuffer.ttmetal import MeshFile
from ttmlir.terminal import ShownAsText, show_wait

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp, TensorType
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation

    from ttmlir.runtime.metal_program import MetalProgram

# --- Profiles -------------------------------------------------------------------------------------


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


class MeshKernels(CompiledModel):
    """A model of several devices that was compiled to kernels.

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
        start = time.perf_counter()
        with imported.in_terms_of_the_user(), show_wait(f"compiling {imported.name}"):
            self._divided = self._divide(options)
            self._target = with_cuts(self._target, find_cuts(self._divided))
            self.board = self._find_board(board)
            self._options = options_for_board(self.board, options)
            self._parts, self._mesh = self._compile()
            data = self._write(None)
        file_name = f"{imported.name}{self._target.suffix}"
        CallableModel.__init__(self, data, imported, file_name=file_name, numerics=numerics)
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
        boards = boards_of_mesh(*self._steps.mesh)
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
                f"'{self._imported.name}' is for {plural(count, 'device')}, which {problem}; "
                f"boards with as many are {', '.join(boards) or 'none'}"
            )
        return name

    @cached_property
    def _cut_module(self) -> ModuleOp:
        return cloned(self._divided)

    @cached_property
    def _steps(self) -> Steps:
        return cut_into_steps(self._cut_module, public_function(self._cut_module))

    def _compile(self) -> tuple[list[ModuleOp], dict[str, Any]]:
        """What each device runs alone, and the `MeshProgram` table of the file."""
        steps = self._steps
        lines = OpLinePrinter(self._cut_module, DEBUG_TEXT)
        parts = _Parts(self._lower_part, lines, steps.devices)
        parts.plan(steps)
        rows, columns = steps.mesh
        table = {"rows": rows, "columns": columns, "board": self.board, "plans": parts.plans}
        return parts.lowered, table

    def _lower_part(self, module: ModuleOp) -> ModuleOp:
        lowered = cloned(module)
        self._target.lower(lowered, self._divided_options[1])
        return lowered

    def _write(self, golden: Golden | None) -> bytes:
        imported, function = self._imported, self._function
        return write_mesh_ttm(
            MeshFile(
                module=self._divided,
                name=imported.name,
                inputs=[cast("TensorType[Any]", each) for each in function.function_type.inputs],
                outputs=[cast("TensorType[Any]", each) for each in function.function_type.outputs],
                mesh=self._mesh,
                system=find_system(self.board),
                parts=self._parts,
                golden=golden,
                signature=self._signature_in_file.to_table(),
            )
        )

    def _with_golden(self, golden: Literal[True] | tuple[Any, ...]) -> bytes:
        inputs, outputs = self._golden_arrays(golden)
        return self._write(Golden(inputs=inputs, outputs=outputs))

    # -- calls -----------------------------------------------------------------------------------

    @property
    def _is_late(self) -> bool:
        return True

    @property
    def _function(self) -> FuncOp:
        return public_function(self._divided)

    def _mesh_program(self) -> MetalProgram:
        return cast("MetalProgram", self._program)

    @property
    def _plan(self) -> MeshPlan:
        plan = self._mesh_program().mesh_plan
        assert plan is not None, "the program is for several devices"
        return plan

    def run_on_devices(
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> list[list[Array]]:
        """Run the model, and return what each device has of each result: lists of arrays."""
        values = self._run(self.arrays_of_call(args, kwargs), numerics, timed=False).values
        plan = self._plan.plan
        joined = {
            each.result: each.source
            for each in plan.steps
            if isinstance(each, Division) and not each.is_whole_before
        }
        return [
            [convert(part, desc.element.host) for part in values[joined.get(number, number)]]
            for number, desc in zip(plan.outputs, self.outputs, strict=True)
        ]

    def profile(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> MeshProfile:
        """Run the model on a timed simulator: cycles of each chip, and bytes of each link."""
        from ttmlir.runtime.metal_session import results_of_mesh

        run = self._run(self.arrays_of_call(args, kwargs), numerics, timed=True)
        found = [
            convert(array, desc.element.host)
            for array, desc in zip(
                results_of_mesh(self._mesh_program(), run), self.outputs, strict=True
            )
        ]
        return MeshProfile(
            name=self.name,
            board=self.board,
            output=self._convention.unflatten(self._as_in_source(found)),
            steps=tuple(run.steps),
        )

    def _as_in_source(self, found: Sequence[Array]) -> list[Array]:
        types = self._source_types[1] or (None,) * len(found)
        return [
            part if source is None else part.astype(source)
            for part, source in zip(found, types, strict=True)
        ]

    def _run(
        self, arrays: Sequence[Array], numerics: NumericsName | None, *, timed: bool
    ) -> MeshRun:
        from ttmlir.runtime.generic import simulator_options
        from ttmlir.runtime.metal_session import run_on_mesh

        options = simulator_options(Numerics(self._numerics(numerics)))
        with show_wait(f"running {self.name}"):
            return run_on_mesh(self._mesh_program(), arrays, replace(options, timed=timed))

    def __getstate__(self) -> NoReturn:  # pyright: ignore[reportIncompatibleMethodOverride]
        """InputError: files are what others get."""
        raise InputError(
            f"'{self.name}' is kernels for several devices, which are not pickled: save(path) "
            "writes them, and ttmlir.load(path) reads them"
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
        modules = self._parts
        if stage == "cpp":
            return "\n".join(self._target.write_cpp(each, elide_above) for each in modules)
        return "\n".join(print_module(each, elide_larger_than=elide_above) for each in modules)

    def __repr__(self) -> str:
        """Signature, devices and programs."""
        launches, exchanges = len(self._mesh_program().launches), len(self._plan.exchanges)
        return (
            f"MeshKernels({self._spell_signature()}, {self._steps.devices} devices of "
            f"{self.board}, {plural(launches, 'program')} of kernels, "
            f"{plural(exchanges, 'exchange')}, numerics={self.numerics})"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

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


# --- Files ----------------------------------------------------------------------------------------


class _Parts:
    """Writes steps as tables, and lowers what devices run alone; what is alike once."""

    def __init__(
        self, lower: Callable[[ModuleOp], ModuleOp], lines: OpLinePrinter, devices: int
    ) -> None:
        self._lower = lower
        self._lines = lines
        self._devices = devices
        self._functions: dict[str, int] = {}
        self.plans: list[dict[str, Any]] = []
        """`MeshSteps` tables, each before those that its loops and branches name."""
        self.lowered: list[ModuleOp] = []

    def plan(self, steps: Steps) -> int:
        """The number of a plan."""
        number, known = len(self.plans), dict[int, Sequence[Array]]()
        table: dict[str, Any] = {"inputs": steps.inputs, "outputs": steps.outputs}
        self.plans.append(table)
        table["steps"] = [each for step in steps.steps for each in self._step(step, known)]
        return number

    def _step(self, step: Step, known: dict[int, Sequence[Array]]) -> Iterator[dict[str, Any]]:
        match step:
            case Segment(is_known=True):
                yield from self._constants(step, known)
            case Segment():
                shared = {"inputs": step.inputs, "outputs": step.outputs}
                function = self._function(step.module)
                yield self._table("MeshCompute", None, {"function": function, **shared})
            case DivisionOf(op, each):
                if each.source in known:
                    known[each.result] = each.apply(known[each.source])
                shared = {"source": each.source, "result": each.result}
                fields = {**shared, "extents": each.mesh, "dims": each.dims}
                yield self._table("MeshDivision", op, {**fields, "cuts": each.is_whole_before})
            case ExchangeOf(op, each):
                fields = {
                    "name": each.name,
                    "source": each.source,
                    "result": each.result,
                    "moves": [word for move in each.moves for word in move],
                    "slots": each.slots,
                    "split": -1 if each.split is None else each.split,
                    "concat": -1 if each.concat is None else each.concat,
                }
                yield self._table("MeshExchange", op, fields)
            case LoopOf():
                condition = 0 if step.condition is None else self.plan(step.condition)
                parts = {"condition": condition, "body": self.plan(step.body)}
                shared = {"inputs": step.inputs, "results": step.results}
                fields = {**shared, **parts, "trip_count": step.trip_count}
                yield self._table("MeshLoop", step.op, fields)
            case BranchOf():
                shared = {"inputs": step.inputs, "results": step.results}
                branches = [self.plan(each) for each in step.branches]
                fields = {"index": step.index, "branches": branches, **shared}
                yield self._table("MeshBranch", step.op, fields)

    def _function(self, module: ModuleOp) -> int:
        # Layers that are alike are compiled once.
        text = print_module(module)
        if text not in self._functions:
            self._functions[text] = len(self.lowered)
            self.lowered.append(self._lower(module))
        return self._functions[text]

    def _constants(
        self, segment: Segment, known: dict[int, Sequence[Array]]
    ) -> Iterator[dict[str, Any]]:
        """What follows from the number of a device is in the file as constants are."""
        from ttmlir.interpreter.execution import execute

        module = cloned(segment.module)
        transform(module, "convert-spelling{to=2024}")
        count = self._devices if segment.inputs else 1
        results = [
            execute(module, [known[number][device] for number in segment.inputs])
            for device in range(count)
        ]
        results *= self._devices // count
        types = public_function(segment.module).function_type.outputs
        for number, type, parts in zip(
            segment.outputs, types, zip(*results, strict=True), strict=True
        ):
            element = runtime_element(cast("TensorType[Any]", type).element_type)
            assert element is not None, "ttir has element types of the runtime"
            parts = [convert(np.asarray(part), element.host) for part in parts]
            known[number] = parts
            tensors: dict[bytes, int] = {}
            of_devices = [tensors.setdefault(part.tobytes(), len(tensors)) for part in parts]
            first = [parts[of_devices.index(each)] for each in range(len(tensors))]
            fields = {
                "result": number,
                "tensors": [golden_tensor(f"value {number}", each) for each in first],
                "of_devices": of_devices,
            }
            yield self._table("MeshConstant", None, fields)

    def _table(self, kind: str, op: Operation | None, fields: dict[str, Any]) -> dict[str, Any]:
        """The `MeshStep` table."""
        text = "" if op is None else self._lines.line(op)
        return {"type_type": kind, "type": fields, "debug_info": text}
