"""Runs a script with the packages of this project under the names that guides import them by.

    python -m ttmlir script.py [arguments of the script]
    python -m ttmlir doctor

The command `ttmlir` does the same. `import ttnn` finds `ttmlir.ttnn`, unless a real ttnn is
installed. `doctor` says what is installed.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

USAGE = """usage: python -m ttmlir script.py [arguments of the script]
       python -m ttmlir doctor"""

_BINARIES = (".ttnn", ".ttm")


def main(arguments: list[str]) -> int:
    """Run the script in this process, as Python would; 2 for a wrong call, 1 without the file."""
    if not arguments or arguments[0].startswith("-"):
        asked = bool(arguments) and arguments[0] in ("-h", "--help")
        print(USAGE, file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    if arguments == ["doctor"]:
        from ttmlir.doctor import report

        print(report())
        return 0
    script = Path(arguments[0])
    if not script.is_file():
        from ttmlir.terminal import print_error

        print_error(f"ttmlir: error: there is no script '{script}'")
        return 1
    if script.suffix in _BINARIES:
        from ttmlir.terminal import print_error

        print_error(f"ttmlir: error: '{script}' is no script; `ttrt run {script}` runs it")
        return 1
    from ttmlir.ttnn.activate import activate

    activate()
    sys.argv[:] = arguments
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
    return 0


def run() -> None:
    """The command `ttmlir`."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
