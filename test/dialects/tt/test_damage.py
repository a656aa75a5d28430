"""Damaged text of attributes is read or refused, never anything else."""

from hypothesis import given
from hypothesis import strategies as st
from running.attribute_io import errors_of

from ttmlir.dialects.tt import DeviceAttr, SystemDescAttr
from ttmlir.layout.system import default_system_desc
from ttmlir.mlir.printing import attribute_text

TEXTS = (
    "#tt.layout<(d0, d1) -> (d0 * 4 + d1 mod 3, d1), undef, <1x2, (d0) -> (d0)>, "
    "memref<2x4x!tt.tile<32x32, bf16>, #tt.memory_space<l1>>, interleaved>",
    "#tt.layout<8192x128x1, undef, <1x1>, memref<64x128xf32>>",
    '#tt.buffer<memref<2x4xf32, strided<[4, 1]>>, "alias|stream">',
    "#tt.operand_constraint<dram|l1|any_layout>",
    "!ttkernel.cb<cb_in0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>",
    "#ttmetal.core_range<0x0, 2x4>",
    attribute_text(DeviceAttr.from_system_desc(default_system_desc(), (1, 1))),
    attribute_text(SystemDescAttr.get_default()),
)
PIECES = (
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "x",
    "-",
    "->",
    "|",
    "=",
    '"',
    "0x",
    "#",
    "!",
)
PIECES += ("?", "99999999999999999999", "-1", "d0", "mod", "floordiv 0", "\0", "é", "//", "\n", " ")


@given(st.sampled_from(TEXTS), st.data())
def test_damage(text: str, data: st.DataObject):
    """Pieces are cut out and put in: the reader answers with a value or with errors."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 6, len(text))))
        text = text[:start] + data.draw(st.sampled_from(("", *PIECES))) + text[end:]
    for _, message in errors_of(text):
        assert message


def test_index_of_a_chip_that_is_not_described() -> None:
    """A system description is refused where it is read, at its place."""
    text = attribute_text(SystemDescAttr.get_default())
    [error] = errors_of(text.replace(", [0], [3 : i32]", ", [7], [3 : i32]"))
    assert "chip 0 has description 7, but the system holds 1" in error
