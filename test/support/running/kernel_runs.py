"""Functions of ttir on the simulator, by way of `ttir-to-ttmetal-pipeline`."""

from __future__ import annotations

from typing import Any

import numpy as np
from running.pass_runner import ttm_of

from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import MetalRun, execute
from ttmlir.sim.options import SimOptions

KERNEL_PIPELINE = "ttir-to-ttmetal-pipeline"

Array = np.ndarray[Any, Any]


def run_kernels(
    text: str, *inputs: Array, options: str = "", exact: bool = True, timed: bool = False
) -> MetalRun:
    """A run of the only function of a module, with all checks; `options` are the pipeline's.

    `exact`: without the roundings of the chip.
    """
    passes = f"{KERNEL_PIPELINE}={options}" if options else KERNEL_PIPELINE
    binary = read_binary(ttm_of(text, passes), "test.ttm")
    assert isinstance(binary, MetalBinary)
    sim_options = SimOptions(numerics="exact" if exact else "device", timed=timed)
    run = execute(binary.metal_programs[0], [np.ascontiguousarray(x) for x in inputs], sim_options)
    assert not [finding for each in run.reports for finding in each.report.findings]
    return run
