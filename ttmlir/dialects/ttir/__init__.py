"""The ttir dialect: what to compute, on tensors, in destination-passing style.

Most operations follow from the rows of the operation table: `ttir.AddOp`, `ttir.MatmulOp` ... are
made when this module is imported and are found by class name or, with `op_class`, by mnemonic.
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.definition.ods import ODSOperation
from ttmlir.dialects.definition.row_ops import OpClasses, destination_signature, properties_of
from ttmlir.dialects.definition.shape_checks import check_of
from ttmlir.dialects.ttir.checks import CHECKS
from ttmlir.dialects.ttir.control import CaseOp, WhileOp
from ttmlir.dialects.ttir.families import (
    OPERAND_CONSTRAINTS,
    BinaryOp,
    ContractionOp,
    ElementwiseOp,
    GenericRegionOp,
    LookupOp,
    MovementOp,
    NormalizationOp,
    OrderingOp,
    ReductionOp,
    TernaryOp,
    TTIROp,
    TTIRRowOp,
    UnaryOp,
    WindowOp,
)
from ttmlir.dialects.ttir.structure import (
    STRUCTURE_OPS,
    AllocOp,
    ArangeOp,
    ConstantOp,
    CustomKernelOp,
    DeallocOp,
    GenericOp,
    KernelOp,
    ToLayoutOp,
    YieldOp,
    tensor_text,
)
from ttmlir.optable import ROWS
from ttmlir.optable.row import Family, Row

__all__ = [
    "TTIR",
    "AllocOp",
    "ArangeOp",
    "BinaryOp",
    "CaseOp",
    "ConstantOp",
    "ContractionOp",
    "CustomKernelOp",
    "DeallocOp",
    "ElementwiseOp",
    "GenericOp",
    "GenericRegionOp",
    "KernelOp",
    "LookupOp",
    "MovementOp",
    "NormalizationOp",
    "OrderingOp",
    "ReductionOp",
    "TTIROp",
    "TTIRRowOp",
    "TernaryOp",
    "ToLayoutOp",
    "UnaryOp",
    "WhileOp",
    "WindowOp",
    "YieldOp",
    "op_class",
    "tensor_text",
]

_FAMILIES: dict[Family, type[TTIRRowOp]] = {
    Family.UNARY: UnaryOp,
    Family.BINARY: BinaryOp,
    Family.TERNARY: TernaryOp,
    Family.REDUCTION: ReductionOp,
    Family.MOVEMENT: MovementOp,
    Family.CONTRACTION: ContractionOp,
    Family.WINDOW: WindowOp,
    Family.NORMALIZATION: NormalizationOp,
    Family.LOOKUP: LookupOp,
    Family.ORDERING: OrderingOp,
}

_CLASSES: OpClasses[ODSOperation] = OpClasses("ttir", (*STRUCTURE_OPS, WhileOp, CaseOp))


def _add(row: Row) -> None:
    properties = (*properties_of(row.ttir_signature), OPERAND_CONSTRAINTS)
    family = _FAMILIES[row.family]
    _CLASSES.add_row(
        row,
        (family, GenericRegionOp) if row.generic else (family,),
        parameters=row.ttir_signature,
        signature=destination_signature(row, properties),
        check=check_of(row, CHECKS) or family.CHECK,
        module=__name__,
    )


for _row in ROWS.values():
    if _row.in_ttir and _row.mnemonic not in _CLASSES:
        _add(_row)


def op_class(mnemonic: str) -> type[ODSOperation]:
    """The class of `ttir.<mnemonic>`; KeyError if there is no such operation."""
    return _CLASSES.by_mnemonic(mnemonic)


def __getattr__(name: str) -> type[TTIRRowOp]:
    return cast("type[TTIRRowOp]", _CLASSES.by_class_name(name))


TTIR = Dialect("ttir", cast("list[type[Operation]]", list(_CLASSES)), [])
"""The dialect, for an xDSL context."""
