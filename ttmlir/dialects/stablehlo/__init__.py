"""The stablehlo dialect: the operations that JAX and other frameworks compile to.

Properties keep StableHLO's names; attributes with fields are classes of `attrs`, enumerations of
`enums`. Both forms of the text are read, and printed as StableHLO prints them.

Specification: https://github.com/openxla/stablehlo/blob/main/docs/spec.md
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.stablehlo.attrs import STABLEHLO_ATTRS
from ttmlir.dialects.stablehlo.constraints import FutureType, TokenType
from ttmlir.dialects.stablehlo.contraction import CONTRACTION
from ttmlir.dialects.stablehlo.control import CONTROL
from ttmlir.dialects.stablehlo.creation import CREATION
from ttmlir.dialects.stablehlo.distribution import DISTRIBUTION
from ttmlir.dialects.stablehlo.dynamism import DYNAMISM
from ttmlir.dialects.stablehlo.elementwise import ELEMENTWISE
from ttmlir.dialects.stablehlo.indexing import INDEXING
from ttmlir.dialects.stablehlo.movement import MOVEMENT
from ttmlir.dialects.stablehlo.normalization import NORMALIZATION
from ttmlir.dialects.stablehlo.reduction import REDUCTION
from ttmlir.dialects.stablehlo.window import WINDOW

OPERATIONS = cast(
    "list[type[Operation]]",
    [
        *ELEMENTWISE,
        *CREATION,
        *MOVEMENT,
        *INDEXING,
        *CONTRACTION,
        *WINDOW,
        *REDUCTION,
        *NORMALIZATION,
        *CONTROL,
        *DYNAMISM,
        *DISTRIBUTION,
    ],
)
"""All operations."""

STABLEHLO = Dialect("stablehlo", OPERATIONS, [*STABLEHLO_ATTRS, FutureType, TokenType])
"""The dialect, for an xDSL context."""
