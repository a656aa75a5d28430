"""The suite finds what would keep a test from judging: hangs, chance, programs that are missing."""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import settings
from running import jax_cache
from running.line_process import LineProcess, LineProcessError
from running.lit_session import LitSession
from running.sampling import sampled
from running.warm_python import WarmPython
from running.warm_shell import WarmShell

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


def test_processes_of_tests_keep_compiled_python() -> None:
    """Whatever the environment says: a tool that compiles itself anew takes twice as long."""
    code = "import sys; print(sys.dont_write_bytecode)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
    assert not sys.dont_write_bytecode


def test_jax_keeps_what_it_compiles(tmp_path: Path) -> None:
    """The second process takes it from the folder; a damaged entry is compiled again."""
    code = "import jax, jax.numpy as jnp; print(jax.jit(jnp.tanh)(jnp.float32(0.5)))"
    environment = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    printed = list[str]()
    for warnings in ("error", "error", "ignore:Error reading persistent compilation cache"):
        run = subprocess.run(
            [sys.executable, "-W", warnings, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        printed.append(run.stdout)
        [entry] = tmp_path.glob("jit_tanh-*-cache")
        if len(printed) == 2:
            entry.write_bytes(b"x")
    assert printed == ["0.46211717\n"] * 3


def test_the_cache_has_a_size(tmp_path: Path) -> None:
    """With more bytes than that it starts anew."""
    (tmp_path / "a").write_bytes(bytes(100))
    jax_cache.limit(tmp_path, 100)
    assert (tmp_path / "a").exists()
    (tmp_path / "b").write_bytes(b"1")
    jax_cache.limit(tmp_path, 100)
    assert not list(tmp_path.iterdir())


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


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("second", "also"), [*zip("xyz", "XYZ", strict=True)])
@pytest.mark.parametrize("first", "abcd")
def test_marked_samples_hold_every_value(
    first: str, second: str, also: str, request: pytest.FixtureRequest
) -> None:
    """Names that are given together count once; the others are `exhaustive`."""
    assert also == second.upper()
    is_left = ("abcd".index(first) + "xyz".index(second)) % 2
    assert bool(request.node.get_closest_marker("exhaustive")) == bool(is_left)


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


DRAWING = """
import random
import numpy as np
import pytest
from hypothesis import given, strategies
from running.randomness import TestGenerator

RNG = TestGenerator(__name__)
CONSTANT = RNG.random()

def show(name, *values):
    with open("drawn", "a") as file:
        print(name, *values, file=file)

@pytest.fixture(scope="module")
def shared():
    return RNG.random()

@pytest.mark.parametrize("number", range(3))
def test_numbers(number, shared):
    show(number, CONSTANT, shared, RNG.random(), np.random.random(), random.random())

@given(strategies.integers(0, 1))
def test_examples(example):
    show("example", example, RNG.random())
"""
SEEDING = """
from running import randomness
from running.randomness import add_options as pytest_addoption

def pytest_configure(config):
    config.pluginmanager.register(randomness.Randomness(config))
"""


def test_numbers_do_not_depend_on_other_tests(tmp_path: Path) -> None:
    """Each test, example, file and shared fixture has its own, in any order; others by option."""
    (tmp_path / "conftest.py").write_text(SEEDING)
    for name in ("test_one.py", "test_two.py", "test_three.py"):
        (tmp_path / name).write_text(DRAWING)

    def run(*arguments: str) -> tuple[list[str], str]:
        """What the tests drew, in their order, and what pytest printed."""
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent / "support")}
        options = ("-v", "--import-mode=importlib", "-c", os.devnull, "--rootdir=.")
        outcome = subprocess.run(
            [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert outcome.returncode == 0, outcome.stdout
        drawn = (tmp_path / "drawn").read_text().splitlines()
        (tmp_path / "drawn").unlink()
        return drawn, outcome.stdout

    drawn, printed = run(".")
    numbers = {line for line in drawn if not line.startswith("example")}
    assert len(numbers) == 9
    # The file's constant, the number of its fixture and three of each test: none is drawn twice.
    assert len({word for line in numbers for word in line.split()[1:]}) == 3 * (2 + 3 * 3)
    assert len({line for line in drawn if line.startswith("example")}) == 3 * 2

    others, in_order = run(".", "--shuffle", "1")
    assert set(others) == set(drawn)
    tests = re.findall(r"^(test_\S+)::\S+ PASSED", in_order, re.MULTILINE)
    assert in_order != printed
    assert sorted(set(tests)) == sorted({"test_one.py", "test_two.py", "test_three.py"})
    assert all(tests[index : index + 4] == [tests[index]] * 4 for index in (0, 4, 8))
    assert run("-n", "2", "--shuffle", "1")[1].count("PASSED") == 12

    alone, _ = run("test_two.py::test_numbers[1]")
    assert {*alone} < {*drawn}
    assert not {*run("--data-seed", "5")[0]} & numbers


def test_only_generators_of_tests_are_shared() -> None:
    """Functions of tests draw from no generator that another test has drawn from."""
    makers = {"default_rng", "RandomState", "Random", "manual_seed"}
    shared: list[str] = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not any(maker in text for maker in makers):
            continue
        tree = ast.parse(text)
        made = {
            target.id
            for statement in tree.body
            if isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Call)
            and ast.unparse(statement.value.func).rpartition(".")[2] in makers
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        inside = {
            node.id
            for function in (ast.walk(tree) if made else ())
            if isinstance(function, ast.FunctionDef | ast.Lambda)
            for node in ast.walk(function)
            if isinstance(node, ast.Name)
        }
        shared += [f"{path}: use TestGenerator(__name__) for {name}" for name in made & inside]
    assert shared == []


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


SCRIPTS = {
    "a tool": "ttmlir-opt --canonicalize add.mlir",
    "a pipe": "ttmlir-opt add.mlir | ttmlir-opt --cse - | grep -c func",
    "a file descriptor": "ttmlir-opt <(cat add.mlir)",
    "standard input": "ttmlir-opt < add.mlir",
    "an error": "ttmlir-opt missing.mlir; echo not reached",
    "an error that is handled": "ttmlir-opt missing.mlir || echo $?",
    "a program": "python program.py 1 2",
    "a module": "python -m ttmlir program.py",
    "other code": "python -c 'import sys; print(sys.argv)' a; python -m json.tool --help",
    "a path": "mkdir site; PYTHONPATH=site python program.py",
    "a signal": "python killed.py",
    "a folder": "mkdir inner; cd inner; PLACE=there python ../program.py",
}
"""What commands do that start Python or a tool."""
OWN_PROGRAM = """
import os, sys
print(sys.argv, __name__, os.path.basename(__file__), os.environ.get("PLACE"), os.getcwd())
print(sys.path[0], file=sys.stderr)
sys.exit(len(sys.argv))
"""


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_commands_in_a_warm_shell_are_like_others(
    script: str, shell: WarmShell, tmp_path: Path
) -> None:
    """What they print, and their exit status."""
    outcomes: list[tuple[int, list[str]]] = []
    for name in ("warm", "real"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "program.py").write_text(OWN_PROGRAM)
        (folder / "killed.py").write_text("import os; os.kill(os.getpid(), 15)")
        shutil.copy(Path(__file__).parent / "passes" / "Inputs" / "add.mlir", folder)
        if name == "warm":
            done = shell.run(script, folder, os.environ, 60)
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                ["bash", "-euo", "pipefail"],
                input=script,
                cwd=folder,
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
        # Lines of both streams come in any order.
        lines = done.stdout.replace(str(folder), "FOLDER").splitlines()
        outcomes.append((done.returncode, sorted(lines)))
    assert outcomes[0] == outcomes[1]


BREAKING = """
def serve(*arguments, requests, answers):
    raise TypeError("find_tests() takes 2 arguments, as another version of lit says")
"""


def test_a_process_that_breaks_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What it said goes to the terminal; that it is gone hides nothing."""
    (tmp_path / "breaking.py").write_text(BREAKING)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(LineProcessError, match="ended with status 1"):
        LineProcess("breaking").ask("x")
    assert "TypeError: find_tests() takes 2 arguments" in capfd.readouterr().err
    with pytest.raises(LineProcessError, match="ended with status 1"):
        LineProcess("no_such_module").ask("x")
