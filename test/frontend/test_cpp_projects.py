"""`compiled.save("model.cpp")`: projects in C++ that call the ttnn library."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
from running.randomness import TestGenerator
from signatures import COMPILER, compile_programs, write_headers

import ttmlir
from ttmlir.errors import ArgumentError
from ttmlir.frontend.tensor_files import write_tensor

CMAKE = shutil.which("cmake")
_GENERATOR = TestGenerator(__name__)
_X = _GENERATOR.normal(size=(33, 70)).astype(np.float32)
_B = _GENERATOR.normal(size=(5,)).astype(np.float32)
_W = _GENERATOR.normal(size=(70, 5)).astype(np.float32)
_INPUTS = Path(__file__).parent / "Inputs"
_PACKAGE = """\
add_library(TTNN::CPP INTERFACE IMPORTED)
target_include_directories(TTNN::CPP INTERFACE ${CMAKE_CURRENT_LIST_DIR})
target_link_options(TTNN::CPP INTERFACE -Wl,--unresolved-symbols=ignore-all)
"""


def _model(x, b):
    y = x @ _W + b
    return jnp.tanh(y), y.sum(axis=1)


# --- Files of tensors -----------------------------------------------------------------------------


def _table(data: bytes, place: int) -> dict[int, int]:
    """Where the fields of a table of a flatbuffer are, by their slots."""
    [back] = struct.unpack_from("<i", data, place)
    size, _ = struct.unpack_from("<HH", data, place - back)
    fields = struct.unpack_from(f"<{size // 2 - 2}H", data, place - back + 4)
    return {slot: place + each for slot, each in enumerate(fields) if each}


def _follow(data: bytes, place: int) -> int:
    return place + struct.unpack_from("<I", data, place)[0]


def _vector(data: bytes, place: int) -> list[int]:
    start = _follow(data, place)
    [count] = struct.unpack_from("<I", data, start)
    return [*struct.unpack_from(f"<{count}I", data, start + 4)]


def _first(data: bytes, place: int) -> dict[int, int]:
    """The one table of a vector."""
    start = _follow(data, place)
    assert struct.unpack_from("<I", data, start) == (1,)
    return _table(data, _follow(data, start + 4))


def _facts(file: bytes) -> tuple[object, ...]:
    """What a file says of its tensor, and the numbers."""
    [length] = struct.unpack_from("<Q", file)
    data, numbers = file[8 : 8 + length], file[8 + length :]
    assert (8 + length) % 64 == 0
    root = _table(data, _follow(data, 0))
    spec = _table(data, _follow(data, root[0]))
    layout = _table(data, _follow(data, spec[1]))
    shard = _first(data, root[2])
    coordinate = _table(data, _follow(data, shard[2]))
    topology = _table(data, _follow(data, root[3]))
    placement = _first(data, topology[1])
    return (
        _vector(data, spec[0]),
        [data[layout[each]] if each in layout else 0 for each in (0, 1)],
        [_table(data, _follow(data, layout[each])) for each in (2, 3)],
        _vector(data, layout[4]),
        _vector(data, _table(data, _follow(data, root[1]))[0]),
        data[shard[0]],
        struct.unpack_from("<QQ", data, _follow(data, shard[1])),
        _vector(data, coordinate[0]),
        _vector(data, _table(data, _follow(data, topology[0]))[0]),
        (sorted(placement), struct.unpack_from("<i", data, placement[1])),
        _vector(data, _first(data, topology[2])[0]),
        numbers,
    )


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("float32", np.arange(15, dtype=np.float32).reshape(3, 5)),
        ("bfloat16", np.arange(6).reshape(1, 2, 3).astype(ml_dtypes.bfloat16)),
        ("int32", np.array([-5, 7], np.int64)),
        ("uint32", np.array([[[[5, 7, 11]]]], np.uint32)),
        ("scalar", np.array(2.5, np.float32)),
    ],
)
def test_files_say_what_those_of_the_library_say(
    name: str, array: np.ndarray, tmp_path: Path
) -> None:
    """`ttnn.dump_tensor` of ttnn 0.81.1 wrote the others."""
    write_tensor(tmp_path / "x.tensorbin", array)
    expected = (_INPUTS / f"{name}.tensorbin").read_bytes()
    assert _facts((tmp_path / "x.tensorbin").read_bytes()) == _facts(expected)


def test_truth_values_are_whole_numbers(tmp_path: Path) -> None:
    """The library has no other type for them."""
    write_tensor(tmp_path / "x.tensorbin", np.array([[True], [False]]))
    write_tensor(tmp_path / "y.tensorbin", np.array([[1], [0]], np.int32))
    assert (tmp_path / "x.tensorbin").read_bytes() == (tmp_path / "y.tensorbin").read_bytes()


# --- Projects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", [None, "2026"])
def test_project_is_the_program_and_what_it_needs(spelling: str | None, tmp_path: Path) -> None:
    """Inputs, weights and golden results are files of their own."""
    path = tmp_path / "net" / "model.cpp"
    compiled = ttmlir.compile(_model, _X, _B, spelling=spelling)
    assert compiled.save(path, golden=True) == path
    names = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*.*"))
    assert names == [
        "net/CMakeLists.txt",
        "net/model.cpp",
        "net/model_tensors/b.tensorbin",
        "net/model_tensors/constant0.tensorbin",
        "net/model_tensors/golden0.tensorbin",
        "net/model_tensors/golden1.tensorbin",
        "net/model_tensors/x.tensorbin",
        "net/ttnn-precompiled.hpp",
    ]
    numbers = _facts((tmp_path / "net/model_tensors/golden0.tensorbin").read_bytes())[-1]
    golden = np.frombuffer(numbers, "<f4").reshape(33, 5)
    np.testing.assert_allclose(golden, np.tanh(_X @ _W + _B), atol=2e-5)
    text = path.read_text(encoding="utf-8")
    assert 'utils::load_tensor(\n      "model_tensors/constant0.tensorbin",\n' in text
    assert "std::apply(forward, load_inputs_for_forward())" in text
    if COMPILER is not None and spelling is None:
        assert compile_programs({"model.cpp": text}, tmp_path / "net") == ""


class _Names(torch.nn.Module):
    """With a line that ends as a comment of C++ would go on."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(70, 5)

    def forward(self, new: torch.Tensor, v1: torch.Tensor) -> tuple[torch.Tensor, ...]:
        h = torch.relu(self.hidden(new)) + v1  # \
        return torch.softmax(h, -1), v1 % 3


def test_program_has_the_names_and_lines_of_the_model(tmp_path: Path) -> None:
    """But for words of C++, and what lines of C++ end with."""
    compiled = ttmlir.compile(_Names(), torch.ones(3, 70), torch.ones(3, 5))
    text = compiled.save(tmp_path / "net.cpp").read_text(encoding="utf-8")
    assert "forward(ttnn::Tensor new_1, ttnn::Tensor v1_1) {" in text
    assert "ttnn::Tensor hidden_weight = utils::compute_once<make_hidden_weight>();" in text
    assert "  ttnn::Tensor hidden_linear = ttnn::linear(\n      new_to_layout,\n" in text
    assert ");  // [3, 5] float32 TILE DRAM\n" in text
    assert re.search(
        r"  // test_cpp_projects.py:\d+  return torch.softmax\(h, -1\), v1 % 3\n", text
    )
    assert re.search(r"  // test_cpp_projects.py:\d+  h = torch.* # \\\.\n", text)
    assert "\\\n" not in text
    if COMPILER is not None:
        assert compile_programs({"net.cpp": text}, tmp_path) == ""


def test_integers_are_divided_exactly(tmp_path: Path) -> None:
    """`ttnn::divide` gives floats, `ttnn::remainder` the sign of the divisor."""

    def model(a: jax.Array, b: jax.Array) -> tuple[jax.Array, ...]:
        return jax.lax.div(a, b), jax.lax.rem(a, b)

    a = jnp.arange(-7, 8, dtype=jnp.int32).reshape(3, 5)
    compiled = ttmlir.compile(model, a, a + 20)
    text = compiled.save(tmp_path / "net.cpp").read_text(encoding="utf-8")
    assert re.search(
        r'ttnn::div\(\s*a\w*,\s*b\w*,\s*false,\s*"trunc",\s*ttnn::DataType::INT32', text
    )
    assert re.search(r"ttnn::fmod\(\s*a\w*,\s*b\w*\W", text)
    assert "ttnn::divide" not in text
    assert "ttnn::remainder" not in text
    if COMPILER is not None:
        assert compile_programs({"net.cpp": text}, tmp_path) == ""


def test_what_python_composes_of_integers_is_refused(tmp_path: Path) -> None:
    """With the line, and what to do."""
    compiled = ttmlir.compile(
        lambda x: torch.sort(x, stable=True)[0], torch.arange(15).reshape(3, 5)
    )
    words = r"'ttnn.sort': the library computes it of floats; .* a file that ends with .py"
    with pytest.raises(ttmlir.CompilationError, match=words):
        compiled.save(tmp_path / "net.cpp")
    assert not (tmp_path / "net.cpp").exists()


@pytest.mark.exhaustive
@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_programs_without_inputs_and_with_one(tmp_path: Path) -> None:
    """And names of tensors become no paths."""
    compiled = ttmlir.compile(lambda x: jnp.exp(x), _X)
    one = compiled.save(tmp_path / "one" / "one.cpp").read_text(encoding="utf-8")
    assert "= forward(load_inputs_for_forward());" in one
    compiled = ttmlir.compile(lambda: jnp.exp(jnp.ones((3, 5), jnp.float32)))
    none = compiled.save(tmp_path / "none" / "none.cpp").read_text(encoding="utf-8")
    assert "= forward();" in none
    assert compile_programs({"one.cpp": one, "none.cpp": none}, tmp_path) == ""


def test_names_of_tensors_become_no_paths(tmp_path: Path) -> None:
    """Only letters, digits, dots and underscores are in the names of files."""
    text = """module {
      func.func @main(%arg0: tensor<3xf32> loc("../up/x y"), %arg1: tensor<3xf32> loc("golden0"))
          -> tensor<3xf32> {
        %0 = "ttir.add"(%arg0, %arg1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }
    }"""
    ttmlir.compile(text, spelling="2026").save(tmp_path / "n" / "net.cpp")
    found = sorted(each.name for each in (tmp_path / "n" / "net_tensors").iterdir())
    assert found == ["_up_x_y.tensorbin", "golden0_1.tensorbin"]


def test_the_form_of_2024_is_text(tmp_path: Path) -> None:
    """Where that spelling is asked for."""
    compiled = ttmlir.compile(_model, _X, _B, options="spelling=2024")
    path = compiled.save(tmp_path / "model.cpp")
    assert path.read_text(encoding="utf-8") == compiled.text("cpp")
    assert [each.name for each in tmp_path.iterdir()] == ["model.cpp"]
    with pytest.raises(ArgumentError, match="golden results are kept in files"):
        compiled.save(tmp_path / "model.cpp", golden=True)


def test_refusals(tmp_path: Path) -> None:
    """What cannot be built says so, and writes nothing."""
    compiled = ttmlir.compile(_model, _X, _B)
    with pytest.raises(ArgumentError, match=r"'my-model\.cpp' is no name of a program"):
        compiled.save(tmp_path / "my-model.cpp")
    (tmp_path / "CMakeLists.txt").write_text("project(mine)", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"CMakeLists\.txt belongs to another project; save to"):
        compiled.save(tmp_path / "model.cpp")
    compiled = ttmlir.compile(lambda x: jax.lax.reduce_precision(x, 8, 7), _X)
    with pytest.raises(ttmlir.CompilationError) as error:
        compiled.save(tmp_path / "sub" / "model.cpp")
    message = str(error.value)
    assert re.match(r".*test_cpp_projects\.py:\d+:\d+: error: ", message)
    assert "'ttnn.reduce_precision': the ttnn library (0.81.1) has no function for it" in message
    assert [each.name for each in tmp_path.iterdir()] == ["CMakeLists.txt"]


@pytest.mark.exhaustive
@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_correlation_is_that_of_numpy(tmp_path: Path) -> None:
    """With equal numbers, and with infinities."""
    x, y = _GENERATOR.normal(size=(2, 7))
    numbers = [", ".join(f"{each:.17g}" for each in array) for array in (x, y)]
    (tmp_path / "check.cpp").write_text(
        '#include "ttnn-precompiled.hpp"\nint main() {\n'
        f"const std::vector<double> x{{{numbers[0]}}}, y{{{numbers[1]}}};\n"
        "const std::vector<double> z{1, INFINITY, 3}, u{1, 2, 3}, two{2, 2};\n"
        "std::cout.precision(12);\n"
        "for (const auto &[a, b] : {std::pair{x, y}, {x, x}, {z, z}, {z, u}, {two, two}})\n"
        "  std::cout << utils::correlation(a, b) << ' ';\n}\n",
        encoding="utf-8",
    )
    write_headers(tmp_path)
    program = tmp_path / "check"
    options = ["-std=c++20", "-O1", "-I.", "-Wl,--unresolved-symbols=ignore-all"]
    command = [str(COMPILER), *options, "check.cpp", "-o", str(program)]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    found = [float(each) for each in done.stdout.split()]
    np.testing.assert_allclose(found, [np.corrcoef(x, y)[0, 1], 1, 1, 0, 1], rtol=1e-9)


@pytest.mark.exhaustive
@pytest.mark.skipif(COMPILER is None or CMAKE is None, reason="needs g++ and cmake")
def test_cmake_builds_the_project(tmp_path: Path) -> None:
    """With a package TT-NN that has the library's declarations."""
    package = tmp_path / "package"
    package.mkdir()
    write_headers(package)
    (package / "TT-NNConfig.cmake").write_text(_PACKAGE, encoding="utf-8")
    folder = tmp_path / "net"
    ttmlir.compile(_model, _X, _B).save(folder / "model.cpp")
    for command in (
        ["-B", "build", f"-DCMAKE_PREFIX_PATH={package}", f"-DTT-NN_DIR={package}"],
        ["--build", "build"],
    ):
        subprocess.run([str(CMAKE), *command], cwd=folder, check=True, capture_output=True)
    assert (folder / "build" / "model").exists()
