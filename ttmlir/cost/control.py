"""What loops and branches take: that of the functions that they call."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.cost.estimate import OperationEstimate
from ttmlir.cost.workload import NOTHING
from ttmlir.runtime.binary import BinaryProgram, Operation
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.execution.control import function_of

ONE_TURN_NOTE = "the iterations of a loop depend on data: one is counted"
ONE_BRANCH_NOTE = "of branches, the one that takes longest is counted"

Rows = Sequence[OperationEstimate]
"""The operations of a function."""


def estimate_control(
    program: BinaryProgram, operation: Operation, functions: Sequence[Rows]
) -> OperationEstimate:
    """The estimate of a loop or branch; `functions` are those of the file, by number."""
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
        on_host=all(row.on_host for row in rows),
        notes=tuple(dict.fromkeys((*notes, *inner))),
    )
