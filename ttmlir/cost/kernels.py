"""Times programs of kernels in `.ttnn` files on the simulator, where that does not take long.

Kernels compute with zeros here: what moves and how often seldom depends on the numbers.
"""

from __future__ import annotations

import numpy as np

from ttmlir.cost.machine import Machine
from ttmlir.cost.workload import LATENCY, PROCESSOR, OperationCost, Stage, Workload
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.errors import RuntimeFailure

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
    from ttmlir.runtime.generic.reading import read_generic
    from ttmlir.runtime.generic.run import run_generic
    from ttmlir.sim.errors import SimError
    from ttmlir.sim.machine.chip import SimChip
    from ttmlir.sim.options import SimOptions
    from ttmlir.sim.timing.roofline import bound

    program = read_generic(operation)
    inputs = [np.zeros(desc.shape, desc.element.compute) for desc in program.input_descs]
    options = SimOptions(numerics="exact", sanitize=False, cycle_limit=_MOST_CYCLES)
    try:
        chip = SimChip.from_desc(machine.chip)
        run = run_generic(program, inputs, chip, options, print_line=lambda _: None)
    except (SimError, RuntimeFailure) as error:
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
