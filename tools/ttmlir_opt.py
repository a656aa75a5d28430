"""`ttmlir-opt`: runs passes on MLIR text."""

from __future__ import annotations

import os
import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

PROGRAM = "ttmlir-opt"

end_quietly_before_work(PROGRAM)


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once(PROGRAM, lambda: _run(given))


def _run(arguments: list[str]) -> int:
    if instruction := os.environ.get("_TTMLIR_OPT_COMPLETE"):
        return _complete(instruction)
    from ttmlir.tools.opt.driver import run_opt

    return run_opt(arguments)


def _complete(instruction: str) -> int:
    from ttmlir.passes.core.registry import HIDDEN, names
    from ttmlir.tools.completion import complete
    from ttmlir.tools.opt.flags import OptFlags

    passes = [name for name in names() if name not in HIDDEN]
    return complete(PROGRAM, instruction, OptFlags, passes)


if __name__ == "__main__":
    sys.exit(main())
