"""What tests of tt-explorer have in common."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _of_2024(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs and grids are those of 2024, whose programs are shown operation by operation, but for
    programs of several devices, of which there are none."""
    if request.path.name != "test_shardings.py":
        monkeypatch.setenv("TTMLIR_SPELLING", "2024")
