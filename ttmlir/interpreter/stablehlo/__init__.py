"""What the operations of StableHLO and CHLO compute, with NumPy.

Elementwise operations are computed by the rows of the operation table; all others are written after
the specification, apart from the conversions to ttir, which they can so be compared with.
"""

from __future__ import annotations

from ttmlir.interpreter.stablehlo.contraction import CONTRACTION
from ttmlir.interpreter.stablehlo.control import CONTROL
from ttmlir.interpreter.stablehlo.elementwise import ELEMENTWISE
from ttmlir.interpreter.stablehlo.indexing import INDEXING
from ttmlir.interpreter.stablehlo.movement import MOVEMENT
from ttmlir.interpreter.stablehlo.normalization import NORMALIZATION
from ttmlir.interpreter.stablehlo.reduction import REDUCTION
from ttmlir.interpreter.stablehlo.window import WINDOW
from ttmlir.interpreter.values import Function

FUNCTIONS: dict[str, Function] = {
    **ELEMENTWISE,
    **MOVEMENT,
    **INDEXING,
    **CONTRACTION,
    **WINDOW,
    **REDUCTION,
    **NORMALIZATION,
    **CONTROL,
}
"""Operations of StableHLO, CHLO and sdy by name."""
