"""Reads the operations of a `.ttnn` program for an estimate."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

import numpy as np

from ttmlir.cost.estimate import Estimate, OperationEstimate
from ttmlir.cost.families.exchange import cost_exchange
from ttmlir.cost.families.movement import copy_tiles, cost_copy
from ttmlir.cost.machine import Machine
from ttmlir.cost.records import convolution_config, convolution_operands, find_work
from ttmlir.cost.times import cost_operation, estimate_cost
from ttmlir.cost.work import MatmulConfig, Work
from ttmlir.cost.workload import (
    LATENCY,
    NOTHING,
    PROCESSOR,
    OperationCost,
    Stage,
    Workload,
    sum_links,
)
from ttmlir.errors import Error
from ttmlir.layout.enums import TensorMemoryLayout
from ttmlir.layout.system import BOARD_NAMES, SystemDesc, system_desc_from_table
from ttmlir.optable.op_definition import Family
from ttmlir.runtime.binary import Binary, BinaryProgram, Operation, TensorRef, system_of
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.execution.operations import check_shapes, function_of, read_call
from ttmlir.runtime.memory import page_of, program_memory
from ttmlir.runtime.residency import find_residency, results_of
from ttmlir.runtime.system_desc import board_text, find_system
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import tile_bytes

# --- Control --------------------------------------------------------------------------------------
# What loops and branches take: that of the functions that they call.

ONE_TURN_NOTE = "the iterations of a loop depend on data: one is counted"
ONE_BRANCH_NOTE = "of branches, the one that takes longest is counted"

Rows = Sequence[OperationEstimate]
"""The operations of a function."""


def estimate_control(
    program: BinaryProgram, operation: Operation, functions: Sequence[Rows]
) -> OperationEstimate:
    """The estimate of a loop or branch; `functions` are those of the file, by number."""
    if operation.table == "CallOp":
        rows = _rows_of(program, operation, operation.scalar("function"), functions)
        if operation.scalar("cached"):
            return _done_once(_summary(operation, rows, 1, ()))
        return _summary(operation, rows, 1, ())
    if operation.table == "CaseOp":
        numbers = operation.numbers("branches")
        rows = max(
            (_rows_of(program, operation, number, functions) for number in numbers),
            key=lambda each: sum(row.time.mid for row in each),
            default=(),
        )
        return _summary(operation, rows, 1, (ONE_BRANCH_NOTE,))
    rows = [*_rows_of(program, operation, operation.scalar("body"), functions)]
    iterations = int(operation.scalar("trip_count"))
    if iterations >= 0:
        return _summary(operation, rows, iterations, ())
    if not operation.knows("bounds"):
        rows += _rows_of(program, operation, operation.scalar("condition"), functions)
    return _summary(operation, rows, 1, (ONE_TURN_NOTE,))


def _rows_of(
    program: BinaryProgram, operation: Operation, number: int, functions: Sequence[Rows]
) -> Rows:
    found = function_of(program, operation, int(number)).index
    if found >= len(functions):
        raise BinaryError(f"{operation.where}: calls a function that is not before it")
    return functions[found]


def _summary(
    operation: Operation, rows: Rows, iterations: int, notes: tuple[str, ...]
) -> OperationEstimate:
    once = NOTHING
    for row in rows:
        once = once + row.once
    rows = [row for row in rows if row.time.mid]
    time, kernels = NOTHING, NOTHING
    for row in rows:
        time, kernels = time + row.time, kernels + row.kernels
    longest = max(rows, key=lambda row: row.time.mid, default=None)
    weights = kernels.mid or 1.0
    inner = (note for row in rows for note in row.notes)
    return OperationEstimate(
        index=operation.index,
        name=operation.ir_name,
        location=operation.location,
        time=time.scale(iterations),
        once=once,
        kernels=kernels.scale(iterations),
        bound_by="nothing" if longest is None else longest.bound_by,
        flops=iterations * sum(row.flops for row in rows),
        bytes=iterations * sum(row.bytes for row in rows),
        noc_bytes=iterations * sum(row.noc_bytes for row in rows),
        programs=iterations * sum(row.programs for row in rows),
        cores=max((row.cores for row in rows), default=0),
        fidelity=next((row.fidelity for row in rows if row.fidelity), None),
        flops_utilisation=sum(row.flops_utilisation * row.kernels.mid for row in rows) / weights,
        dram_utilisation=sum(row.dram_utilisation * row.kernels.mid for row in rows) / weights,
        on_host=bool(rows) and all(row.on_host for row in rows),
        notes=tuple(dict.fromkeys((*notes, *inner))),
        links=sum_links((use for row in rows for use in row.links), iterations),
    )


def _done_once(row: OperationEstimate) -> OperationEstimate:
    """The estimate of what is done before the first call instead of in each one."""
    return replace(row, time=NOTHING, once=row.once + row.time)


# --- Kernels --------------------------------------------------------------------------------------
# Times programs of kernels in `.ttnn` files on the simulator, where that does not take long.
#
# Kernels compute with zeros here: what moves and how often seldom depends on the numbers.

MOST_BYTES = 4 << 20
"""Of tensors that all programs of kernels of a file's program read and write together; the
simulator does about a tile in a millisecond, and an estimate should not take longer than this."""
_MOST_CYCLES = 3_000_000


def simulate_kernels(
    machine: Machine, operation: Operation, most_bytes: int
) -> OperationCost | str:
    """What the kernels of a program do on a machine, or why that is not known.

    Tensors of more than `most_bytes` together are not simulated.
    """
    size = sum(ref.desc.size_in_bytes for ref in operation.tensors("io_tensors"))
    if size > most_bytes:
        return f"its tensors have {size:,} bytes, and {most_bytes:,} more would be simulated"
    known = operation.program.binary.derived
    key = ("simulated", operation.program.index, operation.index, machine)
    if key not in known:
        known[key] = _simulate(machine, operation)
    return known[key]


def _simulate(machine: Machine, operation: Operation) -> OperationCost | str:
    # The simulator is loaded only for programs of kernels.
    from ttmlir.runtime.generic import read_generic, run_generic
    from ttmlir.sim.errors import SimError
    from ttmlir.sim.machine.device import SimChip
    from ttmlir.sim.options import SimOptions
    from ttmlir.sim.timing.report import bound

    program = read_generic(operation)
    inputs = [np.zeros(desc.shape, desc.element.compute) for desc in program.input_descs]
    options = SimOptions(numerics="exact", sanitize=False, cycle_limit=_MOST_CYCLES)
    try:
        chip = SimChip.from_desc(machine.chip)
        run = run_generic(program, inputs, chip, options, print_line=lambda _: None)
    except (SimError, Error) as error:
        return str(error).splitlines()[0]
    times = run.report.times(program.description.title)
    kind = bound(times)
    moved = times.networks.dram_bytes
    # What a program does at the start of a launch does not bind its kernels.
    stage = Stage(kind if kind in _KINDS else LATENCY, float(run.report.cycles))
    return OperationCost(
        programs=(
            Workload(
                cores=run.report.num_cores,
                steps=1,
                read=stage,
                write=Stage(LATENCY, 0.0),
                dram_bytes=moved,
                noc_bytes=moved,
            ),
        )
    )


_KINDS = frozenset({"compute", "unpack", "pack", "NoC", "DRAM", PROCESSOR})


# --- Program --------------------------------------------------------------------------------------

KERNELS_NOTE = "of a program of kernels only the movement of its tensors is counted"


def find_machine(board: str | os.PathLike[str] | None, program: BinaryProgram) -> Machine:
    """The machine of a board, by name or `.ttsys` file; None: the one the file was compiled for.

    InputError for an unknown name, UnsupportedError for chips without figures.
    """
    kind = type(program.binary)
    try:
        if board is not None:
            name = board_text(board)
            system = _describe(kind, name) if name in BOARD_NAMES else find_system(board)
            return Machine.of(name, system)
        system = system_of(program.binary)
        return Machine.of(_board_name(kind, system), system)
    except ValueError as error:
        raise UnsupportedError(f"{program.where}: {error}") from error


@cache
def _describe(kind: type[Binary], name: str) -> SystemDesc:
    """A board as compilers of the year of a kind of file describe it."""
    return system_desc_from_table(kind.describe_board(name))


def _board_name(kind: type[Binary], system: SystemDesc) -> str:
    """The board that has so many chips like the first one, the card that has one, or the
    generation."""
    chip = system.chip(0)
    alike: dict[int, str] = {}
    for name in BOARD_NAMES:
        other = _describe(kind, name)
        if name != DEFAULT_BOARD and all(
            getattr(chip, field) == getattr(other.chip(0), field)
            for field in ("arch", "grid", "num_dram_channels")
        ):
            alike.setdefault(other.num_chips, name)
    return alike.get(system.num_chips) or alike.get(1) or chip.arch.keyword


DEFAULT_BOARD = "default"
"""The name of what is assumed where nothing is said, which is no card."""


def estimate_program(
    program: BinaryProgram,
    board: str | os.PathLike[str] | None = None,
    *,
    traced: bool = True,
) -> Estimate:
    """Estimate every operation of a program of a `.ttnn` file, and its memory, without running it.

    `board` is the name of a board or the path of a `.ttsys` file; None means the system that the
    file was compiled for. The devices of a mesh compute side by side, and are like the first chip
    of the system. Programs are launched from a trace, or, if they are not `traced`, called one by
    one by the host.

    Raises InputError for an unknown board, BinaryError for a damaged program and UnsupportedError
    for a `.ttm` file or for chips without figures.
    """
    if program.binary.is_metal:
        raise UnsupportedError(
            f"{program.where}: a .ttm file holds kernels, which are not estimated but simulated: "
            "ttrt perf, or profile of a compiled model"
        )
    machine = find_machine(board, program)
    functions: list[Rows] = []
    for function in program.binary.functions:
        functions.append(_Reader(machine, function, traced, functions).rows())
    rows = _Reader(machine, program, traced, functions).rows()
    memory = program_memory(program, machine.chip)
    return Estimate(program.name, machine, rows, memory, traced, program.mesh)


@dataclass
class _Reader:
    """Follows where tensors are while the operations are read in order."""

    machine: Machine
    program: BinaryProgram
    traced: bool
    functions: Sequence[Rows] = ()
    """Those of the file that may be called, by number."""
    most_bytes: int = MOST_BYTES
    """Of tensors that may still be simulated."""
    places: dict[int, TensorDesc] = field(default_factory=dict[int, TensorDesc])
    """What is known of tensors by their numbers, where it differs from what the file says of them.

    A tensor that to_layout leaves on the host is described as one of the device.
    """

    last: dict[int, int] = field(default_factory=dict[int, int])
    """The last operation that a record of the file became, by the record's identity."""
    works: dict[int, Work | None] = field(default_factory=dict[int, "Work | None"])
    """The one program of a record; None where the operations that it became say what is done."""

    def rows(self) -> tuple[OperationEstimate, ...]:
        """The estimates of all operations, some of which are done once, or not at all."""
        residency = find_residency(self.program)
        self.last = {
            id(operation.record): operation.index
            for operation in self.program.operations
            if operation.record is not None and operation.given is not None
        }
        rows = list[OperationEstimate]()
        for operation in self.program.operations:
            row = self.row(operation)
            if operation.index in residency.once:
                row = _done_once(row)
            elif operation.index in residency.left_out:
                row = replace(row, time=NOTHING, flops=0.0, bytes=0.0)
            elif operation.index in residency.results:
                row = replace(row, on_host=True)
            rows.append(row)
        takers = _takers_of_moved_inputs(self.program)
        return tuple(replace(row, location=takers.get(row.index, row.location)) for row in rows)

    def row(self, operation: Operation) -> OperationEstimate:
        """The estimate of one operation."""
        handler = _HANDLERS.get(operation.table, _Reader._compute)
        if operation.given is not None:
            handler = _Reader._compute
        try:
            return handler(self, operation)
        except (ArithmeticError, LookupError) as error:
            raise BinaryError(
                f"{operation.where}: its numbers make no sense ({error}); the file is damaged"
            ) from error

    def _desc(self, ref: TensorRef) -> TensorDesc:
        return self.places.get(ref.global_id, ref.desc)

    def _row(
        self,
        operation: Operation,
        cost: OperationCost,
        *,
        name: str = "",
        inputs: tuple[TensorDesc, ...] = (),
        output: TensorDesc | None = None,
    ) -> OperationEstimate:
        return estimate_cost(
            self.machine,
            cost,
            index=operation.index,
            name=name or operation.ir_name,
            location=operation.location,
            inputs=inputs,
            output=output,
            traced=self.traced,
        )

    def nothing(self, operation: Operation) -> OperationEstimate:
        """Operations that only keep books."""
        return self._row(operation, OperationCost())

    def move(self, operation: Operation) -> OperationEstimate:
        """to_layout, to_device and to_memory_config."""
        source = operation.tensor("in0" if operation.table == "ToMemoryConfigOp" else "in")
        out = operation.tensor("out")
        before, after = self._desc(source), out.desc
        if operation.table == "ToLayoutOp" and before.is_on_device != after.is_on_device:
            # As the runtime does it: a layout changes where the tensor is.
            if not before.is_on_device:
                self.places[out.global_id] = before
                return self._row(operation, OperationCost(), inputs=(before,), output=before)
            after = before
        self.places.pop(out.global_id, None)
        return self._row(operation, self._moving(before, after), inputs=(before,), output=out.desc)

    def _moving(self, before: TensorDesc, after: TensorDesc) -> OperationCost:
        if before.is_on_device != after.is_on_device:
            return self._transfer(after if after.is_on_device else before, after.is_on_device)
        if not after.is_on_device or before == after:
            return OperationCost()
        if before.is_tiled != after.is_tiled:
            # A number without dimensions is a tile, too.
            before, after = (
                each if each.shape else replace(each, shape=(1,)) for each in (before, after)
            )
            mnemonic = "tilize" if after.is_tiled else "untilize"
            work = Work(mnemonic=mnemonic, operands=(before,), output=after)
            return cost_operation(self.machine, work)
        if before.memory_layout.is_sharded and after.memory_layout.is_sharded:
            # Shards of others come over the network.
            before = replace(before, memory_layout=TensorMemoryLayout.INTERLEAVED)
        return OperationCost(programs=(copy_tiles(self.machine, before, after),))

    def _transfer(self, desc: TensorDesc, is_write: bool) -> OperationCost:
        # ttnn keeps tensors of the device in tiles, which are the pages that are moved.
        page, _ = page_of(desc)
        page = max(page, tile_bytes(desc.data_type))
        transfer = self.machine.host_transfer(desc.size_in_bytes, page, is_write=is_write)
        return OperationCost(transfers=(transfer,))

    def constant(self, operation: Operation) -> OperationEstimate:
        """A constant comes from the host, a tensor of one number is written by a kernel."""
        desc = operation.tensor("out").desc
        if not desc.is_on_device or operation.is_free:
            return self._row(operation, OperationCost(), output=desc)
        if operation.table == "ConstantOp":
            return self._row(operation, self._transfer(desc, True), output=desc)
        mnemonic = operation.ir_name.removeprefix("ttnn.")
        work = Work(mnemonic=mnemonic, operands=(), output=desc)
        return self._row(operation, cost_operation(self.machine, work), output=desc)

    def generic(self, operation: Operation) -> OperationEstimate:
        """A program of kernels, simulated where that is possible."""
        refs = operation.tensors("io_tensors")
        count = int(operation.scalar("num_outputs"))
        if not 1 <= count <= len(refs):
            raise BinaryError(f"{operation.where}: writes {count} of {len(refs)} tensors")
        descs = tuple(self._desc(ref) for ref in refs)
        simulated = simulate_kernels(self.machine, operation, self.most_bytes)
        if isinstance(simulated, str):
            work = Work(mnemonic="generic", operands=descs[:-count], output=descs[-1])
            cost = cost_copy(self.machine, work)
            note = f"{KERNELS_NOTE}: {simulated}"
            cost = OperationCost(programs=[replace(each, notes=()) for each in cost.programs])
            cost = replace(cost, notes=(note,))
        else:
            cost = simulated
            self.most_bytes -= sum(desc.size_in_bytes for desc in descs)
        return self._row(operation, cost, inputs=descs[:-count], output=descs[-1])

    def exchange(self, operation: Operation) -> OperationEstimate:
        """What the devices of a mesh give each other."""
        part, out = self._desc(operation.tensor("in")), operation.tensor("out").desc
        cost = cost_exchange(self.machine, self.program.mesh, operation, part, out)
        name = f"ttnn.{operation.fields['kind']}"
        return self._row(operation, cost, name=name, inputs=(part,), output=out)

    def control(self, operation: Operation) -> OperationEstimate:
        """A loop or branch: all that its functions take."""
        return estimate_control(self.program, operation, self.functions)

    def _work_of(self, record: Operation) -> Work | None:
        """The one program of a record; found when its first operation is read."""
        key = id(record)
        if key not in self.works:
            self.works[key] = find_work(record, self._desc)
        return self.works[key]

    def _compute(self, operation: Operation) -> OperationEstimate:
        call = read_call(operation)
        check_shapes(call)
        inputs = tuple(self._desc(ref) for ref in call.operands if ref is not None)
        output = call.output.desc
        record = operation.record
        whole = None if record is None else self._work_of(record)
        if whole is not None:
            cost = OperationCost()
            if operation.index == self.last[id(record)] and output.is_on_device:
                cost = cost_operation(self.machine, whole)
            name = f"ttnn.{whole.mnemonic}"
            return self._row(operation, cost, name=name, inputs=whole.operands, output=output)
        for ref in call.outputs:
            self.places.pop(ref.global_id, None)
        mnemonic, is_free = call.definition.mnemonic, operation.is_free
        if record is not None and record.table in _PRODUCTS:
            # ttnn adds the bias in the program of the product, and has one for the activation.
            is_free = mnemonic == "add" or (is_free and call.definition.family is not Family.UNARY)
        if not output.is_on_device or is_free:
            return self._row(operation, OperationCost(), name=call.name, output=output)
        config = call.compute_config
        result = output
        if record is not None and record.table == "Conv2dOp" and record.has("out"):
            # An activation leaves the result where the convolution makes it; weights are prepared.
            result, inputs = record.tensor("out").desc, convolution_operands(record, self._desc)
        if record is not None and _moves_rows(mnemonic, inputs, output):
            if mnemonic == "reshape":
                return self._row(operation, OperationCost(), name=call.name, output=output)
            mnemonic = "permute_rows"
        work = Work(
            mnemonic=mnemonic,
            operands=inputs,
            output=result if result.shape == output.shape else output,
            parameters=call.parameters,
            fidelity=None if config is None else config.math_fidelity,
            wide_sums=config is not None and bool(config.fp32_dest_acc_en),
            matmul=MatmulConfig() if record is None else convolution_config(record),
        )
        cost = cost_operation(self.machine, work)
        return self._row(operation, cost, name=call.name, inputs=inputs, output=work.output)


def _takers_of_moved_inputs(program: BinaryProgram) -> dict[int, str]:
    """For operations that only move an input, by their numbers, where it is computed with.

    Their own location is that of the input, which is in no layer.
    """
    moves: dict[int, list[int]] = {ref.global_id: [] for ref in program.inputs}
    found: dict[int, str] = {}
    for operation in program.operations:
        if operation.table in _BOOKS:
            continue
        results = {ref.global_id for ref in results_of(operation)}
        given = {ref.global_id for refs in operation.tensor_fields.values() for ref in refs}
        taken = [moves[each] for each in given - results if each in moves]
        if operation.given is None and operation.table in _MOVES:
            numbers = [*chain.from_iterable(taken), operation.index]
            moves |= dict.fromkeys(results if taken else (), numbers)
        else:
            found |= dict.fromkeys(chain.from_iterable(taken), operation.location)
    return found


def _moves_rows(mnemonic: str, inputs: Sequence[TensorDesc], output: TensorDesc) -> bool:
    """True for whole rows of numbers, which files since 2026 tell from tiles, in another order."""
    if mnemonic not in ("permute", "reshape") or len(inputs) != 1 or not output.shape:
        return False
    return (
        not inputs[0].is_tiled and not output.is_tiled and inputs[0].shape[-1:] == output.shape[-1:]
    )


_PRODUCTS = ("MatmulOp", "LinearOp")

_BOOKS = ("GetDeviceOp", "EmptyOp", "DeallocOp")
_MOVES = ("ToLayoutOp", "ToDeviceOp", "ToMemoryConfigOp")

_HANDLERS: dict[str, Callable[[_Reader, Operation], OperationEstimate]] = {
    **dict.fromkeys(_BOOKS, _Reader.nothing),
    **dict.fromkeys(_MOVES, _Reader.move),
    **dict.fromkeys(("ConstantOp", "FullOp"), _Reader.constant),
    "GenericOp": _Reader.generic,
    "ExchangeOp": _Reader.exchange,
    **dict.fromkeys(("WhileOp", "CaseOp", "CallOp"), _Reader.control),
}
"""Operations about memory rather than numbers; all others are definitions of the operation
table."""
