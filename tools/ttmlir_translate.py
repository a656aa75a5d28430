"""`ttmlir-translate`: writes MLIR modules in other formats."""

from __future__ import annotations

import sys

from .start_up import tuned_for_one_run
from .translations import TRANSLATIONS


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    with tuned_for_one_run():
        from ttmlir.target.driver import run_translate

        return run_translate(sys.argv[1:] if arguments is None else arguments, TRANSLATIONS)


if __name__ == "__main__":
    sys.exit(main())
