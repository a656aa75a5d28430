"""Which steps a change of layout becomes: one component after the other, by the first rule."""

from __future__ import annotations

from itertools import pairwise

import pytest
from running.pass_runner import lowered

from ttmlir.dialects import ttir
from ttmlir.ir.tensor_types import layout_of
from ttmlir.mlir.reporting import DiagnosticError

MAP = "(d0, d1) -> (d0, d1)"


def layout(spelled: str) -> str:
    """The layout of words such as `2x2 1x2xT l1 interleaved`; T is a tile of f32, B one of bf16.

    With `t` at the end, the linear map exchanges the dimensions.
    """
    grid, shard, space, *rest = spelled.split()
    for letter, element in (("T", "f32"), ("B", "bf16")):
        shard = shard.replace(letter, f"!tt.tile<32x32, {element}>")
    map_ = "(d0, d1) -> (d1, d0)" if rest[-1:] == ["t"] else MAP
    spread = "".join(f", {word}" for word in rest if word != "t")
    memory = f"memref<{shard}, #tt.memory_space<{space}>>"
    return f"#tt.layout<{map_}, undef, <{grid}>, {memory}{spread}>"


def described(op: ttir.ToLayoutOp) -> str:
    """The layout of a change's result in the words of `layout`."""
    found = layout_of(op.results[0].type)
    assert found is not None
    shard = "x".join(map(str, found.shard))
    element = str(found.scalar_element)
    if found.is_tiled:
        element = {"f32": "T", "bf16": "B"}[element]
    words = ["x".join(map(str, found.grid.shape)), f"{shard}x{element}", found.memory_space.keyword]
    if found.memory_layout.keyword != "none":
        words.append(found.memory_layout.keyword)
    return " ".join([*words, *(["t"] if str(found.linear) != MAP else [])])


def steps(source: str, target: str, options: str = "") -> list[str]:
    """The layouts of all results between a tensor of 50x70 numbers and its last layout."""
    types = [f"tensor<50x70xf32, {layout(each)}>" for each in (source, target)]
    text = (
        f"func.func @f(%a: {types[0]}) -> {types[1]} {{\n"
        f"%0 = tensor.empty() : {types[1]}\n"
        f'%1 = "ttir.to_layout"(%a, %0) : ({types[0]}, {types[1]}) -> {types[1]}\n'
        f"return %1 : {types[1]}\n}}"
    )
    module = lowered(text, f"ttir-split-compound-layout{options}")
    changes = [op for op in module.walk() if isinstance(op, ttir.ToLayoutOp)]
    assert all(a.results[0] is b.inputs[0] for a, b in pairwise(changes))
    *between, last = map(described, changes)
    assert last == target
    return between


ROWS, TILES = "1x1 50x70xf32 l1", "1x1 2x3xT l1"


@pytest.mark.parametrize(
    ("source", "target", "between"),
    [
        # One change needs no other.
        (ROWS, TILES, []),
        (ROWS, "1x1 50x70xf32 dram", []),
        (ROWS, "2x2 25x35xf32 l1", []),
        (ROWS, "1x1 50x70xf32 l1 interleaved", []),
        (TILES, "1x1 2x3xB l1", []),
        # Other memories only in L1: out of them first, into them last.
        ("1x1 50x70xf32 system", TILES, [ROWS]),
        (TILES, "1x1 64x96xf32 dram", ["1x1 64x96xf32 l1"]),
        ("1x1 2x3xT dram", "1x1 2x3xT dram interleaved", [TILES, f"{TILES} interleaved"]),
        ("1x1 2x3xT dram", "1x1 2x3xT dram", [TILES]),
        ("1x1 50x70xf32 system", "1x1 2x3xT dram", [ROWS, TILES]),
        # Tiles wherever one of both has them: before the cores change, or after.
        (ROWS, "2x2 1x2xT l1", [TILES]),
        ("2x2 1x2xT l1", ROWS, ["1x1 2x3xT l1"]),
        (ROWS, f"{TILES} interleaved", [TILES]),
        (TILES, "1x1 64x96xf32 l1 interleaved", [f"{TILES} interleaved"]),
        # Both in rows, or both in tiles: cores, then the way they are spread, then numbers.
        (ROWS, "2x2 25x35xf32 l1 interleaved", ["1x1 50x70xf32 l1 interleaved"]),
        (TILES, "2x2 1x2xT l1 interleaved", [f"{TILES} interleaved"]),
        (TILES, "2x2 1x2xB l1", ["1x1 2x3xB l1"]),
        (TILES, "1x1 2x3xB l1 interleaved", [f"{TILES} interleaved"]),
        (
            TILES,
            "2x2 1x2xB l1 interleaved",
            [f"{TILES} interleaved", "1x1 2x3xB l1 interleaved"],
        ),
        # Another order of the dimensions: as rows.
        (TILES, "1x1 3x2xT l1 t", []),
        (TILES, "1x1 96x64xf32 l1 t", ["1x1 64x96xf32 l1"]),
        (ROWS, "1x1 3x2xT l1 t", ["1x1 96x64xf32 l1 t"]),
        (
            TILES,
            "1x1 3x2xB l1 t",
            ["1x1 64x96xf32 l1", "1x1 64x96xbf16 l1", "1x1 96x64xbf16 l1 t"],
        ),
        (ROWS, "1x1 70x50xf32 l1 interleaved t", ["1x1 50x70xf32 l1 interleaved"]),
    ],
)
def test_steps(source: str, target: str, between: list[str]) -> None:
    """By hand, from the rules in the order that the pass tries them."""
    assert steps(source, target) == between


HALVES = "1x1 64x96xbf16 l1"


@pytest.mark.parametrize(
    ("source", "target", "between"),
    [
        ("1x1 64x96xf32 l1", HALVES, [TILES, "1x1 2x3xB l1"]),
        (TILES, HALVES, ["1x1 2x3xB l1"]),
        ("1x1 64x96xf32 l1", "1x1 2x3xB l1", [TILES]),
        (TILES, "1x1 2x3xB l1", []),
        ("1x1 64x96xf32 l1", TILES, []),
    ],
)
def test_formats_change_on_tiles(source: str, target: str, between: list[str]) -> None:
    """With the option; without it, the format and the tiles are one change."""
    assert steps(source, target, "=formats-on-tiles=true") == between
    assert len(steps(source, target)) == 0


@pytest.mark.parametrize(
    ("source", "target"), [(ROWS, "2x2 35x25xf32 l1 t"), (TILES, "2x2 2x1xT l1 t")]
)
def test_no_way(source: str, target: str) -> None:
    """A layout on another grid has the dimensions in their order."""
    with pytest.raises(DiagnosticError) as error:
        steps(source, target)
    assert (
        "test.mlir:3:6: error: 'ttir.to_layout' op cannot be split: no step changes only one of "
        "linear map, grid; write the intermediate layout as a ttir.to_layout of its own"
    ) in str(error.value)
