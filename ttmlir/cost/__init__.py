"""How long a program would take on a card, and what of it each operation takes, without running it.

    from ttmlir.cost import estimate_program
    from ttmlir.runtime import load_binary

    estimate = estimate_program(load_binary("net.ttnn").program(0), board="n150")
    print(estimate)                      # a table
    for each in estimate.operations:     # one row per operation of the program, by its index
        print(each.name, each.location, each.low, each.mid, each.high, each.bound_by)
        print(each.flops, each.bytes, each.utilisation, estimate.share(each))
    print(estimate.total.mid, estimate.memory.l1.peak, estimate.memory.dram.by_operation)

Times are nanoseconds, with bounds: `low` if only the busiest unit counts, `high` if nothing
overlaps. `board` is a name such as "n150" or "p150", or the path of a `.ttsys` file; without it the
system counts that the file was compiled for. `estimate_works` does the same for lists of shapes
(`ttmlir.cost.work`), and `program_memory` only follows the memory. docs/cost.md says how good the
estimates are.

Names are loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ttmlir.errors import MissingNameError

if TYPE_CHECKING:
    from ttmlir.cost.estimate import Estimate, OperationEstimate, Rate
    from ttmlir.cost.machine import Machine
    from ttmlir.cost.program import estimate_program, find_machine
    from ttmlir.cost.times import estimate_works
    from ttmlir.cost.work import MatmulConfig, Work
    from ttmlir.cost.workload import Interval
    from ttmlir.runtime.memory import MemoryUse, ProgramMemory, program_memory

_HOMES = {
    "Estimate": "ttmlir.cost.estimate",
    "Interval": "ttmlir.cost.workload",
    "Machine": "ttmlir.cost.machine",
    "MatmulConfig": "ttmlir.cost.work",
    "MemoryUse": "ttmlir.runtime.memory",
    "OperationEstimate": "ttmlir.cost.estimate",
    "ProgramMemory": "ttmlir.runtime.memory",
    "Rate": "ttmlir.cost.estimate",
    "Work": "ttmlir.cost.work",
    "estimate_program": "ttmlir.cost.program",
    "estimate_works": "ttmlir.cost.times",
    "find_machine": "ttmlir.cost.program",
    "program_memory": "ttmlir.runtime.memory",
}

__all__ = [
    "Estimate",
    "Interval",
    "Machine",
    "MatmulConfig",
    "MemoryUse",
    "OperationEstimate",
    "ProgramMemory",
    "Rate",
    "Work",
    "estimate_program",
    "estimate_works",
    "find_machine",
    "program_memory",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
