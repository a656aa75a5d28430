"""`ttmlir-translate`: writes MLIR modules in other formats."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import run_once
from ttmlir.tools.translate.driver import run_translate
from ttmlir.tools.translate.translations import TRANSLATIONS


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttmlir-translate", lambda: run_translate(given, TRANSLATIONS))


if __name__ == "__main__":
    sys.exit(main())
