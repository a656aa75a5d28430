"""A process that runs lit tests one at a time, with the tools warm, until its input ends.

It discovers the tests once, reads the path of a test in each line and answers with a line of JSON:
lit's word for the result and lit's account of it. `LitSession` is the other end of the pipes.
"""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import IO, Any

from running.line_process import LineProcess

TEST_ROOT = Path(__file__).resolve().parents[2]


class LitSession:
    """A process that runs lit tests; it starts with the first of them."""

    def __init__(self, root: Path = TEST_ROOT) -> None:
        """No process yet; `root` is the folder of the tests."""
        self._process = LineProcess("running.lit_session", root)

    def run(self, path: Path) -> tuple[str, str]:
        """The code that lit gives to a test, such as PASS, and what its commands printed."""
        code, output = json.loads(self._process.ask(str(path)))
        return code, output

    def close(self) -> None:
        """End the process and whatever it still runs."""
        self._process.close()


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


def serve(root: str, *, requests: IO[str], answers: IO[str]) -> None:
    """Run a test of the folder `root` for each line of `requests`."""
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
