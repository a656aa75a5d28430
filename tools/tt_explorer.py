"""`tt-explorer`: shows programs as graphs in the browser, with estimates and overrides."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

end_quietly_before_work("tt-explorer")


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("tt-explorer", lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.click_command import run_command
    from ttmlir.tools.explorer_cli import cli

    return run_command(cli, arguments, "tt-explorer")


if __name__ == "__main__":
    sys.exit(main())
