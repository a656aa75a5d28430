"""Models compiled to text and files of another year: `ttmlir.compile(..., spelling=...)`."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ttmlir
from ttmlir.tools.ttrt import main as ttrt


def _draw(*shape: int) -> Any:
    return np.random.default_rng(4).standard_normal(shape).astype(np.float32)


def _mlp(x: Any, w: Any, b: Any, keep: Any) -> Any:
    return jnp.where(keep, jax.nn.relu(x @ w + b), -1)


def _numbers() -> tuple[Any, ...]:
    return _draw(3, 70), _draw(70, 5), _draw(5), _draw(3, 5) < 0


def test_jax(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text and file are of 2026, and results are those of JAX; truth values are taken as such."""
    numbers = _numbers()
    compiled = ttmlir.compile(_mlp, *numbers, spelling="2026")
    assert "ttir.empty" not in compiled.text("ttir")
    assert "#ttcore.system_desc" in compiled.text("ttnn")
    np.testing.assert_allclose(compiled(*numbers), _mlp(*numbers), rtol=1e-5, atol=1e-5)
    path = compiled.save(tmp_path / "mlp.ttnn", golden=True)
    assert ttrt(["run", "--golden", "--artifact-dir", str(tmp_path), str(path)]) == 0
    assert ttrt(["read", "--section", "version", str(path)]) == 0
    assert "912b70aa54f878b01d094638d22c35ee" in capsys.readouterr().out


def test_results_have_the_types_of_the_source() -> None:
    """Truth values, which a file has as numbers of any size, and narrow integers."""

    def compare(x: Any, y: Any) -> Any:
        return jnp.any(x > y, 0), jnp.all(x > -9, 1), jnp.clip(x * 9, -128, 127).astype(jnp.int8)

    x, y = _draw(9, 13), _draw(9, 13)[::-1]
    results = ttmlir.compile(compare, x, y, spelling="2026")(x, y)
    for found, wanted in zip(results, compare(x, y), strict=True):
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)


def test_gelu_by_tanh() -> None:
    """It is not that by erf, unless asked for: tt-mlir of 2026 takes the one for the other."""
    x = np.linspace(-4, 4, 77, dtype=np.float32)
    by_tanh = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    compiled = ttmlir.compile(jax.nn.gelu, x, spelling="2026")
    np.testing.assert_allclose(compiled(x), by_tanh, rtol=1e-5, atol=1e-6)
    fused = ttmlir.compile(jax.nn.gelu, x, spelling="2026", options="enable-gelu-tanh-fusion=true")
    assert '"ttnn.gelu"' in fused.text("ttnn")


def test_the_year_may_be_a_number() -> None:
    """It means what its digits say."""
    year: Any = 2026
    assert "ttcore" in ttmlir.compile(jnp.tanh, _draw(3, 5), spelling=year).text("ttnn")


def test_an_error_quotes_the_file_as_it_is(tmp_path: Path) -> None:
    """Also where a program of another text was compiled from it before."""
    path, text = (
        tmp_path / "model.mlir",
        (
            "func.func @f(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {\n"
            '  %0 = "ttir.softmax"(%x) <{dimension = 9 : si32}>'
            " : (tensor<4x5xf32>) -> tensor<4x5xf32>\n"
            "  return %0 : tensor<4x5xf32>\n}\n"
        ),
    )
    for lines in ("", "// One more line.\n"):
        path.write_text(lines + text)
        with pytest.raises(ttmlir.Error, match=r"%0 = .ttir.softmax"):
            ttmlir.compile(path)


def test_torch() -> None:
    """Weights are constants of functions that are computed once."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(33, 17), torch.nn.Tanh(), torch.nn.Linear(17, 3))
    x = torch.randn(5, 33)
    compiled = ttmlir.compile(model, x, spelling="2026")
    assert "ttcore.load_cached" in compiled.text("ttnn")
    np.testing.assert_allclose(compiled(x), model(x).detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("between", [torch.int32, torch.bfloat16])
def test_casts_round(between: torch.dtype) -> None:
    """Also where the numbers get the type that they had."""
    x = torch.from_numpy(_draw(5, 33)) * 3
    compiled = ttmlir.compile(lambda x: x.to(between).float() + 1, x, spelling="2026")
    assert torch.equal(torch.as_tensor(compiled(x)), x.to(between).float() + 1)


def _weighted_by_row(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w[:, None]


def _divided_by_column(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    centered = x - x.mean(-1)
    return centered * torch.rsqrt((centered * centered).mean(-1) + 1e-5) * w + w


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("function", [_weighted_by_row, _divided_by_column])
def test_norms_of_squares(function: Callable[..., torch.Tensor], level: int) -> None:
    """Numbers for each row are as many as those for each column, and remain what they are."""
    x, w = (torch.from_numpy(_draw(*shape)) for shape in ((40, 40), (40,)))
    compiled = ttmlir.compile(function, x, w, spelling="2026", optimization_level=level)
    torch.testing.assert_close(torch.as_tensor(compiled(x, w)), function(x, w))


def test_slices_at_computed_places() -> None:
    """Positions in a cache are read and written."""

    def step(cache: Any, row: Any, at: Any) -> Any:
        cache = jax.lax.dynamic_update_slice(cache, row, (at, 0))
        return cache, jax.lax.dynamic_slice(cache, (at - 1, 0), (2, 7))

    cache, row = _draw(9, 7), _draw(1, 7) + 1
    compiled = ttmlir.compile(step, cache, row, np.int32(4), spelling="2026")
    for at in (1, 4, 8):
        wanted = step(cache, row, at)
        for ours, theirs in zip(compiled(cache, row, np.int32(at)), wanted, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is for all models, and a parameter is stronger."""
    numbers = _numbers()
    assert "ttcore.device" in ttmlir.compile(_mlp, *numbers).text("ttnn")
    monkeypatch.setenv("TTMLIR_SPELLING", "2024")
    assert "tt.device" in ttmlir.compile(_mlp, *numbers).text("ttnn")
    assert "ttcore.device" in ttmlir.compile(_mlp, *numbers, spelling="2026").text("ttnn")
    assert "ttcore.device" in ttmlir.compile(_mlp, *numbers, optimization_level=1).text("ttnn")
    monkeypatch.setenv("TTMLIR_SPELLING", "2023")
    with pytest.raises(ttmlir.Error, match="compiled to text of 2024 or 2026, not '2023'"):
        ttmlir.compile(_mlp, *numbers)


def test_programs() -> None:
    """Several programs of one file are of one year."""
    x = _draw(3, 70)
    examples = {
        "double": ttmlir.Example(lambda x: x * 2, x),
        "total": ttmlir.Example(lambda x: x.sum(1), x),
    }
    programs = ttmlir.compile_programs(examples, spelling="2026")
    assert "ttcore.device" in programs.text("ttnn")
    np.testing.assert_array_equal(programs.double(x), x * 2)
    np.testing.assert_allclose(programs.total(x), x.sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"spelling": "2025"}, "compiled to text of 2024 or 2026, not '2025'"),
        ({"spelling": "2026", "target": "kernels"}, "spelling='2026' is for target='ttnn'"),
        ({"spelling": "2026", "options": "spelling=2024"}, "and the option spelling=2024 differ"),
    ],
)
def test_refusals(words: dict[str, Any], message: str) -> None:
    """Each says what there is."""
    with pytest.raises(ttmlir.Error, match=message):
        ttmlir.compile(_mlp, *_numbers(), **words)


def test_text_that_only_calls() -> None:
    """The dialect of a module is that of the functions that its main function calls."""
    text = """
        module {
          func.func public @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
            %0 = call @double(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>
            return %0 : tensor<3x5xf32>
          }
          func.func private @double(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
            %0 = stablehlo.add %x, %x : tensor<3x5xf32>
            return %0 : tensor<3x5xf32>
          }
        }
    """
    x = _draw(3, 5)
    for spelling in ("2024", "2026"):
        compiled = ttmlir.compile(text, spelling=spelling)
        assert compiled.stages[0] == "stablehlo"
        np.testing.assert_array_equal(compiled(x), 2 * x)


WIDE = {
    "i64": np.array([2**40 + 7, -(2**62), 5], np.int64),
    "ui64": np.array([2**63 + 1, 70, 2**32], np.uint64),
    "f64": np.array([0.1, -1e300, 2.0**-1000]),
}


@pytest.mark.filterwarnings("ignore:.*tensors of f64 are kept as f32:UserWarning")
@pytest.mark.parametrize("element", WIDE)
def test_numbers_of_64_bits(element: str, tmp_path: Path) -> None:
    """Exact numerics keep them, also in files and as constants; devices have 32 bits of them."""
    x = WIDE[element]
    constants = "[0.1, 3.0, 0.7]" if element == "f64" else "[1099511627777, 3, 7]"
    text = f"""
        func.func @main(%x: tensor<3x{element}>) -> (tensor<3x{element}>, tensor<3xi1>) {{
          %c = stablehlo.constant dense<{constants}> : tensor<3x{element}>
          %one = stablehlo.constant dense<{constants[1:].split(",")[0]}> : tensor<3x{element}>
          %0 = stablehlo.add %x, %c : tensor<3x{element}>
          %1 = stablehlo.add %0, %one : tensor<3x{element}>
          %2 = stablehlo.compare GT, %x, %one : (tensor<3x{element}>, tensor<3x{element}>)
            -> tensor<3xi1>
          return %1, %2 : tensor<3x{element}>, tensor<3xi1>
        }}
    """
    compiled = ttmlir.compile(text, spelling="2026", optimization_level=3)
    c = np.array(ast.literal_eval(constants), x.dtype)
    compiled.save(tmp_path / "wide.ttnn")
    for model in (compiled, ttmlir.load(tmp_path / "wide.ttnn")):
        total, larger = model(x)
        assert total.dtype == x.dtype
        np.testing.assert_array_equal(total, x + c + c[0])
        np.testing.assert_array_equal(larger, x > c[0])
    narrow = {"i64": np.int32, "ui64": np.uint32, "f64": np.float32}[element]
    with np.errstate(over="ignore"):
        short = (x.astype(narrow) + c.astype(narrow) + c[0].astype(narrow)).astype(x.dtype)
    total, _ = compiled(x, numerics="device")
    np.testing.assert_array_equal(total, short)


class _Masked(torch.nn.Module):
    mask: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.tensor([True, False, False]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.mask.logical_not_()
        return torch.where(self.mask, x, -x), x > 2


@pytest.mark.parametrize("weights", ["constants", "arguments"])
def test_truth_values_of_modules(weights: Any) -> None:
    """Buffers that change are truth values in each call, and so are results."""
    x = torch.tensor([1.0, 2.0, 3.0])
    compiled = ttmlir.compile(_Masked(), x, weights=weights)
    model = _Masked()
    for _ in range(3):
        for ours, theirs in zip(compiled(x), model(x), strict=True):
            assert torch.equal(torch.as_tensor(ours), theirs)
    assert "-> (bool[3], float32[3], bool[3])" in repr(compiled)


def test_kept_truth_values() -> None:
    """They are called what the source calls them, and files give them back, too."""

    def step(x: Any, mask: Any) -> Any:
        return jnp.where(mask, x, -x), ~mask

    x, mask = _draw(3), np.array([True, False, False])
    programs = ttmlir.compile_programs({"step": ttmlir.Example(step, x, mask)}, keep=["mask"])
    for call in (ttmlir.compile(step, x, mask, keep=["mask"]), programs.step):
        np.testing.assert_array_equal(call(x), np.where(mask, x, -x))
        np.testing.assert_array_equal(call(x), np.where(mask, -x, x))
    plain = ttmlir.compile(step, x, mask)
    early = ttmlir.compile(step, x, mask, spelling="2024")
    names = [[str(desc.element) for _, desc in each.inputs] for each in (plain, early)]
    assert names[0] == names[1]
    assert "mask: bool[3]) -> (float32[3], bool[3])" in repr(plain)
    with pytest.raises(ttmlir.InputError, match=r"mask is bool\[2\] instead of bool\[3\]"):
        plain(x, mask[:2])


def test_options_of_the_other_year() -> None:
    """What passes of 2026 do not have is refused, not left out."""
    numbers = _numbers()
    with pytest.raises(ttmlir.Error, match="do not have --share-transfers; spelling=2024 has"):
        ttmlir.compile(_mlp, *numbers, spelling="2026", options="share-transfers=true")
    with pytest.raises(ttmlir.Error, match="leave out --sharding-pass-enabled or --optimization-l"):
        ttmlir.compile(_mlp, *numbers, optimization_level=2, options="sharding-pass-enabled=true")
    plain = ttmlir.compile(_mlp, *numbers, spelling="2026", options="enable-const-eval=false")
    assert "ttcore.load_cached" not in plain.text("ttnn")
    np.testing.assert_allclose(plain(*numbers), _mlp(*numbers), rtol=1e-5, atol=1e-5)


FUNCTIONS = {
    "acosh": (1.1, 9),
    "atanh": (-0.9, 0.9),
    "cosh": (-3, 3),
    "erfinv": (-0.9, 0.9),
    "exp2": (-3, 3),
    "lgamma": (0.3, 9),
    "sinh": (-3, 3),
    "square": (-3, 3),
    "trunc": (-5, 5),
}
"""Functions without an operation in ttnn of 2026, and where they are tried."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_without_operation(name: str) -> None:
    """They are made of other operations."""
    low, high = FUNCTIONS[name]
    x = torch.from_numpy(np.linspace(low, high, 3 * 33, dtype=np.float32).reshape(3, 33))
    function = getattr(torch, name)
    compiled = ttmlir.compile(function, x, spelling="2026")
    np.testing.assert_allclose(compiled(x), function(x), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (torch.nn.BatchNorm1d, (6, 5)),
        (torch.nn.BatchNorm1d, (2, 5, 7)),
        (torch.nn.BatchNorm2d, (2, 5, 7, 9)),
        (torch.nn.BatchNorm3d, (2, 5, 3, 4, 6)),
    ],
)
def test_batch_norm(kind: Any, shape: tuple[int, ...]) -> None:
    """Tensors of all ranks are brought to the four dimensions that the library takes."""
    torch.manual_seed(2)
    norm = kind(5).eval()
    for each in (norm.running_mean, norm.weight.data, norm.bias.data):
        each.copy_(torch.randn(5))
    norm.running_var.copy_(torch.rand(5) + 0.3)
    x = torch.randn(shape)
    compiled = ttmlir.compile(norm, x, spelling="2026")
    assert "ttnn.batch_norm_inference" in compiled.text("ttnn")
    np.testing.assert_allclose(compiled(x), norm(x).detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
def test_convolution_with_margins_of_its_own(stride: tuple[int, int]) -> None:
    """Each side of the image has another margin, and the kernel other extents."""

    def convolve(x: Any, w: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        margins = [(1, 3), (0, 2)]
        return jax.lax.conv_general_dilated(x, w, stride, margins, dimension_numbers=numbers)

    x, w = _draw(2, 9, 12, 5), _draw(3, 2, 5, 7)
    compiled = ttmlir.compile(convolve, x, w, spelling="2026")
    np.testing.assert_allclose(compiled(x, w), convolve(x, w), rtol=1e-4, atol=1e-4)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("layer", "image"),
    [
        (torch.nn.Conv2d(3, 5, 1), (1, 3, 1, 1)),
        (torch.nn.Conv2d(3, 5, 3, stride=2, padding=1), (1, 3, 2, 2)),
        (torch.nn.Conv2d(6, 6, 2, groups=3), (1, 6, 2, 2)),
        (torch.nn.ConvTranspose2d(3, 5, 1), (1, 3, 1, 1)),
        (torch.nn.Conv3d(3, 5, 1), (1, 3, 1, 1, 1)),
    ],
)
def test_the_bias_of_a_single_pixel(layer: torch.nn.Module, image: tuple[int, ...]) -> None:
    """It has the type of the result, as what is written to has in text of 2024 and 2025."""
    x = torch.from_numpy(_draw(*image))
    for spelling in ("2024", "2026"):
        found = ttmlir.compile(layer, x, spelling=spelling)(x)
        torch.testing.assert_close(found, layer(x), rtol=1e-5, atol=1e-5)


def test_transposed_convolution() -> None:
    """The gradient of a convolution by its image, with other margins on each side."""

    def convolve(x: Any, w: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(
            x, w, (2, 2), [(1, 0), (0, 2)], dimension_numbers=numbers
        ).sum()

    x, w = _draw(1, 8, 11, 3), _draw(3, 3, 3, 5)
    gradient = jax.grad(convolve)
    compiled = ttmlir.compile(gradient, x, w, spelling="2026")
    np.testing.assert_allclose(compiled(x, w), gradient(x, w), rtol=1e-4, atol=1e-4)


def test_text_of_2026_stays_as_it_is(tmp_path: Path) -> None:
    """Arguments keep what is said of them, so that constants are computed once."""
    text = """
        module {
          ttcore.device_module {
            builtin.module {
              func.func @main(%x: tensor<3x70xf32>, %w: tensor<5x70xf32>
                  {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<3x5xf32> {
                %0 = "ttir.exp"(%w) : (tensor<5x70xf32>) -> tensor<5x70xf32>
                %1 = "ttir.matmul"(%x, %0) <{transpose_b = true}>
                    : (tensor<3x70xf32>, tensor<5x70xf32>) -> tensor<3x5xf32>
                return %1 : tensor<3x5xf32>
              }
            }
          }
        }
    """
    compiled = ttmlir.compile(text, spelling="2026")
    assert "argument_type<parameter>" in compiled.text("ttir")
    assert "const_eval" in compiled.text("ttnn")
    x, w = _draw(3, 70), _draw(5, 70) / 9
    expected = x @ np.exp(w).T
    np.testing.assert_allclose(compiled(x, w), expected, rtol=1e-4)
    assert "agree" in str(compiled.bisect(x, w))
    again = pickle.loads(pickle.dumps(compiled))
    assert again.text("ttnn") == compiled.text("ttnn")
    np.testing.assert_allclose(ttmlir.compile(text)(x, w), expected, rtol=1e-4)


def test_operations_that_2024_lacks() -> None:
    """What is not made of operations of 2024 compiles to those of 2026."""
    text = """
        func.func @main(%x: tensor<5x7xi32>) -> tensor<5xi32> {
          %0 = "ttir.reduce_bitwise_or"(%x) <{dim_arg = [1 : i32], keep_dim = false}>
              : (tensor<5x7xi32>) -> tensor<5xi32>
          return %0 : tensor<5xi32>
        }
    """
    with pytest.raises(ttmlir.CompilationError, match="reduce_bitwise_or"):
        ttmlir.compile(text, spelling="2024")
    assert "ttir.reduce_bitwise_or" in ttmlir.compile(text).text("ttir")


COLUMNS_OF_BATCHES = """
func.func @main(%a: tensor<4x5x3xf32>, %i: tensor<4x7x1xi32>) -> tensor<4x5x7xf32> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0],
      start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false,
      slice_sizes = array<i64: 1, 5, 1>}>
      : (tensor<4x5x3xf32>, tensor<4x7x1xi32>) -> tensor<4x5x7xf32>
  return %0 : tensor<4x5x7xf32>
}
"""


def test_columns_of_batches_are_picked_in_the_form_of_2026() -> None:
    """Each batch has indices of its own, which are the same for all rows."""
    rng = np.random.default_rng(6)
    a, places = rng.standard_normal((4, 5, 3), np.float32), rng.integers(0, 3, (4, 7, 1), np.int32)
    found = ttmlir.compile(COLUMNS_OF_BATCHES, spelling="2026")(a, places)
    expected = np.stack([each[:, row] for each, row in zip(a, places[..., 0], strict=True)])
    np.testing.assert_array_equal(found, expected)
