"""`ttmlir-kernel`: compiles and runs kernels in C++ without a host program."""

from __future__ import annotations

import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

end_quietly_before_work("ttmlir-kernel")


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once("ttmlir-kernel", lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.click_command import run_command
    from ttmlir.tools.kernel_cli import cli

    return run_command(cli, arguments, "ttmlir-kernel")


if __name__ == "__main__":
    sys.exit(main())
