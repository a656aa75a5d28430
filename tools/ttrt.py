"""`ttrt`: reads, runs, queries, checks and times binaries."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

end_quietly_before_work("ttrt")


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status: 0, 1, or 42 if only numbers were wrong."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttrt", lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.click_command import run_command
    from ttmlir.tools.ttrt_cli import cli

    return run_command(cli, arguments, "ttrt")


if __name__ == "__main__":
    sys.exit(main())
