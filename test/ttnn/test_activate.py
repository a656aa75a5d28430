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
