"""Operations on three tensors."""

from __future__ import annotations

from ttmlir.optable.elementwise import meanings
from ttmlir.optable.elementwise.declaring import declare_elementwise
from ttmlir.optable.row import Domain, Family

TERNARY = (
    declare_elementwise(
        Family.TERNARY,
        "where",
        "Choice between two tensors by a third.",
        "on_true where condition is other than 0, else on_false",
        "Where",
        meanings.where,
        domains=(Domain.BOOLEAN, Domain.REAL),
        aliases="stablehlo.select arith.select linalg.select tosa.select",
        ignores_sign=True,
    ),
)
