"""`ttmlir-tune`: searches layouts with which a program takes less time on a board."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

end_quietly_before_work("ttmlir-tune")


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttmlir-tune", lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.click_command import run_command
    from ttmlir.tools.tune_cli import cli

    return run_command(cli, arguments, "ttmlir-tune")


if __name__ == "__main__":
    sys.exit(main())
