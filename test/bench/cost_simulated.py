"""Prints estimates beside times of kernels that the simulator runs.

`python test/bench/cost_simulated.py` prints what docs/cost.md sums up.
"""

from __future__ import annotations

from collections.abc import Iterator

import eltwise_report
import gemm_report
import jax.numpy as jnp
import numpy as np
from cost_models import BF16, BFP4, BFP8, sharded
from cost_report import HIFI4, N150, Case, product, report
from gemm_report import CASES as GEMM_CASES
from ml_dtypes import bfloat16

import ttmlir
from ttmlir.cost.work import MatmulConfig, Work, make_desc


def simulated_cases() -> Iterator[Case]:
    """Kernels that the simulator runs: written by hand in the way of ttnn's, and compiled."""
    for case in eltwise_report.CASES:
        shape = case.rows, case.columns
        zeros = np.zeros(shape, np.float32)
        _, times = eltwise_report.simulate(case, (zeros, zeros))
        operands = 2 if case.operation == eltwise_report.ADD else 1
        desc = make_desc(shape)
        yield Case(
            name=f"{case.operation} {case.rows}x{case.columns}",
            source="eltwise_report.py",
            machine=N150,
            works=[Work(mnemonic=case.operation, operands=(desc,) * operands, output=desc)],
            measured_ns=times.kernel_ns,
        )
    for shape in ((512, 512, 512), (1024, 1024, 1024)):
        for compared in gemm_report.compare([shape], list(GEMM_CASES)):
            word, _ = compared.case.split()
            yield Case(
                name=f"{'x'.join(map(str, shape))} {compared.case}",
                source="gemm_report.py",
                machine=N150,
                works=product(
                    shape,
                    {"bf16": BF16, "bfp8": BFP8, "bfp4": BFP4}[word],
                    GEMM_CASES[compared.case][1],
                    MatmulConfig(block_depth=max(1, shape[1] // 256)),
                    in_l1=True,
                ),
                measured_ns=compared.simulated,
            )
    yield from compiled_cases()


def compiled_cases() -> Iterator[Case]:
    """Operations on shards in L1, estimated, and as compiled kernels, simulated."""
    rng = np.random.default_rng(0)
    for title, name, function, shapes in (
        ("tanh 512x512 bf16", "tanh", jnp.tanh, [(512, 512)]),
        ("add 512x512 bf16", "add", jnp.add, [(512, 512)] * 2),
        ("matmul 512x512x512 bf16", "matmul", jnp.matmul, [(512, 512)] * 2),
    ):
        arrays = [rng.random(shape).astype(bfloat16) for shape in shapes]
        simulated = ttmlir.compile(function, *arrays, target="kernels", board="n150")
        desc = sharded(shapes[0], BF16)
        yield Case(
            name=title,
            source="target=kernels",
            machine=N150,
            works=[
                Work(
                    mnemonic=name,
                    operands=(desc,) * len(shapes),
                    output=desc,
                    fidelity=HIFI4,
                )
            ],
            measured_ns=simulated.profile(*arrays).nanoseconds,
        )


if __name__ == "__main__":
    print("\n".join(report("Kernels", simulated_cases())).replace("Measured", "Simulated"))
