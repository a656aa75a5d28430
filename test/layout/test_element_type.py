"""Element types: storage formats, tile sizes, shapes in tiles."""

import pytest

from ttmlir.layout.data_format import ScalarType, TileFormat, is_block_float
from ttmlir.layout.enums import (
    Arch,
    DataType,
    KeywordEnum,
    MemorySpace,
    OOBVal,
    TensorMemoryLayout,
)
from ttmlir.layout.errors import LayoutError


@pytest.mark.parametrize(
    ("keyword", "data_type", "size"),
    [
        ("f32", DataType.F32, 4),
        ("f16", DataType.F16, 2),
        ("bf16", DataType.BF16, 2),
        ("i32", DataType.U32, 4),
        ("si32", DataType.U32, 4),
        ("ui32", DataType.U32, 4),
        ("i16", DataType.U16, 2),
        ("si16", DataType.U16, 2),
        ("i8", DataType.U8, 1),
        ("ui8", DataType.U8, 1),
        # Types without a format of their own:
        ("i1", DataType.BF16, 2),
        ("f64", DataType.F32, 4),
        ("i64", DataType.U32, 4),
        ("ui64", DataType.U32, 4),
        ("si64", DataType.U32, 4),
        ("index", DataType.U32, 4),
    ],
)
def test_storage_of_scalars(keyword: str, data_type: DataType, size: int):
    """The format that stores a scalar, and its bytes."""
    scalar = ScalarType(keyword)
    assert (scalar.data_type, scalar.size_bytes) == (data_type, size)
    assert TileFormat.of(scalar).data_type is data_type
    assert str(scalar) == keyword


@pytest.mark.parametrize("keyword", ["i4", "i128", "f8E5M2", "f128", "tf32", "complex<f32>"])
def test_types_without_a_format_are_refused(keyword: str):
    """The message lists what can be stored."""
    with pytest.raises(LayoutError) as error:
        _ = ScalarType(keyword).data_type
    assert str(error.value) == (
        f"element type '{keyword}' has no storage format; supported are f16, bf16, f32, f64, "
        "integers of 1, 8, 16, 32 or 64 bits, and index"
    )


@pytest.mark.parametrize(
    ("data_type", "size", "scalar"),
    [
        (DataType.F32, 4096, "f32"),
        (DataType.F16, 2048, "f16"),
        (DataType.BF16, 2048, "bf16"),
        (DataType.BFP_F8, 1024, "f16"),
        (DataType.BFP_BF8, 1024, "bf16"),
        (DataType.BFP_F4, 512, "f16"),
        (DataType.BFP_BF4, 512, "bf16"),
        (DataType.BFP_F2, 256, "f16"),
        (DataType.BFP_BF2, 256, "bf16"),
        (DataType.U32, 4096, "i32"),
        (DataType.U16, 2048, "i16"),
        (DataType.U8, 1024, "i8"),
    ],
)
def test_tile_sizes(data_type: DataType, size: int, scalar: str):
    """Bytes of a tile of 32x32 and the scalar that it stands for."""
    tile = TileFormat(32, 32, data_type)
    assert (tile.size_bytes, tile.scalar.keyword) == (size, scalar)
    assert TileFormat(4, 16, data_type).size_bytes == size // 16
    assert is_block_float(data_type) is data_type.keyword.startswith("bfp")


def test_shapes_in_tiles():
    """The last two extents are divided and rounded up; going back multiplies."""
    tile = TileFormat(16, 32, DataType.BF16)
    assert tile.tiled_shape((3, 17, 33)) == (3, 2, 2)
    assert tile.scalar_shape((3, 2, 2)) == (3, 32, 64)
    assert str(tile) == "!tt.tile<16x32, bf16>"


@pytest.mark.parametrize("method", ["tiled_shape", "scalar_shape"])
def test_tiles_need_two_dimensions(method: str):
    """A shape of rank 1 has no rows."""
    with pytest.raises(LayoutError, match=r"got a shape of rank 1; use a grid of rank 2 or more"):
        getattr(TileFormat(32, 32, DataType.F32), method)((8,))


@pytest.mark.parametrize("enum", [Arch, DataType, MemorySpace, OOBVal, TensorMemoryLayout])
def test_members_have_the_names_of_the_bindings(enum: type[KeywordEnum]):
    """The second name of a member is its schema name, where Python allows that."""
    spelled_differently = {"None": "None_", "Wormhole_b0": "WormholeB0"}
    for member in (each for each in enum if not each.is_late):
        name = spelled_differently.get(member.schema_name, member.schema_name)
        assert enum[name] is member
