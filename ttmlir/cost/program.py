"""Reads the operations of a `.ttnn` program for an estimate."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ttmlir.cost.control import Rows, estimate_control
from ttmlir.cost.estimate import Estimate, OperationEstimate
from ttmlir.cost.families.movement import copy_tiles, cost_copy
from ttmlir.cost.kernels import MOST_BYTES, simulate_kernels
from ttmlir.cost.machine import Machine
from ttmlir.cost.operations import cost_operation
from ttmlir.cost.times import estimate_cost
from ttmlir.cost.work import Work
from ttmlir.cost.workload import OperationCost
from ttmlir.layout.system.boards import BOARD_NAMES
from ttmlir.layout.system.boards import board as find_board
from ttmlir.layout.system.chip import ChipDesc
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef
from ttmlir.runtime.compiled_for import system_of
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.execution.operations import read_call
from ttmlir.runtime.execution.shapes import check_shapes
from ttmlir.runtime.memory import page_of, program_memory
from ttmlir.runtime.system import board_text, find_system
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import tile_bytes

KERNELS_NOTE = "of a program of kernels only the movement of its tensors is counted"


def find_machine(board: str | os.PathLike[str] | None, program: BinaryProgram) -> Machine:
    """The machine of a board, by name or `.ttsys` file; None: the one the file was compiled for.

    InputError for an unknown name, UnsupportedError for chips without figures.
    """
    try:
        if board is not None:
            return Machine.of(board_text(board), find_system(board))
        system = system_of(program.binary)
        return Machine.of(_board_name(system.chip(0)), system)
    except ValueError as error:
        raise UnsupportedError(f"{program.where}: {error}") from None


def _board_name(chip: ChipDesc) -> str:
    """The card whose chips are like this one, or the generation."""
    for name in BOARD_NAMES:
        other = find_board(name).chip(0)
        if name != DEFAULT_BOARD and all(
            getattr(chip, field) == getattr(other, field)
            for field in ("arch", "grid", "num_dram_channels")
        ):
            return name
    return chip.arch.keyword


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
    file was compiled for. Several chips of a system count as one: the first. Programs are launched
    from a trace, or, if they are not `traced`, called one by one by the host.

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
    return Estimate(program.name, machine, rows, program_memory(program, machine.chip), traced)


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

    def rows(self) -> tuple[OperationEstimate, ...]:
        """The estimates of all operations."""
        return tuple(self.row(operation) for operation in self.program.operations)

    def row(self, operation: Operation) -> OperationEstimate:
        """The estimate of one operation."""
        handler = _HANDLERS.get(operation.table, _Reader._compute)
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
            mnemonic = "tilize" if after.is_tiled else "untilize"
            work = Work(mnemonic=mnemonic, operands=(before,), output=after)
            return cost_operation(self.machine, work)
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
        if not desc.is_on_device:
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

    def control(self, operation: Operation) -> OperationEstimate:
        """A loop or branch: all that its functions take."""
        return estimate_control(self.program, operation, self.functions)

    def _compute(self, operation: Operation) -> OperationEstimate:
        call = read_call(operation)
        check_shapes(call)
        inputs = tuple(self._desc(ref) for ref in call.operands if ref is not None)
        output = call.output.desc
        for ref in call.outputs:
            self.places.pop(ref.global_id, None)
        if not output.is_on_device:
            return self._row(operation, OperationCost(), name=call.name, output=output)
        config = call.compute_config
        work = Work(
            mnemonic=call.row.mnemonic,
            operands=inputs,
            output=output,
            parameters=call.parameters,
            fidelity=None if config is None else config.math_fidelity,
            wide_sums=config is not None and config.fp32_dest_acc_en,
        )
        cost = cost_operation(self.machine, work)
        return self._row(operation, cost, name=call.name, inputs=inputs, output=output)


_HANDLERS: dict[str, Callable[[_Reader, Operation], OperationEstimate]] = {
    **dict.fromkeys(("GetDeviceOp", "EmptyOp", "DeallocOp"), _Reader.nothing),
    **dict.fromkeys(("ToLayoutOp", "ToDeviceOp", "ToMemoryConfigOp"), _Reader.move),
    **dict.fromkeys(("ConstantOp", "FullOp"), _Reader.constant),
    "GenericOp": _Reader.generic,
    **dict.fromkeys(("WhileOp", "CaseOp"), _Reader.control),
}
"""Operations about memory rather than numbers; all others are rows of the operation table."""
