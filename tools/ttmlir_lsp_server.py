"""`ttmlir-lsp-server`: tells editors about MLIR, by the Language Server Protocol."""

from __future__ import annotations

import os
import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

PROGRAM = "ttmlir-lsp-server"
_HELP = f"""USAGE: {PROGRAM}

Speaks the Language Server Protocol over standard input and output; editors start it.

  --help     Print this text
  --version  Print the version
  --stdio    Accepted: there is no other way
"""

end_quietly_before_work(PROGRAM)


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once(PROGRAM, lambda: _run(given))


def _run(arguments: list[str]) -> int:
    if unknown := [each for each in arguments if each not in ("--stdio", "--help", "--version")]:
        from ttmlir.terminal import print_error

        print_error(f"{PROGRAM}: unknown argument '{unknown[0]}'; see {PROGRAM} --help")
        return 1
    if "--help" in arguments:
        sys.stdout.write(_HELP)
        return 0
    if "--version" in arguments:
        from ttmlir.version import version_text

        sys.stdout.write(version_text(PROGRAM))
        return 0
    from ttmlir.language_server import make_server

    try:
        server = make_server()
    except ImportError:
        sys.stderr.write(f'{PROGRAM}: needs pygls; pip install "ttmlir-py[lsp]" installs it\n')
        return 1
    # The server closes both when the editor leaves.
    server.start_io(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
