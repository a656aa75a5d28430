"""Dialect `tt`: the types and attributes that ttir and ttnn share.

    layout = LayoutAttr.get(tensor_type, MemorySpace.DEVICE_L1, (2, 4))
    device = DeviceAttr.from_system_desc(SystemDescAttr.get_default(), mesh_shape=(1, 1))

The dialect has no operations. The arithmetic of layouts and devices is in `ttmlir.layout`.
"""

from xdsl.ir import Dialect

from ttmlir.dialects.tt.device import (
    ChipChannelAttr,
    ChipCoordAttr,
    ChipPhysicalCoresAttr,
    CoreCoordAttr,
    DeviceAttr,
    DeviceType,
    SystemDescAttr,
    TileSizeAttr,
)
from ttmlir.dialects.tt.layout import (
    STORED_IN_32_BITS,
    ArchAttr,
    ArgumentAllocationAttr,
    BufferAccessAttr,
    BufferAttr,
    DataTypeAttr,
    GridAttr,
    IteratorTypeAttr,
    LayoutAttr,
    MemorySpaceAttr,
    OOBValAttr,
    OperandConstraintAttr,
    TensorLayoutAttr,
    TensorMemoryLayoutAttr,
    TileType,
    element_of,
    element_type_of,
)

__all__ = [
    "STORED_IN_32_BITS",
    "TT",
    "ArchAttr",
    "ArgumentAllocationAttr",
    "BufferAccessAttr",
    "BufferAttr",
    "ChipChannelAttr",
    "ChipCoordAttr",
    "ChipPhysicalCoresAttr",
    "CoreCoordAttr",
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
    "TileSizeAttr",
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
        BufferAccessAttr,
        BufferAttr,
        ChipChannelAttr,
        ChipCoordAttr,
        ChipPhysicalCoresAttr,
        CoreCoordAttr,
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
        TileSizeAttr,
        TileType,
    ],
)
