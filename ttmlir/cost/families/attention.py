"""Attention in one program: products, softmax and products again, on blocks that stay in L1."""

from __future__ import annotations

from ttmlir.cost.families.contraction import block_stages
from ttmlir.cost.families.reduction import FAST_EXP, REDUCE, pass_cycles
from ttmlir.cost.functions import function_cycles
from ttmlir.cost.machine import Machine
from ttmlir.cost.tensors import TILE, cores_for, dram_bytes, join, network_bytes, reading, writing
from ttmlir.cost.work import Work
from ttmlir.cost.workload import COMPUTE, OperationCost, Stage, Workload
from ttmlir.sim.timing.costs import MATMUL_PHASE, fidelity_phases

_PASSES = (REDUCE, "sub_tiles_bcast", FAST_EXP, REDUCE)
"""On each tile of the scores; what is done once per row of tiles is left out."""


def cost_attention(machine: Machine, work: Work) -> OperationCost:
    """`scaled_dot_product_attention` of q [b, heads, s, d], k and v [b, kv heads, t, d].

    Each core has some blocks of rows of q, and goes through the blocks of k and v. Parameters:
    `q_chunk` and `k_chunk`, rows of a block; `is_causal`, which halves the work.
    """
    q, k, v = work.operands[:3]
    batch, heads, rows, width = q.shape
    columns = k.shape[2]
    q_chunk = min(int(work.parameters.get("q_chunk", TILE)), -(-rows // TILE) * TILE)
    k_chunk = min(int(work.parameters.get("k_chunk", TILE)), -(-columns // TILE) * TILE)
    down, across, depth = q_chunk // TILE, k_chunk // TILE, -(-width // TILE)
    units = batch * heads * -(-rows // q_chunk)
    blocks = -(-columns // k_chunk)
    causal = bool(work.parameters.get("is_causal", False))
    share = (blocks + 1) / (2 * blocks) if causal else 1.0
    cores = cores_for(machine, work.output, units)
    steps = max(1, round(-(-units // cores) * blocks * share))
    scores = _longest(machine, work, (down, across, depth))
    values = _longest(machine, work, (down, depth, across))
    passes = sum(pass_cycles(machine, call, q.data_type, work) for call in _PASSES)
    rescale = down * depth * pass_cycles(machine, "mul_tiles_bcast", q.data_type, work)
    phases = fidelity_phases(work.product_fidelity)
    exponential = function_cycles(machine.arch, "exp", approximate=True)
    least = down * across * (2 * depth * MATMUL_PHASE * phases + exponential / 2)
    read = join(
        [
            reading(machine, k, across * depth, cores),
            reading(machine, v, across * depth, cores),
        ]
    )
    written = writing(machine, work.output, down * depth, cores)
    flops = 4.0 * batch * heads * rows * columns * width * share
    workload = Workload(
        cores=cores,
        steps=steps,
        read=read,
        compute=(Stage(COMPUTE, scores + values + down * across * passes + rescale, least),),
        write=Stage(written.kind, written.cycles / blocks, written.ideal / blocks),
        flops=flops,
        dram_bytes=dram_bytes(q, work.output)
        + units * share * (dram_bytes(k, v) / batch) / k.shape[1],
        noc_bytes=network_bytes(q, k, v, work.output),
        fidelity=work.product_fidelity,
    )
    return OperationCost(programs=(workload,))


def _longest(machine: Machine, work: Work, block: tuple[int, int, int]) -> float:
    """Cycles of a product of blocks in L1."""
    formats = (work.operands[0].data_type, work.operands[1].data_type, work.output.data_type)
    stages = block_stages(machine, formats, block, work.product_fidelity, accumulates=False)
    return max(stage.cycles for stage in stages)
