"""What is said about broken attributes of tt, and where.

In the texts below, `~` stands before the character that the first error points at, and `^` before
the one that the second error points at; both are removed before reading.
"""

import pytest
from running.attribute_io import errors_of

MAPS = "l1Map = (d0, d1) -> (0, 0, d0, d1), dramMap = (d0, d1) -> (0, 0, d0, d1)"
GRID = "#tt.grid<8x8, (d0, d1) -> (0, d0, d1)>"
REST = "meshShape = 1, chipIds = [0]"
LAYOUT = "#tt.layout<(d0) -> (d0), undef, <1>, memref<4xf32>>"


def check(marked: str, *messages: str) -> None:
    """Hold the errors about a marked text against its marks and the messages."""
    plain = marked.replace("~", "").replace("^", "")
    first = marked.replace("^", "").index("~")
    expected = [(first, messages[0])]
    if len(messages) == 2:
        expected.append((marked.replace("~", "").index("^"), messages[1]))
    assert errors_of(plain) == expected


def failed(owner: str, parameter: str, cpp_type: str) -> str:
    """The second message about a parameter."""
    return f"failed to parse TT_{owner} parameter '{parameter}' which is to be a `{cpp_type}`"


@pytest.mark.parametrize(
    ("mnemonic", "owner", "cpp_type", "keywords"),
    [
        ("arch", "ArchAttr", "Arch", "grayskull, wormhole_b0, blackhole"),
        (
            "supportedDataTypes",
            "DataTypeAttr",
            "DataType",
            "f32, f16, bf16, bfp_f8, bfp_bf8, bfp_f4, bfp_bf4, bfp_f2, bfp_bf2, u32, u16, u8",
        ),
        ("memory_space", "MemorySpaceAttr", "MemorySpace", "system, mmio, dram, l1"),
        (
            "tensor_memory_layout",
            "TensorMemoryLayoutAttr",
            "TensorMemoryLayout",
            "none, interleaved, single_bank, height_sharded, width_sharded, block_sharded",
        ),
        ("oob_val", "OOBValAttr", "OOBVal", "undef, zero, one, inf, neginf"),
        ("iterator_type", "IteratorTypeAttr", "IteratorType", "parallel, systolic, broadcast"),
        (
            "operand_constraint",
            "OperandConstraintAttr",
            "OperandConstraint",
            "system, dram, l1, scalar, tile, none, interleaved, single_bank, height_sharded, "
            "width_sharded, block_sharded, any_layout, any, any_device, any_device_tile, "
            "l1_block_sharded",
        ),
    ],
)
def test_unknown_keywords(mnemonic: str, owner: str, cpp_type: str, keywords: str):
    """The known keywords are listed at the keyword; the parameter is named behind it."""
    second = failed(owner, "value", f"::mlir::tt::{cpp_type}")
    check(
        f"#tt.{mnemonic}<~f33^>",
        f"expected ::mlir::tt::{cpp_type} to be one of: {keywords}",
        second,
    )
    check(f'#tt.{mnemonic}<~^"f32">', "expected valid keyword", second)
    check(f"#tt.{mnemonic}<~^>", "expected valid keyword", second)
    check(f"#tt.{mnemonic}~", "expected '<'")


@pytest.mark.parametrize(
    ("marked", "messages"),
    [
        ("#tt.operand_constraint<dram|~^>", ["expected valid keyword"]),
        ("#tt.memory_space<l1~, dram>", ["expected '>'"]),
        # Grids
        (
            "#tt.grid<~^?x2>",
            ["expected static shape", failed("GridAttr", "shape", "::llvm::ArrayRef<int64_t>")],
        ),
        (
            "#tt.grid<~^2x?>",
            ["expected static shape", failed("GridAttr", "shape", "::llvm::ArrayRef<int64_t>")],
        ),
        ("#tt.grid<~two>", ["expected '>'"]),
        ("#tt.grid<2~x>", ["expected '>'"]),
        (
            "#tt.grid<2x2, (d0) -> (~d1)^>",
            ["use of undeclared identifier"],
        ),
        # Tiles
        ("!tt.tile~<32, f32>", ["expected 2D shape"]),
        ("!tt.tile~<2x32x32, f32>", ["expected 2D shape"]),
        (
            "!tt.tile<32x32, ~f33^>",
            ["invalid TT DataTypes specification: f33", failed("TileType", "dataType", "DataType")],
        ),
        (
            "!tt.tile<32x32, ~^7>",
            ["expected keyword for TT DataTypes", failed("TileType", "dataType", "DataType")],
        ),
        ("!tt.tile<32x32~>", ["expected ','"]),
        # Layouts
        (
            "#tt.layout<(d0) -> (d0), ~foo^, <1>, memref<4xf32>>",
            ["invalid TT OOBVal specification: foo", failed("LayoutAttr", "oob_val", "OOBVal")],
        ),
        (
            "#tt.layout<~^foo, undef, <1>, memref<4xf32>>",
            ["expected '('", failed("LayoutAttr", "linear", "AffineMap")],
        ),
        (
            "#tt.layout<(d0) -> (d0), undef, ~#tt.arch<blackhole>^, memref<4xf32>>",
            ["invalid kind of attribute specified", failed("LayoutAttr", "grid", "GridAttr")],
        ),
        (
            "#tt.layout<(d0) -> (d0), undef, <1>, ~f32^>",
            ["invalid kind of type specified", failed("LayoutAttr", "memref", "MemRefType")],
        ),
        (
            "#tt.layout<(d0) -> (d0), undef, <1>, memref<4xf32>, ~sharded^>",
            [
                "invalid TT TensorMemoryLayout specification: sharded",
                failed("LayoutAttr", "mem_layout", "TensorMemoryLayout"),
            ],
        ),
        ("#tt.layout<(d0) -> (d0), undef, <1>~>", ["expected ','"]),
        (
            "#tt.layout~<8192x100x1, undef, <1x1>, memref<64x128xf32>>",
            [
                "strides 8192x100x1 are not those of rows of numbers: expected multiples of the "
                "length of a row, and 1 at the end"
            ],
        ),
        # Buffers and arguments
        (
            "#tt.buffer<memref<4xf32>, ~copy^>",
            [
                "invalid TT Buffer Access specification: copy",
                failed("BufferAttr", "buffer_access", "BufferAccess"),
            ],
        ),
        (
            "#tt.buffer<memref<4xf32>, ~^1>",
            [
                "expected keyword for TT Buffer Access",
                failed("BufferAttr", "buffer_access", "BufferAccess"),
            ],
        ),
        (
            "#tt.arg_alloc<1, 2, ~l2^>",
            [
                "invalid TT MemorySpace specification: l2",
                failed("ArgumentAllocationAttr", "memorySpace", "MemorySpace"),
            ],
        ),
        (
            "#tt.arg_alloc<~18446744073709551616^, 2, l1>",
            [
                "integer value too large",
                failed("ArgumentAllocationAttr", "address", "uint64_t"),
            ],
        ),
        (
            "#tt.arg_alloc<1, ~^l1>",
            ["expected integer value", failed("ArgumentAllocationAttr", "size", "uint64_t")],
        ),
        # Devices
        (f"#tt.device<~{GRID}>", ["expected 'workerGrid'"]),
        (f"#tt.device<workerGrid = {GRID}, ~chipIds = [0]>", ["expected 'l1Map'"]),
        (
            f"#tt.device<workerGrid = {GRID}, l1Map = (d0) -> (d0), ~chipIds = [0]>",
            ["expected 'dramMap'"],
        ),
        (f"#tt.device<workerGrid = {GRID}, {MAPS}, ~chipIds = [0]>", ["expected 'meshShape'"]),
        (
            f"#tt.device<workerGrid = {GRID}, {MAPS}, meshShape = 1, chipIds = [~^]>",
            [
                "expected integer value",
                failed("DeviceAttr", "chipIds", "::llvm::ArrayRef<unsigned>"),
            ],
        ),
        (
            f"#tt.device<workerGrid = ~#tt.arch<blackhole>^, {MAPS}, {REST}>",
            [
                "invalid kind of attribute specified",
                failed("DeviceAttr", "workerGrid", "::mlir::tt::GridAttr"),
            ],
        ),
        (
            f"#tt.device<workerGrid = {GRID}, l1Map = ~^[], {REST}>",
            ["expected '('", failed("DeviceAttr", "l1Map", "AffineMap")],
        ),
        (
            f"#tt.device~<workerGrid = {GRID}, {MAPS}, meshShape = 2x1, chipIds = [0]>",
            ["expected chipIds size to match the volume of meshShape"],
        ),
        (
            f"#tt.device~<workerGrid = {GRID.replace('8x8', '8x0')}, {MAPS}, {REST}>",
            ["expected positive grid dimensions"],
        ),
        (
            f"#tt.device~<workerGrid = #tt.grid<8x8>, {MAPS}, {REST}>",
            ["expected physical grid mapping to have PhysGridResultIdx::NumIndices results"],
        ),
        (
            f"#tt.device~<workerGrid = #tt.grid<8x8>, {REST}>",
            ["expected physical grid mapping to have PhysGridResultIdx::NumIndices results"],
        ),
        (
            f"#tt.device~<workerGrid = {GRID}, {MAPS.replace('0, 0, d0', '0, d0', 1)}, {REST}>",
            ["expected l1Map to have MemoryMapResultIdx::NumIndices results"],
        ),
        (
            f"#tt.device~<workerGrid = {GRID}, {MAPS[::-1].replace('0d ,0 ,0', '0d ,0', 1)[::-1]}"
            f", {REST}>",
            ["expected dramMap to have MemoryMapResultIdx::NumIndices results"],
        ),
        (
            f"!tt.device<~{LAYOUT}^>",
            [
                "invalid kind of attribute specified",
                failed("DeviceType", "desc", "::mlir::tt::DeviceAttr"),
            ],
        ),
        # Places and links of chips
        ("#tt.chip_coord<0, 0, 0~>", ["expected ','"]),
        ("#tt.chip_coord<0, 0, 0, ~4294967296>", ["integer value too large"]),
        ("#tt.chip_coord<0, 0, 0, ~-1>", ["expected integer value"]),
        ("#tt.chip_channel<[0, 8~], [1, 8, 2]>", ["expected ','"]),
        ("#tt.chip_channel<[0, ~9223372036854775808, 1], [1, 8, 2]>", ["integer value too large"]),
        ("#tt.chip_channel<[0, ~y, 1], [1, 8, 2]>", ["expected integer value"]),
        ("#tt.chip_channel<0, ~8, 1, [8, 2]>", ["expected '['"]),
        ("#tt.core_coord<0~>", ["expected ','"]),
        ("#tt.tile_size<~0, 16>", ["expected a tile of 1 x 1 elements at least"]),
        ("#tt.chip_physical_cores<[~0, 0], [], [], []>", ["expected '('"]),
        ("#tt.chip_physical_cores<worker = [(0, 0)]~>", ["expected 'dram'"]),
        ("#tt.buffer_access<~local>", ["invalid TT Buffer Access specification: local"]),
    ],
)
def test_broken_text(marked: str, messages: list[str]):
    """Each error at its place, and behind it the parameter that it spoils."""
    if "^" in marked and len(messages) == 1:
        plain = marked.replace("~", "").replace("^", "")
        assert errors_of(plain)[0] == (marked.index("~"), messages[0])
        assert errors_of(plain)[1][1].startswith("failed to parse TT_")
    else:
        check(marked, *messages)


CHIP = (
    "{arch = <wormhole_b0>, grid = 8x8, l1_size = 1, num_dram_channels = 1, dram_channel_size = 1, "
    "noc_l1_address_align_bytes = 1, pcie_address_align_bytes = 1, noc_dram_address_align_bytes = "
    "1, l1_unreserved_base = 1, erisc_l1_unreserved_base = 1, dram_unreserved_base = 1, "
    "dram_unreserved_end = 1, physical_cores = {worker = [(0, 0)] dram = [(8, 0)]}, "
    "supported_data_types = [<f32>], supported_tile_sizes = [(4 x 16)]}"
)


@pytest.mark.parametrize(
    ("original", "broken", "message"),
    [
        ("arch = <w", "~grid = <w", "expected 'arch'"),
        ("arch = <wormhole_b0>", "arch = ~#tt.grid<1>", "invalid kind of attribute specified"),
        ("grid = 8x8", "grid = ~8x8x8", "expected the rows and columns of a chip, such as 8x8"),
        ("l1_size = 1", "~l2_size = 1", "expected 'l1_size'"),
        ("l1_size = 1", "l1_size = ~4294967296", "integer value too large"),
        ("l1_size = 1", "l1_size = ~big", "expected integer value"),
        ("[(8, 0)]", "[(8, ~x)]", "expected integer value"),
        ("[(8, 0)]", "[~]", "expected '('"),
        (" dram = [(8, 0)]", "~", "expected 'dram'"),
        ("[(0, 0)] dram", "[(0, 0)]~, dram", "expected 'dram'"),
        ("[<f32>]", "[<~f33>]", None),
        ("(4 x 16)", "(4 ~x16)", "expected 'x'"),
        ("}], [0]", "}], [~]", "expected integer value"),
        ("[0], [3", "[0] ~[3", "expected ','"),
        ("3 : i32", "~4 : i32", "invalid kind of attribute specified"),
        ("3 : i32", "~3", "invalid kind of attribute specified"),
        (
            "3 : i32",
            "<~usb>",
            "expected ::mlir::tt::ChipCapability to be one of: pcie, host_mmio",
        ),
        ("[<0, 0, 0, 0>]", "[<0, 0, 0, 0>], [~]", None),
        ("[<0, 0, 0, 0>]", "[<0, 0, 0, 0>], [~<[0, 0, 0], [0]>]", None),
    ],
)
def test_broken_system_descriptions(original: str, broken: str, message: str | None):
    """Every list and field of a system description."""
    text = f"#tt.system_desc<[{CHIP}], [0], [3 : i32], [<0, 0, 0, 0>]>"
    assert original in text
    marked = text.replace(original, broken, 1)
    errors = errors_of(marked.replace("~", ""))
    assert errors
    if message is not None:
        assert errors == [(marked.index("~"), message)]


def test_unknown_names():
    """Attributes, types and the parts that exist inside others only."""
    assert errors_of("#tt.foo<1>") == [(4, "unknown attribute `foo` in dialect `tt`")]
    assert errors_of("!tt.foo<1>") == [(4, "unknown  type `foo` in dialect `tt`")]
    assert errors_of("#tt.core_coord(0, 0)")
    assert errors_of("#tt.chip_desc{}")
    assert errors_of("#tt.tile<32x32, f32>") == [(4, "unknown attribute `tile` in dialect `tt`")]


def test_a_short_chip_has_two_extents():
    """The old form of a chip wants rows and columns, too."""
    text = "#tt.system_desc<[<#tt.arch<blackhole>, #tt.grid<8>>], [0], [<pcie>], [<0, 0, 0, 0>]>"
    position = text.index("#tt.grid")
    message = "expected the rows and columns of a chip, such as 8x8"
    assert errors_of(text) == [(position, message)]
