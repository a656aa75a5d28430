"""`compiled.save("kernels.py")` of target="kernels": programs by `ttnn.generic_op`."""

from __future__ import annotations

import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from running.warm_shell import WarmShell

import ttmlir
from ttmlir import ttnn

_GENERATOR = np.random.default_rng(6)
_X = _GENERATOR.normal(size=(33, 70)).astype(np.float32)
_Y = _GENERATOR.normal(size=(33, 70)).astype(np.float32)
_TALL = _GENERATOR.normal(size=(130, 97)).astype(np.float32)
_WIDE = _GENERATOR.normal(size=(97, 131)).astype(np.float32)
_BATCHES = _GENERATOR.normal(size=(3, 5, 40)).astype(np.float32)
_N = _GENERATOR.integers(-90, 90, (33, 70)).astype(np.int32)
_ROWS = np.array([31, 0, 7, 7, 32], np.int32)
_DRAM = "default-input-memspace=dram default-output-memspace=dram"


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


_PROGRAMS: dict[str, tuple[Any, Any, tuple[Any, ...], str]] = {
    "sum": (lambda x, y: x + 2 * y, lambda x, y: x + 2 * y, (_X, _Y), ""),
    "sum in dram": (lambda x, y: x + y, lambda x, y: x + y, (_X, _Y), _DRAM),
    "product by multicast": (lambda x, y: x @ y, lambda x, y: x @ y, (_TALL, _WIDE), ""),
    "softmax": (jax.nn.softmax, _softmax, (_X,), ""),
    "comparison": (lambda x, y: x < y, lambda x, y: x < y, (_X, _Y), ""),
    "integers": (lambda n: n * n - 7, lambda n: n * n - 7, (_N,), ""),
    "a number": (lambda x, a: x * a, lambda x, a: x * a, (_X, np.array(3, np.float32)), ""),
    "shifted integers": (lambda n: (n << 2) | (n >> 1), lambda n: (n << 2) | (n >> 1), (_N,), ""),
    "rows by number": (lambda x, rows: x[rows], lambda x, rows: x[rows], (_X, _ROWS), ""),
    "permuted": (
        lambda x: jnp.transpose(x, (2, 0, 1)) + 1,
        lambda x: x.transpose(2, 0, 1) + 1,
        (_BATCHES,),
        "",
    ),
    "block floats": (
        lambda x: x @ jnp.asarray(_WIDE),
        lambda x: x @ _WIDE,
        (_TALL,),
        "experimental-weight-dtype=bfp_bf8",
    ),
}
_CLOSE = {"block floats": 0.6, "product by multicast": 0.1}


def _compile(function: Any, *arguments: Any, **options: Any) -> Any:
    return ttmlir.compile(function, *arguments, target="kernels", **options)


def _load(script: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a script defines, with the ttnn of this project."""
    monkeypatch.setitem(sys.modules, "ttnn", ttnn)
    return runpy.run_path(str(script))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", _PROGRAMS)
def test_numbers_of_numpy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs and constants are read from the file beside the script; padding is gone."""
    function, expected, arguments, options = _PROGRAMS[name]
    compiled = _compile(function, *arguments, options=options)
    assert compiled.save(tmp_path / "kernels.py") == tmp_path / "kernels.py"
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["kernels.py", "kernels.safetensors"]
    script = _load(tmp_path / "kernels.py", monkeypatch)
    device = ttnn.open_device(device_id=0)
    found = script["main"](device)
    again = script["forward"](*arguments, device)
    ttnn.close_device(device)
    right = expected(*arguments)
    assert found.shape == right.shape
    np.testing.assert_allclose(found, right, atol=_CLOSE.get(name, 1e-2))
    np.testing.assert_array_equal(again, found)


def test_several_results_and_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of generic_op for each program, and buffers between them."""
    compiled = _compile(lambda x, y: (x.T @ y, x.sum(0)), _X, _Y, options="enable-fusion=false")
    text = compiled.save(tmp_path / "kernels.py").read_text(encoding="utf-8")
    launches = compiled.text("ttmetal").count('"ttmetal.enqueue_program"')
    body = text[text.index("def forward") : text.index("def main")]
    assert len(re.findall(r"^    \w+\(\w+(?:, \w+)*\)$", body, re.MULTILINE)) == launches >= 2
    device = ttnn.open_device(device_id=0)
    first, second = _load(tmp_path / "kernels.py", monkeypatch)["main"](device)
    ttnn.close_device(device)
    np.testing.assert_allclose(first, _X.T @ _Y, atol=0.05)
    np.testing.assert_allclose(second.reshape(-1), _X.sum(0), atol=0.05)


def test_for_another_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels ask the chip where its cores are; on other chips the script stops."""
    script = _compile(jnp.exp, _X, board="p150").save(tmp_path / "kernels.py")
    text = script.read_text(encoding="utf-8")
    assert 'ARCH, GRID, DRAM_BANKS = "blackhole", (11, 10), 8' in text
    assert "worker_logical_col_to_virtual_col[" in text
    names = _load(script, monkeypatch)
    device = ttnn.open_device(device_id=0, board="p150")
    np.testing.assert_allclose(names["main"](device), np.exp(_X), rtol=0.02)
    ttnn.close_device(device)
    device = ttnn.open_device(device_id=0)
    with pytest.raises(SystemExit) as caught:
        names["main"](device)
    ttnn.close_device(device)
    assert caught.value.code == 1


def test_script_as_a_command(tmp_path: Path, shell: WarmShell) -> None:
    """It runs elsewhere, compares with golden results, and names a wrong chip."""
    script = _compile(lambda x, y: x * y, _X, _Y).save(tmp_path / "kernels.py", golden=True)

    def run(status: int) -> str:
        done = shell.run("python -m ttmlir kernels.py --check", tmp_path, os.environ, 600)
        assert done.returncode == status, done.stdout
        return done.stdout

    assert re.fullmatch(r"output0: PCC 1\.000000, atol \S+, right\n", run(0))
    golden = tmp_path / "kernels_golden.safetensors"
    data = golden.read_bytes()
    numbers = np.frombuffer(data[-_X.nbytes :], np.float32)
    golden.write_bytes(data[: -_X.nbytes] + numbers[::-1].tobytes())
    assert run(1).endswith(", WRONG\n")
    text = script.read_text(encoding="utf-8").replace('"wormhole_b0", (8, 8), 12', '"x", (9, 8), 3')
    script.write_text(text, encoding="utf-8")
    assert run(1) == (
        "the kernels are made for x with 9x8 cores and 3 banks of DRAM; this is wormhole_b0 with "
        "8x8 and 12: compile for its board\n"
    )


def test_names_and_lines_of_the_user(tmp_path: Path) -> None:
    """In the script, which imports nothing of this project."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    layer = torch.nn.Linear(70, 5)
    compiled = _compile(layer, torch.zeros(33, 70))
    text = compiled.save(tmp_path / "kernels.py").read_text(encoding="utf-8")
    assert "read_array(TENSORS, 'bias')" in text
    assert "def forward(input_1: Any, device: Any) -> Any:" in text
    imported = {
        line.split()[1]
        for line in text.splitlines()
        if line.lstrip().startswith(("import ", "from "))
    }
    standard = {"__future__", "argparse", "json", "math", "pathlib", "sys", "typing"}
    assert imported - standard == {"numpy", "ttnn"}

    def scaled(x: Any) -> Any:
        return x * 3

    text = _compile(scaled, _X).save(tmp_path / "k.py").read_text(encoding="utf-8")
    line = scaled.__code__.co_firstlineno + 1
    assert f"    # test_kernel_scripts.py:{line}  return x * 3\n" in text


def test_names_of_files_are_no_code(tmp_path: Path) -> None:
    """Neither names of places nor those of arguments."""
    text = """
        func.func @f(%x: tensor<33x70xf32> loc("device\\22\\22\\22\\0Aimport os"))
            -> tensor<33x70xf32> {
          %0 = "ttir.neg"(%x) : (tensor<33x70xf32>) -> tensor<33x70xf32> loc("main\\0Aimport os"(
            "/etc/passwd\\0Aimport os":1:1))
          return %0 : tensor<33x70xf32>
        }
    """
    script = _compile(text).save(tmp_path / "kernels.py").read_text(encoding="utf-8")
    assert "import os" not in {line.strip() for line in script.splitlines()}
    assert "root:" not in script
    compile(script, "kernels.py", "exec")


_HOST = "memref<32x32xf32>"
_MODULE = """
func.func @main(%x: {host}) -> {host} {{
  %0 = "ttmetal.create_buffer"() <{{address = 16384 : i64}}> : () -> {buffer}
  "ttmetal.enqueue_write_buffer"(%x, %0) : ({host}, {buffer}) -> ()
  return %x : {host}
}}
"""


@pytest.mark.parametrize(
    ("buffer", "message"),
    [
        (
            "memref<1x1x2x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096>, "
            "#ttcore.memory_space<dram>>",
            "has shards in single banks of DRAM, .*; scripts have tiles that go round the banks",
        ),
        (
            "memref<1x1x32x32xf32, #ttcore.shard<128x4>, #ttcore.memory_space<l1>>",
            "has a buffer that is no tensor of the ttnn library, .*; scripts have buffers of tiles",
        ),
        (
            "memref<1x1x1x1x!ttcore.tile<32x32, f16>, #ttcore.shard<2048x2048>, "
            "#ttcore.memory_space<l1>>",
            "has numbers of f16; the ttnn library has tensors of f32, bf16, bfp_bf8",
        ),
    ],
    ids=["shards in DRAM", "rows", "f16"],
)
def test_buffers_that_are_no_tensors(buffer: str, message: str) -> None:
    """Of modules by hand, at the operation."""
    from ttmlir.compiler import parse, transform
    from ttmlir.mlir.reporting import DiagnosticError
    from ttmlir.target.python.kernel_script import write_kernel_script

    module = parse(_MODULE.format(host=_HOST, buffer=buffer), file_name="k.mlir")
    transform(module, "ttir-load-system-desc")
    with pytest.raises(DiagnosticError, match=message):
        write_kernel_script(module, {}, ["x"], title="K", script="k.py", source_line=None)


def test_rows_in_registers_of_32_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel library gets those of 16-bit floats wrong alone; of 8-bit integers it has none."""
    mask = np.arange(70)[None] % 3 == 0
    compiled = _compile(lambda m, n: jnp.where(m, n, 1), mask, _N)
    script = compiled.save(tmp_path / "kernels.py", golden=True)
    text = script.read_text(encoding="utf-8")
    assert text.count("ALWI void spread_row(") == 1
    body = text[text.index("void kernel_main", text.index("ALWI void spread_row(")) :]
    assert "spread_row(" in body
    assert "unary_bcast<BroadcastType::ROW>(" not in body
    found = _load(script, monkeypatch)["main"](ttnn.open_device())
    np.testing.assert_array_equal(found, np.where(mask, _N, 1))
    small = _N.astype(np.uint8)
    bytes_ = _compile(lambda a, row: jnp.maximum(a, row), small, small[0])
    with pytest.raises(ttmlir.CompilationError, match="spreads rows of 8-bit integers in a kernel"):
        bytes_.save(tmp_path / "bytes.py")
    assert not (tmp_path / "bytes.py").exists()
