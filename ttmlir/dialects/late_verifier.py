"""The verifiers of operations in the form of 2026, which are loaded when the first is verified."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import TensorType

from ttmlir.dialects.definition.ods import ODSOperation
from ttmlir.dialects.definition.table_ops import tensor_type
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


def verify_elements(op: ODSOperation) -> None:
    """Refuse results of ttnn whose elements are other than their layouts say."""
    tensors = [value for value in op.results if isinstance(value.type, TensorType)]
    if any(tensor_type(value).element_type.name == "tt.tile" for value in tensors):
        from ttmlir.dialects.late_checks.placement import check_scalar_elements

        check_scalar_elements(op)


def verify_layout_change(op: ODSOperation) -> None:
    """Refuse a change of layout that changes more than rows and tiles."""
    from ttmlir.dialects.late_checks.placement import check_layout_change

    check_layout_change(op)


def verify_constant_place(op: ODSOperation) -> None:
    """Refuse a constant that lies where its device is not."""
    from ttmlir.dialects.late_checks.placement import check_constant_place

    check_constant_place(op)
