"""`ttmlir-bisect`: finds the operation with which a program begins to compute something else."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

end_quietly_before_work("ttmlir-bisect")


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttmlir-bisect", lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.bisect_cli import cli
    from ttmlir.tools.click_command import run_command

    return run_command(cli, arguments, "ttmlir-bisect")


if __name__ == "__main__":
    sys.exit(main())
