"""The ttnn dialect: calls of the ttnn library, on a device.

Most operations follow from the definitions of the operation table: `ttnn.AddOp`, `ttnn.MatmulOp`
... are made when they are asked for, by class name or, with `op_class`, by mnemonic.
"""

from __future__ import annotations

from functools import partial
from typing import cast

from ttmlir.dialects.definition.table_ops import (
    OpClasses,
    TableDialect,
    check_of,
    destination_signature,
    properties_of,
)
from ttmlir.dialects.ttnn.attrs import (
    ATTRIBUTES,
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
from ttmlir.dialects.ttnn.configs import CONFIG_ATTRIBUTES
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
    LateOp,
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
    TTNNTableOp,
    UnaryOp,
    WhileOp,
    WindowOp,
)
from ttmlir.optable import DEFINITIONS, late_forms
from ttmlir.optable.op_definition import Family, OpDefinition

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
    "TTNNTableOp",
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

_FAMILIES: dict[Family, type[TTNNTableOp]] = {
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


def _make(definition: OpDefinition) -> type[TTNNOp]:
    trailing = (DEVICE_OPERAND,) if definition.device else ()
    family = _FAMILIES[definition.family]
    config = (COMPUTE_CONFIG,) if definition.multiplies else ()
    properties = (*properties_of(definition.parameters), *config)
    return _CLASSES.make_defined(
        definition,
        (family,),
        parameters=definition.parameters,
        signature=destination_signature(definition, properties, trailing=trailing),
        check=check_of(definition, CHECKS),
        late=late_forms.TTNN.get(definition.mnemonic),
        trailing=trailing,
        module=__name__,
    )


for _definition in DEFINITIONS.values():
    if _definition.in_ttnn:
        _CLASSES.declare(_definition.mnemonic, partial(_make, _definition))

for _mnemonic, _form in late_forms.TTNN.items():
    _CLASSES.declare(
        _mnemonic,
        partial(
            _CLASSES.make_late,
            _mnemonic,
            _form,
            (LateOp,),
            trailing=(DEVICE_OPERAND,) if _form.device else (),
            module=__name__,
        ),
    )


def op_class(mnemonic: str) -> type[TTNNOp]:
    """The class of `ttnn.<mnemonic>`; UnknownOperationError if there is none."""
    return _CLASSES.by_mnemonic(mnemonic)


def __getattr__(name: str) -> type[TTNNTableOp]:
    return cast("type[TTNNTableOp]", _CLASSES.by_class_name(name))


TTNN = TableDialect(_CLASSES, [*ATTRIBUTES, *CONFIG_ATTRIBUTES])
"""The dialect, for an xDSL context."""
