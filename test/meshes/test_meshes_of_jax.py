"""Programs of `shard_map` and of `jit` with shardings on simulated meshes, against JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from test.support.running.sampling import sampled
from test.support.samples.mesh_programs import arrays, recorded
from ttmlir.frontend.compiled import CompiledModel
from ttmlir.frontend.dispatch import compile


def run(of: str, name: str, text: str = "text") -> CompiledModel:
    """Compile a program from JAX's text, and compare each result with the whole array of JAX."""
    program = recorded(of)[name]
    model = compile(program[text].tobytes().decode())
    given = [
        # Narrow types are recorded as float32.
        array.astype(desc.element.host) if array.dtype == np.float32 else array
        for array, (_, desc) in zip(arrays(program, "argument"), model.inputs, strict=True)
    ]
    made: Any = model(*given)
    results: list[Any] = [*made] if isinstance(made, tuple | list) else [made]
    for result, expected in zip(results, arrays(program, "result"), strict=True):
        # Pools of the library are of bfloat16.
        tolerance = 1e-2 if "float16" in name or "pool" in name else 2e-5
        largest = np.abs(np.nan_to_num(expected.astype(np.float64), posinf=0, neginf=0)).max(
            initial=1
        )
        np.testing.assert_allclose(
            np.asarray(result, expected.dtype),
            expected,
            rtol=tolerance,
            atol=tolerance * largest / 9,
        )
    return model


@pytest.mark.parametrize("name", sampled(sorted(recorded("shard_map")), every=4))
def test_shard_map(name: str) -> None:
    """Devices compute what the program says of each."""
    run("shard_map", name)


@pytest.mark.parametrize("name", sampled(sorted(recorded("jit")), every=4))
def test_jit(name: str) -> None:
    """Arguments and results are divided, and so is what is computed between them."""
    run("jit", name)


@pytest.mark.parametrize("name", sampled(sorted(recorded("transformed")), every=4))
def test_transformed(name: str) -> None:
    """Transformed functions, and meshes of three axes."""
    run("transformed", name)


@pytest.mark.filterwarnings("default:.*are kept as:UserWarning")
@pytest.mark.parametrize("name", sampled(sorted(recorded("mixed")), every=4))
def test_mixed(name: str) -> None:
    """Programs that mix several kinds of division."""
    run("mixed", name)


@pytest.mark.parametrize("name", sampled(sorted(recorded("transformed"))[::3], every=4))
def test_transformed_with_gspmd(name: str) -> None:
    """The same in the words of the older partitioner, whose meshes are found."""
    run("transformed", name, "gspmd")


@pytest.mark.parametrize("name", sampled(sorted(recorded("explicit")), every=4))
def test_explicit(name: str) -> None:
    """Types say how arrays lie, and functions where results go."""
    run("explicit", name)


@pytest.mark.parametrize("name", sampled(sorted(recorded("shard_map"))[::3], every=4))
def test_shard_map_with_gspmd(name: str) -> None:
    """What JAX writes for its older partitioner has the same results."""
    assert b"sdy." not in recorded("shard_map")[name]["gspmd"].tobytes()
    run("shard_map", name, "gspmd")


@pytest.mark.parametrize("name", sampled(sorted(recorded("jit"))[::3], every=4))
def test_jit_with_gspmd(name: str) -> None:
    """Shardings of GSPMD spread as those of Shardy do."""
    run("jit", name, "gspmd")
