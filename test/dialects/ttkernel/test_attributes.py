"""Types and attributes of ttkernel and ttmetal: text, meaning, messages."""

import pytest
from running.attribute_io import errors_of, parse_attribute
from xdsl.dialects.builtin import MemRefType, bf16, f32

from ttmlir.dialects.tt import TileType
from ttmlir.dialects.ttkernel import (
    CBType,
    EthernetConfigAttr,
    NocConfigAttr,
    TensixConfig,
    TensixConfigAttr,
)
from ttmlir.layout.enums import (
    CBPort,
    DataType,
    EthType,
    KeywordEnum,
    MathFidelity,
    NocIndex,
    ThreadType,
)
from ttmlir.mlir.printing import attribute_text


@pytest.mark.parametrize(
    "text",
    [
        "#ttkernel.thread<noc>",
        "#ttkernel.tensix_config<hifi2, true, false, true>",
        "#ttkernel.noc_config<noc1>",
        "#ttkernel.ethernet_config<receiver, noc0>",
        "!ttkernel.noc_addr",
        "!ttkernel.cb<cb_in0, 66560, "
        "memref<2x4x!tt.tile<32x32, f32>, #tt.memory_space<l1>>, 4096, 1>",
        "!ttkernel.cb<cb_int7, 18446744073709551615, memref<3xf32>, 12, 2>",
        "#ttmetal.core_range<0x0, 1x1>",
        "#ttmetal.core_range<1x0, 2x4>",
    ],
)
def test_text_is_printed_as_it_was_read(text: str):
    """The canonical form of each attribute and type."""
    assert attribute_text(parse_attribute(text)) == text


@pytest.mark.parametrize(
    ("enum", "template"),
    [
        (ThreadType, "#ttkernel.thread<{}>"),
        (MathFidelity, "#ttkernel.tensix_config<{}, false, false, false>"),
        (NocIndex, "#ttkernel.noc_config<{}>"),
        (EthType, "#ttkernel.ethernet_config<{}, noc1>"),
        (CBPort, "!ttkernel.cb<{}, 0, memref<1xf32>, 4, 1>"),
    ],
)
def test_every_keyword(enum: type[KeywordEnum], template: str):
    """Each keyword is read and printed."""
    for keyword in enum.keywords():
        text = template.format(keyword)
        assert attribute_text(parse_attribute(text)) == text


def test_numbers_of_enumerators():
    """Fidelities leave out 1; ports count through their four groups."""
    assert [int(fidelity) for fidelity in MathFidelity] == [0, 2, 3, 4]
    assert [int(port) for port in CBPort] == list(range(32))
    assert (CBPort.DFL0, CBPort.OUT0, CBPort.INT0) == (8, 16, 24)


def test_configurations_name_their_processor():
    """Which processor of a core runs a kernel with these settings."""
    assert TensixConfigAttr(TensixConfig()).thread_type is ThreadType.TENSIX
    assert str(TensixConfigAttr(TensixConfig())) == (
        "#ttkernel.tensix_config<hifi4, false, false, false>"
    )
    assert NocConfigAttr(NocIndex.NOC0).thread_type is ThreadType.NOC
    ethernet = EthernetConfigAttr((EthType.SENDER, NocIndex.NOC0))
    assert ethernet.thread_type is ThreadType.ETHERNET


def test_page_of_a_circular_buffer():
    """One tile of 2048 bytes, or one row of 40 numbers of 4 bytes; one page."""
    tiles = MemRefType(TileType.get(32, 32, DataType.BF16), [2, 4])
    assert CBType.get(CBPort.IN1, 1024, tiles).buffer.data.page_size == 2048
    rows = CBType.get(CBPort.OUT0, 1024, MemRefType(f32, [3, 40]))
    assert (rows.buffer.data.page_size, rows.buffer.data.num_buffers) == (160, 1)
    assert CBType.get(CBPort.OUT0, 0, MemRefType(bf16, [3, 40])).buffer.data.page_size == 80


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        (
            "!ttkernel.cb<cb_in9, 0, memref<1xf32>, 4, 1>",
            13,
            "invalid TTKernel Circular Buffer Ports specification: cb_in9",
        ),
        (
            "!ttkernel.cb<0, 0, memref<1xf32>, 4, 1>",
            15,
            "expected non-function type",
        ),
        ("!ttkernel.cb<cb_in0, 0, f32, 4, 1>", 24, "invalid kind of type specified"),
        ("!ttkernel.cb<cb_in0, 0, memref<1xf32>, 4>", 40, "expected ','"),
        (
            "#ttkernel.thread<dma>",
            17,
            "expected ::mlir::tt::ttkernel::ThreadType to be one of: noc, tensix, ethernet",
        ),
        (
            "#ttkernel.tensix_config<hifi1, true, true, true>",
            24,
            "invalid TTKernel Math Fidelity specification: hifi1",
        ),
        (
            "#ttkernel.tensix_config<hifi2, 1, true, true>",
            31,
            "expected 'true' or 'false'",
        ),
        ("#ttkernel.noc_config<noc2>", 21, "invalid TTKernel NOC Index specification: noc2"),
        (
            "#ttkernel.ethernet_config<both, noc0>",
            26,
            "invalid TTKernel Ethernet Type specification: both",
        ),
        ("#ttmetal.core_range<1x?, 2x4>", 20, "expected static shape"),
        ("#ttmetal.core_range<1x0>", 23, "expected ','"),
    ],
)
def test_broken_text(text: str, position: int, message: str):
    """The first error about each broken attribute."""
    assert errors_of(text)[0] == (position, message)
