"""`ttmlir-opt`: runs passes on MLIR text."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import run_once


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    return run_once("ttmlir-opt", lambda: _run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.opt.driver import run_opt

    return run_opt(arguments)


if __name__ == "__main__":
    sys.exit(main())
