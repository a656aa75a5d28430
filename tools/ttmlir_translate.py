"""`ttmlir-translate`: writes MLIR modules in other formats."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    from ttmlir.target.driver import run_translate

    return run_translate(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
