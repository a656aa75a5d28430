"""Files of tt-mlir run on the simulator: their tensors end up with NumPy's numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ttmlir.runtime import InputError, Tensor, get_layout, open_device, submit, to_layout
from ttmlir.runtime.loading import load_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import TT_MLIR_LENIENCIES, MetalRun, execute
from ttmlir.sim.options import SimOptions

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
PROGRAMS: list[tuple[str, Callable[..., np.ndarray]]] = [
    ("multiply_3d", np.multiply),
    ("chain", lambda x, y, *rest: (x + y) * y),
    ("dram_to_l1", lambda x: x),
    ("one_core_to_four", lambda x: x),
]


def run(name: str, *, numerics: str, seed: int | None = None) -> tuple[MetalRun, list[np.ndarray]]:
    """A run of the first program of a file on random inputs, and the inputs."""
    binary = load_binary(GOLDEN / f"{name}.ttm")
    assert isinstance(binary, MetalBinary)
    program = binary.metal_programs[0]
    rng = np.random.default_rng(3)
    shapes = [tensor.ref.desc.shape for tensor in program.input_tensors]
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    options = SimOptions(
        numerics="exact" if numerics == "exact" else "device",
        schedule_seed=seed,
        leniencies=TT_MLIR_LENIENCIES,
    )
    return execute(program, inputs, options), inputs


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize(("name", "meaning"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_exact_results_are_numpys(
    name: str, meaning: Callable[..., np.ndarray], seed: int | None
) -> None:
    """In float32 throughout, in any order of the threads."""
    result, inputs = run(name, numerics="exact", seed=seed)
    [output] = result.outputs
    np.testing.assert_allclose(output, meaning(*inputs), rtol=1e-6, atol=1e-6)
    assert not [finding for each in result.reports for finding in each.report.findings]


@pytest.mark.parametrize(("name", "meaning"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_device_results_are_half_precision(name: str, meaning: Callable[..., np.ndarray]) -> None:
    """These kernels compute in 16-bit numbers of 10 bits after the leading one.

    A number passes at most four kernels, each of which cuts it off and rounds the result; numbers
    below 2^-14 are zero, which a factor of at most 5 makes larger.
    """
    result, inputs = run(name, numerics="device")
    [output] = result.outputs
    largest = meaning(*(np.abs(each) for each in inputs))
    assert np.all(np.abs(output - meaning(*inputs)) <= 6 * 2**-10 * largest + 5 * 2**-14)
    assert result.cycles > 0


def test_submit_runs_kernels_and_checks_tensors() -> None:
    """Tensors go to the device and back as for other programs."""
    binary = load_binary(GOLDEN / "multiply_3d.ttm")
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal((2, 32, 64)).astype(np.float32) for _ in range(2))
    device = open_device()
    inputs = [
        to_layout(Tensor.from_numpy(each), device, get_layout(binary, 0, i))
        for i, each in enumerate((x, y))
    ]
    [result] = submit(device, binary, 0, inputs)
    np.testing.assert_allclose(result.to_numpy(), x * y, rtol=1e-6)
    assert device.counters.programs == 1
    with pytest.raises(InputError, match="takes 2 inputs, got 1"):
        submit(device, binary, 0, inputs[:1])
    target = Tensor.from_numpy(np.zeros_like(x))
    submit(device, binary, 0, inputs, [target])
    np.testing.assert_allclose(target.to_numpy(), x * y, rtol=1e-6)
