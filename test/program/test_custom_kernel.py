"""Tensors of custom kernels: what is taken up to each limit, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from samples.generic_programs import exp_program

from ttmlir.layout.enums import DataType
from ttmlir.program import CustomKernel, DescriptionError, KernelTensor, Shards

INPUT = KernelTensor(name="x", role="in", shape=(5, 70), element="f32")
OUTPUT = replace(INPUT, name="y", role="out")
KERNEL = CustomKernel(name="k", tensors=(INPUT, OUTPUT), program=exp_program(3))


def refusal(kind: Any, **fields: Any) -> str:
    """Why an object cannot be made."""
    with pytest.raises(DescriptionError) as error:
        kind(**fields)
    return str(error.value)


def refused_kernel(**fields: Any) -> str:
    """Why a kernel cannot be changed like that."""
    return refusal(lambda: replace(KERNEL, **fields))


def tensor(**fields: Any) -> KernelTensor:
    """A tensor that the program reads."""
    return replace(INPUT, **fields)


@pytest.mark.parametrize("shape", [(), (1,), (2**31 - 1,), (1,) * 64, (3, 2**31 - 1)])
def test_shapes_are_taken_up_to_the_limits(shape: tuple[int, ...]) -> None:
    """An extent has 31 bits, a tensor 64 dimensions."""
    assert tensor(shape=shape).shape == shape


@pytest.mark.parametrize("shape", [(0,), (3, 0), (-1, 2), (2**31,), (2, 2**31), (1,) * 65])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    """The message has the shape."""
    assert refusal(tensor, shape=shape) == (
        f"tensor 'x': the shape {list(shape)} is not supported; kernels take tensors with elements"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"role": "inout"}, "the role 'inout' is not supported; supported are in, out"),
        (
            {"element": "f64"},
            "the element type 'f64' is not supported; supported are f32, bf16, f16, i32, ui32, "
            "ui16, ui8",
        ),
        ({"layout": "rows"}, "the layout 'rows' is not supported; supported are tile, row_major"),
        ({"memory": "system"}, "the memory 'system' is not supported; supported are dram, l1"),
        (
            {"shards": Shards("block_sharded", (1, 1))},
            "shards are in the memory l1, not in dram",
        ),
        (
            {"shards": Shards("block_sharded", (1, 1)), "memory": "l1", "shape": (3,)},
            "a tensor of rank 1 has no shards; give it 2 or more",
        ),
        (
            {"shards": Shards("block_sharded", (1, 1)), "memory": "l1", "shape": (2, 31, 3)},
            "matrices of 31 rows one below the other are no whole tiles of 32 rows; merge the "
            "dimensions before the last, or pad the rows",
        ),
    ],
)
def test_words_and_shards_are_checked(fields: dict[str, Any], message: str) -> None:
    """The message says which words there are."""
    assert refusal(tensor, **fields) == f"tensor 'x': {message}"


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": (31, 3)},
        {"shape": (2, 32, 3)},
        {"shape": (2, 2, 64, 3)},
        {"shape": (2, 31, 3), "layout": "row_major"},
    ],
)
def test_shards_of_whole_tiles_are_taken(fields: dict[str, Any]) -> None:
    """One matrix may have any rows, and rows need no tiles."""
    tensor(memory="l1", shards=Shards("block_sharded", (1, 1)), **fields)


@pytest.mark.parametrize(
    ("layout", "grid", "message"),
    [
        (
            "interleaved",
            (1, 1),
            "the sharded layout 'interleaved' is not supported; supported are height_sharded, "
            "width_sharded, block_sharded",
        ),
        ("block_sharded", (0, 1), "shards on 0x1 cores; give from 1 to 4096 cores"),
        ("block_sharded", (1, 0), "shards on 1x0 cores; give from 1 to 4096 cores"),
        ("block_sharded", (1, 4097), "shards on 1x4097 cores; give from 1 to 4096 cores"),
        ("height_sharded", (3, 2), "a height_sharded tensor is on one column of cores, not on 3x2"),
        ("width_sharded", (2, 3), "a width_sharded tensor is on one row of cores, not on 2x3"),
    ],
)
def test_grids_of_shards_are_checked(layout: str, grid: tuple[int, int], message: str) -> None:
    """The message has the grid."""
    assert refusal(Shards, layout=layout, grid=grid) == message


@pytest.mark.parametrize(
    ("layout", "grid"),
    [
        ("block_sharded", (64, 64)),
        ("block_sharded", (2, 3)),
        ("height_sharded", (4096, 1)),
        ("width_sharded", (1, 7)),
    ],
)
def test_grids_of_shards_are_taken(layout: str, grid: tuple[int, int]) -> None:
    """Up to the number of cores that chips have."""
    assert Shards(layout, grid).grid == grid


@pytest.mark.parametrize(
    ("shape", "layout", "grid", "extents", "shard"),
    [
        ((), "tile", None, (1, 1), (1, 1)),
        ((33,), "tile", None, (1, 2), (1, 2)),
        ((5, 70), "tile", None, (1, 3), (1, 3)),
        ((2, 3, 33, 70), "tile", None, (12, 3), (12, 3)),
        ((33, 70), "row_major", None, (33, 70), (33, 70)),
        ((2, 3, 5), "row_major", None, (6, 5), (6, 5)),
        ((7,), "row_major", None, (1, 7), (1, 7)),
        ((160, 70), "tile", ("block_sharded", (2, 2)), (5, 3), (3, 2)),
        ((160, 70), "tile", ("height_sharded", (5, 1)), (5, 3), (1, 3)),
        ((160, 70), "row_major", ("width_sharded", (1, 7)), (160, 70), (160, 10)),
    ],
)
def test_extents_and_shards_are_counted_in_pages(
    shape: tuple[int, ...],
    layout: str,
    grid: tuple[str, tuple[int, int]] | None,
    extents: tuple[int, int],
    shard: tuple[int, int],
) -> None:
    """Of tiles, all matrices one below the other, or of numbers."""
    shards = None if grid is None else Shards(*grid)
    memory = "dram" if grid is None else "l1"
    made = tensor(shape=shape, layout=layout, memory=memory, shards=shards)
    assert (made.extents, made.shard) == (extents, shard)


def test_texts_are_those_of_the_ir() -> None:
    """Types by their keywords."""
    names = ("f32", "bf16", "f16", "i32", "ui32", "ui16", "ui8")
    types = [tensor(element=name) for name in names]
    assert [str(each) for each in types] == [f"tensor<5x70x{name}>" for name in names]
    assert str(tensor(shape=())) == "tensor<f32>"
    wide, narrow = DataType.U32, DataType.U16
    of_floats = (DataType.F32, DataType.BF16, DataType.F16)
    assert tuple(each.data_type for each in types) == (*of_floats, wide, wide, narrow, DataType.U8)


def test_kernels_read_before_they_make() -> None:
    """And make at least one tensor."""
    assert (KERNEL.inputs, KERNEL.outputs) == ((INPUT,), (OUTPUT,))
    start = "custom kernel 'k'"
    assert refused_kernel(tensors=(OUTPUT, INPUT)) == (
        f"{start}: tensors that it reads come before those that it makes"
    )
    assert refused_kernel(tensors=(INPUT, INPUT)) == (
        f"{start} makes no tensor; give it at least one of role 'out'"
    )
    assert refused_kernel(name="").startswith("the name of a custom kernel is ''")


@pytest.mark.parametrize(
    ("operands", "results", "message"),
    [
        (["tensor<5x70xf32>"], ["tensor<5x70xf32>"], None),
        ([], ["tensor<5x70xf32>"], "has 0 operands, but the kernel 'k' is for 1"),
        (["tensor<5x70xf32>"], [], "has 0 results, but the kernel 'k' is for 1"),
        (
            ["tensor<5x7xf32>"],
            [],
            "operand #0 is tensor<5x7xf32>, but 'x' of the kernel 'k' is tensor<5x70xf32>",
        ),
        (
            ["tensor<5x70xf32>"],
            ["tensor<5x70xi32>"],
            "result #0 is tensor<5x70xi32>, but 'y' of the kernel 'k' is tensor<5x70xf32>",
        ),
    ],
)
def test_other_types_than_those_of_the_kernel_are_told(
    operands: list[str], results: list[str], message: str | None
) -> None:
    """The first difference, operands before results."""
    assert KERNEL.difference(operands, results) == message
