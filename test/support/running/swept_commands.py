"""Commands for tests of sweeps; processes of a sweep find them by their names."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ttmlir.runtime.ttrt.commands import Run
from ttmlir.runtime.ttrt.files import Source


class SlowRun(Run):
    """Takes a while, so that there is a middle of a sweep."""

    def execute_on(self, source: Source) -> None:
        """Wait, then run."""
        time.sleep(0.15)
        super().execute_on(source)


class FragileRun(Run):
    """Its process dies with files whose names begin with `deadly`."""

    def execute_on(self, source: Source) -> None:
        """End the process without a word, or run."""
        if Path(source.path).name.startswith("deadly"):
            os._exit(9)
        super().execute_on(source)


class BrokenRun(Run):
    """Has a mistake that shows with files whose names begin with `odd`."""

    def execute_on(self, source: Source) -> None:
        """Divide by zero, or run."""
        if Path(source.path).name.startswith("odd"):
            _ = 1 // 0
        super().execute_on(source)
