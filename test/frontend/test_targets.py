"""`ttmlir.compile(..., target=...)`: files, texts, profiles and messages of each target."""

from __future__ import annotations

import json
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttmlir
from ttmlir.compiler import PIPELINES
from ttmlir.frontend.targets import TARGETS
from ttmlir.interpreter.file_levels import FILE_LEVELS
from ttmlir.runtime import InputError
from ttmlir.tools.ttrt import main

RANDOM = np.random.default_rng(11)
X, Y = RANDOM.standard_normal((2, 33, 70)).astype(np.float32)
TEXT = """
func.func @gate(%x: tensor<33x70xf32>, %y: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = stablehlo.tanh %x : tensor<33x70xf32>
  %1 = stablehlo.multiply %0, %y : tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}
"""


def gate(x: Any, y: Any) -> Any:
    """tanh(x) y by whatever module the operands are of."""
    library = import_module("torch" if type(x).__module__.startswith("torch") else "jax.numpy")
    return library.tanh(x) * y


def test_integers_that_kernels_cut() -> None:
    """A warning names what may not fit into 32 bits, with its line; pickles keep it."""
    torch = import_module("torch")
    given = torch.full((3, 5), 2**30, dtype=torch.int32)

    def total(t: Any) -> Any:
        return t.sum(1), t.float().argmin(1)

    with pytest.warns(UserWarning, match=r"'total': integers of 64 bits .*: ttir\.sum \(test_tar"):
        compiled = ttmlir.compile(total, given, target="kernels")
    (said,) = compiled.warnings
    assert said.endswith("; target='ttnn' computes all bits in exact numerics")
    assert pickle.loads(pickle.dumps(compiled)).warnings == (said,)
    plain = ttmlir.compile(total, given)
    assert plain.warnings == ()
    np.testing.assert_array_equal(plain(given)[0], [5 * 2**30] * 3)


def test_an_assignment_at_an_edge_leaves_nothing_empty() -> None:
    """Kernels take no tensors without elements, such as what is in front of the first row."""

    def change(x: Any) -> Any:
        x = x.clone()
        x[0] = 0
        x[..., 30:] = x[..., 30:] * 2
        return x

    torch = import_module("torch")
    given = torch.from_numpy(X)
    compiled = ttmlir.compile(change, given, target="kernels")
    assert "tensor<0x" not in compiled.text("ttir")
    np.testing.assert_allclose(compiled(given).numpy(), change(given).numpy(), rtol=1e-6)


def compile_gate(**options: Any) -> ttmlir.CompiledModel:
    """The gate as kernels, from JAX."""
    return ttmlir.compile(gate, X, Y, target="kernels", **options)


def test_targets_are_named() -> None:
    """A wrong name is an error that lists the right ones, before the model is looked at."""
    name: Any = "cpu"
    with pytest.raises(ValueError, match="targets are 'ttnn', 'kernels', not 'cpu'"):
        ttmlir.compile(object(), target=name)


def test_all_parts_know_the_same_targets() -> None:
    """Pipelines, files of models, and what bisection runs."""
    assert [*TARGETS] == [*PIPELINES] == [*FILE_LEVELS]
    assert all(name == target.name for name, target in TARGETS.items())


def test_the_target_is_ttnn_unless_another_is_asked_for() -> None:
    """Of library calls nobody counts cycles."""
    model = ttmlir.compile(gate, X, Y)
    assert (model.target, model.suffix) == ("ttnn", ".ttnn")
    assert "ttnn operations" in repr(model)
    with pytest.raises(InputError, match=r"takes no cycles; compile .* target='kernels'"):
        model.profile(X, Y)


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_models_of_jax_torch_and_text_run_as_kernels(numerics: Any) -> None:
    """All give what NumPy gives."""
    torch: Any = import_module("torch")
    tensors = [torch.from_numpy(each) for each in (X, Y)]
    results = [
        compile_gate()(X, Y, numerics=numerics),
        ttmlir.compile(gate, *tensors, target="kernels")(*tensors, numerics=numerics),
        ttmlir.compile(TEXT, target="kernels", numerics=numerics)(X, Y),
    ]
    tolerance = 1e-6 if numerics == "exact" else 4e-3
    for result in results:
        np.testing.assert_allclose(np.asarray(result), np.tanh(X) * Y, atol=tolerance)


def test_what_there_is_to_see() -> None:
    """MLIR down to kernels in C++; the form between them has blocks and addresses."""
    model = compile_gate()
    assert (model.target, model.suffix) == ("kernels", ".ttm")
    assert model.stages == ("stablehlo", "ttir", "d2m", "ttmetal", "cpp")
    assert '"ttir.tanh"' in model.text("ttir")
    scheduled = model.text("d2m")
    assert "d2m.tile_tanh" in scheduled
    assert "address = " in scheduled
    assert "ttmetal.enqueue_program" in model.text("ttmetal")
    assert "tanh_tile(" in model.text("cpp")
    assert repr(model).startswith("CompiledModel(gate(x: float32[33,70], y: float32[33,70]) -> ")
    assert "of kernels, " in repr(model)
    with pytest.raises(ValueError, match="stages are stablehlo, ttir, d2m, ttmetal, cpp"):
        model.text("ttnn")


def test_options_are_those_of_the_pipeline() -> None:
    """One core instead of all."""
    whole, single = (compile_gate(options=each) for each in ("", "override-device-shape=1,1"))
    cores = [
        {
            thread.core
            for program in model.profile(X, Y).programs
            for thread in program.report.threads
        }
        for model in (whole, single)
    ]
    assert len(cores[0]) > 1
    assert cores[1] == {(0, 0)}


def test_the_file_holds_the_framework_s_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ttrt run --golden` compares each program, and the results with JAX's."""
    path = compile_gate().save(tmp_path / "gate.ttm", golden=True)
    assert main(["run", "--golden", "--artifact-dir", str(tmp_path), str(path)]) == 0
    printed = "".join(capsys.readouterr())
    assert "golden ok  output 0: pcc 1.000000" in printed
    assert "golden ok  operation" in printed


def test_a_profile_tells_cycles_and_traffic(tmp_path: Path) -> None:
    """Inputs and results pass DRAM or L1; the trace is for viewers."""
    model = compile_gate(options="default-input-memspace=dram default-output-memspace=dram")
    profile = model.profile(X, Y, numerics="device")
    np.testing.assert_allclose(np.asarray(profile.output), np.tanh(X) * Y, atol=4e-3)
    assert profile.cycles == sum(each.times.cycles for each in profile.programs) > 0
    assert profile.nanoseconds == profile.cycles
    # Three tensors of 2x3 tiles of 4096 bytes.
    assert profile.dram_bytes >= 3 * 6 * 4096
    assert "bound by" in str(profile)
    assert "tanh" in profile.threads()
    profile.write_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(event["name"] == "tanh_tile" for event in events)
    assert model.profile(X, Y).cycles == profile.cycles


def test_arguments_that_do_not_fit_are_named() -> None:
    """As with the other target."""
    with pytest.raises(InputError, match=r"y is float32\[70,33\] instead of float32\[33,70\]"):
        compile_gate()(X, Y.T)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16, np.int32])
def test_results_have_the_types_of_the_framework(dtype: Any) -> None:
    """Truth values and numbers of all widths that models have."""
    x, y = (np.asarray(each * 8).astype(dtype) for each in (X, Y))
    total, less = ttmlir.compile(lambda x, y: (x + y, x < y), x, y, target="kernels")(x, y)
    assert (total.dtype, less.dtype) == (dtype, np.bool_)
    np.testing.assert_array_equal(np.asarray(less), x < y)
    np.testing.assert_allclose(
        np.asarray(total).astype(np.float32), (x + y).astype(np.float32), rtol=2**-7
    )


def test_numbers_of_f16_keep_their_bits_beside_truth_values() -> None:
    """Those are stored as bf16, and a DST of 16 bits has one format for both."""
    jnp: Any = import_module("jax.numpy")
    x, mask = X.astype(np.float16), Y > 0

    def choose(x: Any, mask: Any) -> Any:
        return jnp.where(mask, x, -x), jnp.pad(x, 1)

    found = ttmlir.compile(choose, x, mask, target="kernels")(x, mask, numerics="device")
    for one, other in zip(found, (np.where(mask, x, -x), np.pad(x, 1)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_compiling_twice_gives_the_same_file() -> None:
    """Also of kernels."""
    assert compile_gate().to_bytes() == compile_gate().to_bytes()
