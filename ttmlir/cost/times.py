"""How long operations take: the estimate of each, and the time of what it says that cores do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ttmlir.cost.estimate import Estimate, OperationEstimate, peak_flops
from ttmlir.cost.families.contraction import cost_attention, cost_matmul, cost_rotation
from ttmlir.cost.families.elementwise import cost_elementwise
from ttmlir.cost.families.movement import (
    cost_concat,
    cost_concatenate_heads,
    cost_copy,
    cost_creation,
    cost_embedding,
    cost_fill,
    cost_lines,
    cost_pad,
    cost_permute,
    cost_permute_rows,
    cost_repeat,
    cost_repeat_interleave,
    cost_reshape,
    cost_slice,
    cost_tilize,
    cost_transpose,
    cost_untilize,
    cost_update,
)
from ttmlir.cost.families.reduction import (
    cost_batch_norm,
    cost_cumsum,
    cost_group_norm,
    cost_layer_norm,
    cost_ordering,
    cost_reduction,
    cost_rms_norm,
    cost_softmax,
)
from ttmlir.cost.families.window import cost_convolution, cost_pool
from ttmlir.cost.machine import Machine
from ttmlir.cost.work import Work, tensor_bytes
from ttmlir.cost.workload import DISPATCH, HOST, NOTHING, PCIE, Interval, OperationCost, Workload
from ttmlir.layout.enums import MathFidelity
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Family
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import tile_bytes
from ttmlir.sim.timing.launch import replayed_ns

NOTHING_BINDS = "nothing"


def program_time(machine: Machine, workload: Workload) -> Interval:
    """Nanoseconds of a program with its launch.

    The next program is made ready while this one runs, so launching costs only a gap, unless the
    program is shorter than launching it. High: nothing is hidden.
    """
    kernels = _kernel_time(machine, workload)
    launch = machine.launch_ns
    return Interval(
        kernels.low + machine.launching.least_gap,
        replayed_ns(launch, kernels.mid, machine.arch),
        kernels.high + launch,
    )


def _kernel_time(machine: Machine, workload: Workload) -> Interval:
    """Nanoseconds of the kernels; never less than DRAM takes for what they move."""
    cycles = workload.cycles
    memory = min(cycles.mid, workload.dram_bytes / machine.dram_rate)
    bounded = Interval(max(cycles.low, memory), cycles.mid, cycles.high, "cycles")
    return bounded.scale(1e9 / machine.clock_hz, "ns")


def estimate_cost(
    machine: Machine,
    cost: OperationCost,
    *,
    index: int,
    name: str,
    location: str = "",
    inputs: tuple[TensorDesc, ...] = (),
    output: TensorDesc | None = None,
    traced: bool = True,
) -> OperationEstimate:
    """The definition of an operation of which it is known what it does.

    Without a trace, the host's call and the kernels of the operation before it overlap, so that the
    longer of both counts.
    """
    called = Interval(0.0, machine.launching.host_call, machine.launching.slow_host_call)
    time, kernels = NOTHING, NOTHING
    for workload in cost.programs:
        time = time + program_time(machine, workload)
        kernels = kernels + _kernel_time(machine, workload)
    for transfer in cost.transfers:
        # The rates are measured ones of large transfers, which vary by a few per cent; a transfer
        # that is not enqueued ahead waits for the host's call.
        moved = transfer.nanoseconds
        time = time + Interval(moved, moved, moved + called.mid)
    bound_by = _bound_by(machine, cost)
    if cost.programs and not traced:
        bound_by = HOST if called.mid > time.mid else bound_by
        time = Interval(time.low, max(time.mid, called.mid), max(time.high, called.high))
    time = time + called.scale(cost.host_calls)
    flops = sum(workload.flops for workload in cost.programs)
    dram = sum(workload.dram_bytes for workload in cost.programs)
    fidelity = next((each.fidelity for each in cost.programs if each.fidelity is not None), None)
    seconds = kernels.mid / 1e9
    peak = peak_flops(machine, fidelity or MathFidelity.LOFI)
    is_product = fidelity is not None
    return OperationEstimate(
        index=index,
        name=name,
        location=location,
        time=time,
        kernels=kernels,
        bound_by=bound_by,
        flops=flops,
        bytes=dram + sum(transfer.bytes for transfer in cost.transfers),
        noc_bytes=sum(workload.noc_bytes for workload in cost.programs),
        programs=len(cost.programs),
        cores=max((workload.cores for workload in cost.programs), default=0),
        fidelity=fidelity,
        flops_utilisation=flops / (seconds * peak) if seconds and is_product else 0.0,
        dram_utilisation=dram / (seconds * machine.dram_rate * machine.clock_hz)
        if seconds
        else 0.0,
        on_host=not cost.programs,
        notes=tuple(
            dict.fromkeys(
                (*cost.notes, *(note for workload in cost.programs for note in workload.notes))
            )
        ),
        inputs=inputs,
        output=output,
        links=cost.links,
    )


def _bound_by(machine: Machine, cost: OperationCost) -> str:
    if cost.programs:
        longest = max(cost.programs, key=lambda each: each.cycles.mid)
        kernels = machine.nanoseconds(longest.cycles.mid)
        hidden = replayed_ns(machine.launch_ns, kernels, machine.arch) > machine.launch_ns
        return longest.bound_by if hidden else DISPATCH
    if cost.host_calls and not cost.transfers:
        return HOST
    return PCIE if cost.transfers else NOTHING_BINDS


def estimate_works(
    machine: Machine,
    works: Iterable[Work],
    name: str = "shapes",
    *,
    inputs: Sequence[TensorDesc] = (),
    outputs: Sequence[TensorDesc] = (),
) -> Estimate:
    """The estimate of a list of shapes, one operation after the other.

    With `inputs` or `outputs` the host has its share: it writes the ones, replays the trace, and
    reads the others, a call each.
    """
    rows = [
        estimate_cost(
            machine,
            cost_operation(machine, work),
            index=index,
            name=f"ttnn.{work.mnemonic}",
            inputs=work.operands,
            output=work.output,
        )
        for index, work in enumerate(works)
    ]
    calls = [("to_device", desc, True) for desc in inputs]
    calls += [("from_device", desc, False) for desc in outputs]
    if calls:
        replay = OperationCost(host_calls=1)
        rows.append(estimate_cost(machine, replay, index=len(rows), name="ttnn.execute_trace"))
    for operation, desc, is_write in calls:
        transfer = machine.host_transfer(
            tensor_bytes(desc), tile_bytes(desc.data_type), is_write=is_write
        )
        cost = OperationCost(transfers=(transfer,), host_calls=1)
        rows.append(estimate_cost(machine, cost, index=len(rows), name=f"ttnn.{operation}"))
    return Estimate(name, machine, tuple(rows))


# --- Operations -----------------------------------------------------------------------------------
# Which function estimates which operation: every operation of the schema has one.


Cost = Callable[[Machine, Work], OperationCost]

COSTS: Mapping[str, Cost] = {
    "matmul": cost_matmul,
    "conv2d": cost_convolution,
    "conv_transpose2d": cost_convolution,
    "max_pool2d": cost_pool,
    "avg_pool2d": cost_pool,
    "softmax": cost_softmax,
    "batch_norm_inference": cost_batch_norm,
    "cumsum": cost_cumsum,
    **dict.fromkeys(("sort", "topk"), cost_ordering),
    "transpose": cost_transpose,
    "permute": cost_permute,
    "concatenate_heads": cost_concatenate_heads,
    "reshape": cost_reshape,
    "concat": cost_concat,
    "slice": cost_slice,
    "pad": cost_pad,
    "repeat": cost_repeat,
    "repeat_interleave": cost_repeat_interleave,
    **dict.fromkeys(("embedding", "rows_gather"), cost_embedding),
    **dict.fromkeys(("update_cache", "paged_update_cache"), cost_update),
    **dict.fromkeys(("fill_cache", "paged_fill_cache"), cost_fill),
    **dict.fromkeys(("reverse", "gather", "slice_dynamic"), cost_lines),
    **dict.fromkeys(("full", "arange", "constant"), cost_creation),
    # Programs of ttnn that files have no operation for, for lists of shapes.
    "layer_norm": cost_layer_norm,
    "rms_norm": cost_rms_norm,
    "group_norm": cost_group_norm,
    "scaled_dot_product_attention": cost_attention,
    "rotary_embedding": cost_rotation,
    "tilize": cost_tilize,
    "untilize": cost_untilize,
    "permute_rows": cost_permute_rows,
}
"""By mnemonic; those that are missing follow from their family."""

_BY_FAMILY: Mapping[Family, Cost] = {
    Family.UNARY: cost_elementwise,
    Family.BINARY: cost_elementwise,
    Family.TERNARY: cost_elementwise,
    Family.REDUCTION: cost_reduction,
}


def cost_operation(machine: Machine, work: Work) -> OperationCost:
    """What an operation does on a machine; of an unknown one the movement of its tensors."""
    if not all(desc.volume for desc in (*work.operands, work.output)):
        return OperationCost(notes=("tensors without elements take no time",))
    cost = COSTS.get(work.mnemonic)
    if cost is None and work.mnemonic in DEFINITIONS:
        cost = _BY_FAMILY.get(DEFINITIONS[work.mnemonic].family)
    return (cost or cost_copy)(machine, work)
