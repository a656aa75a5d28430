"""Makes pytest run the lit tests: each `.mlir` file with RUN lines is one test.

lit runs once, on all collected files together, when the first of them is reached; so its workers
stay warm and two tests run at a time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

TEST_ROOT = Path(__file__).resolve().parent
NOT_TESTS = {"Inputs", "models", "support", "bench", "golden"}
LIT = "import lit.main; lit.main.main()"
sys.path.insert(0, str(TEST_ROOT / "support"))

# A busy machine is no failure: tests that guard against hangs set a deadline of their own.
settings.register_profile("ttmlir", deadline=None)
settings.load_profile("ttmlir")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect `.mlir` files that lit would run."""
    if file_path.suffix != ".mlir" or NOT_TESTS & set(file_path.relative_to(TEST_ROOT).parts):
        return None
    return LitFile.from_parent(parent, path=file_path)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look at the code of every kernel that a test compiles."""
    if "ttmlir.sim.kernels.compiler" in sys.modules:
        from generated_code import watch_compiler

        watch_compiler()


class LitFile(pytest.File):
    """A file with RUN lines."""

    def collect(self) -> Iterator[pytest.Item]:
        """The one test that the file is."""
        yield LitTest.from_parent(self, name="lit")


class LitTest(pytest.Item):
    """The RUN lines of one file."""

    def runtest(self) -> None:
        """Report what lit said about the file."""
        files = tuple(str(item.path) for item in self.session.items if isinstance(item, LitTest))
        result = lit_results(files)[str(self.path.relative_to(TEST_ROOT))]
        if result["code"] == "UNSUPPORTED":
            pytest.skip(result["output"].strip() or "a program that the test needs is missing")
        if result["code"] not in ("PASS", "XFAIL", "FLAKYPASS"):
            raise LitFailure(result["output"])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The commands that lit ran and what they printed."""
        if isinstance(excinfo.value, LitFailure):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, None, str]:
        """The name of the test in reports."""
        return self.path, None, f"lit: {self.path.relative_to(TEST_ROOT)}"


class LitFailure(Exception):
    """A RUN line failed; the message is lit's account of it."""


@cache
def lit_results(files: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Run lit on `files`; its result for each, by path relative to the test folder."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        run = subprocess.run(
            [sys.executable, "-c", LIT, "-q", "--workers=2", f"--output={report}", *files],
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.exists():
            raise LitFailure(f"lit did not run:\n{run.stdout}{run.stderr}")
        tests = json.loads(report.read_text())["tests"]
    return {test["name"].partition(" :: ")[2]: test for test in tests}
