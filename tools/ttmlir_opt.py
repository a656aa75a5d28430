"""`ttmlir-opt`: runs passes on MLIR text."""

from __future__ import annotations

import sys

from ttmlir.passes.driver import run_opt

from .start_up import run_once


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    return run_once(lambda: run_opt(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    sys.exit(main())
