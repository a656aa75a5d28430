"""Where `ttir-layout` puts operands, for all values of its options."""

from __future__ import annotations

import pytest
from running.pass_runner import printed
from samples.ttir_text import FunctionText, tensor

WIDE = tensor(33, 70)
SHARDED = ("height_sharded", "width_sharded", "block_sharded")
ALL = ("interleaved", "single_bank", *SHARDED)


def layout_of_operand(memory_layouts: str, options: str) -> str:
    """The layout that an operand with these memory layouts in its constraint gets, in DRAM."""
    f = FunctionText([WIDE], constraint="#mine")
    value = f.op("exp", ["%arg0"], WIDE)
    text = f"#mine = #tt.operand_constraint<dram|scalar|{memory_layouts}>\n" + f.returning(value)
    layout = f"ttir-layout={options}"
    lines = printed(text, "ttir-load-system-desc", "ttir-implicit-device", layout).splitlines()
    (on_device,) = [line for line in lines if line.startswith("#layout") and "#dram" in line]
    prefix = "#layout1 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #dram>"
    assert on_device.startswith(prefix)
    return on_device.removeprefix(prefix).removesuffix(">").removeprefix(", ")


@pytest.mark.parametrize("preferred", ALL)
def test_preferred_memory_layout(preferred: str) -> None:
    """It is taken where the constraint has it, whatever else the constraint has."""
    option = f"default-device-memory-layout={preferred}"
    assert layout_of_operand("|".join(("none", *ALL)), option) == preferred
    assert layout_of_operand(preferred, option) == preferred


def test_no_memory_layout() -> None:
    """`none` says nothing of how shards are spread, even where a constraint does."""
    for memory_layouts in ("none", "|".join(ALL), "single_bank"):
        assert layout_of_operand(memory_layouts, "default-device-memory-layout=none") == ""


@pytest.mark.parametrize("preferred", ALL)
def test_other_memory_layouts(preferred: str) -> None:
    """Where the constraint does not have it, the first of a fixed order that it has is taken."""
    option = f"default-device-memory-layout={preferred}"
    others = [each for each in ALL if each != preferred]
    assert layout_of_operand("|".join(reversed(others)), option) == others[0]
    for other in others:
        assert layout_of_operand(other, option) == other
    assert layout_of_operand("none", option) == ""


def test_interleaved_is_the_default() -> None:
    """Without the option."""
    assert layout_of_operand("|".join(("none", *ALL)), "") == "interleaved"


def test_memory_is_freed_where_the_result_is() -> None:
    """A tensor that moved with its operation is freed itself, not a copy of it."""
    f = FunctionText([WIDE], constraint="#mine")
    value = f.op("exp", ["%arg0"], WIDE)
    f.lines.append(f'"ttir.dealloc"({value}) : ({WIDE}) -> ()')
    text = "#mine = #tt.operand_constraint<dram|scalar|interleaved>\n" + f.returning("%arg0")
    lines = printed(
        text, "ttir-load-system-desc", "ttir-implicit-device", "ttir-layout"
    ).splitlines()
    (freed,) = [line.split('"ttir.dealloc"')[1] for line in lines if "ttir.dealloc" in line]
    (made,) = [line.split(" = ")[0].strip() for line in lines if '"ttir.exp"' in line]
    assert freed == f"({made}) : (tensor<33x70xf32, #layout1>) -> ()"
    assert sum("ttir.to_layout" in line for line in lines) == 1
