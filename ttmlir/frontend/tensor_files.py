"""Files of one tensor each, as `ttnn.load_tensor` and `load_tensor_flatbuffer` of C++ read them.

Eight bytes with the length of a flatbuffer, the flatbuffer, which says what the tensor is, then the
numbers, row by row. Its tables, in the library's words:

    Tensor      0: TensorSpec, 1: MeshShape, 2: [TensorShard], 3: TensorTopology
    TensorSpec  0: shape [uint32], 1: TensorLayout
    TensorLayout  0: data type, 1 and 2: page config (1 is row-major), 3: MemoryConfig, 4: alignment
    TensorShard   0 and 1: InlineFileStorage (offset and size in bytes), 2: MeshCoordinate
    TensorTopology  0: MeshShape, 1: [placement (1: dimension)], 2: [MeshCoordinate]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.files import write_file
from ttmlir.frontend.safetensors import plain_array

if TYPE_CHECKING:
    from flatbuffers.builder import Builder

    from ttmlir.runtime.tensor import Array

SUFFIX = ".tensorbin"
_ALIGNMENT = 64
"""Of the first number, in bytes from the start of the file."""
_DATA_TYPES = {"F32": 1, "U32": 2, "I32": 7}
"""By the names of safetensors; that of bfloat16 is 0, which a flatbuffer leaves out."""


def write_tensor(path: Path, array: Array) -> None:
    """Write an array, one of another type as what ttnn computes with."""
    kind, plain = plain_array(array)
    if kind == "BOOL":
        kind, plain = "I32", plain.astype("<i4")
    header = _header(plain.shape, _DATA_TYPES.get(kind, 0), plain.nbytes)
    write_file(path, _chunks(header, plain.tobytes()))


def _chunks(header: bytes, numbers: bytes) -> Iterator[bytes]:
    header += bytes(-(len(header) + 8) % _ALIGNMENT)
    yield len(header).to_bytes(8, "little")
    yield header
    yield numbers


def _header(shape: Sequence[int], data_type: int, size: int) -> bytes:
    """What a tensor of one chip is, row-major and on the host."""
    from flatbuffers.builder import Builder

    build = Builder(512)
    spec = _spec(build, shape, data_type)
    mesh = _table(build, [(0, _numbers(build, [1, 1]))])
    build.Prep(8, 16)
    build.PrependUint64(size)
    build.PrependUint64(0)
    storage = build.Offset()
    coordinate = _table(build, [(0, _numbers(build, [0, 0]))])
    shard = _table(build, [(1, storage), (2, coordinate)], byte=(0, 1))
    shards = _tables(build, [shard])
    spread = _table(build, [(0, _numbers(build, [1]))])
    build.StartObject(2)
    build.PrependInt32Slot(1, -1, 0)
    placements = _tables(build, [build.EndObject()])
    topology = _table(build, [(0, spread), (1, placements), (2, _tables(build, [coordinate]))])
    build.Finish(_table(build, [(0, spec), (1, mesh), (2, shards), (3, topology)]))
    return bytes(build.Output())


def _spec(build: Builder, shape: Sequence[int], data_type: int) -> int:
    alignment = _numbers(build, [1])
    empty = _table(build, [])
    build.StartObject(5)
    build.PrependUOffsetTRelativeSlot(4, alignment, 0)
    build.PrependUOffsetTRelativeSlot(3, empty, 0)
    build.PrependUOffsetTRelativeSlot(2, empty, 0)
    build.PrependUint8Slot(1, 1, 0)
    build.PrependUint8Slot(0, data_type, 0)
    layout = build.EndObject()
    return _table(build, [(0, _numbers(build, shape)), (1, layout)])


def _table(
    build: Builder, offsets: Sequence[tuple[int, int]], byte: tuple[int, int] | None = None
) -> int:
    """A table of references by their slots, and of one byte."""
    build.StartObject(4)
    for slot, offset in offsets:
        build.PrependUOffsetTRelativeSlot(slot, offset, 0)
    if byte is not None:
        build.PrependUint8Slot(*byte, 0)
    return build.EndObject()


def _numbers(build: Builder, numbers: Sequence[int]) -> int:
    build.StartVector(4, len(numbers), 4)
    for number in reversed(numbers):
        build.PrependUint32(number)
    return build.EndVector()


def _tables(build: Builder, tables: Sequence[int]) -> int:
    build.StartVector(4, len(tables), 4)
    for table in reversed(tables):
        build.PrependUOffsetTRelative(table)
    return build.EndVector()
