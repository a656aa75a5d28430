"""CPU time that xDSL as it is installed needs to parse, verify and print a file.

    python stock_xdsl.py FILE

A process of its own, since importing ttmlir changes classes of xDSL. Prints seconds; imports are
not counted.
"""

from __future__ import annotations

import sys
import time
from io import StringIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.tensor import Tensor
from xdsl.parser import Parser
from xdsl.printer import Printer


def main(path: str) -> None:
    """Print the time."""
    text = Path(path).read_text(encoding="utf-8")
    started = time.process_time()
    context = Context(allow_unregistered=True)
    for dialect in (Builtin, Func, Tensor):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    Printer(StringIO()).print_op(module)
    print(time.process_time() - started)


if __name__ == "__main__":
    main(*sys.argv[1:])
