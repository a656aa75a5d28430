"""The name `ttnn`: scripts, finders that come last, and real installations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """\
import sys
import ttnn
import ttnn.types
from ttnn.device import is_wormhole_b0
import ttmlir.ttnn

print(ttnn is ttmlir.ttnn, ttnn.types is ttmlir.ttnn.types, is_wormhole_b0(), sys.argv[1:])
print(ttnn.__name__, ttnn.__spec__.name, __name__)
"""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A run of Python in a folder."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_scripts(tmp_path: Path) -> None:
    """`python -m ttmlir` runs a script with its arguments; `ttnn` is `ttmlir.ttnn` itself."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run("-m", "ttmlir", "script.py", "-x", "1", cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == ("True True True ['-x', '1']\nttmlir.ttnn ttmlir.ttnn __main__\n")


def test_scripts_import_their_neighbours(tmp_path: Path) -> None:
    """The script's folder is the first that modules are looked for in."""
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "neighbour.py").write_text("NUMBER = 7\n")
    (tmp_path / "part" / "script.py").write_text("import neighbour\nprint(neighbour.NUMBER)\n")
    assert run("-m", "ttmlir", "part/script.py", cwd=tmp_path).stdout == "7\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "usage: python -m ttmlir script.py"),
        (("--fast", "script.py"), 2, "usage: python -m ttmlir script.py"),
        (("nothing.py",), 1, "ttmlir: error: there is no script 'nothing.py'"),
    ],
)
def test_wrong_calls(arguments: tuple[str, ...], status: int, message: str, tmp_path: Path) -> None:
    """Without a script there is nothing to run."""
    done = run("-m", "ttmlir", *arguments, cwd=tmp_path)
    assert done.returncode == status
    assert done.stderr.startswith(message)


def test_a_real_ttnn_is_not_hidden(tmp_path: Path) -> None:
    """Where another ttnn is installed, that one is imported, and nothing is added to it."""
    (tmp_path / "ttnn").mkdir()
    (tmp_path / "ttnn" / "__init__.py").write_text("REAL = True\n")
    code = (
        "import ttmlir.ttnn.activate, ttnn\n"
        "print(ttnn.REAL)\n"
        "try:\n    import ttnn.types\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )
    done = run("-c", code, cwd=tmp_path)
    assert done.stdout == "True\nNo module named 'ttnn.types'\n"


def test_a_folder_is_no_package(tmp_path: Path) -> None:
    """Where a folder `ttnn` has no `__init__.py`, as in tt-metal's root, ours is imported."""
    (tmp_path / "ttnn" / "ttnn").mkdir(parents=True)
    (tmp_path / "script.py").write_text("import ttnn\nprint(ttnn.TILE_SIZE, ttnn.types.__name__)\n")
    assert run("-m", "ttmlir", "script.py", cwd=tmp_path).stdout == "32 ttmlir.ttnn.types\n"
    code = "import pykernel, ttnn\nprint(ttnn.bfloat16)"
    assert run("-c", code, cwd=tmp_path).stdout == "DataType.BFLOAT16\n"


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("activation", ["pykernel", "ttmlir.ttnn.activate", "ttnn_jit"])
def test_a_folder_that_was_imported_too_early(activation: str, tmp_path: Path) -> None:
    """An empty package that `import ttnn` made before is refused, with what to do."""
    (tmp_path / "ttnn").mkdir()
    done = run("-c", f"import ttnn\nimport {activation}", cwd=tmp_path)
    assert done.returncode == 1
    assert "found the folder 'ttnn', which is empty for Python" in done.stderr
    assert "Import ttmlir.ttnn.activate or pykernel before ttnn" in done.stderr


def test_the_name_is_not_there_unasked(tmp_path: Path) -> None:
    """Without activation, `import ttnn` finds nothing of this project."""
    done = run("-c", "import ttmlir.ttnn\nimport ttnn", cwd=tmp_path)
    assert "No module named 'ttnn'" in done.stderr
    code = "import ttmlir.ttnn.activate\nimport ttnn\nimport ttnn.nothing"
    assert "No module named 'ttnn.nothing'" in run("-c", code, cwd=tmp_path).stderr


def test_plug_in_for_pytest(tmp_path: Path) -> None:
    """`pytest -p ttmlir.ttnn.activate` runs tests that import ttnn."""
    (tmp_path / "test_it.py").write_text("import ttnn\n\ndef test_it():\n    assert ttnn.Shape\n")
    done = run("-m", "pytest", "-q", "-p", "ttmlir.ttnn.activate", "test_it.py", cwd=tmp_path)
    assert "1 passed" in done.stdout


def test_modules_are_attributes(tmp_path: Path) -> None:
    """`import ttnn` is enough for what upstream's package has loaded."""
    code = """\
import ttmlir.ttnn.activate
import ttnn
print(ttnn.operations.activations.get_golden_function_for_activation.__name__)
print(hasattr(ttnn.operations, "nothing"))
"""
    done = run("-c", code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("get_golden_function_for_activation\nFalse\n", "")


def test_modules_of_upstream(tmp_path: Path) -> None:
    """Names by the modules that upstream defines them in."""
    code = """\
import ttmlir.ttnn.activate
import ttnn
from ttnn.core import divup, roundup, num_cores_to_corerangeset
from ttnn.decorators import get_golden_function
from ttnn.device import get_memory_view
from ttnn.distributed import ShardTensorToMesh
from ttnn.dot_access import DotAccessDict, make_dot_access_dict
from ttnn.operations.activations import get_golden_function_for_activation
from ttnn.profiler import ReadDeviceProfiler
from ttnn.types import TILE_LAYOUT, UnaryWithParam, bfloat16

assert (divup(5, 2), roundup(5, 4), roundup(8, 4)) == (3, 8, 8)
assert get_golden_function is ttnn.get_golden_function or get_golden_function(ttnn.relu)
assert (bfloat16, TILE_LAYOUT) == (ttnn.bfloat16, ttnn.TILE_LAYOUT)
made = make_dot_access_dict({"a": {"b": 1}, "c": 2})
assert (made.a.b, made.c, type(made.a)) == (1, 2, DotAccessDict)
assert type(make_dot_access_dict({"a": {}}, ignore_types=dict)) is dict
import torch
x = torch.tensor([-1.0, 7.0])
for each in ("relu6", ttnn.UnaryOpType.RELU6, UnaryWithParam(ttnn.UnaryOpType.RELU6)):
    assert get_golden_function_for_activation(each)(x).tolist() == [0.0, 6.0]
tanh = get_golden_function_for_activation("gelu_tanh")
assert torch.equal(tanh(x), torch.nn.functional.gelu(x, approximate="tanh"))
assert get_golden_function_for_activation(None) is None
for wrong in (3, "no_such_activation"):
    try:
        get_golden_function_for_activation(wrong)
    except RuntimeError as error:
        print(error)
try:
    ttnn.core.nothing
except AttributeError as error:
    print(error)
assert ttnn.ttnn_dtype_to_torch_dtype(ttnn.uint16) is torch.uint16
assert isinstance(ttnn.WormholeComputeKernelConfig(), ttnn.DeviceComputeKernelConfig)
assert isinstance(ttnn.SoftmaxDefaultProgramConfig(), ttnn.SoftmaxProgramConfig)
"""
    done = run("-c", code, cwd=tmp_path)
    assert done.stderr == ""
    first, second, third = done.stdout.splitlines()
    assert first == "3 is not supported as activation function"
    assert second == "Unsupported activation: no_such_activation"
    assert third.startswith("ttnn.nothing is not here yet")
