"""The ttnn dialect: calls of the ttnn library, on a device.

Most operations follow from the rows of the operation table: `ttnn.AddOp`, `ttnn.MatmulOp` ... are
made when this module is imported and are found by class name or, with `op_class`, by mnemonic.
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.definition.row_ops import (
    OpClasses,
    check_of,
    destination_signature,
    properties_of,
)
from ttmlir.dialects.ttnn.attrs import (
    ATTRIBUTES,
    LAYOUT_ATTRIBUTES,
    PROGRAM_ATTRIBUTES,
    BufferTypeAttr,
    CoreRangeAttr,
    DeviceComputeConfigAttr,
    LayoutAttr,
    MemoryConfigAttr,
    MeshOffsetAttr,
    MeshShapeAttr,
    ProgramAttr,
    ShapeAttr,
    TensorMemoryLayoutAttr,
    TTNNDeviceType,
    TTNNLayoutAttr,
)
from ttmlir.dialects.ttnn.structure import (
    CHECKS,
    COMPUTE_CONFIG,
    DEVICE_OPERAND,
    STRUCTURE_OPS,
    AllocOp,
    ArangeOp,
    BinaryOp,
    CaseOp,
    ConstantOp,
    ContractionOp,
    CreationOp,
    DeallocOp,
    ElementwiseOp,
    EmptyOp,
    FullOp,
    GenericOp,
    GetDeviceOp,
    LookupOp,
    MovementOp,
    NormalizationOp,
    OrderingOp,
    ReductionOp,
    TernaryOp,
    ToDeviceOp,
    ToLayoutOp,
    ToMemoryConfigOp,
    TTNNOp,
    TTNNRowOp,
    UnaryOp,
    WhileOp,
    WindowOp,
)
from ttmlir.optable import ROWS
from ttmlir.optable.row import Family, Row

__all__ = [
    "TTNN",
    "AllocOp",
    "ArangeOp",
    "BinaryOp",
    "BufferTypeAttr",
    "CaseOp",
    "ConstantOp",
    "ContractionOp",
    "CoreRangeAttr",
    "CreationOp",
    "DeallocOp",
    "DeviceComputeConfigAttr",
    "ElementwiseOp",
    "EmptyOp",
    "FullOp",
    "GenericOp",
    "GetDeviceOp",
    "LayoutAttr",
    "LookupOp",
    "MemoryConfigAttr",
    "MeshOffsetAttr",
    "MeshShapeAttr",
    "MovementOp",
    "NormalizationOp",
    "OrderingOp",
    "ProgramAttr",
    "ReductionOp",
    "ShapeAttr",
    "TTNNDeviceType",
    "TTNNLayoutAttr",
    "TTNNOp",
    "TTNNRowOp",
    "TensorMemoryLayoutAttr",
    "TernaryOp",
    "ToDeviceOp",
    "ToLayoutOp",
    "ToMemoryConfigOp",
    "UnaryOp",
    "WhileOp",
    "WindowOp",
    "op_class",
]

_FAMILIES: dict[Family, type[TTNNRowOp]] = {
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

_CLASSES: OpClasses[TTNNOp] = OpClasses("ttnn", (*STRUCTURE_OPS, WhileOp, CaseOp))


def _add(row: Row) -> None:
    trailing = (DEVICE_OPERAND,) if row.device else ()
    family = _FAMILIES[row.family]
    config = (COMPUTE_CONFIG,) if row.multiplies else ()
    properties = (*properties_of(row.parameters), *config)
    _CLASSES.add_row(
        row,
        (family,),
        parameters=row.parameters,
        signature=destination_signature(row, properties, trailing=trailing),
        check=check_of(row, CHECKS),
        module=__name__,
    )


for _row in ROWS.values():
    if _row.in_ttnn and _row.mnemonic not in _CLASSES:
        _add(_row)


def op_class(mnemonic: str) -> type[TTNNOp]:
    """The class of `ttnn.<mnemonic>`; UnknownOperationError if there is none."""
    return _CLASSES.by_mnemonic(mnemonic)


def __getattr__(name: str) -> type[TTNNRowOp]:
    return cast("type[TTNNRowOp]", _CLASSES.by_class_name(name))


TTNN = Dialect(
    "ttnn",
    cast("list[type[Operation]]", list(_CLASSES)),
    [*ATTRIBUTES, *LAYOUT_ATTRIBUTES, *PROGRAM_ATTRIBUTES],
)
"""The dialect, for an xDSL context."""
