"""Dialects, passes and pipelines of a package outside of ttmlir, installed by pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "examples" / "extension"
CUBIC = str(SOURCE / "cubic.mlir")
TOOL = "import sys; from ttmlir.tools.{tool} import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module", name="site")
def install(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the example is installed into."""
    folder = tmp_path_factory.mktemp("extension")
    shutil.copytree(SOURCE, folder / "source")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target")
    pip = [sys.executable, "-m", "pip", "install", *options, str(folder / "site")]
    subprocess.run([*pip, str(folder / "source")], check=True, capture_output=True)
    return folder / "site"


def run(site: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """`ttmlir-opt` where the packages of a folder are installed, too."""
    return subprocess.run(
        [sys.executable, "-c", TOOL.format(tool="ttmlir_opt"), *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(site)},
    )


def test_a_pass_with_its_option_on_its_dialect(site: Path) -> None:
    """By its flag and in a pipeline's text; the verifier of the operation runs."""
    done = run(site, "--convert-poly-to-ttir", CUBIC)
    assert (done.returncode, done.stderr) == (0, "")
    assert (done.stdout.count("ttir.multiply"), done.stdout.count("ttir.add")) == (3, 2)
    text = "builtin.module(convert-poly-to-ttir{skip-zeros=false})"
    done = run(site, f"--pass-pipeline={text}", CUBIC)
    assert done.stdout.count("ttir.add") == 3
    wrong = Path(CUBIC).read_text(encoding="utf-8").replace("[1.0", "[] // [1.0")
    done = run(site, "-", text=wrong.replace("0.5 : f32]}>", "").replace("[]", "[]}>"))
    assert done.returncode == 1
    assert "a polynomial has at least one coefficient" in done.stderr


def test_a_pipeline_makes_a_program(site: Path) -> None:
    """From Python, too; the numbers are those of NumPy."""
    code = (
        "import sys, numpy as np\n"
        "from ttmlir.compiler import lower, write_ttnn\n"
        "from ttmlir.runtime import Tensor, open_device, read_binary, submit\n"
        "module = lower(open(sys.argv[1]).read(), 'poly-to-ttnn-pipeline')\n"
        "binary = read_binary(write_ttnn(module), 'cubic.ttnn')\n"
        "x = Tensor.from_numpy(np.linspace(-2, 2, 32 * 48, dtype=np.float32).reshape(32, 48))\n"
        "(y,) = submit(open_device(), binary, 0, [x])\n"
        "np.save(sys.argv[2], y.to_numpy())\n"
    )
    file = site.parent / "result.npy"
    env = {**os.environ, "PYTHONPATH": str(site)}
    subprocess.run([sys.executable, "-c", code, CUBIC, str(file)], check=True, env=env)
    x = np.linspace(-2, 2, 32 * 48).reshape(32, 48)
    np.testing.assert_allclose(np.load(file), 1 - 2 * x**2 + x**3 / 2, rtol=1e-5, atol=1e-5)


def test_names_are_listed(site: Path) -> None:
    """Where all names are asked for, and near wrong ones."""
    assert "--poly-to-ttnn-pipeline" in run(site, "--help").stdout
    assert "convert-poly-to-ttir\n" in run(site, "--list-passes").stdout
    assert "poly" in run(site, "--show-dialects").stdout
    near = run(site, "--convert-poly-to-tir", CUBIC)
    assert "Did you mean '--convert-poly-to-ttir'?" in near.stderr


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("group", "location", "message"),
    [
        ("passes", "nowhere:Pass", "cannot be loaded: ModuleNotFoundError"),
        ("passes", "json:missing", "cannot be loaded: AttributeError"),
        ("passes", "json:JSONDecoder", "which is no pass of that name"),
        ("pipelines", "ttmlir.passes.general.cse:CSEPass", "which is no pipeline of that name"),
    ],
)
def test_broken_packages_are_named(tmp_path: Path, group: str, location: str, message: str) -> None:
    """What cannot be loaded is an error where it is used, and a line of the help."""
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ttmlir.{group}]\nbroken = {location}\n")
    done = run(tmp_path, "--broken", "-", text="func.func @f() { return }")
    assert done.returncode == 1
    assert done.stderr.startswith(f"ttmlir-opt: 'broken' is the entry point {location} of")
    assert message in done.stderr
    help_text = run(tmp_path, "--help")
    assert help_text.returncode == 0
    assert "--broken" in help_text.stdout


def test_passes_that_fail_are_named(tmp_path: Path) -> None:
    """The mistake is of their package, and they are called as their flag is."""
    info = tmp_path / "failing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: failing\nVersion: 1.0\n")
    points = "[ttmlir.passes]\nfail-always = failing.passes:FailPass\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "failing").mkdir()
    (tmp_path / "failing" / "__init__.py").touch()
    (tmp_path / "failing" / "passes.py").write_text(
        "from ttmlir.passes.core.base import ModulePass\n\n"
        "class FailPass(ModulePass):\n    name = 'fail-always'\n\n"
        "    def apply(self, ctx, module):\n        raise IndexError('on purpose')\n"
    )
    done = run(tmp_path, "--fail-always", "-", text="func.func @f() { return }")
    assert done.returncode == 1
    assert "in pass 'fail-always' on 'builtin.module': IndexError: on purpose" in done.stderr
    place = "failing.passes:FailPass"
    assert f"this is a mistake in the package of the entry point {place}, not in" in done.stderr
    assert "mistake in ttmlir" not in done.stderr
    assert "while executing [`fail-always` on 'builtin.module' operation]" in done.stderr


def test_a_broken_dialect_is_named(tmp_path: Path) -> None:
    """At the operation that is read."""
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ttmlir.dialects]\nbroken = json:JSONDecoder\n")
    done = run(tmp_path, "-", text='"broken.op"() : () -> ()')
    assert done.returncode == 1
    assert "which is no dialect of xDSL of that name" in done.stderr
    assert "Traceback" not in done.stderr


def test_packages_are_not_looked_through_for_nothing() -> None:
    """As long as all names are ttmlir's own, nobody asks what is installed."""
    code = (
        "import sys; from ttmlir.tools.ttmlir_opt import main\n"
        "main(['--canonicalize', '--ttir-to-ttnn-backend-pipeline', '-'])\n"
        "sys.exit('importlib.metadata' in sys.modules)"
    )
    text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    run = subprocess.run([sys.executable, "-c", code], input=text, text=True, check=False)
    assert run.returncode == 0
