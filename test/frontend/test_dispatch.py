"""`ttmlir.compile` takes MLIR text and files, and says what it cannot take."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttmlir
from ttmlir.compiler import parse
from ttmlir.errors import ArgumentError
from ttmlir.frontend import dispatch
from ttmlir.runtime import InputError, load_binary, open_device, submit, to_layout
from ttmlir.runtime.tensor import Tensor

MODELS = Path(__file__).resolve().parents[1] / "models"
LAYER = """
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @layer(%x: tensor<3x70xf32>, %w: tensor<70x5xf32>) -> tensor<3x5xf32> {
  %0 = tensor.empty() : tensor<3x5xf32>
  %1 = "ttir.matmul"(%x, %w, %0) <{operand_constraints = [#any, #any, #any]}>
      : (tensor<3x70xf32>, tensor<70x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}
"""


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    """Random arrays, the same for every test."""
    rng = np.random.default_rng(7)
    return [rng.standard_normal(shape, np.float32) for shape in shapes]


def test_names_in_options_that_no_operation_has_are_warned_of() -> None:
    """As `ttmlir-opt` does: an override without effect would look like one that helps nothing."""
    message = "'layer': override-math-fidelity: no operation has the location 'nope'"
    with pytest.warns(UserWarning, match=message) as caught:
        ttmlir.compile(LAYER, options="override-math-fidelity=nope=lofi")
    assert [Path(each.filename) for each in caught] == [Path(__file__)]


def test_text_becomes_a_function_of_numpy_arrays() -> None:
    """One result is returned as such, and both numerics can be asked for at each call."""
    compiled = ttmlir.compile(LAYER)
    x, w = arrays((3, 70), (70, 5))
    np.testing.assert_allclose(compiled(x, w), x @ w, rtol=1e-5)
    np.testing.assert_allclose(compiled(x, w, numerics="device"), x @ w, rtol=2e-2, atol=2e-2)
    assert compiled.stages == ("ttir", "ttnn", "cpp")
    assert repr(compiled).startswith(
        "CompiledModel(layer(x: float32[3,70], w: float32[70,5]) -> (float32[3,5]), "
    )


def test_a_module_of_xdsl_is_compiled_as_its_text_is() -> None:
    """It stays as it was, and takes no examples."""
    module = parse(LAYER)
    before = str(module)
    compiled, x, w = ttmlir.compile(module), *arrays((3, 70), (70, 5))
    np.testing.assert_array_equal(compiled(x, w), ttmlir.compile(LAYER)(x, w))
    assert str(module) == before
    with pytest.raises(ttmlir.InputError, match="takes no examples with it"):
        ttmlir.compile(module, x)


def test_a_file_with_several_results_returns_a_tuple() -> None:
    """Paths are taken as `Path` and as text."""
    for path in (MODELS / "lstm_cell.mlir", str(MODELS / "lstm_cell.mlir")):
        compiled = ttmlir.compile(path)
        results = compiled(*arrays((5, 20), (5, 12), (5, 12), (32, 48), (1, 48)))
        assert [result.shape for result in results] == [(5, 12), (5, 12)]


def test_stages_are_texts_of_their_dialects(tmp_path: Path) -> None:
    """Each is as the tools write it; the saved file is the one that runs."""
    compiled = ttmlir.compile(LAYER)
    assert '"ttir.matmul"' in compiled.text("ttir")
    assert '"ttnn.matmul"' in compiled.text("ttnn")
    assert "ttnn::matmul" in compiled.text("cpp")
    with pytest.raises(ValueError, match="no stage 'llvm'; its stages are ttir, ttnn, cpp"):
        compiled.text("llvm")
    binary = load_binary(compiled.save(tmp_path / "layer.ttnn"))
    x, w = arrays((3, 70), (70, 5))
    device, descs = open_device(), [ref.desc for ref in binary.program(0).inputs]
    inputs = [
        to_layout(Tensor.from_numpy(each), device, desc)
        for each, desc in zip((x, w), descs, strict=True)
    ]
    [result] = submit(device, binary, 0, inputs)
    np.testing.assert_array_equal(result.to_numpy(), compiled(x, w))


def test_compiling_twice_gives_the_same_file() -> None:
    """Nothing in a file depends on the process or on time."""
    assert ttmlir.compile(LAYER).to_bytes() == ttmlir.compile(LAYER).to_bytes()


def test_golden_results_need_a_framework(tmp_path: Path) -> None:
    """Text has neither examples nor a framework that could compute them."""
    compiled = ttmlir.compile(LAYER)
    with pytest.raises(InputError, match=r"without numbers in its examples; save\(path, golden="):
        compiled.save(tmp_path / "layer.ttnn", golden=True)
    with pytest.raises(InputError, match="which no framework runs"):
        compiled.save(tmp_path / "layer.ttnn", golden=tuple(arrays((3, 70), (70, 5))))


def test_options_are_those_of_the_pipeline() -> None:
    """Without grids, which are of 2024 alone, every tensor is on one core."""
    assert "<8x8>, memref" in ttmlir.compile(LAYER, spelling="2024").text("ttnn")
    text = ttmlir.compile(LAYER, options="enable-grid-set=false").text("ttnn")
    assert "<8x8>, memref" not in text
    assert "tt.device" in text
    with pytest.raises(ttmlir.Error, match="do not have --enable-grid-set; spelling=2024 has"):
        ttmlir.compile(LAYER, options="enable-grid-set=false", spelling="2026")
    with pytest.raises(ttmlir.Error, match="optimization-level=3 is for text of 2026"):
        ttmlir.compile(LAYER, optimization_level=3, spelling="2024")


def test_a_wrong_choice_of_weights_is_refused() -> None:
    """Before the model is looked at."""
    with pytest.raises(ValueError, match=r"'arguments', or for one model paths of .* not 'arg'"):
        ttmlir.compile(None, weights="arg")  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": 3}, "keep is the name of an argument, or a list of names; got 3"),
        ({"resident": ["x", 3]}, "resident is the name of an argument, or a list of names"),
        ({"example_kwargs": [3]}, r"example_kwargs are arguments by name: {'x': x}; got \[3\]"),
    ],
)
def test_names_of_another_form(options: dict[str, Any], message: str) -> None:
    """Before the model is looked at."""
    with pytest.raises(TypeError, match=message):
        ttmlir.compile(None, **options)


def test_one_name_that_stays_on_the_device() -> None:
    """It is no list of letters."""
    compiled = ttmlir.compile(LAYER, resident="w")
    assert compiled.source.signature.resident == (1,)


def test_arguments_that_do_not_fit_are_named() -> None:
    """The message says which ones, and what the model was compiled for."""
    compiled = ttmlir.compile(LAYER)
    x, w = arrays((3, 71), (70, 5))
    with pytest.raises(InputError, match=r"'layer' was compiled for other arguments: x is "):
        compiled(x, w)
    with pytest.raises(InputError, match=r"w is float64\[70,5\] instead of float32\[70,5\]; call"):
        compiled(x[:, 1:], w.astype(np.float64))
    with pytest.raises(InputError, match="takes 2 arrays, got 1"):
        compiled(x)
    with pytest.raises(InputError, match="given by position"):
        compiled(x, w=w)
    with pytest.raises(InputError, match="compiled from text, which no framework runs"):
        compiled.reference(x, w)
    name: Any = "bf16"
    with pytest.raises(ValueError, match="numerics are 'exact' or 'device', not 'bf16'"):
        compiled(x, w, numerics=name)


def test_wrong_text_is_quoted() -> None:
    """File, line and column, the line, and a caret."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(LAYER.replace("70x5xf32", "7x5xf32"))
    first, line, caret = str(caught.value).splitlines()[:3]
    assert first.startswith("<text>:5:")
    assert line.startswith('  %1 = "ttir.matmul"')
    assert caret.strip() == "^"


def test_modules_of_xdsl_are_models() -> None:
    """What text says, a module in memory says, too; it stays as it is."""
    from ttmlir.compiler import parse

    module = parse(LAYER)
    before = str(module)
    compiled = ttmlir.compile(module)
    assert str(module) == before
    shapes = ((3, 70), (70, 5))
    inputs = [np.linspace(-1, 1, int(np.prod(s)), dtype=np.float32).reshape(s) for s in shapes]
    np.testing.assert_array_equal(compiled(*inputs), ttmlir.compile(LAYER)(*inputs))
    with pytest.raises(TypeError, match="takes no examples"):
        ttmlir.compile(module, np.ones(3))


def test_models_that_no_door_takes(tmp_path: Path) -> None:
    """The message lists what is taken."""
    with pytest.raises(TypeError, match="cannot compile a int; it takes functions of JAX arrays"):
        ttmlir.compile(3)
    torch: Any = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="cannot compile a int; it takes functions of JAX arrays"):
        ttmlir.compile(3, torch.ones(2))
    with pytest.raises(TypeError, match="takes no examples"):
        ttmlir.compile(LAYER, np.ones(3))
    with pytest.raises(ttmlir.CompilationError, match="has 0 public functions"):
        ttmlir.compile("module {\n}")
    with pytest.raises(AttributeError, match="no attribute 'compilation'"):
        _ = getattr(ttmlir, "compilation")  # noqa: B009
    binary = ttmlir.compile(LAYER).save(tmp_path / "layer.ttnn")
    with pytest.raises(ValueError, match=r"layer\.ttm: .* for target 'ttnn' is a \.ttnn file$"):
        ttmlir.compile(LAYER).save(tmp_path / "layer.ttm")
    with pytest.raises(ArgumentError, match=r"layer\.xyz: save writes \.py and \.cpp text, and "):
        ttmlir.compile(LAYER).save(tmp_path / "layer.xyz")
    with pytest.raises(ArgumentError, match=r"layer\.xyz: this is a \.ttnn file for ttrt"):
        ttmlir.load(binary).save(tmp_path / "layer.xyz")
    plain = ttmlir.load(binary).save(tmp_path / "layer")
    assert plain.read_bytes() == binary.read_bytes()
    with pytest.raises(InputError, match=r"layer\.ttnn is not text; ttmlir\.compile reads"):
        ttmlir.compile(binary)


def test_a_missing_framework_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how to install it."""
    monkeypatch.setattr(dispatch, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    with pytest.raises(ImportError, match=r'pip install "ttmlir-py\[jax\]" installs it'):
        ttmlir.compile(lambda x: x, np.ones(3))


def test_importing_the_package_loads_nothing_else() -> None:
    """No framework, no NumPy and no IR library before the first use."""
    script = (
        "import sys, ttmlir; print({'numpy', 'xdsl', 'jax', 'torch'} & {m.partition('.')[0] "
        "for m in sys.modules})"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.stdout == "set()\n"


@pytest.mark.parametrize(
    ("dialect", "operation"),
    [
        ("tosa", "tosa.tanh %x : (tensor<3x70xf32>) -> tensor<3x70xf32>"),
        ("math", "math.tanh %x : tensor<3x70xf32>"),
        ("stablehlo", "stablehlo.tanh %x : tensor<3x70xf32>"),
    ],
)
def test_the_dialect_of_a_text_chooses_its_road(dialect: str, operation: str) -> None:
    """Each comes to ttir in its own way."""
    compiled = ttmlir.compile(f"""
      func.func @curve(%x: tensor<3x70xf32>) -> tensor<3x70xf32> {{
        %0 = {operation}
        return %0 : tensor<3x70xf32>
      }}
    """)
    assert compiled.stages == (dialect, "ttir", "ttnn", "cpp")
    assert f"{dialect}.tanh" in compiled.text(dialect)
    (x,) = arrays((3, 70))
    np.testing.assert_allclose(compiled(x), np.tanh(x), rtol=1e-5)


def test_an_empty_text_and_an_empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is the current folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ttmlir.CompilationError, match="has 0 public functions"):
        ttmlir.compile("")
    text = "func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {\n  return %a : tensor<3xf32>\n}"
    with pytest.raises(FileNotFoundError):
        ttmlir.compile(text).save("")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (None, "takes the path of a file, not a NoneType"),
        (3, "takes the path of a file, not a int"),
        (b"model.ttnn", "takes the path of a file, not a bytes"),
        ("model\0.ttnn", r"takes .*, and no system has one of 'model\\x00\.ttnn'"),
        ("model\ud800.ttnn", r"takes .*, and no system has one of 'model\\ud800\.ttnn'"),
    ],
)
def test_what_is_no_path(path: Any, message: str) -> None:
    """It is refused as everything else is."""
    with pytest.raises(InputError, match=f"^ttmlir.load {message}$"):
        ttmlir.load(path)
    with pytest.raises(InputError, match=f"^save {message}$"):
        ttmlir.compile(LAYER).save(path)


@pytest.mark.parametrize("path", ["a\0.mlir", "a\ud800.mlir", "a\0.onnx", Path("a\0b")])
def test_models_of_paths_that_no_system_has(path: str | Path) -> None:
    """As `load` refuses them."""
    with pytest.raises(ArgumentError, match=r"^ttmlir.compile takes .* no system has one of "):
        ttmlir.compile(path)


def test_a_text_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no path, unless there is such a file or it ends as one."""
    monkeypatch.chdir(tmp_path)
    text = "func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> { return %a : tensor<3xf32> }"
    assert ttmlir.compile(text)(np.ones(3, np.float32)).tolist() == [1, 1, 1]
    with pytest.raises(ttmlir.CompilationError, match="<text>:1:14: error: "):
        ttmlir.compile("func.func @f( {")
    with pytest.raises(ttmlir.FileError, match="No such file"):
        ttmlir.compile("model (1).mlir")
    (tmp_path / "a(b").write_text(text, encoding="utf-8")
    assert ttmlir.compile("a(b").name == "f"


def test_elements_of_few_bits_in_text() -> None:
    """They are kept in more bits in StableHLO, and refused elsewhere, with no word of that."""
    text = "func.func @f(%a: tensor<3xi4>) -> tensor<3xi4> {{{} return {} : tensor<3xi4> }}"
    add = "\n  %0 = stablehlo.add %a, %a : tensor<3xi4>\n"
    with pytest.warns(UserWarning, match="tensors of i4 are kept as i8"):
        compiled = ttmlir.compile(text.format(add, "%0"))
    assert compiled(np.array([1, 3, 5], np.int8)).tolist() == [2, 6, -6]
    with (
        warnings.catch_warnings(action="error"),
        pytest.raises(ttmlir.CompilationError, match="'i4' has no storage format"),
    ):
        ttmlir.compile(text.format("", "%a"))


ADDED = """
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @added(%x: tensor<1x2xbf16>, %y: tensor<1x2xbf16>) -> tensor<1x2xbf16> {
  %0 = tensor.empty() : tensor<1x2xbf16>
  %1 = "ttir.add"(%x, %y, %0) <{operandSegmentSizes = array<i32: 2, 1>,
      operand_constraints = [#any, #any, #any]}>
      : (tensor<1x2xbf16>, tensor<1x2xbf16>, tensor<1x2xbf16>) -> tensor<1x2xbf16>
  %2 = tensor.empty() : tensor<1x2xbf16>
  %3 = "ttir.subtract"(%1, %x, %2) <{operandSegmentSizes = array<i32: 2, 1>,
      operand_constraints = [#any, #any, #any]}>
      : (tensor<1x2xbf16>, tensor<1x2xbf16>, tensor<1x2xbf16>) -> tensor<1x2xbf16>
  return %3 : tensor<1x2xbf16>
}
"""


def test_numerics_are_those_of_the_model_unless_a_call_says_otherwise() -> None:
    """256 + 1 is 256 on the device, which stores eight bits; exact numbers keep the 1."""
    x, y = (np.array([values], ml_dtypes.bfloat16) for values in ([256, 2], [1, 1]))
    exact, device = ttmlir.compile(ADDED), ttmlir.compile(ADDED, numerics="device")
    assert (exact.numerics, device.numerics) == ("exact", "device")
    assert exact(x, y).tolist() == [[1, 1]]
    assert device(x, y).tolist() == [[0, 1]]
    assert exact(x, y, numerics="device").tolist() == [[0, 1]]
    assert device(x, y, numerics="exact").tolist() == [[1, 1]]
    name: Any = "wide"
    with pytest.raises(ValueError, match="numerics are 'exact' or 'device', not 'wide'"):
        ttmlir.compile(LAYER, numerics=name)


def test_arguments_by_name_are_examples_too(tmp_path: Path) -> None:
    """By position and by name: saving with their results needs no arguments again."""
    jnp: Any = import_module("jax.numpy")
    x, w = arrays((3, 7), (7, 5))
    model = ttmlir.compile(lambda x, *, w: jnp.tanh(x @ w), x, example_kwargs={"w": w})
    binary = load_binary(model.save(tmp_path / "model.ttnn", golden=True))
    golden = binary.programs[0].golden
    assert golden is not None
