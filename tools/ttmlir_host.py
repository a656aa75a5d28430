"""`ttmlir-host`: runs host programs of TT-Metalium in C++ on the simulator."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

end_quietly_before_work("ttmlir-host")


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttmlir-host", lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.click_command import run_command
    from ttmlir.tools.host_cli import cli

    return run_command(cli, arguments, "ttmlir-host")


if __name__ == "__main__":
    sys.exit(main())
