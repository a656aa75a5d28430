"""`ttmlir-opt`: runs passes on MLIR text."""

from __future__ import annotations

import sys

from ttmlir.tools.opt.driver import run_opt
from ttmlir.tools.start_up import run_once


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttmlir-opt", lambda: run_opt(given))


if __name__ == "__main__":
    sys.exit(main())
