"""Moves of elements are what NumPy makes of them; those of whole tiles are views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from running.d2m_interpreter import PASS, Shape, check, normal, whole
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.interpreter import execute

# --- Movement ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((4, 33, 70), (2, 2, 33, 70)),
        ((2, 2, 33, 70), (4, 33, 70)),
        ((33, 70), (1, 33, 70)),
        ((2, 64, 70), (128, 70)),
        ((128, 70), (2, 1, 64, 70)),
        ((6, 32, 5), (2, 96, 5)),
        ((70,), (70, 1)),
        ((70, 1), (70,)),
        ((2, 3, 1, 70), (3, 2, 70, 1)),
        ((1,), ()),
    ],
)
def test_reshapes(shape: Shape, target: Shape) -> None:
    """Tiles stay whole: the last dimensions, multiples of 32 rows, rows as columns."""
    x = normal(*shape)
    listed = ", ".join(f"{extent} : i32" for extent in target)
    check("reshape", [x], x.reshape(target), f"shape = [{listed}]", tolerance=0)


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((33, 70), (1, 0)),
        ((2, 3, 33, 70), (1, 0, 2, 3)),
        ((2, 3, 33, 70), (1, 0, 3, 2)),
        ((4, 2, 3, 33, 5), (2, 0, 1, 4, 3)),
        ((2, 1, 33, 70), (1, 0, 2, 3)),
    ],
)
def test_permutations(shape: Shape, order: Shape) -> None:
    """Of the outer dimensions, and of the last two."""
    x = normal(*shape)
    listed = ", ".join(map(str, order))
    check("permute", [x], x.transpose(order), f"permutation = array<i64: {listed}>", tolerance=0)


def test_slices() -> None:
    """Any step outside of tiles; inside from a multiple of 32 on."""
    x = normal(5, 7, 70, 130)
    expected = x[1:5:3, 2:3, 32:70, 64:70]
    attributes = (
        "begins = [1 : i32, 2 : i32, 32 : i32, -66 : i32], ends = [5 : i32, 3 : i32, 70 : i32, "
        "70 : i32], step = [3 : i32, 1 : i32, 1 : i32, 1 : i32]"
    )
    check("slice", [x], expected, attributes, tolerance=0)
    part = x[0, 0]
    check(
        "slice",
        [part],
        part[:33, :5],
        "begins = [0 : i32, 0 : i32], ends = [33 : i32, 5 : i32], step = [1 : i32, 1 : i32]",
        tolerance=0,
    )


@pytest.mark.parametrize(
    ("shapes", "dim"),
    [
        (((2, 33, 5), (1, 33, 5), (3, 33, 5)), 0),
        (((64, 5), (33, 5)), 0),
        (((33, 32), (33, 64), (33, 7)), -1),
        (((5,),), 0),
    ],
)
def test_concatenations(shapes: Sequence[Shape], dim: int) -> None:
    """Along outer dimensions, and of parts of whole tiles."""
    parts = [normal(*shape, seed=n) for n, shape in enumerate(shapes)]
    check("concat", parts, np.concatenate(parts, dim), f"dim = {dim} : si32", tolerance=0)


def test_padding() -> None:
    """By any number behind, by whole tiles in front."""
    x = normal(2, 33, 40)
    widths = ((1, 2), (32, 5), (0, 3))
    attributes = "padding = array<i32: 1, 2, 32, 5, 0, 3>, value = 1.5 : f32"
    check("pad", [x], np.pad(x, widths, constant_values=1.5), attributes, tolerance=0)
    y = whole(np.int32, 3, 7)
    attributes = "padding = array<i32: 0, 1, 0, 40>, value = -3.0 : f32"
    expected = np.pad(y, ((0, 1), (0, 40)), constant_values=-3)
    check("pad", [y], expected, attributes, tolerance=0)


def test_repetitions() -> None:
    """Of outer dimensions, of whole tiles, and of single rows and columns."""
    for shape, counts in (((2, 33, 5), (3, 1, 1)), ((32, 1), (2, 40)), ((1, 64), (5, 2))):
        x = normal(*shape)
        listed = ", ".join(map(str, counts))
        attributes = f"repeat_dimensions = array<i64: {listed}>"
        check("repeat", [x], np.tile(x, counts), attributes, tolerance=0)


def test_placed_broadcast() -> None:
    """A vector becomes a column that is repeated."""
    x = normal(33)
    expected = np.broadcast_to(x[:, None], (2, 33, 70)).copy()
    check("broadcast", [x], expected, "dimension = [1]", tolerance=0)


def test_opposite_order() -> None:
    """Of outer dimensions."""
    x = normal(3, 2, 33, 5)
    check("reverse", [x], x[::-1, ::-1].copy(), "dimensions = array<i64: 0, 1>", tolerance=0)


# --- Parts of tiles ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((5, 7), (7, 5)),
        ((2, 33, 70), (66, 70)),
        ((66, 70), (3, 22, 70)),
        ((6, 35), (6, 5, 7)),
        ((3, 4, 35), (12, 5, 7)),
        ((4, 6), (3, 8)),
        ((5, 40), (200,)),
        ((1, 7, 1, 70), (70, 7)),
    ],
)
def test_reshapes_of_parts_of_tiles(shape: Shape, target: Shape) -> None:
    """Rows and columns leave their tiles."""
    x = normal(*shape)
    listed = ", ".join(f"{extent} : i32" for extent in target)
    check("reshape", [x], x.reshape(target), f"shape = [{listed}]", tolerance=0)


@pytest.mark.parametrize(
    ("shape", "order"),
    [((2, 3, 5, 7), (0, 2, 1, 3)), ((5, 2, 70), (2, 0, 1)), ((3, 33, 5), (2, 1, 0))],
)
def test_permutations_of_parts_of_tiles(shape: Shape, order: Shape) -> None:
    """An outer dimension changes places with one that tiles divide."""
    x = normal(*shape)
    listed = ", ".join(map(str, order))
    check("permute", [x], x.transpose(order), f"permutation = array<i64: {listed}>", tolerance=0)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int32])
def test_slices_of_parts_of_tiles(dtype: type) -> None:
    """From anywhere, by any step, in every format."""
    x = whole(np.int8, 5, 40, 70).astype(dtype)
    attributes = (
        "begins = [1 : i32, 3 : i32, 5 : i32], ends = [4 : i32, 37 : i32, 70 : i32], "
        "step = [2 : i32, 1 : i32, 3 : i32]"
    )
    check("slice", [x], x[1:4:2, 3:37, 5:70:3], attributes, tolerance=0)


@pytest.mark.parametrize(
    ("shapes", "dim"),
    [
        (((33, 5), (31, 5), (2, 5)), 0),
        (((3, 5, 7), (3, 5, 40), (3, 5, 1)), 2),
        (((33, 64), (33, 3), (33, 32)), 1),
        (((1, 70), (40, 70)), 0),
        (((5,), (70,)), 0),
    ],
)
def test_concatenations_of_parts_of_tiles(shapes: Sequence[Shape], dim: int) -> None:
    """Parts that share a tile."""
    parts = [normal(*shape, seed=n) for n, shape in enumerate(shapes)]
    check("concat", parts, np.concatenate(parts, dim), f"dim = {dim} : si32", tolerance=0)


@pytest.mark.parametrize("widths", [((1, 0), (0, 0)), ((0, 3), (5, 6)), ((33, 1), (70, 2))])
def test_padding_in_front_of_parts_of_tiles(widths: Sequence[tuple[int, int]]) -> None:
    """By any number of rows and columns."""
    x = normal(33, 40)
    listed = ", ".join(str(each) for pair in widths for each in pair)
    attributes = f"padding = array<i32: {listed}>, value = -1.5 : f32"
    check("pad", [x], np.pad(x, widths, constant_values=-1.5), attributes, tolerance=0)


def test_repetitions_of_parts_of_tiles() -> None:
    """A repeated row begins within a tile."""
    x = normal(2, 5, 7)
    attributes = "repeat_dimensions = array<i64: 1, 3, 10>"
    check("repeat", [x], np.tile(x, (1, 3, 10)), attributes, tolerance=0)


def test_opposite_order_within_tiles() -> None:
    """Rows and columns in the opposite order."""
    x = normal(2, 33, 5)
    for dims in ((1,), (2,), (0, 1, 2)):
        listed = ", ".join(map(str, dims))
        expected = np.flip(x, dims).copy()
        check("reverse", [x], expected, f"dimensions = array<i64: {listed}>", tolerance=0)


# --- Chains --------------------------------------------------------------------------------------


def _generics(text: str) -> int:
    return sum(op.name == "d2m.generic" for op in lowered(text, PASS).walk())


def _reshape(text: FunctionText, value: str, *shape: int) -> str:
    listed = ", ".join(f"{extent} : i32" for extent in shape)
    return text.op("reshape", [value], tensor(*shape), f"shape = [{listed}]")


def _permute(text: FunctionText, value: str, order: Shape, *shape: int) -> str:
    listed = ", ".join(map(str, order))
    return text.op("permute", [value], tensor(*shape), f"permutation = array<i64: {listed}>")


def test_heads_of_attention_are_views() -> None:
    """Splitting, transposing and merging heads copies nothing: two products are two loops."""
    text = FunctionText([tensor(1, 70, 192)] * 3)
    heads: list[str] = []
    for name in ("%arg0", "%arg1", "%arg2"):
        split = _reshape(text, name, 1, 70, 3, 64)
        heads.append(_permute(text, split, (0, 2, 1, 3), 1, 3, 70, 64))
    keys = _permute(text, heads[1], (0, 1, 3, 2), 1, 3, 64, 70)
    scores = text.op("matmul", [heads[0], keys], tensor(1, 3, 70, 70))
    mixed = text.op("matmul", [scores, heads[2]], tensor(1, 3, 70, 64))
    merged = _reshape(text, _permute(text, mixed, (0, 2, 1, 3), 1, 70, 3, 64), 1, 70, 192)
    source = text.returning(text.op("add", [merged, merged], tensor(1, 70, 192)))
    assert _generics(source) == 3
    q, k, v = (normal(1, 70, 192, seed=n) for n in range(3))
    split = [x.reshape(1, 70, 3, 64).transpose(0, 2, 1, 3) for x in (q, k, v)]
    expected = (split[0] @ split[1].swapaxes(-1, -2)) @ split[2]
    expected = 2 * expected.transpose(0, 2, 1, 3).reshape(1, 70, 192)
    (result,) = execute(lowered(source, PASS), [q, k, v], poisons_padding=True)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)


def test_a_view_is_built_once() -> None:
    """Two readers of a slice have one operand; a transposed tensor is copied once."""
    text = FunctionText([tensor(70, 64)])
    attributes = "begins = [32 : i32, 0 : i32], ends = [70 : i32, 64 : i32], "
    attributes += "step = [1 : i32, 1 : i32]"
    part = text.op("slice", ["%arg0"], tensor(38, 64), attributes)
    turned = _permute(text, part, (1, 0), 64, 38)
    outputs = [text.op(each, [part], tensor(38, 64)) for each in ("exp", "neg")]
    outputs += [text.op(each, [turned], tensor(64, 38)) for each in ("exp", "neg")]
    source = text.returning(*outputs)
    module = lowered(source, PASS)
    names = [op.name for op in module.walk()]
    assert names.count("d2m.view_layout") == 1
    assert names.count("d2m.generic") == 5
    x = normal(70, 64)
    results = execute(module, [x], poisons_padding=True)
    np.testing.assert_allclose(results[2], np.exp(x[32:].T), rtol=1e-5)
    np.testing.assert_array_equal(results[3], -x[32:].T)


def test_repeated_rows_are_spread_by_their_reader() -> None:
    """A broadcast is no loop of its own."""
    text = FunctionText([tensor(70), tensor(33, 70)])
    wide = text.op("broadcast", ["%arg0"], tensor(33, 70), "dimension = [1]")
    source = text.returning(text.op("add", [wide, "%arg1"], tensor(33, 70)))
    assert _generics(source) == 1
    row, x = normal(70), normal(33, 70, seed=1)
    (result,) = execute(lowered(source, PASS), [row, x], poisons_padding=True)
    np.testing.assert_allclose(result, x + row, rtol=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_chains_of_moves(seed: int) -> None:
    """Any moves one after another, of any shapes, and a reader of what comes out."""
    rng = np.random.default_rng(seed)
    extents = [1, 2, 3, 5, 32, 33, 64, 70]
    shape = tuple(int(each) for each in rng.choice(extents, rng.integers(1, 4)))
    x = normal(*shape, seed=seed)
    text = FunctionText([tensor(*shape)])
    value, array = "%arg0", x
    for _ in range(int(rng.integers(2, 6))):
        value, array = _random_move(rng, text, value, array)
    total = text.op(
        "sum", [value], tensor(*array.shape[:-1], 1), "dim_arg = [-1 : i32], keep_dim = true"
    )
    source = text.returning(value, total)
    result, added = execute(lowered(source, PASS), [x], poisons_padding=True)
    np.testing.assert_array_equal(result, array)
    expected = array.astype(np.float64).sum(-1, keepdims=True)
    np.testing.assert_allclose(added, expected, rtol=1e-4, atol=1e-4)


def _random_move(
    rng: np.random.Generator, text: FunctionText, value: str, array: np.ndarray
) -> tuple[str, np.ndarray]:
    rank = array.ndim
    kind = rng.choice(["permute", "reshape", "slice", "reverse", "repeat"])
    if kind == "permute":
        order = tuple(map(int, rng.permutation(rank)))
        moved = array.transpose(order)
        return _permute(text, value, order, *moved.shape), moved
    if kind == "reshape":
        moved = array.reshape(_random_shape(rng, array.size))
        return _reshape(text, value, *moved.shape), moved
    if kind == "slice":
        begins = [int(rng.choice([0, e // 2, min(32, e - 1)])) for e in array.shape]
        steps = [int(rng.integers(1, 3)) for _ in array.shape]
        moved = array[tuple(slice(b, None, s) for b, s in zip(begins, steps, strict=True))]
        parts = {"begins": begins, "ends": list(array.shape), "step": steps}
        listed = ", ".join(
            f"{name} = [{', '.join(f'{each} : i32' for each in numbers)}]"
            for name, numbers in parts.items()
        )
        return text.op("slice", [value], tensor(*moved.shape), listed), moved
    dim = int(rng.integers(rank))
    if kind == "reverse":
        moved = np.flip(array, dim)
        attributes = f"dimensions = array<i64: {dim}>"
        return text.op("reverse", [value], tensor(*moved.shape), attributes), moved
    counts = [2 if each == dim and array.size < 20000 else 1 for each in range(rank)]
    moved = np.tile(array, counts)
    attributes = f"repeat_dimensions = array<i64: {', '.join(map(str, counts))}>"
    return text.op("repeat", [value], tensor(*moved.shape), attributes), moved


def _random_shape(rng: np.random.Generator, size: int) -> Shape:
    """Extents with a product."""
    shape: list[int] = []
    while size > 1 and len(shape) < 3:
        divisors = [each for each in range(1, size + 1) if not size % each]
        shape.append(int(rng.choice(divisors)))
        size //= shape[-1]
    return (*shape, size)


# --- Elementwise operations on moved tensors -----------------------------------------------------


def kinds(source: str) -> list[str]:
    """The operations on whole blocks and on tiles that a function becomes."""
    names = [op.name for op in lowered(source, PASS).walk()]
    return [name for name in names if name.startswith("d2m.tile_")]


def test_operations_move_what_they_compute() -> None:
    """A row of numbers that becomes a column is computed with as it lies in memory."""
    text = FunctionText([tensor(3, 40, 33)])
    over = "dim_arg = [2 : i32], keep_dim = false"
    largest = text.op("max", ["%arg0"], tensor(3, 40), over)
    limit = text.constant("-1.0", tensor(3, 40))
    limited = text.op("maximum", [largest, limit], tensor(3, 40))
    doubled = text.op("add", [limited, largest], tensor(3, 40))
    shape = "shape = [3 : i32, 40 : i32, 1 : i32]"
    column = text.op("reshape", [doubled], tensor(3, 40, 1), shape)
    source = text.returning(text.op("subtract", ["%arg0", column], tensor(3, 40, 33)))
    assert not {"d2m.tile_untilize_block", "d2m.tile_tilize_block"} & {*kinds(source)}
    x = normal(3, 40, 33) - 2
    rows = x.max(2, keepdims=True)
    (result,) = execute(lowered(source, PASS), [x], poisons_padding=True)
    np.testing.assert_allclose(result, x - (np.maximum(rows, -1) + rows), rtol=1e-6)


def test_matrices_of_one_row_are_computed_as_one() -> None:
    """Extents of 1 between rows and columns stand in front while tiles are computed."""
    text = FunctionText([tensor(64, 70), tensor(70), tensor(64, 1, 1)])
    shape = "shape = [64 : i32, 1 : i32, 70 : i32]"
    rows = text.op("reshape", ["%arg0"], tensor(64, 1, 70), shape)
    biased = text.op("add", [rows, "%arg1"], tensor(64, 1, 70))
    column = text.op("reshape", ["%arg0"], tensor(64, 1, 70), shape)
    product = text.op("multiply", [biased, column], tensor(64, 1, 70))
    whole = "shape = [64 : i32, 70 : i32]"
    source = text.returning(text.op("reshape", [product], tensor(64, 70), whole))
    assert kinds(source) == ["d2m.tile_bcast", "d2m.tile_add", "d2m.tile_mul"]
    x, bias = normal(64, 70), normal(70, seed=1)
    inputs = [x, bias, normal(64, 1, 1)]
    (result,) = execute(lowered(source, PASS), inputs, poisons_padding=True)
    np.testing.assert_allclose(result, (x + bias) * x, rtol=1e-6)
