"""A process that runs lit tests one at a time, with the tools warm, until its input ends.

It discovers the tests once, reads the path of a test in each line and answers with a line of JSON:
lit's word for the result and lit's account of it. `LitSession` is the other end of the pipes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import IO, Any

TEST_ROOT = Path(__file__).resolve().parents[2]


class LitSession:
    """A process that runs lit tests; it starts with the first of them."""

    def __init__(self, root: Path = TEST_ROOT) -> None:
        """No process yet; `root` is the folder of the tests."""
        self._root = root
        self._process: subprocess.Popen[str] | None = None

    def run(self, path: Path) -> tuple[str, str]:
        """The code that lit gives to a test, such as PASS, and what its commands printed."""
        if self._process is None:
            self._process = self._start()
        try:
            code, output = json.loads(self._ask(self._process, path))
        except BaseException:  # such as a timeout: its answer must not become the next test's
            self.close()
            raise
        return code, output

    def _start(self) -> subprocess.Popen[str]:
        # A session of its own, so that tools that hang end with it.
        return subprocess.Popen(
            [sys.executable, __file__, self._root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @staticmethod
    def _ask(process: subprocess.Popen[str], path: Path) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise LitError(f"lit ended with status {process.wait()}")
        return answer

    def close(self) -> None:
        """End the process and whatever it still runs."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


class LitError(Exception):
    """lit itself broke."""


def _discover(root: str) -> tuple[dict[Path, Any], Any]:
    """The tests by path, and lit's configuration."""
    import lit.discovery
    import lit.LitConfig

    config = lit.LitConfig.LitConfig(
        progname="lit",
        path=[],
        diagnostic_level="note",
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=False,
        order="lexical",
        params={},
    )
    tests = lit.discovery.find_tests_for_inputs(config, [root])
    return {Path(test.getSourcePath()): test for test in tests}, config


def _serve(root: str, requests: IO[str], answers: IO[str]) -> None:
    import lit.Test

    tests, config = _discover(root)
    for line in requests:
        test = tests[Path(line.rstrip("\n"))]
        try:
            result = test.config.test_format.execute(test, config)
        except Exception:
            result = lit.Test.Result(lit.Test.UNRESOLVED, traceback.format_exc())
        test.setResult(result)  # it turns an expected failure into XFAIL
        answers.write(json.dumps([test.result.code.name, test.result.output]) + "\n")
        answers.flush()


if __name__ == "__main__":
    # Tools that print while they warm up must not answer.
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _serve(sys.argv[1], sys.stdin, own)
