"""Files and pickles as functions: names, containers and golden numbers come back."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ttmlir
from ttmlir.compiler import parse, write_ttnn
from ttmlir.runtime import BinaryError
from ttmlir.runtime.errors import InputError
from ttmlir.target.flatbuffer import tensors

GOLDEN = Path(__file__).parents[1] / "golden"
X = np.linspace(-1, 2, 21, dtype=np.float32).reshape(3, 7)
PARAMS = {"w": np.linspace(-2, 1, 35, dtype=np.float32).reshape(7, 5), "unused": np.ones(4)}


def layer(params: Any, x: Any, *, scale: Any) -> Any:
    """Two results in a dictionary, and nothing."""
    return {"y": jnp.tanh(x @ params["w"]) * scale, "rest": (x.sum(axis=0), None)}


class Counter(torch.nn.Module):
    """A module with state."""

    def __init__(self) -> None:
        """Counts calls."""
        super().__init__()
        self.dense = torch.nn.Linear(7, 3)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor, scale: int = 2) -> list[Any]:
        """A product, the number of calls, and something that is no tensor."""
        self.calls += 1
        return [self.dense(x) * scale, self.calls + 0, "done"]


def compiled_layer(**options: Any) -> ttmlir.CompiledModel:
    """The function of JAX."""
    scale = {"scale": jnp.float32(3)}
    return ttmlir.compile(layer, PARAMS, X, example_kwargs=scale, **options)


def check_layer(result: Any) -> None:
    """It is what NumPy computes."""
    np.testing.assert_allclose(result["y"], np.tanh(X @ PARAMS["w"]) * 3, atol=1e-5)
    np.testing.assert_allclose(result["rest"][0], X.sum(axis=0), atol=1e-5)
    assert result["rest"][1] is None


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_a_saved_function_of_jax(tmp_path: Path, spelling: Any) -> None:
    """It takes the same containers, of arrays of anybody, and returns the same ones."""
    path = compiled_layer(spelling=spelling).save(tmp_path / "layer.ttnn", golden=True)
    model = ttmlir.load(path)
    assert [name for name, _ in model.inputs][-2:] == ["x", "scale"]
    check_layer(model(PARAMS, X, scale=3.0))
    in_torch = {name: torch.tensor(array) for name, array in PARAMS.items()}
    check_layer(model(in_torch, jnp.asarray(X), scale=np.float32(3)))
    assert isinstance(model(PARAMS, X, scale=3.0)["y"], np.ndarray)
    assert isinstance(ttmlir.load(path, framework="jax")(PARAMS, X, scale=3)["y"], jax.Array)
    golden = model.golden
    assert golden is not None
    assert repr(golden) == "GoldenCall(2 arguments by position, scale)"
    check_layer(golden.result)
    check_layer(model(*golden.args, **golden.kwargs))
    assert repr(model).startswith("LoadedModel(layer(params['")
    assert model.save(tmp_path / "again.ttnn").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_other_arguments_than_those_of_the_model(tmp_path: Path, spelling: Any) -> None:
    """Messages name the model, the argument and what to do."""
    model = ttmlir.load(compiled_layer(spelling=spelling).save(tmp_path / "layer.ttnn"))
    assert model.golden is None
    with pytest.raises(InputError, match="'layer': takes 2 arguments by position, got 1"):
        model(PARAMS)
    with pytest.raises(InputError, match=r"'layer': argument 0 has the keys .*, got 'w'"):
        model({"w": PARAMS["w"]}, X, scale=3)
    message = r"x is float32\[7,3\] instead of float32\[3,7\]; give arguments of these shapes"
    with pytest.raises(InputError, match=message):
        model(PARAMS, X.T, scale=3)
    with pytest.raises(InputError, match="'layer': x is an array or a number, not a object"):
        model(PARAMS, object(), scale=3)


def test_kernels(tmp_path: Path) -> None:
    """A `.ttm` file is loaded in the same way."""
    model = compiled_layer(target="kernels")
    loaded = ttmlir.load(model.save(tmp_path / "layer.ttm", golden=True))
    assert loaded.golden is not None
    check_layer(loaded(*loaded.golden.args, **loaded.golden.kwargs))
    assert loaded.profile(PARAMS, X, scale=3).cycles > 0
    check_layer(pickle.loads(pickle.dumps(loaded))(PARAMS, X, scale=3))


@pytest.mark.parametrize("spelling", ["2024", "2026"])
@pytest.mark.parametrize("weights", ["constants", "arguments"])
def test_a_module_of_torch_with_state(tmp_path: Path, weights: Any, spelling: Any) -> None:
    """Weights that the file leaves outside are given when it is loaded; state is kept."""
    torch.manual_seed(0)
    module, x = Counter().eval(), torch.randn(2, 7)
    expected = module.dense(x) * 2
    model = ttmlir.compile(module, x, weights=weights, spelling=spelling)
    path = model.save(tmp_path / "counter.ttnn")
    with pytest.raises(InputError, match=r"the weights .*'calls' are not in the file; give them"):
        ttmlir.load(path)
    given = {**module.state_dict(), "calls": torch.zeros(1)}
    loaded = ttmlir.load(path, weights=given, framework="torch")
    for call in (1, 2):
        product, calls, word = loaded(x)
        assert torch.allclose(product, expected, atol=1e-5)
        assert (calls.item(), word) == (call, "done")
    again = pickle.loads(pickle.dumps(loaded))
    assert again(x)[1].item() == 3
    assert loaded(x)[1].item() == 3


OTHERS: dict[str, tuple[str, ...]] = {
    "bool": ("bfloat16", "float64", "uint8"),
    "bfloat16": ("float64", "float32"),
    "int32": ("float64", "int64", "bool"),
    "int8": ("float64", "uint8"),
    "float32": ("float64", "bfloat16"),
}


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_arguments_of_other_types(tmp_path: Path, spelling: Any) -> None:
    """None is converted: not in calls, not in those of files, not among weights."""
    given = {name: torch.ones(2, dtype=getattr(torch, name)) for name in OTHERS}
    compiled = ttmlir.compile(lambda **x: [*x.values()], example_kwargs=given, spelling=spelling)
    path = compiled.save(tmp_path / "types.ttnn", golden=True)
    loaded = ttmlir.load(path, framework="torch")
    assert loaded.golden is not None
    called = [compiled(**given), loaded(**given), loaded(**loaded.golden.kwargs)]
    assert all(
        each.dtype == given[each_name].dtype
        for results in called
        for each_name, each in zip(given, results, strict=True)
    )
    for name, others in OTHERS.items():
        for other in others:
            wrong = {**given, name: torch.ones(2, dtype=getattr(torch, other))}
            message = rf"arguments: {name} is {other}\[2\] instead of {name}\[2\]; "
            for model in (compiled, loaded):
                with pytest.raises(InputError, match=message):
                    model(**wrong)
    text = "func.func @f(%x: tensor<2xi1>) -> tensor<2xi1> { return %x : tensor<2xi1> }"
    with pytest.raises(InputError, match=r"x is float64\[2\] instead of bool\[2\]"):
        ttmlir.compile(text, spelling=spelling)(np.array([0.5, 2]))


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_state_of_other_types(tmp_path: Path, spelling: Any) -> None:
    """It begins with numbers of its own types, which Python's are if they fit."""

    def step(x: torch.Tensor, h: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
        h.add_(1)
        m.logical_not_()
        return x + h + m

    numbers = {"h": torch.tensor(4, dtype=torch.int32), "m": torch.tensor(True)}
    x = torch.ones(2)
    compiled = ttmlir.compile(step, x, *numbers.values(), keep=["h", "m"], spelling=spelling)
    path = compiled.save(tmp_path / "step.ttnn")
    for weights in (numbers, {"h": 4, "m": True}):
        loaded = ttmlir.load(path, weights=weights)
        np.testing.assert_array_equal(loaded(x), [6, 6])
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded))(x), [8, 8])
    for changed, message in (
        ({"h": torch.tensor(2**33 + 5)}, r"'h' is int64\[\] instead of int32\[\]"),
        ({"h": torch.tensor(1.5).double()}, r"'h' is float64\[\] instead of int32\[\]"),
        ({"h": 2**33}, "the weight 'h' is 8589934592, which int32 cannot hold"),
        ({"m": torch.tensor(0.5).bfloat16()}, r"'m' is bfloat16\[\] instead of bool\[\]"),
    ):
        with pytest.raises(InputError, match=message):
            ttmlir.load(path, weights={**numbers, **changed})


def test_weights_of_a_module(tmp_path: Path) -> None:
    """The module stands for its tensors by name; other things are refused."""
    module, x = torch.nn.Linear(7, 3), torch.randn(2, 7)
    path = ttmlir.compile(module, x, weights="arguments").save(tmp_path / "dense.ttnn")
    result = ttmlir.load(path, weights=module, framework="torch")(x)
    assert torch.allclose(result, module(x), atol=1e-5)
    for other in ("dense.safetensors", [module.weight], 3, torch.nn.Linear):
        with pytest.raises(TypeError, match="are a module of torch, or a dictionary of arrays by"):
            ttmlir.load(path, weights=other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (torch.Tensor.t, r"'0\.weight' is float32\[7,3\] instead of float32\[3,7\]; give arrays"),
        (torch.Tensor.double, r"'0\.weight' is float64\[3,7\] instead of float32\[3,7\]"),
    ],
)
def test_weights_that_do_not_fit(tmp_path: Path, change: Any, message: str) -> None:
    """They are named when the file is loaded, not in the first call."""
    module, x = torch.nn.Sequential(torch.nn.Linear(7, 3)), torch.randn(2, 7)
    path = ttmlir.compile(module, x, weights="arguments").save(tmp_path / "dense.ttnn")
    weights = module.state_dict()
    with pytest.raises(InputError, match=f"not those of the program: {message}"):
        ttmlir.load(path, weights={**weights, "0.weight": change(weights["0.weight"])})


def test_first_numbers_in_containers(tmp_path: Path) -> None:
    """Of what `keep` names, in the containers of the argument."""

    def add(x: Any, cache: Any) -> Any:
        cache["rows"][1].add_(x)
        return cache["rows"][1] * cache["rows"][0]

    def make() -> Any:
        return {"rows": [torch.ones(3), torch.full((3,), 2.0)]}

    x = torch.arange(3.0)
    path = ttmlir.compile(add, x, make(), keep="cache").save(tmp_path / "add.ttnn")
    loaded, cache = ttmlir.load(path, weights={"cache": make()}), make()
    for _ in range(2):
        np.testing.assert_array_equal(loaded(x), add(x, cache))
    with pytest.raises(InputError, match=r"the weights \"cache\['rows'\]\[1\]\" are not in"):
        ttmlir.load(path, weights={"cache": {"rows": make()["rows"][:1]}})


def test_a_file_without_a_signature() -> None:
    """Arrays by position, one result as such."""
    model = ttmlir.load(GOLDEN / "add.ttnn")
    x, y = np.random.default_rng(0).standard_normal((2, 64, 128), np.float32)
    np.testing.assert_allclose(model(x, y), x + y)
    assert "input 1: float32[64,128]" in repr(model)


def test_a_program_of_several() -> None:
    """By its number."""
    x = np.random.default_rng(0).standard_normal((33, 70), np.float32)
    model = ttmlir.load(GOLDEN / "two_functions.ttnn", program=1)
    np.testing.assert_array_equal(model(x), x)
    with pytest.raises(InputError, match="there is no program 2; the file has 2"):
        ttmlir.load(GOLDEN / "two_functions.ttnn", program=2)


def test_what_is_no_program(tmp_path: Path) -> None:
    """Files that are missing or something else, and frameworks that nobody knows."""
    with pytest.raises(BinaryError, match=r"no\.ttnn: No such file"):
        ttmlir.load(tmp_path / "no.ttnn")
    with pytest.raises(BinaryError, match="expected a program, got a system description"):
        ttmlir.load(GOLDEN / "one_chip.ttsys")
    with pytest.raises(ValueError, match="framework is 'jax', 'torch' or '' for NumPy, not 'tf'"):
        ttmlir.load(GOLDEN / "add.ttnn", framework="tf")


def test_a_compiled_model_of_jax_in_a_pickle() -> None:
    """All stages and the framework's arrays come back; its own program does not."""
    model = compiled_layer(numerics="device")
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(model))))
    assert isinstance(again, ttmlir.CompiledModel)
    assert isinstance(again(PARAMS, X, scale=3)["y"], jax.Array)
    assert repr(again) == repr(model)
    assert again.stages == model.stages
    assert again.to_bytes() == model.to_bytes()
    assert [again.text(each) for each in model.stages] == [
        model.text(each) for each in model.stages
    ]
    with pytest.raises(InputError, match="'layer' was pickled, without the framework's own"):
        again.reference(PARAMS, X, scale=3)


def test_keys_of_random_numbers() -> None:
    """A model of a file takes keys of JAX, as the model did."""
    key = jax.random.key(3)
    compiled = ttmlir.compile(lambda key: jax.random.bits(jax.random.fold_in(key, 1), (2,)), key)
    again = pickle.loads(pickle.dumps(compiled))
    expected = jax.random.bits(jax.random.fold_in(key, 1), (2,))
    np.testing.assert_array_equal(again(key).view(np.uint32), expected)


def test_a_compiled_module_of_torch_in_a_pickle() -> None:
    """Weights outside of the file, and state as it was."""
    torch.manual_seed(0)
    module, x = Counter().eval(), torch.randn(2, 7)
    model = ttmlir.compile(module, x, weights="arguments")
    model(x)
    again = pickle.loads(pickle.dumps(model))
    product, calls, _ = again(x)
    assert torch.allclose(product, module.dense(x) * 2, atol=1e-5)
    assert calls.item() == 2
    assert pickle.loads(pickle.dumps(again))(x)[1].item() == 3


def test_a_pickle_in_another_process(tmp_path: Path) -> None:
    """A model of text needs no framework there."""
    text = "func.func @f(%x: tensor<3x7xf32>) -> tensor<3x7xf32> {\n"
    text += "  %0 = tosa.tanh %x : (tensor<3x7xf32>) -> tensor<3x7xf32>\n"
    text += "  return %0 : tensor<3x7xf32>\n}\n"
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps(ttmlir.compile(text)))
    script = (
        "import pickle, sys, numpy as np\n"
        f"model = pickle.load(open({str(path)!r}, 'rb'))\n"
        "print(model(np.full((3, 7), 0.5, np.float32))[0, 0], 'jax' in sys.modules)\n"
    )
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    number, has_jax = result.stdout.split()
    assert float(number) == pytest.approx(np.tanh(0.5))
    assert has_jax == "False"


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("given", "computed", "message"),
    [
        (
            [],
            [(5, 7), (5, 7)],
            r"golden inputs have the shapes \[\]; those of the program are \[\(5, 7",
        ),
        ([(7, 5)], [(5, 7), (5, 7)], r"golden inputs have the shapes \[\(7, 5\)\]"),
        ([(5, 7)], [], r"golden outputs have the shapes \[\]; those of the program are \[\(5, 7"),
        ([(5, 7)], [(5, 7), (3, 7)], r"golden outputs have the shapes \[\(5, 7\), \(3, 7\)\]"),
        ([(5, 7)], [(5, 7), ()], r"golden outputs have the shapes \[\(5, 7\), \(\)\]"),
    ],
)
def test_golden_tensors_of_other_shapes_are_refused(
    given: list[tuple[int, ...]],
    computed: list[tuple[int, ...]],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Of files by others, which may hold what this project does not write."""

    def both(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return -x, x + 1

    x = np.ones((5, 7), np.float32)
    # Files of 2026 cannot say that there are no results.
    compiled = ttmlir.compile(both, x, spelling="2026" if computed else "2024")
    module = parse(compiled.text("ttnn"))
    monkeypatch.setattr(tensors, "_check_shapes", lambda *_: None)
    inputs, outputs = (
        [np.ones(each, np.float32) for each in shapes] for shapes in (given, computed)
    )
    path = tmp_path / "other.ttnn"
    path.write_bytes(write_ttnn(module, golden=tensors.Golden(inputs=inputs, outputs=outputs)))
    model = ttmlir.load(path)
    with pytest.raises(ttmlir.InputError, match=message):
        _ = model.golden
    with pytest.raises(ttmlir.InputError, match=message):
        ttmlir.report(model)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("element", ["bool", "int8", "uint8", "int16", "uint16", "bfloat16"])
def test_files_of_2026_take_what_models_took(element: str, tmp_path: Path) -> None:
    """Arguments and results have the types of the model, where the program has others."""
    x = np.array([[0, 1, 1], [1, 0, 1]], jnp.dtype(element))
    compiled = ttmlir.compile(lambda x: (jnp.maximum(x, x[::-1]), x[0]), x, spelling="2026")
    loaded = ttmlir.load(compiled.save(tmp_path / "largest.ttnn"))
    for model in (compiled, loaded, pickle.loads(pickle.dumps(loaded))):
        largest, first = model(x)
        assert (largest.dtype, first.dtype) == (x.dtype, x.dtype)
        np.testing.assert_array_equal(largest, np.maximum(x, x[::-1]))
        np.testing.assert_array_equal(first, x[0])


def test_programs_of_2026_take_what_functions_took() -> None:
    """Several in one file, too."""
    x = np.array([True, False, True])
    programs = ttmlir.compile_programs(
        {
            "negated": ttmlir.Example(jnp.logical_not, x),
            "small": ttmlir.Example(lambda x: x + x, np.int8(x)),
        },
        spelling="2026",
    )
    np.testing.assert_array_equal(programs.negated(x), ~x, strict=True)
    np.testing.assert_array_equal(programs.small(np.int8(x)), np.int8(x) * 2, strict=True)
