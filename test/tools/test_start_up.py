"""What the tools import, which is what starting them costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"numpy", "ml_dtypes", "click", "rich", "argparse", "hypothesis", "difflib", "hashlib"}

PROGRAM = """
import sys
from ttmlir.tools.{tool} import main
status = main({arguments})
print(status, *sorted(sys.modules), file=sys.stderr)
"""

SMALL = "func.func @f() { return }"


def imported(tool: str, arguments: list[str], text: str = SMALL) -> set[str]:
    """The modules that a successful run of a tool imports."""
    program = PROGRAM.format(tool=tool, arguments=arguments)
    run = subprocess.run(
        [sys.executable, "-c", program], input=text, capture_output=True, text=True, check=True
    )
    status, *modules = run.stderr.splitlines()[-1].split()
    assert status == "0", run.stderr
    return set(modules)


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--list-passes"], ["--show-dialects"], ["--help"]]
)
def test_information_needs_no_ir_library(arguments: list[str]) -> None:
    """What can be said without IR is said without importing xDSL."""
    assert not imported("ttmlir_opt", arguments) & {"xdsl", *HEAVY}


PIPELINE = ["--ttir-to-ttnn-backend-pipeline", "--cse", "-"]
SUM = """#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @sum(%x: tensor<33x70xf32>, %y: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.add"(%x, %y, %0)
      <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}>
      : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}
"""


def test_compiling_imports_nothing_heavy() -> None:
    """Reading, the TTNN pipeline and printing do without NumPy and terminal libraries."""
    modules = imported("ttmlir_opt", PIPELINE, SUM)
    assert "xdsl" in modules
    assert not modules & {"flatbuffers", "xdsl.dialects.arith", *HEAVY}


def test_translating_imports_nothing_heavy(tmp_path: Path) -> None:
    """Nor does writing a binary, with the C++ in it, need NumPy or what kernels may call."""
    ttnn, binary = tmp_path / "sum.mlir", tmp_path / "sum.ttnn"
    imported("ttmlir_opt", [*PIPELINE, "-o", str(ttnn)], SUM)
    modules = imported("ttmlir_translate", ["--ttnn-to-flatbuffer", str(ttnn), "-o", str(binary)])
    assert "flatbuffers" in modules
    assert not modules & {"xdsl.dialects.arith", "ttmlir.optable.kernel", *HEAVY}


def test_flatbuffers_has_numpy_for_others() -> None:
    """A program that uses the package for arrays can, also after it was loaded without NumPy."""
    code = (
        "import sys\n"
        "import ttmlir.schema\n"
        "from flatbuffers.builder import Builder\n"
        "assert 'numpy' not in sys.modules\n"
        "import numpy as np\n"
        "builder = Builder()\n"
        "builder.Finish(builder.CreateNumpyVector(np.array([258, 3], np.uint16)))\n"
        "assert bytes(builder.Output())[-8:] == bytes([2, 0, 0, 0, 2, 1, 3, 0])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_mistake_outside_of_passes_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An exception that no diagnostic explains is no traceback, and the status is 1."""
    from ttmlir.tools.start_up import run_once

    monkeypatch.delenv("TTMLIR_DEBUG", raising=False)
    assert run_once("tool", lambda: 1 // 0) == 1
    assert "tool: error: internal error: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "program"),
    [
        ("ttmlir_opt", "ttmlir-opt"),
        ("ttmlir_translate", "ttmlir-translate"),
        ("ttmlir_bisect", "ttmlir-bisect"),
        ("ttmlir_host", "ttmlir-host"),
        ("ttmlir_kernel", "ttmlir-kernel"),
        ("ttmlir_lsp_server", "ttmlir-lsp-server"),
        ("ttmlir_tune", "ttmlir-tune"),
        ("ttrt", "ttrt"),
    ],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_before_or_after_the_work_ends_quietly(
    module: str, program: str, when: str
) -> None:
    """Ctrl-C while the tool is imported, or when it is done, is no traceback either."""
    code = (
        "import os, signal, sys\n"
        f"sys.argv[0] = 'bin/{program}'\n"
        f"from ttmlir.tools.{module} import main\n"
        f"if '{when}' == 'after': main(['--help'])\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "print('not reached')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")
    assert "not reached" not in ended.stdout


def test_only_programs_change_what_interrupts_do() -> None:
    """To import a tool's module as a library leaves them alone, and so does running it."""
    code = (
        "import signal, sys\n"
        "from ttmlir.tools import ttmlir_opt, ttrt\n"
        "ttmlir_opt.main(['--version'])\n"
        "sys.exit(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_ignored_interrupts_stay_ignored() -> None:
    """As in a job that a shell runs in the background."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "sys.argv[0] = 'ttrt'\n"
        "from ttmlir.tools.ttrt import main\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.exit(main(['--help']))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_an_interrupt_ends_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C gives the status that shells expect, without a traceback."""
    from ttmlir.tools.start_up import INTERRUPTED, run_once

    def interrupted() -> int:
        raise KeyboardInterrupt

    assert run_once("tool", interrupted) == INTERRUPTED
    assert capsys.readouterr().err == ""
