"""The verifiers of operations in the form of 2026, which are loaded when the first is verified."""

from __future__ import annotations

from collections.abc import Iterable

from ttmlir.dialects.definition.ods import ODSOperation
from ttmlir.optable.op_definition import OpDefinition, Parameter


def verify_late(
    op: ODSOperation, parameters: Iterable[Parameter], definition: OpDefinition | None
) -> bool:
    """Verify an operation in the form of 2026; False where that form has no verifier of its own."""
    from ttmlir.dialects.late_checks import CHECKS, check_elementwise
    from ttmlir.dialects.late_checks.verified import Verified

    check = CHECKS.get(op.name)
    if check is None and definition is not None and definition.family.is_elementwise:
        check = check_elementwise if op.name.startswith("ttir.") else None
    if check is None:
        return False
    check(Verified(op, parameters))
    return True
