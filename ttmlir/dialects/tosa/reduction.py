"""The reductions of tosa."""

from __future__ import annotations

from ttmlir.dialects.definition.ods import Signature
from ttmlir.dialects.tosa.forms import AXIS, NAN, NUMBERS, op_classes, signature, values

_FORMS: dict[str, tuple[Signature, ...]] = {
    "argmax": (signature(values(NUMBERS, "input"), AXIS, NAN),),
    **dict.fromkeys(
        ("reduce_all", "reduce_any", "reduce_prod", "reduce_product", "reduce_sum"),
        (signature(values(NUMBERS, "input"), AXIS),),
    ),
    **dict.fromkeys(
        ("reduce_max", "reduce_min"), (signature(values(NUMBERS, "input"), AXIS, NAN),)
    ),
}

OPERATIONS = op_classes(_FORMS)
"""The operations of this module."""
