"""Every attribute and type of tt: text in, text out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running.attribute_io import parse_attribute
from xdsl.dialects.builtin import MemRefType

from ttmlir.dialects.tt import (
    BufferAccessAttr,
    BufferAttr,
    ChipChannelAttr,
    DeviceAttr,
    LayoutAttr,
    OperandConstraintAttr,
    SystemDescAttr,
)
from ttmlir.layout.enums import (
    Arch,
    BufferAccess,
    DataType,
    IteratorType,
    KeywordEnum,
    MemorySpace,
    OOBVal,
    OperandConstraint,
    TensorMemoryLayout,
)
from ttmlir.layout.system import BOARD_NAMES, board, default_system_desc
from ttmlir.mlir.printing import attribute_text

ALL_KEYWORDS = "none|interleaved|single_bank|height_sharded|width_sharded|block_sharded|any_layout"
DEVICE = (
    "workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0] -> (0, 0, d0, s0), "
    "dramMap = (d0, d1) -> (0, 0, d0 floordiv 8, d1 mod 12), meshShape = 1x1, chipIds = [0]"
)


@pytest.mark.parametrize(
    "text",
    [
        "#tt.grid<2x4>",
        "#tt.grid<>",
        "#tt.grid<0x7>",
        "#tt.grid<8x8, (d0, d1) -> (0, d0, d1)>",
        "#tt.grid<1x64, (d0, d1) -> (0, d0 * 8 + d1 floordiv 8, d1 mod 8)>",
        "#tt.chip_coord<0, 1, 2, 3>",
        "#tt.chip_channel<[0, 8, 1], [1, 8, 2]>",
        "#tt.chip_physical_cores<worker = [(0, 0), (0, 1)] dram = [(8, 0)] eth = [(1, 2)]>",
        "#tt.chip_physical_cores<worker = [(0, 0)] dram = [(8, 0)] eth_inactive = [(3, 4)]>",
        "#tt.core_coord<8, -1>",
        "#tt.tile_size<4, 16>",
        "#tt.buffer_access<stream>",
        '#tt.buffer_access<"alias|stream">',
        "#tt.buffer<memref<2x4xf32>, alias>",
        "#tt.buffer<memref<2x4xf32, #tt.memory_space<l1>>, stream>",
        '#tt.buffer<memref<2x4xf32>, "alias|stream">',
        "#tt.arg_alloc<262144, 32768, l1>",
        "#tt.arg_alloc<18446744073709551615, 0, mmio>",
        "#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<l1>>>",
        "#tt.layout<(d0, d1) -> (d0, d1), neginf, <2x2>, "
        "memref<1x2x!tt.tile<32x32, bf16>, #tt.memory_space<dram>>, interleaved>",
        "#tt.layout<(d0) -> (0, d0), zero, <1x4, (d0, d1) -> (0, d0, d1)>, memref<1x32xi8>>",
        "#tt.layout<(d0, d1) -> (d0, d1), one, <1x1x1>, memref<4xf32, strided<[2]>, 1>>",
        "!tt.tile<32x32, f32>",
        "!tt.tile<5x7, bfp_bf8>",
        "!tt.tile<0x7, u8>",
        f"#tt.device<{DEVICE}>",
        f"!tt.device<<{DEVICE}>>",
        "#tt.device<workerGrid = #tt.grid<2x3, (d0, d1) -> (0, d0, d1)>, "
        "l1Map = (d0, d1) -> (0, 0, d0, d1), dramMap = (d0, d1) -> (0, 0, d0, d1), "
        "meshShape = , chipIds = [5]>",
        "memref<2x4x!tt.tile<32x32, f32>, #tt.memory_space<l1>>",
        "tensor<8x300xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x2>, "
        "memref<8x150xf32, #tt.memory_space<l1>>>>",
    ],
)
def test_text_is_printed_as_it_was_read(text: str):
    """The canonical form of each attribute."""
    attribute = parse_attribute(text)
    assert attribute_text(attribute) == text
    assert parse_attribute(attribute_text(attribute)) == attribute
    assert hash(parse_attribute(text)) == hash(attribute)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("#tt.chip_channel<0, [8, 1], 3, [8, 2]>", "#tt.chip_channel<[0, 8, 1], [3, 8, 2]>"),
        (
            "#tt.chip_physical_cores<[(0, 0), <0, 1>], [#tt.core_coord<8, 0>], [], [(3, 4)]>",
            "#tt.chip_physical_cores<worker = [(0, 0), (0, 1)] dram = [(8, 0)] "
            "eth_inactive = [(3, 4)]>",
        ),
        ("#tt.tile_size<4 x 16>", "#tt.tile_size<4, 16>"),
    ],
)
def test_forms_of_the_book(text: str, canonical: str):
    """Parameters in the order in which tt-mlir's book lists them."""
    assert attribute_text(parse_attribute(text)) == canonical


@pytest.mark.parametrize(
    ("mnemonic", "enum"),
    [
        ("arch", Arch),
        ("supportedDataTypes", DataType),
        ("memory_space", MemorySpace),
        ("tensor_memory_layout", TensorMemoryLayout),
        ("oob_val", OOBVal),
        ("iterator_type", IteratorType),
    ],
)
def test_every_keyword(mnemonic: str, enum: type[KeywordEnum]):
    """Each keyword gives its member and is printed again."""
    for member in (each for each in enum if not each.is_late):
        attribute = parse_attribute(f"#tt.{mnemonic}<{member.keyword}>")
        assert attribute.value is member
        assert attribute_text(attribute) == f"#tt.{mnemonic}<{member.keyword}>"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("#tt.grid< 2 x 4 >", "#tt.grid<2x4>"),
        ("#tt.grid<2x4, () -> ()>", "#tt.grid<2x4>"),
        ("#tt<grid<1x1>>", "#tt.grid<1x1>"),
        ("!tt.tile<32 x 32, f32>", "!tt.tile<32x32, f32>"),
        ('!tt.tile<32x32, "bf16">', "!tt.tile<32x32, bf16>"),
        ('#tt.arg_alloc<1, 2, "dram">', "#tt.arg_alloc<1, 2, dram>"),
        ('#tt.buffer<memref<2xf32>, "alias">', "#tt.buffer<memref<2xf32>, alias>"),
        (
            '#tt.layout<(i, j) -> (j, 4 + i * 1), "zero", #tt.grid<1x1>, memref<4x4xf32>, none>',
            "#tt.layout<(d0, d1) -> (d1, d0 + 4), zero, <1x1>, memref<4x4xf32>>",
        ),
        (
            "#tt.layout<(d0) -> (d0), undef, <1>, memref<4xf32, affine_map<(d0) -> (d0)>>>",
            "#tt.layout<(d0) -> (d0), undef, <1>, memref<4xf32>>",
        ),
        # The form before linear maps, by strides:
        (
            "#tt.layout<8192x128x1, undef, <1x1>, memref<64x128xf32, #tt.memory_space<system>>>",
            "#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, "
            "memref<64x128xf32, #tt.memory_space<system>>>",
        ),
        (f"#tt.device<{DEVICE.replace('#tt.grid<', '<')}>", f"#tt.device<{DEVICE}>"),
        (f"!tt.device<#tt.device<{DEVICE}>>", f"!tt.device<<{DEVICE}>>"),
    ],
)
def test_other_spellings_are_printed_in_the_canonical_form(text: str, canonical: str):
    """Blanks, quotes, full names of nested attributes, defaults, and older forms."""
    assert attribute_text(parse_attribute(text)) == canonical


def test_nested_attributes_may_be_aliases():
    """Grid, memory space and device by their alias."""
    aliases = "#g = #tt.grid<1x2>\n#m = #tt.memory_space<dram>\n#d = #tt.device<" + DEVICE + ">"
    layout = parse_attribute("#tt.layout<(d0) -> (0, d0), undef, #g, memref<1x2xf32, #m>>", aliases)
    assert isinstance(layout, LayoutAttr)
    assert (layout.grid.shape, layout.memory_space) == ((1, 2), MemorySpace.DEVICE_DRAM)
    assert attribute_text(parse_attribute("!tt.device<#d>", aliases)) == f"!tt.device<<{DEVICE}>>"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("dram", "dram"),
        ("dram | l1", "dram|l1"),
        ("l1|dram|l1", "dram|l1"),
        ("any_layout", ALL_KEYWORDS),
        ("dram|any_layout", f"dram|{ALL_KEYWORDS}"),
        ("l1_block_sharded", "l1|scalar|tile|block_sharded|l1_block_sharded"),
        ("any_device_tile", f"dram|l1|tile|{ALL_KEYWORDS}|any_device_tile"),
        (
            "dram|l1|scalar|tile|any_device|any_device_tile",
            f"dram|l1|scalar|tile|{ALL_KEYWORDS}|any_device|any_device_tile|l1_block_sharded",
        ),
        (
            "any",
            f"system|dram|l1|scalar|tile|{ALL_KEYWORDS}|any|any_device|any_device_tile|"
            "l1_block_sharded",
        ),
    ],
)
def test_operand_constraints_print_groups_and_members(text: str, printed: str):
    """Every keyword whose bits are set is printed."""
    attribute = parse_attribute(f"#tt.operand_constraint<{text}>")
    assert attribute_text(attribute) == f"#tt.operand_constraint<{printed}>"


@given(st.sets(st.sampled_from(list(OperandConstraint)), min_size=1))
def test_operand_constraints_come_back(constraints: set[OperandConstraint]):
    """Any union of constraints is the same after printing and reading."""
    attribute = OperandConstraintAttr.of(*constraints)
    assert parse_attribute(attribute_text(attribute)) == attribute
    assert attribute.value == attribute.data


def chip(arch: str = "wormhole_b0", eth: str = "") -> str:
    """The text of a small chip."""
    return (
        f"{{arch = <{arch}>, grid = 1x2, l1_size = 1, num_dram_channels = 2, "
        "dram_channel_size = 4294967295, noc_l1_address_align_bytes = 4, "
        "pcie_address_align_bytes = 5, noc_dram_address_align_bytes = 6, l1_unreserved_base = 7, "
        "erisc_l1_unreserved_base = 8, dram_unreserved_base = 9, dram_unreserved_end = 10, "
        f"physical_cores = {{worker = [(0, 0), (0, 1)] dram = [(8, 0)]{eth}}}, "
        "supported_data_types = [<f32>, <bfp_bf8>], "
        "supported_tile_sizes = [(4 x 16), (32 x 32)]}"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"#tt.system_desc<[{chip()}], [0], [3 : i32], [<0, 0, 0, 0>]>",
        f"#tt.system_desc<[{chip()}, {chip('blackhole', ' eth = [(1, 2)]')}], [0, 1], "
        "[3 : i32, 0 : i32], [<0, 0, 0, 0>, <0, 0, 0, 1>], [<[0, 8, 1], [1, 8, 2]>]>",
        f"#tt.system_desc<[{chip(eth=' eth = [(1, 2)] eth_inactive = [(3, 4), (5, 6)]')}], [0], "
        "[1 : i32], [<0, 0, 0, 0>]>",
        f"#tt.system_desc<[{chip(eth=' eth_inactive = [(3, 4)]')}], [0], [2 : i32], "
        "[<0, 0, 0, 0>]>",
    ],
)
def test_system_descriptions(text: str):
    """Chips with and without Ethernet cores, and channels."""
    attribute = parse_attribute(text)
    assert attribute_text(attribute) == text


def test_nested_names_of_a_system_description_may_be_written_out():
    """Architecture, data types and coordinates with their full names."""
    text = f"#tt.system_desc<[{chip()}], [0], [3 : i32], [<0, 0, 0, 0>]>"
    long = (
        text.replace("= <wormhole_b0>", "= #tt.arch<wormhole_b0>")
        .replace("<bfp_bf8>", "#tt.supportedDataTypes<bfp_bf8>")
        .replace("[<0, 0", "[#tt.chip_coord<0, 0")
    )
    assert attribute_text(parse_attribute(long)) == text


def test_short_system_description():
    """The form of older documents: the default chip's numbers, and capabilities by name."""
    short = (
        "#tt.system_desc<[<#tt.arch<wormhole_b0>, #tt.grid<8x8>>], [0], [<pcie|host_mmio>], "
        "[<0, 0, 0, 0>]>"
    )
    assert parse_attribute(short) == SystemDescAttr.get_default()
    smaller = parse_attribute(short.replace("8x8", "2x3").replace("wormhole_b0", "blackhole"))
    assert isinstance(smaller, SystemDescAttr)
    (desc,) = smaller.data.chip_descs
    assert (desc.arch, desc.grid) == (Arch.BLACKHOLE, (2, 3))
    assert desc.physical_cores.worker == ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2))


def test_default_system_description_is_spelled_as_documented():
    """The beginning, some numbers and the end of the long line."""
    text = attribute_text(SystemDescAttr(default_system_desc()))
    assert text.startswith(
        "#tt.system_desc<[{arch = <wormhole_b0>, grid = 8x8, l1_size = 1499136, "
        "num_dram_channels = 12, dram_channel_size = 1073741824, noc_l1_address_align_bytes = 16, "
        "pcie_address_align_bytes = 32, noc_dram_address_align_bytes = 32, "
        "l1_unreserved_base = 1024, erisc_l1_unreserved_base = 1024, dram_unreserved_base = 1024, "
        "dram_unreserved_end = 1073741824, physical_cores = {worker = [(0, 0), (0, 1), "
    )
    assert text.endswith(
        "(7, 7)] dram = [(8, 0), (9, 0), (10, 0), (8, 1), (9, 1), (10, 1), (8, 2), (9, 2), "
        "(10, 2), (8, 3), (9, 3), (10, 3)]}, supported_data_types = [<f32>, <f16>, <bf16>, "
        "<bfp_f8>, <bfp_bf8>, <bfp_f4>, <bfp_bf4>, <bfp_f2>, <bfp_bf2>, <u32>, <u16>, <u8>], "
        "supported_tile_sizes = [(4 x 16), (16 x 16), (32 x 16), (4 x 32), (16 x 32), (32 x 32)]}"
        "], [0], [3 : i32], [<0, 0, 0, 0>]>"
    )


@pytest.mark.parametrize("name", BOARD_NAMES)
def test_boards_come_back(name: str):
    """The description of every board, and its device, are the same after printing and reading."""
    system = board(name)
    assert parse_attribute(attribute_text(SystemDescAttr(system))) == SystemDescAttr(system)
    device = DeviceAttr.from_system_desc(system)
    assert parse_attribute(attribute_text(device)) == device
    for channel in system.chip_channels[:3]:
        attribute = ChipChannelAttr(channel)
        assert parse_attribute(attribute_text(attribute)) == attribute


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("#tt.memory_space<l1>", "l1"),
        ("#tt.memory_space<mmio>", "mmio"),
        ("#tt.iterator_type<systolic>", "systolic"),
        ("#tt.operand_constraint<any>", "any"),
        ("#tt.operand_constraint<any_device>", "any_device"),
        ("#tt.operand_constraint<any_device_tile>", "any_device_tile"),
        ("#tt.operand_constraint<l1_block_sharded>", "l1_block_sharded"),
        ("#tt.operand_constraint<any_layout>", "operand_constraint"),
        ("#tt.operand_constraint<dram>", "operand_constraint"),
        (f"#tt.device<{DEVICE}>", "device"),
        (f"#tt.system_desc<[{chip()}], [0], [3 : i32], [<0, 0, 0, 0>]>", "system_desc"),
        ("#tt.layout<(d0) -> (d0), undef, <1>, memref<4xf32>>", "layout"),
    ],
)
def test_stems_of_aliases(text: str, alias: str):
    """The attributes that get an alias at the top of a module."""
    assert parse_attribute(text).alias_name() == alias


@pytest.mark.parametrize(
    "text",
    [
        "#tt.grid<1x1>",
        "#tt.arch<blackhole>",
        "#tt.oob_val<undef>",
        "#tt.tensor_memory_layout<none>",
        "#tt.arg_alloc<1, 2, l1>",
        "!tt.tile<32x32, f32>",
    ],
)
def test_other_attributes_have_no_alias(text: str):
    """These are always spelled out."""
    assert not hasattr(parse_attribute(text), "alias_name")


def test_buffer_access_of_several_bits():
    """A buffer that is alias and stream at once."""
    buffer = parse_attribute('#tt.buffer<memref<2xf32>, "alias|stream">')
    assert isinstance(buffer, BufferAttr)
    assert isinstance(buffer.memref, MemRefType)
    assert buffer.access == BufferAccessAttr.of(BufferAccess.STREAM, BufferAccess.ALIAS)
    assert buffer.access.data == 3
