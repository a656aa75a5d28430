"""Scripts of recorded modules compute on ttnn what the recorded files compute in the runtime."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest
from answers import Archive

from ttmlir import ttnn
from ttmlir.compiler import parse, transform
from ttmlir.frontend.compiled import load
from ttmlir.target.python import emitter
from ttmlir.target.python.emitter import emit_python

_UTILS = Path(emitter.__file__).with_name("script_functions.py")
_ANSWERS = Archive("p150")
_NAMES = (
    "digamma-f32-33x70",
    "gelu-f32-31x66",
    "minimum-i32-5x7",
    "compare_gt-bf16-5x33",
    "subtract-f64-64x128",
    "convert-f32-33x70-to_i64",
    "transpose-f32-2x1x3x5x7-41302",
    "dynamic_iota-f32-5x7",
    "random_bits-u32-2",
    "concatenate-i32-5x7",
    "sort-bf16-5x33",
    "one_hot-i32-5-to_f32",
    "scatter-f32-33x70-rows_max",
    "scatter-f32-33x70-rows_min",
    "all-i32-5x33",
    "softmax-f32-2x33x5-axis_1",
    "matmul-bf16-33x70",
    "linear-f32-32x64-silu",
    "convolution_bias-bf16-1x16x16x8-relu",
    "max_pool-bf16-1x32x32x8",
    "reduce_window-f32-9x11-dilations",
    "batch_norm_training-f32-2x5x7x9",
    "group_norm-bf16-1x8x8x32",
    "mobilenet_block-bf16-1x16x16x8",
    "betainc-f32-5",
    "igamma-f32-5x7",
    "cond-f32-5x7-by_sum",
)


def _module(name: str, text: str, path: Path) -> ModuleType:
    made = ModuleType(name)
    made.__file__ = str(path)
    exec(compile(text, str(path), "exec"), made.__dict__)
    return made


def _run_script(text: str, inputs: list[Any], directory: Path) -> list[Any]:
    """What the script of a module of ttnn returns."""
    module = parse(text)
    transform(module, "ttnn-tuplify-tensors,ttnn-load-input-tensors,convert-ttnn-to-emitpy")
    for number, array in enumerate(inputs):
        kind = {"i": np.int32, "u": np.uint32, "b": np.int32}.get(array.dtype.kind, np.float32)
        np.save(directory / f"arg{number}.npy", array.astype(kind))
    sys.modules["ttnn"] = ttnn
    utils = _module("utils", _UTILS.read_text(encoding="utf-8"), directory / "utils.py")
    sys.modules["utils"] = utils
    script = _module("model", emit_python(module), directory / "model.py")
    try:
        arguments = []
        if hasattr(script, "load_inputs_for__main"):
            arguments = [script.load_inputs_for__main()]
        return [
            np.array(ttnn.from_device(each).to(ttnn.ROW_MAJOR_LAYOUT).to_list())
            for each in script._main(*arguments)
        ]
    finally:
        utils.DeviceGetter.close()


def _numbers(
    generator: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if dtype.kind in "iu":
        return generator.integers(1, 4, shape).astype(dtype)
    return generator.uniform(0.2, 0.9, shape).astype(dtype)


def compare(name: str, directory: Path) -> None:
    """Run a recorded program both ways."""
    answer = _ANSWERS[name]
    assert answer.ttnn_runtime is not None
    assert answer.binary is not None
    file = directory / "program.ttnn"
    file.write_bytes(answer.binary)
    program = load(file)
    generator = np.random.default_rng(7)
    inputs = [_numbers(generator, desc.shape, desc.element.host) for _, desc in program.inputs]
    returned: Any = program(*inputs)
    results = _run_script(answer.ttnn_runtime, inputs, directory)
    several = isinstance(returned, (list, tuple))
    expected = cast("list[Any]", [*returned] if several else [returned])
    assert len(results) == len(expected)
    for found, wanted in zip(results, expected, strict=True):
        wide = np.asarray(wanted).astype(np.float64)
        np.testing.assert_allclose(
            np.asarray(found, np.float64).reshape(wide.shape), wide, rtol=2e-2, atol=2e-2
        )


@pytest.mark.parametrize("name", _NAMES)
def test_script_computes_what_the_file_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all arguments as the compiler wrote them."""
    for module in ("ttnn", "utils"):
        monkeypatch.setitem(sys.modules, module, ttnn)
    compare(name, tmp_path)


def test_script_makes_a_step_of_adamw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library has no such function: it is composed, as torch computes it, in place."""
    for module in ("ttnn", "utils"):
        monkeypatch.setitem(sys.modules, module, ttnn)
    torch = pytest.importorskip("torch")
    answer = _ANSWERS["composite_adamw-bf16-1x1x32x64"]
    assert answer.ttnn_runtime is not None
    generator = np.random.default_rng(7)
    tensors = [generator.uniform(0.2, 0.9, (1, 1, 32, 64)).astype(np.float32) for _ in range(4)]
    # The seventh step: powers of the module's 0.9 and 0.999.
    numbers = [np.float32(each) for each in (0.25, 0.9**7, 0.999**7)]
    found = _run_script(answer.ttnn_runtime, [*tensors, *map(np.asarray, numbers)], tmp_path)
    param = torch.nn.Parameter(torch.tensor(tensors[0]))
    param.grad = torch.tensor(tensors[1])
    optimizer = torch.optim.AdamW([param], lr=0.25, weight_decay=0.01)
    means = {"exp_avg": torch.tensor(tensors[2]), "exp_avg_sq": torch.tensor(tensors[3])}
    optimizer.state[param] = {"step": torch.tensor(6.0), **means}
    optimizer.step()
    expected = [param, *(optimizer.state[param][name] for name in means)]
    assert len(found) == 3
    for array, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, wanted.detach().numpy(), rtol=2e-2, atol=1e-2)
