"""Dialect `tt`: the types and attributes that ttir and ttnn share.

    layout = LayoutAttr.get(tensor_type, MemorySpace.DEVICE_L1, (2, 4))
    device = DeviceAttr.from_system_desc(SystemDescAttr.get_default(), mesh_shape=(1, 1))

The dialect has no operations. The arithmetic of layouts and devices is in `ttmlir.layout`.
"""

from xdsl.ir import Dialect

from ttmlir.dialects.tt.device import DeviceAttr, DeviceType
from ttmlir.dialects.tt.keywords import (
    ArchAttr,
    BufferAccessAttr,
    DataTypeAttr,
    IteratorTypeAttr,
    MemorySpaceAttr,
    OOBValAttr,
    OperandConstraintAttr,
    TensorMemoryLayoutAttr,
)
from ttmlir.dialects.tt.layout import (
    ArgumentAllocationAttr,
    BufferAttr,
    GridAttr,
    LayoutAttr,
    TensorLayoutAttr,
    TileType,
    element_of,
    element_type_of,
)
from ttmlir.dialects.tt.system_desc import ChipChannelAttr, ChipCoordAttr, SystemDescAttr

__all__ = [
    "TT",
    "ArchAttr",
    "ArgumentAllocationAttr",
    "BufferAccessAttr",
    "BufferAttr",
    "ChipChannelAttr",
    "ChipCoordAttr",
    "DataTypeAttr",
    "DeviceAttr",
    "DeviceType",
    "GridAttr",
    "IteratorTypeAttr",
    "LayoutAttr",
    "MemorySpaceAttr",
    "OOBValAttr",
    "OperandConstraintAttr",
    "SystemDescAttr",
    "TensorLayoutAttr",
    "TensorMemoryLayoutAttr",
    "TileType",
    "element_of",
    "element_type_of",
]

TT = Dialect(
    "tt",
    [],
    [
        ArchAttr,
        ArgumentAllocationAttr,
        BufferAttr,
        ChipChannelAttr,
        ChipCoordAttr,
        DataTypeAttr,
        DeviceAttr,
        DeviceType,
        GridAttr,
        IteratorTypeAttr,
        LayoutAttr,
        MemorySpaceAttr,
        OOBValAttr,
        OperandConstraintAttr,
        SystemDescAttr,
        TensorMemoryLayoutAttr,
        TileType,
    ],
)
