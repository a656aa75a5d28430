"""Runs chosen tests of the suite in this process, and says what became of them."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import lit.formats
import lit.main
import pytest
from product import ROOT

PYTEST = (
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "--tb=line",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)


class Selection:
    """A plugin of pytest: runs given tests in a given order, each within a time of its own."""

    def __init__(self, seconds: dict[str, float], budget: float) -> None:
        """Run the tests named in `seconds` until `budget` seconds are over."""
        self._seconds = seconds
        self._end = time.monotonic() + budget
        self.failed: str | None = None
        self.exhausted = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that were asked for."""
        rank = {name: number for number, name in enumerate(self._seconds)}
        items[:] = sorted(
            (item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid]
        )
        use_fixed_examples()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests that cannot even be loaded notices the change."""
        if report.failed and self.failed is None:
            self.failed = report.nodeid

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Stop a test that takes far longer than it should."""
        signal.signal(signal.SIGALRM, _stop_test)
        signal.setitimer(signal.ITIMER_REAL, 20 + 10 * self._seconds[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if time.monotonic() > self._end:
                self.exhausted = True
                item.session.shouldstop = "the time is up"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the first failure."""
        if report.failed and self.failed is None:
            self.failed = report.nodeid


def _stop_test(*_: Any) -> None:
    pytest.fail("far slower than without the change")


def use_fixed_examples() -> None:
    """Make random tests draw the same examples each time, and stop at the first failure."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutation", deadline=None, database=None, derandomize=True, phases=phases
    )
    hypothesis.settings.load_profile("mutation")


def run_pytest(seconds: dict[str, float], budget: float, report: Path) -> None:
    """Run the tests named in `seconds` in that order until one fails."""
    selection = Selection(seconds, budget)
    files = dict.fromkeys(name.partition("::")[0] for name in seconds)
    status = pytest.main([*PYTEST, "-x", *files], plugins=[selection])
    failed = selection.failed
    if failed is None and status not in (0, 1, 2, 5):
        failed = f"pytest ended with {status}"
    report.write_text(json.dumps({"failed": failed, "exhausted": selection.exhausted}))


def run_lit(files: list[str], report: Path, folder: Path, before: Callable[[], Any]) -> None:
    """Run files with RUN lines one after the other until one fails.

    `before` is called before each, in a process that shares files with this one.
    """
    execute = lit.formats.ShTest.execute

    def execute_here(self: Any, test: Any, config: Any) -> Any:
        test.suite.exec_root = str(folder)
        before()
        return execute(self, test, config)

    lit.formats.ShTest.execute = execute_here
    options = ["-q", "--workers=1", "--max-failures=1", "--order=lexical", f"--output={report}"]
    sys.argv = ["lit", *options, *(str(ROOT / file) for file in files)]
    lit.main.main()
