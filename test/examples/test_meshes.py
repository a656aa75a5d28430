"""The examples of meshes agree with what they divide, and are short."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ttmlir.__main__ import main
from ttmlir.metalium import tt_fabric
from ttmlir.metalium.tt_fabric import FabricConfig

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "meshes"
SCRIPTS = [path for path in sorted(FOLDER.glob("*.py")) if "__main__" in path.read_text("utf-8")]
ON_DEVICES = ("ring_all_gather", "socket_stream", "tensor_parallel_mlp")
"""Programs of devices, which compile no model."""
ESTIMATED = "llama_70b"
COMPILED = [path.stem for path in SCRIPTS if path.stem not in (*ON_DEVICES, ESTIMATED)]
_RUN = """
import runpy, sys
folder, *names = sys.argv[1:]
sys.path.insert(0, folder)
for name in names:
    print("#", name)
    sys.argv = [f"{folder}/{name}.py", "--mesh", "2x4"]
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def printed() -> dict[str, list[str]]:
    """The lines of each example of a compiled model: one process, as JAX counts devices once."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(FOLDER), *COMPILED],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr
    parts = [part.splitlines() for part in done.stdout.split("# ")[1:]]
    return {name: lines for name, *lines in parts}


@pytest.mark.parametrize("name", COMPILED)
def test_divided_models(name: str, printed: dict[str, list[str]]) -> None:
    """Each agrees with the undivided model, and has times of devices and of links."""
    text = "\n".join(printed[name])
    [error] = re.findall(r"difference from the undivided model: (\S+) of", text)
    assert float(error) < 1e-5
    [(time, exchanges)] = re.findall(r"each device: (\S+) us by the estimate, (\S+) of", text)
    assert 0 < float(exchanges) < float(time)
    assert "links along rows (4 devices in a line, 1 link): " in text


def test_sums_of_llama(printed: dict[str, list[str]]) -> None:
    """A block has one sum behind the attention, and one behind the gated product."""
    for name in ("llama_tensor_parallel", "llama_tensor_parallel_torch"):
        assert printed[name][0] == "8 devices, 2 sums over the columns of the mesh"
    assert printed["llama_tensor_parallel"][1] == "each device has 2x24x128 of the result"


def test_llama_70b_by_shapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three layers each chip has an eighth of the weights, and of the cache of 8 users."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import llama_70b  # pyright: ignore[reportMissingImports]

    monkeypatch.setattr(sys, "argv", ["llama_70b.py", "--layers", "3"])
    llama_70b.main()
    lines = capsys.readouterr().out.splitlines()
    [token, prompt] = [line for line in lines if "tokens per second" in line]
    assert token.startswith("token: ")
    assert prompt.startswith("prompt: ")
    assert all("which do not fit" not in line for line in lines)
    block_float = 1088 / 1024
    words, layer = 128256 * 8192, 2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672
    weights = (2 * words + block_float * (words + 3 * layer)) / 8
    cache = 3 * 2 * 8 * 2048 * 128 * 2
    known = [float(line.split()[3]) for line in lines if "weights and cache" in line]
    assert known == pytest.approx([(weights + cache) / 1e9, weights / 1e9], rel=0.02)


@pytest.mark.parametrize("name", ON_DEVICES)
def test_programs_of_devices(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What ttnn, and kernels over the fabric, compute agrees with NumPy."""
    try:
        main([str(FOLDER / f"{name}.py")])
    finally:
        tt_fabric.SetFabricConfig(FabricConfig.DISABLED)
    assert re.search("agrees with NumPy(: PCC 0.99|; )", capsys.readouterr().out)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_examples_are_short(path: Path) -> None:
    """Each is read in one go."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 125
