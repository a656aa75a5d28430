"""`ttmlir.compare_boards`: what a model takes on which board."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import pytest
import torch

import ttmlir
from ttmlir.runtime.errors import InputError
from ttmlir.tuning.boards import BoardComparison, compare_boards

SHAPE = jax.ShapeDtypeStruct
ARGS: Any = (SHAPE((1, 640), jnp.bfloat16), SHAPE((640, 40960), jnp.bfloat16))
OPTIONS: Any = {"buckets": {"x": {0: (3, 96)}}, "resident": ["w"]}


def product(x: jax.Array, w: jax.Array) -> jax.Array:
    """A product with a weight that takes the time."""
    return x @ w


@pytest.fixture(scope="module")
def comparison() -> BoardComparison:
    """Three boards, one of two chips, and two sizes."""
    return compare_boards(product, *ARGS, boards=("n150", "p150", "n300"), budget=12, **OPTIONS)


def test_rows_are_the_estimates(comparison: BoardComparison) -> None:
    """Those of the model for each board and size; an n300 divides the weight."""
    found = {(each.board, each.size): each for each in comparison.rows}
    assert list(found) == [(b, (n,)) for b in ("n150", "p150", "n300") for n in (3, 96)]
    for board in ("n150", "p150"):
        one = found[board, (96,)]
        model = ttmlir.compile(
            product,
            SHAPE((96, 640), jnp.bfloat16),
            ARGS[1],
            board=board,
            resident=["w"],
            spelling="2026",
        )
        assert one.estimate is not None
        assert one.estimate.total == model.estimate().total
        assert one.mesh == (1, 1)
        assert one.per_second == pytest.approx(96e9 / one.estimate.total.mid)
    two, one = found["n300", (3,)], found["n150", (3,)]
    assert two.mesh == (1, 2)
    assert two.estimate is not None
    assert one.estimate is not None
    assert two.estimate.total.mid < one.estimate.total.mid


def test_table(comparison: BoardComparison, tmp_path: Path) -> None:
    """It says what limits, and what of the memory is taken; a file has the same cells."""
    lines = str(comparison).splitlines()
    assert lines[0] == "product, by the estimate"
    assert lines[1].split() == [
        *("board", "mesh", "size", "us", "per", "second", "limited", "by"),
        *("GB", "of", "DRAM", "fits"),
    ]
    assert lines[2].split()[:3] == ["n150", "1x1", "3"]
    assert lines[2].endswith("of 12.9  yes")
    assert " DRAM " in lines[2]
    written = comparison.write(tmp_path / "boards.csv").read_text().splitlines()
    assert len(written) == 7
    assert written[0] == "board,mesh,size,us,per second,limited by,GB of DRAM,fits"
    with pytest.raises(InputError, match=r"x\.txt: a comparison is written as \.csv"):
        comparison.write("x.txt")


def test_plot(comparison: BoardComparison, tmp_path: Path) -> None:
    """A line for each board."""
    [axes] = comparison.plot().figure.axes
    assert [line.get_label() for line in axes.lines] == ["n150", "p150", "n300"]
    assert list(axes.lines[0].get_xdata()) == [3, 96]
    path = comparison.plot().save(tmp_path / "boards.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_models_of_torch_run_on_one_chip() -> None:
    """Nothing divides them by itself."""
    [row] = compare_boards(torch.nn.Linear(64, 96), torch.randn(3, 64), boards=["n300"]).rows
    assert (row.mesh, row.size, row.fits) == ((1, 1), (), True)


def test_years() -> None:
    """A comparison of single chips is of the year that models are compiled for otherwise."""
    x, w = SHAPE((33, 640), jnp.bfloat16), SHAPE((640, 70), jnp.bfloat16)
    for options in ({}, {"spelling": "2026"}):
        chosen: Any = options
        [row] = compare_boards(product, x, w, boards=["n150"], **chosen).rows
        model = ttmlir.compile(product, x, w, board="n150", **chosen)
        assert row.estimate is not None
        assert row.estimate.total == model.estimate().total
    [whole] = compare_boards(product, x, w, boards=["n300"], spelling="2024").rows
    assert whole.mesh == (1, 1)


def test_what_does_not_fit() -> None:
    """A weight of 21.5 GB fits a chip with 34.2 GB, and none with 12.9."""
    weight = SHAPE((640, 1 << 24), jnp.bfloat16)
    found = compare_boards(product, ARGS[0], weight, boards=("n150", "p150"), resident=["w"])
    assert [each.fits for each in found.rows] == [False, True]
    assert str(found).splitlines()[2].endswith("no")


def test_what_is_refused() -> None:
    """Boards that there are not, before anything is compiled; models are a row with the reason."""
    with pytest.raises(InputError, match="there is no board 'n151'"):
        compare_boards(product, *ARGS, boards=["n151"])
    refused = compare_boards(jax.lax.linalg.tridiagonal, jnp.ones((3, 3)), boards=["n150"])
    assert not refused.rows[0].fits
    assert str(refused).splitlines()[2].startswith("  n150   1x1         ")
