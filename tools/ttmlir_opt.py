"""`ttmlir-opt`: runs passes on MLIR text."""

from __future__ import annotations

import sys

from .start_up import tuned_for_one_run


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    with tuned_for_one_run():
        from ttmlir.passes.driver import run_opt

        return run_opt(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
