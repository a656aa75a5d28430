"""`ttmlir-translate`: writes MLIR modules in other formats."""

from __future__ import annotations

import os
import sys

from ttmlir.tools.start_up import end_quietly_before_work, run_once

PROGRAM = "ttmlir-translate"

end_quietly_before_work(PROGRAM)


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_once(PROGRAM, lambda: _run(given))


def _run(arguments: list[str]) -> int:
    from ttmlir.tools.translate.translations import TRANSLATIONS

    if instruction := os.environ.get("_TTMLIR_TRANSLATE_COMPLETE"):
        from ttmlir.tools.completion import complete
        from ttmlir.tools.translate.flags import TranslateFlags

        names = [translation.name for translation in TRANSLATIONS]
        return complete(PROGRAM, instruction, TranslateFlags, names)
    from ttmlir.tools.translate.driver import run_translate

    return run_translate(arguments, TRANSLATIONS)


if __name__ == "__main__":
    sys.exit(main())
