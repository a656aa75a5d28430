"""A pytest plugin for hosts where every program and library that tests compare with is installed.

There a skipped test is a test that was lost, so it fails.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

VARIABLE = "TTMLIR_REQUIRE_ORACLES"
"""Environment variable that says that everything is installed."""


def register(config: pytest.Config) -> None:
    """Let skipped tests fail if the environment asks for it."""
    if os.environ.get(VARIABLE):
        config.pluginmanager.register(RequiredOracles(), "required oracles")


class RequiredOracles:
    """Makes failures of skipped tests and of skipped files."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Judge a test; one that is expected to fail may do so."""
        report = yield
        return report if hasattr(report, "wasxfail") else _judge(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self,
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Judge a file, which is skipped as a whole if it cannot import what it needs."""
        return _judge((yield))


def _judge(report: Report) -> Report:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{VARIABLE} is set, so no test may be skipped: {reason}"
    return report
