"""Runs modules before they are compiled: each operation by its meaning, with NumPy.

    from ttmlir.compiler import lower
    from ttmlir.interpreter import execute

    module = lower(text, "")
    [result] = execute(module, [x, y])

Nothing of the path to a binary takes part: no conversion, no file, no runtime program. So the
numbers of two levels of lowering can be compared; see `ttmlir.interpreter.levels`.
"""

from __future__ import annotations

from ttmlir.interpreter.execution import Execution, Function, Observer, execute

__all__ = ["Execution", "Function", "Observer", "execute"]
