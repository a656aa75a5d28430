"""The suite finds what would keep a test from judging: hangs, chance, programs that are missing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import settings
from running.lit_session import LitSession
from running.sampling import sampled
from running.warm_python import WarmPython

SKIPPING = """
import pytest

def test_compared():
    pytest.skip("no oracle here")

@pytest.mark.xfail(reason="known", strict=True)
def test_known():
    assert False
"""
MISSING = "import pytest\npytest.importorskip('no_such_oracle')\n"
CONFTEST = "from running.required_oracles import register as pytest_configure\n"


def test_every_test_has_a_time_limit(pytestconfig: pytest.Config) -> None:
    """A test that hangs ends the run with its name."""
    assert 0 < float(pytestconfig.getini("timeout")) <= 600


def test_chance_is_the_same_in_ci() -> None:
    """Random tests draw the same examples in each run of CI, and new ones elsewhere."""
    assert settings.default is not None
    assert settings.default.derandomize is bool(os.environ.get("CI"))


@pytest.mark.parametrize(("required", "status"), [(True, 1), (False, 0)])
def test_skipped_tests_fail_where_oracles_are_required(
    required: bool, status: int, tmp_path: Path
) -> None:
    """Tests and whole files fail with their reason; expected failures stay what they are."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_skipping.py").write_text(SKIPPING)
    (tmp_path / "test_missing.py").write_text(MISSING)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent / "support")}
    environment.pop("TTMLIR_REQUIRE_ORACLES", None)
    if required:
        environment["TTMLIR_REQUIRE_ORACLES"] = "1"
    options = ("-q", "--continue-on-collection-errors", "-p", "no:cacheprovider", "-p", "no:xdist")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir=.", "-c", os.devnull, "."],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == status, run.stdout
    counts = "1 failed, 1 xfailed, 1 error" if required else "2 skipped, 1 xfailed"
    assert counts in run.stdout
    assert ("no test may be skipped: Skipped: no oracle here" in run.stdout) is required
    assert ("could not import 'no_such_oracle'" in run.stdout) is required


LIT_CONFIG = """
import os
import lit.formats
config.name = "small"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.environment["PATH"] = os.environ["PATH"]
config.test_exec_root = os.path.join(os.path.dirname(__file__), "out")
"""
LIT_TESTS = {
    "passing": ("RUN: true", "PASS", ""),
    "failing": ("RUN: echo to be seen && false", "FAIL", "to be seen"),
    "known": ("XFAIL: *\nRUN: false", "XFAIL", ""),
    "missing": ("REQUIRES: no-such-oracle\nRUN: true", "UNSUPPORTED", "no-such-oracle"),
    "empty": ("nothing to run", "UNRESOLVED", "no 'RUN:' line"),
}
"""Name, text, and what lit says and prints."""


@pytest.fixture
def lit(tmp_path: Path) -> Iterator[LitSession]:
    """A process that runs the tests of a small suite."""
    (tmp_path / "lit.cfg.py").write_text(LIT_CONFIG)
    for name, (text, _, _) in LIT_TESTS.items():
        (tmp_path / f"{name}.mlir").write_text(text)
    (tmp_path / "slow.mlir").write_text("RUN: sleep 60")
    session = LitSession(tmp_path)
    yield session
    session.close()


def test_lit_tells_what_failed(lit: LitSession, tmp_path: Path) -> None:
    """The word for the result, the commands and what they printed."""
    for name, (_, expected, printed) in LIT_TESTS.items():
        code, output = lit.run(tmp_path / f"{name}.mlir")
        assert code == expected, output
        assert printed in output


def test_lit_goes_on_after_a_test_that_took_too_long(lit: LitSession, tmp_path: Path) -> None:
    """The answer to a test that was given up is not taken for that to the next one."""

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGUSR1, give_up)
    timer = Timer(1.0, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        with pytest.raises(TimeoutError):
            lit.run(tmp_path / "slow.mlir")
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)
    assert lit.run(tmp_path / "failing.mlir")[0] == "FAIL"
    assert lit.run(tmp_path / "passing.mlir")[0] == "PASS"


def test_samples_hold_every_value() -> None:
    """Each value of each axis is in the part that always runs; the rest is marked."""
    cases = sampled("abc", "xy", (1, 2))
    assert len(cases) == 12
    assert len({case.values for case in cases}) == 12
    always = [case.values for case in cases if not case.marks]
    assert len(always) == 6
    assert [set(axis) for axis in zip(*always, strict=True)] == [{*"abc"}, {*"xy"}, {1, 2}]
    assert {mark.name for case in cases for mark in case.marks} == {"exhaustive"}


def test_ci_fails_where_an_oracle_cannot_be_installed(tmp_path: Path) -> None:
    """It says which before it does anything else."""
    for name in ("bash", "dirname", "id", "mktemp", "rm", "xargs"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / name).symlink_to(program)
    oracles = ("mlir-opt-19", "mlir-translate-19", "FileCheck-19", "g++")
    for name in ("apt-get", *oracles):
        (tmp_path / name).write_text("#!/bin/false\n")
        (tmp_path / name).chmod(0o755)
    script = Path(__file__).resolve().parents[1] / ".ci" / "run"
    run = subprocess.run(
        ["bash", script], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr.endswith("flatc is missing\n")
    assert "Set up" not in run.stdout


PROGRAMS = {
    "what it is": "import sys; print(__name__, sys.argv, sys.path[0]); sys.exit('no')",
    "its end": "import atexit; atexit.register(print, 'end'); print('first')",
    "its failure": "def divide(x):\n    return x / 0\n\nprint('first')\ndivide(1)",
    "its folder": "import os, sys; print(os.getcwd(), os.environ['PLACE'], sys.stdin.read())",
    "its status": "import sys; print(1); sys.exit(3)",
    "no program": "x = (",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_forked_programs_are_like_processes_of_their_own(text: str, tmp_path: Path) -> None:
    """What they print, and their exit status; from standard input and from a file."""
    environment = {**os.environ, "PLACE": "here"}
    environment.pop("PYTHONUNBUFFERED", None)
    (tmp_path / "program.py").write_text(f"print(__file__)\n{text}")
    python = WarmPython()
    try:
        forked = (
            python.run(text, tmp_path, environment, 60),
            python.run_file("program.py", tmp_path, environment, 60),
        )
    finally:
        python.close()
    for outcome, arguments, given in zip(forked, ("-", "program.py"), (text, ""), strict=True):
        with (tmp_path / "printed").open("w+") as file:
            status = subprocess.run(
                [sys.executable, arguments],
                input=given.encode(),
                stdout=file,
                stderr=file,
                cwd=tmp_path,
                env=environment,
                check=False,
            ).returncode
            file.seek(0)
            printed = file.read()
        assert (outcome.returncode, outcome.printed) == (status, printed)


def test_a_forked_program_that_hangs_ends(tmp_path: Path) -> None:
    """It does not hold up the next one."""
    python = WarmPython()
    try:
        with pytest.raises(TimeoutError, match="no answer in 1 seconds"):
            python.run("import time; time.sleep(99)", tmp_path, os.environ, 1)
        assert python.run("print(2)", tmp_path, os.environ, 60).printed == "2\n"
    finally:
        python.close()
