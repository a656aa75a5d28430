"""Data movement kernels copy the right bytes; whole programs use memory that fits."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cores.noc_machine import UNTOUCHED, NocMachine, argument, result
from hypothesis import given, settings
from hypothesis import strategies as st
from running.pass_runner import lowered, printed
from samples.ttir_text import FunctionText, tensor

from ttmlir.dialects import tt
from ttmlir.layout.data_format import Element, ScalarType, TileFormat
from ttmlir.layout.enums import DataType, MemorySpace
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.printing import attribute_text
from ttmlir.mlir.reporting import DiagnosticError

PASSES = (
    "ttir-load-system-desc",
    "ttir-implicit-device",
    "ttir-allocate",
    "convert-ttir-to-ttmetal",
)
PIPELINE = "ttir-to-ttmetal-backend-pipeline"
L1, DRAM = MemorySpace.DEVICE_L1, MemorySpace.DEVICE_DRAM
F32, BF16 = ScalarType("f32"), ScalarType("bf16")
TILE, BF16_TILE = TileFormat(32, 32, DataType.F32), TileFormat(32, 32, DataType.BF16)


def _layout(
    shape: tuple[int, ...], element: Element, space: MemorySpace, grid: tuple[int, int]
) -> TensorLayout:
    return TensorLayout.of(shape, element, space, grid)


def _move(shape: tuple[int, ...], source: TensorLayout, target: TensorLayout) -> str:
    extents = "".join(f"{extent}x" for extent in shape)
    types = [
        f"tensor<{extents}{layout.scalar_element}, "
        f"{attribute_text(tt.LayoutAttr.from_tensor_layout(layout))}>"
        for layout in (source, target)
    ]
    return f"""
func.func @move(%arg0: {types[0]}) -> {types[1]} {{
  %0 = tensor.empty() : {types[1]}
  %1 = "ttir.to_layout"(%arg0, %0) : ({types[0]}, {types[1]}) -> {types[1]}
  return %1 : {types[1]}
}}
"""


def _numbers(shape: tuple[int, ...], element: Element) -> np.ndarray:
    """Different numbers that no untouched memory holds, as bits of the element's width."""
    kind = np.uint32 if element.scalar.size_bytes == 4 else np.uint16
    return np.arange(1, 1 + np.prod(shape), dtype=kind).reshape(shape)


def _check_move(shape: tuple[int, ...], source: TensorLayout, target: TensorLayout) -> None:
    """Run the kernels of a move on a tensor of different numbers."""
    module = lowered(_move(shape, source, target), *PASSES)
    data = _numbers(shape, source.element)
    machine = NocMachine()
    machine.store(data, argument(module)[1], argument(module)[2])
    before = {core: memory.copy() for core, memory in machine.memory.items()}
    machine.run(module)
    _, layout, address = result(module)
    assert machine.holds(data, layout, address)
    bytes_there = layout.shard_bytes if target.memory_space is L1 else 1 << 19
    for core, memory in machine.memory.items():
        untouched = before.get(core, np.full_like(memory, UNTOUCHED))
        outside = np.r_[0:address, address + bytes_there : len(memory)]
        assert np.array_equal(memory[outside], untouched[outside]), core


@pytest.mark.parametrize(
    ("shape", "element", "source", "target"),
    [
        ((64, 128), F32, (L1, (1, 1)), (L1, (2, 2))),
        ((64, 128), F32, (L1, (2, 2)), (L1, (1, 1))),
        ((48, 192), BF16, (L1, (1, 3)), (L1, (4, 1))),
        ((96, 160), F32, (L1, (3, 5)), (L1, (2, 4))),
        ((53, 64), F32, (L1, (3, 2)), (L1, (2, 1))),
        ((33, 72), F32, (L1, (1, 1)), (L1, (2, 3))),
        ((2, 33, 64), F32, (L1, (1, 1)), (L1, (3, 2))),
        ((96, 192), TILE, (L1, (1, 1)), (L1, (3, 2))),
        ((70, 190), TILE, (L1, (3, 2)), (L1, (1, 6))),
        ((3, 32, 96), BF16_TILE, (L1, (1, 3)), (L1, (3, 1))),
        ((64, 128), F32, (DRAM, (1, 1)), (L1, (1, 1))),
        ((96, 320), F32, (L1, (1, 1)), (DRAM, (1, 1))),
        ((96, 320), F32, (DRAM, (1, 1)), (L1, (3, 2))),
        ((96, 64), F32, (L1, (3, 2)), (DRAM, (3, 2))),
        ((96, 64), TILE, (L1, (1, 2)), (DRAM, (3, 1))),
        ((64, 64), F32, (L1, (2, 1)), (L1, (2, 1))),
    ],
)
def test_move(
    shape: tuple[int, ...],
    element: Element,
    source: tuple[MemorySpace, tuple[int, int]],
    target: tuple[MemorySpace, tuple[int, int]],
) -> None:
    """Every element arrives, and nothing else changes."""
    layouts = (_layout(shape, element, *side) for side in (source, target))
    _check_move(shape, *layouts)


_GRIDS = st.tuples(st.integers(1, 8), st.integers(1, 8))


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 60),
    width=st.integers(1, 5),
    source=_GRIDS,
    target=_GRIDS,
    tiled=st.booleans(),
)
def test_any_grids(
    rows: int, width: int, source: tuple[int, int], target: tuple[int, int], tiled: bool
) -> None:
    """A tensor moves between any two grids if its shards' rows are multiples of 16 bytes."""
    element: Element = TILE if tiled else F32
    shape = (rows, width * (source[1] * target[1] * 4 if not tiled else 7))
    _check_move(shape, *(_layout(shape, element, L1, grid) for grid in (source, target)))


# --- Memory --------------------------------------------------------------------------------------


def _chain(length: int, shape: tuple[int, int]) -> str:
    text = FunctionText([tensor(*shape)] * 2, constraint="#tile")
    value = "%arg0"
    for number in range(length):
        inputs = [value, "%arg1"] if number % 2 else ["%arg1", value]
        value = text.op("multiply" if number % 3 else "add", inputs, tensor(*shape))
    return text.returning(value)


_EVENT = re.compile(
    r"^ +(?:%(\d+) = \"ttmetal\.alloc\"\(\) <\{address = (\d+) .*, size = (\d+) |"
    r"\"ttmetal\.dealloc\"\(%(\d+)\))",
    re.MULTILINE,
)


def _check_memory(text: str, end: int) -> int:
    """Check that live buffers lie apart and in bounds; how many addresses are used again."""
    live: dict[str, tuple[int, int]] = {}
    for number, (address, size) in enumerate(re.findall(r"#tt.arg_alloc<(\d+), (\d+), l1>", text)):
        live[f"arg{number}"] = (int(address), int(size))
    seen: set[int] = set()
    again = 0
    for name, address, size, dead in _EVENT.findall(text):
        if dead:
            del live[dead]
            continue
        first, last = int(address), int(address) + int(size)
        assert first >= 1024
        assert last <= end
        assert first % 16 == 0
        assert all(last <= a or a + s <= first for a, s in live.values()), "live buffers lie apart"
        again += first in seen
        seen.add(first)
        live[name] = (first, int(size))
    assert len(live) == 3, "two arguments and the result are left"
    return again


def test_addresses_are_not_reused_while_memory_lasts() -> None:
    """A short chain takes new memory for each step."""
    assert _check_memory(printed(_chain(4, (64, 96)), PIPELINE), 1499136) == 0


def test_memory_is_reused_after_the_last_use() -> None:
    """A chain of 40 steps on 128 KB each fits into 1.4 MB."""
    text = printed(_chain(40, (160, 200)), PIPELINE)
    assert _check_memory(text, 1499136) > 40
    assert text.count("mul_tiles_init") + text.count("add_tiles_init") == 40


def test_what_does_not_fit_at_once_is_refused() -> None:
    """The arguments and one step alone are too much."""
    with pytest.raises(DiagnosticError) as error:
        lowered(_chain(1, (416, 320)), PIPELINE)
    assert (
        "does not fit into l1: 532480 bytes beside 1064960 bytes that are in use, between 1024 and "
        "1499136; use smaller tensors, larger grids or another memory space"
    ) in str(error.value)


def test_operations_that_share_a_destination_get_one_each() -> None:
    """The first result is still there when the second operation has written its own."""
    layouts = [_layout((32, 64), F32, L1, grid) for grid in ((1, 1), (1, 2))]
    rows, halves = (
        f"tensor<32x64xf32, {attribute_text(tt.LayoutAttr.from_tensor_layout(layout))}>"
        for layout in layouts
    )
    text = f"""
func.func @f(%a: {rows}, %b: {rows}) -> ({halves}, {halves}) {{
  %0 = tensor.empty() : {halves}
  %1 = "ttir.to_layout"(%a, %0) : ({rows}, {halves}) -> {halves}
  %2 = "ttir.to_layout"(%b, %0) : ({rows}, {halves}) -> {halves}
  return %1, %2 : {halves}, {halves}
}}
"""
    addresses = re.findall(r"ttmetal.alloc\"\(\) <\{address = (\d+)", printed(text, *PASSES))
    assert sorted(addresses) == ["17408", "21504"]


def test_constants_stay_in_their_kernels() -> None:
    """A kernel is compiled by itself, so canonicalization leaves its constants where they are."""
    shape = (32, 64)
    text = _move(shape, *(_layout(shape, F32, L1, grid) for grid in ((1, 1), (1, 2))))
    assert printed(text, *PASSES, "canonicalize") == printed(text, *PASSES)
