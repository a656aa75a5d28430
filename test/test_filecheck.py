"""The suite's FileCheck agrees with LLVM's about what passes and what fails."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from filecheck.options import Options

from ttmlir.tools.filecheck import check
from ttmlir.tools.llvm_names import filecheck, llvm_lit

CASES = {
    "not ends where the next match starts": (
        "CHECK-NOT: relu\nCHECK: ttir.relu",
        "ttir.relu\n",
        True,
    ),
    "not fails inside its region": ("CHECK-NOT: relu\nCHECK: add", "relu add\n", False),
    "not at the end": ("CHECK: a\nCHECK-NOT: b", "a\nc b\n", False),
    "not before a label": ("CHECK: a\nCHECK-NOT: x\nCHECK-LABEL: f", "a\nf\nx\n", True),
    "blanks collapse in both": ("CHECK: a    b{{ +}}c", "a b  \t c\n", True),
    "blanks collapse before the start of a line": ("CHECK: {{^ }}x", "     x\n", True),
    "next takes the leftmost match": (
        "CHECK: a\nCHECK-NEXT: [[X:[0-9]+]]\nCHECK: =[[X]]",
        "a\n1 2\n=1\n",
        True,
    ),
    "next on the line after next": ("CHECK: a\nCHECK-NEXT: b", "a\n\nb\n", False),
    "next on the same line": ("CHECK: a\nCHECK-NEXT: b", "a b\nc\n", False),
    "next finds the leftmost, which is too early": ("CHECK: a\nCHECK-NEXT: b", "a b\nb\n", False),
    "same": ("CHECK: a\nCHECK-SAME: c", "a b c\n", True),
    "same on another line": ("CHECK: a\nCHECK-SAME: c", "a b\nc\n", False),
    "dag in any order": ("CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c", "b\na\nc\n", True),
    "empty": ("CHECK: a\nCHECK-EMPTY:\nCHECK-NEXT: b", "a\n\nb\n", True),
    "empty with text": ("CHECK: a\nCHECK-EMPTY:", "a\nb\n", False),
    "count": ("CHECK-COUNT-3: a", "a a\na\n", True),
    "count too few": ("CHECK-COUNT-3: a", "a\na\n", False),
    "label separates": ("CHECK-LABEL: f\nCHECK: x\nCHECK-LABEL: g", "f\ng\nx\n", False),
    "variable": ("CHECK: [[A:%.+]] =\nCHECK: use [[A]]", "%0 =\nuse %1\nuse %0\n", True),
    "no match": ("CHECK: z", "a\n", False),
    "no directives": ("nothing", "a\n", False),
}
"""Directives, input, and whether the input passes."""


def verdict(directives: str, text: str) -> bool:
    """Whether our FileCheck accepts a text."""
    options = Options(match_filename="checks", check_prefixes=["CHECK"])
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return check(options, directives + "\n", text) == 0


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str) -> None:
    """The rules that differ between implementations are those of LLVM."""
    directives, text, passes = CASES[name]
    assert verdict(directives, text) is passes


@pytest.mark.skipif(not shutil.which("FileCheck-19"), reason="LLVM's FileCheck-19 is missing")
@pytest.mark.parametrize("name", CASES)
def test_llvm_says_the_same(name: str, tmp_path: Path) -> None:
    """LLVM's own FileCheck gives the verdicts that the cases claim."""
    directives, text, passes = CASES[name]
    (tmp_path / "checks").write_text(directives + "\n")
    run = subprocess.run(
        ["FileCheck-19", str(tmp_path / "checks")],
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )
    assert (run.returncode == 0) is passes, run.stderr


def test_help_lists_options_that_work(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each of them is taken; LLVM's FileCheck has all but one, too."""
    for flag in ("-h", "-help", "--help"):
        assert filecheck([flag]) == 0
        printed = capsys.readouterr()
        assert printed.out.startswith("usage: FileCheck [options] CHECK_FILE\n")
        assert not printed.err
    flags = re.findall(r"^  (-\S+?)(?:,|=\S+)?(?:  |$| )", printed.out, re.M)
    assert len(flags) == 12
    (tmp_path / "checks").write_text("CHECK: a [[N]] c\nB: c\n")
    (tmp_path / "input").write_text("a b c\nc\n")
    values = {
        "--input-file": f"--input-file={tmp_path / 'input'}",
        "--check-prefix": "--check-prefix=CHECK",
        "--check-prefixes": "--check-prefixes=CHECK,B",
        "--comment-prefixes": "--comment-prefixes=COM",
        "-DNAME": "-DN=b",
        "--dump-input": "--dump-input=fail",
    }
    needed = [values["-DNAME"], values["--input-file"], str(tmp_path / "checks")]
    for flag in flags[1:]:
        assert filecheck([values.get(flag, flag), *needed]) == 0, flag
    if shutil.which("FileCheck-19"):
        known = {*flags} - {"-h", "--check-prefix", "--reject-empty-vars", "--strict-whitespace"}
        given = [values.get(flag, flag) for flag in known]
        assert subprocess.run(["FileCheck-19", *given, *needed], check=False).returncode == 0


LIT_CONFIG = """import lit.formats
import os

config.name = "mine"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.environment["PATH"] = os.environ["PATH"]
"""
LIT_TEST = """// RUN: ttmlir-opt --cse %s | FileCheck %s
// CHECK-COUNT-{count}: arith.addi
// CHECK-NOT: arith.addi
func.func @f(%a: i32) -> (i32, i32) {{
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}}
"""


@pytest.mark.parametrize(("count", "status"), [(1, 0), (2, 1)])
def test_a_suite_of_ones_own_runs_by_llvms_names(count: int, status: int, tmp_path: Path) -> None:
    """`llvm-lit` finds the tests, and `FileCheck` in their RUN lines is ours."""
    (tmp_path / "lit.cfg.py").write_text(LIT_CONFIG)
    (tmp_path / "sums.mlir").write_text(LIT_TEST.format(count=count))
    tools = Path(sys.executable).parent
    done = subprocess.run(
        [tools / "llvm-lit", "-sv", tmp_path],
        env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert ("Passed: 1" if status == 0 else "Failed: 1") in " ".join(done.stdout.split())


def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the extra, the names are there and say what to install; files have to exist."""
    assert filecheck(["no-such-file.txt"]) == 2
    assert "No such file or directory: 'no-such-file.txt'" in capsys.readouterr().err
    monkeypatch.setattr("ttmlir.tools.llvm_names.find_spec", lambda name: None)
    assert filecheck(["x"]) == 1
    assert "the Python package filecheck is not installed" in capsys.readouterr().err
    assert llvm_lit() == 1
    assert "pip install 'ttmlir-py[test]'" in capsys.readouterr().err
