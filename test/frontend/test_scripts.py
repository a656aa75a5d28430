"""`compiled.save("model.py")`: scripts that run by themselves, with the numbers of NumPy."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from running.randomness import TestGenerator
from running.warm_shell import WarmShell

import ttmlir
from ttmlir.errors import ArgumentError

_GENERATOR = np.random.default_rng(5)
_X = _GENERATOR.normal(size=(33, 70)).astype(np.float32)
_B = _GENERATOR.normal(size=(5,)).astype(np.float32)
_W = _GENERATOR.normal(size=(70, 5)).astype(np.float32)

_SHOW = """
import json, model, ttnn
device = ttnn.open_device(device_id=0, card_bits=False)
results = model.forward(*model.load_inputs_for_forward(device), device)
again = model.main(device)
print(json.dumps([model.to_array(each).tolist() for each in (*results, *again)]))
ttnn.close_device(device)
"""


def _model(x, b):
    y = x @ _W + b
    return jnp.tanh(y), y.sum(axis=1)


def _run(shell: WarmShell, script: Path, *arguments: str, status: int = 0) -> str:
    """What a script prints, in a process of its own that runs elsewhere."""
    command = shlex.join(["python", "-m", "ttmlir", str(script), *arguments])
    done = shell.run(command, Path.cwd(), os.environ, 600)
    assert done.returncode == status, done.stdout
    return done.stdout


@pytest.mark.parametrize("spelling", ["2024", "2026"])
def test_script_has_numbers_of_numpy(spelling: str, tmp_path: Path, shell: WarmShell) -> None:
    """Arguments and long constants are read from the file beside the script."""
    compiled = ttmlir.compile(_model, _X, _B, spelling=spelling)
    assert compiled.save(tmp_path / "model.py") == tmp_path / "model.py"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.py", "model.safetensors"]
    (tmp_path / "show.py").write_text(_SHOW, encoding="utf-8")
    first, second, *again = json.loads(_run(shell, tmp_path / "show.py"))
    y = _X @ _W + _B
    np.testing.assert_allclose(first, np.tanh(y), atol=2e-5)
    np.testing.assert_allclose(np.reshape(second, -1), y.sum(axis=1), atol=2e-4)
    assert again == [first, second]


def test_script_says_what_it_computes(tmp_path: Path) -> None:
    """Names of arguments, lines of the user, what tensors are; nothing of this project."""
    compiled = ttmlir.compile(_model, _X, _B)
    text = compiled.save(tmp_path / "model.py").read_text(encoding="utf-8")
    assert "def forward(x, b, device):" in text
    line = _model.__code__.co_firstlineno + 1
    assert f"    # test_scripts.py:{line}  y = x @ _W + b\n" in text
    assert "  # [33, 5] float32 TILE DRAM\n" in text
    assert "memory_config=ttnn.DRAM_MEMORY_CONFIG" in text
    imported = {
        line.split()[1]
        for line in text.splitlines()
        if line.lstrip().startswith(("import ", "from "))
    }
    standard = {"__future__", "argparse", "collections.abc", "json", "pathlib", "sys", "typing"}
    assert imported - standard == {"numpy", "ttnn"}
    assert max(map(len, text.splitlines())) < 120


def test_weights_have_the_names_of_torch(tmp_path: Path) -> None:
    """In the file, and in the script."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    layer = torch.nn.Linear(70, 5)
    compiled = ttmlir.compile(layer, torch.zeros(33, 70))
    text = compiled.save(tmp_path / "model.py").read_text(encoding="utf-8")
    assert "weight = compute_once(_CONST_EVAL_CACHE, make_weight, device)" in text
    arrays = _read(tmp_path / "model.safetensors")
    assert sorted(arrays) == ["bias", "input", "weight"]
    np.testing.assert_array_equal(arrays["weight"], layer.weight.detach().numpy())


def test_check_compares_with_the_framework(tmp_path: Path, shell: WarmShell) -> None:
    """Numbers that are not the golden ones are wrong, as is a script without these."""
    compiled = ttmlir.compile(_model, _X, _B)
    script = compiled.save(tmp_path / "model.py", golden=True)
    first, second = _run(shell, script, "--check").splitlines()
    # Functions of the vector unit are those of a card.
    assert re.fullmatch(r"output0: PCC (0\.9999\d\d|1\.000000), atol \S+, right", first)
    assert re.fullmatch(r"output1: PCC (0\.9999\d\d|1\.000000), atol \S+, right", second)
    golden = tmp_path / "model_golden.safetensors"
    y = _X @ _W + _B
    np.testing.assert_allclose(_read(golden)["output0"], np.tanh(y), atol=2e-5)
    data = bytearray(golden.read_bytes())
    data[-_X.shape[0] * 4 :] = data[-_X.shape[0] * 4 :][::-1]
    golden.write_bytes(data)
    assert _run(shell, script, "--check", status=1).splitlines()[1].endswith(", WRONG")
    compiled.save(script)
    assert "save the model with golden=True" in _run(shell, script, "--check", status=2)


def test_damaged_tensors_are_refused(tmp_path: Path, shell: WarmShell) -> None:
    """Cut, emptied, missing, or with a header of a length that no file has."""
    compiled = ttmlir.compile(_model, _X, _B)
    script = compiled.save(tmp_path / "model.py")
    tensors = tmp_path / "model.safetensors"
    whole = tensors.read_bytes()
    for data in (whole[:-100], whole[:90], b"", b"\xff" * 8 + whole[8:], None):
        tensors.unlink()
        if data is not None:
            tensors.write_bytes(data)
        message = _run(shell, script, status=1)
        assert message.startswith("model.safetensors does not hold '")
        assert message.endswith("; save the model again\n")
        assert message.count("\n") == 1
        tensors.touch()


def _read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of f32 of a file of safetensors."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8:start]).items():
        assert entry["dtype"] == "F32"
        first, end = entry["data_offsets"]
        found[name] = np.frombuffer(data[start + first : start + end], "<f4").reshape(
            entry["shape"]
        )
    return found


def test_parameters_are_loaded_to_the_host(tmp_path: Path, shell: WarmShell) -> None:
    """Where today's compiler keeps them; what follows from them is computed once."""
    text = """
        func.func @main(%x: tensor<33x70xf32>, %w: tensor<70x5xf32>
            {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<33x5xf32> {
          %0 = "ttir.matmul"(%x, %w) : (tensor<33x70xf32>, tensor<70x5xf32>) -> tensor<33x5xf32>
          return %0 : tensor<33x5xf32>
        }
    """
    compiled = ttmlir.compile(text, spelling="2026")
    script = compiled.save(tmp_path / "model.py").read_text(encoding="utf-8")
    assert "compute_once" in script
    assert "output0: [33, 5] FLOAT32" in _run(shell, tmp_path / "model.py")


def test_weights_of_convolutions_stay_on_the_host(tmp_path: Path, shell: WarmShell) -> None:
    """As rows: tiles of their last two dimensions are a thousand times as large."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 70, 1, bias=False),
        torch.nn.ReLU(),
        torch.nn.Conv2d(70, 5, 3, bias=False),
    )
    compiled = ttmlir.compile(model.eval(), torch.randn(1, 3, 7, 9))
    script = compiled.save(tmp_path / "model.py", golden=True).read_text(encoding="utf-8")
    for line in (
        '"0.weight", layout=ttnn.ROW_MAJOR_LAYOUT, dtype=ttnn.float32)  # [70, 3, 1, 1] float32',
        '"2.weight", layout=ttnn.ROW_MAJOR_LAYOUT, dtype=ttnn.float32)  # [5, 70, 3, 3] float32',
    ):
        assert f"load({line} ROW_MAJOR host" in script
    assert "ttnn.from_device(_" not in script
    assert "output0: PCC 1.000000" in _run(shell, tmp_path / "model.py", "--check")
    project = compiled.save(tmp_path / "model_cpp" / "model.cpp").read_text(encoding="utf-8")
    load = project.partition('"model_tensors/0.weight.tensorbin",')[2].partition(";")[0]
    assert load.split() == ["ttnn::Layout::ROW_MAJOR,", "ttnn::DataType::FLOAT32)"]


def test_convolutions_in_shards(tmp_path: Path, shell: WarmShell) -> None:
    """Shards are on the cores that have some, six rows and six more, and weights are prepared."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    layers = (torch.nn.Conv2d(3, 64, 5, 2, 2), torch.nn.Conv2d(64, 32, 3, padding=1))
    model, x = torch.nn.Sequential(*layers).eval().bfloat16(), torch.randn(3, 3, 48, 96).bfloat16()
    compiled = ttmlir.compile(model, x, board="n150", spelling="2026", optimization_level=3)
    script = compiled.save(tmp_path / "model.py", golden=True).read_text(encoding="utf-8")
    packed = re.sub(r",(?=[\])])", "", "".join(script.split()))
    for text in (
        "CoreRange(ttnn.CoreCoord(0,0),ttnn.CoreCoord(7,5)),"
        "ttnn.CoreRange(ttnn.CoreCoord(0,6),ttnn.CoreCoord(5,6))]),[128,32]",
        "ttnn.prepare_conv_weights(",
        "input_layout=ttnn.TILE_LAYOUT,",
        "slice_type=ttnn.Conv2dL1Full,",
    ):
        assert text in packed
    assert "output0: PCC 1.000000" in _run(shell, tmp_path / "model.py", "--check")


@pytest.mark.parametrize(("extent", "is_divided"), [(4, True), (16, False)])
def test_large_windows_over_few_places(extent: int, is_divided: bool, tmp_path: Path) -> None:
    """The library finds no way of its own for them: channels are divided over cores, too."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Conv2d(144, 144, 11, stride=2, padding=5, groups=144, bias=False)
    compiled = ttmlir.compile(model.eval(), torch.zeros(2, 144, extent, extent))
    script = compiled.save(tmp_path / "model.py").read_text(encoding="utf-8")
    config = "act_block_h_override=32,shard_layout=ttnn.TensorMemoryLayout.BLOCK_SHARDED"
    assert (config in "".join(script.split())) is is_divided


def test_names_of_files_are_no_code(tmp_path: Path, shell: WarmShell) -> None:
    """Neither names of functions nor those of places and arguments."""
    text = """
        func.func @"a(): pass\\0Aimport os"(%x: tensor<33x70xf32> loc("device"))
            -> tensor<33x70xf32> {
          %0 = "ttir.neg"(%x) : (tensor<33x70xf32>) -> tensor<33x70xf32> loc("b\\0Aimport os"(
            "/etc/passwd\\0Aimport os":1:1))
          return %0 : tensor<33x70xf32>
        }
    """
    compiled = ttmlir.compile(text)
    script = compiled.save(tmp_path / "model.py").read_text(encoding="utf-8")
    assert "import os" not in {line.strip() for line in script.splitlines()}
    assert "root:" not in script
    assert "output0: [33, 70]" in _run(shell, tmp_path / "model.py")


def test_what_the_library_lacks(tmp_path: Path) -> None:
    """A script that would stop is not written."""
    lacking = ttmlir.compile(_DROPOUT, spelling="2026")
    with pytest.raises(ttmlir.CompilationError, match=r"has no function 'ttnn\.dropout'"):
        lacking.save(tmp_path / "model.py")
    products = ttmlir.compile(_INTEGER_PRODUCT)
    with pytest.raises(ttmlir.CompilationError, match="multiplies no matrices of integers"):
        products.save(tmp_path / "model.py")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("margins", [((0, 0), (0, 0)), ((1, 2), (0, 1))])
def test_sums_of_dilated_windows(margins: Any, tmp_path: Path, shell: WarmShell) -> None:
    """The library has none: what windows see, in bf16 as of all pools, is added place by place."""
    window = ((2, 3), (2, 1), margins, None, (2, 4))
    dilated = ttmlir.compile(lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, *window), _X)
    script = dilated.save(tmp_path / "model.py", golden=True)
    assert "average_dilated_windows(" in script.read_text(encoding="utf-8")
    assert re.match(r"output0: PCC (1|0\.9999)", _run(shell, script, "--check"))


def test_scattered_maxima_and_minima(tmp_path: Path, shell: WarmShell) -> None:
    """Of rows that come twice, and of integers in a line; places beyond the border are left out."""

    def scatter(x, rows, values, line, places, numbers):
        least = x.at[rows].min(values)
        return x.at[rows].max(values), least, line.at[places].max(numbers, mode="drop")

    generator = TestGenerator(__name__)
    x, values = (generator.normal(size=(n, 70)).astype(np.float32) for n in (33, 6))
    rows = np.array([3, 17, 3, 30, 17, 3], np.int32)
    line, numbers = (generator.integers(-99, 99, n).astype(np.int32) for n in (40, 37))
    places = generator.integers(0, 45, 37).astype(np.int32)
    arguments = (x, rows, values, line, places, numbers)
    ttmlir.compile(scatter, *arguments).save(tmp_path / "model.py", golden=True)
    _run(shell, tmp_path / "model.py", "--check", "--save", str(tmp_path / "results.npz"))
    most, least, of_line = x.copy(), x.copy(), line.copy()
    np.maximum.at(most, rows, values)
    np.minimum.at(least, rows, values)
    inside = places < 40
    np.maximum.at(of_line, places[inside], numbers[inside])
    with np.load(tmp_path / "results.npz") as found:
        for number, wanted in enumerate((most, least, of_line)):
            np.testing.assert_array_equal(found[f"arr_{number}"].reshape(wanted.shape), wanted)


_DROPOUT = """
    func.func @main(%a: tensor<5x33xf32>) -> tensor<5x33xf32> {
      %0 = "ttir.dropout"(%a) <{prob = 2.0e-1 : f32, scale = 1.25 : f32, seed = 3 : ui32,
        use_per_device_seed = true}> : (tensor<5x33xf32>) -> tensor<5x33xf32>
      return %0 : tensor<5x33xf32>
    }
"""
_INTEGER_PRODUCT = """
    func.func @main(%a: tensor<5x33xi32>, %b: tensor<33x7xi32>) -> tensor<5x7xi32> {
      %0 = "ttir.matmul"(%a, %b) : (tensor<5x33xi32>, tensor<33x7xi32>) -> tensor<5x7xi32>
      return %0 : tensor<5x7xi32>
    }
"""
_PLACES = np.array([3, 31, 3, 40], np.int32)
"""One place twice, and one outside."""
_PICKING = {
    "reverse": lambda x, i: x[::-1],
    "reverse both": lambda x, i: x[::-1, ::-1],
    "rows": lambda x, i: x[i],
    "columns": lambda x, i: x[:, i],
    "elements": lambda x, i: x[i, i + 1],
    "windows": lambda x, i: jax.vmap(lambda n: jax.lax.dynamic_slice(x, (n, 2), (5, 9)))(i),
    "written rows": lambda x, i: x.at[i].set(7.5),
    "added rows": lambda x, i: x.at[i].add(x[:4]),
    "multiplied elements": lambda x, i: x.at[i, i].multiply(3.0),
    "written window": lambda x, i: jax.lax.dynamic_update_slice(x, x[:2, :3] * 2, (i[3], i[0])),
    "batches": lambda x, i: jnp.take_along_axis(x, jnp.abs(i)[None, :] % 33 + 0 * i[:1, None], 1),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", _PICKING)
def test_picking_and_writing_places(name: str, tmp_path: Path, shell: WarmShell) -> None:
    """Compositions of what the library has give the very numbers of JAX."""
    compiled = ttmlir.compile(_PICKING[name], _X, _PLACES)
    script = compiled.save(tmp_path / "model.py", golden=True)
    assert re.fullmatch(
        r"output0: PCC 1\.000000, atol (0|\S+e-0[78]), right\n", _run(shell, script, "--check")
    )


def test_index_of_rows(tmp_path: Path, shell: WarmShell) -> None:
    """One index for each row that torch adds, where the library takes one for each element."""
    torch = pytest.importorskip("torch")
    places = torch.tensor([3, 31, 3, 9])
    compiled = ttmlir.compile(
        lambda x, rows: x.index_add(0, places, rows), torch.tensor(_X), torch.tensor(_X[:4] * 2)
    )
    script = compiled.save(tmp_path / "model.py", golden=True)
    assert _run(shell, script, "--check").startswith("output0: PCC 1.000000")


def test_refusals(tmp_path: Path) -> None:
    """What cannot be a script says so, and writes nothing."""
    compiled = ttmlir.compile(_model, _X, _B)
    with pytest.raises(ArgumentError, match=r"'my-model\.py' is no name of a script"):
        compiled.save(tmp_path / "my-model.py")
    with pytest.raises(ArgumentError, match="has no option enable-grid-set"):
        ttmlir.compile(_model, _X, _B, options="enable-grid-set=false").save(tmp_path / "m.py")
    compiled.save(tmp_path / "model.ttnn")
    with pytest.raises(ArgumentError, match="would be text"):
        ttmlir.load(tmp_path / "model.ttnn").save(tmp_path / "m.py")
    assert [each.name for each in tmp_path.iterdir()] == ["model.ttnn"]
