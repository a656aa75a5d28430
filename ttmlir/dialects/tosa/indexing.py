"""The operations of tosa that read and write by number."""

from __future__ import annotations

from ttmlir.dialects.definition.ods import Signature, ValueGroup
from ttmlir.dialects.tosa.forms import NUMBERS, op_classes, rank, signature

_FORMS: dict[str, tuple[Signature, ...]] = {
    "gather": (
        signature((ValueGroup("values", rank(3)), ValueGroup("indices", rank(2))), result=rank(3)),
    ),
    "scatter": (
        signature(
            (
                ValueGroup("values_in", rank(3)),
                ValueGroup("indices", rank(2)),
                ValueGroup("input", rank(3)),
            ),
            result=rank(3),
        ),
    ),
    "table": (signature((ValueGroup("input", NUMBERS), ValueGroup("table", rank(1)))),),
}

OPERATIONS = op_classes(_FORMS)
"""The operations of this module."""
