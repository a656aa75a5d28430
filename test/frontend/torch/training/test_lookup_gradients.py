"""Gradients of what is looked up at places and compared by distances, against torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from samples.torch_gradients import check_slopes, numbers
from samples.torch_programs import check_all, imported, run

torch: Any = import_module("torch")
F: Any = import_module("torch.nn.functional")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("mode", "ways"),
    [
        ("bilinear", [("zeros", True), ("border", False), ("border", True), ("reflection", False)]),
        ("nearest", [("border", False), ("reflection", True)]),
        ("bicubic", [("reflection", True)]),
    ],
)
def test_images_at_the_places_of_a_grid(mode: str, ways: list[tuple[str, bool]]) -> None:
    """Inside, outside and on the border, of an image and of the grid."""
    grid = numbers(2, 3, 5, 2, seed=1) * 0.8
    grid[0, 0] = torch.tensor([[-1.0, 1.0], [1.0, 0.0], [0.0, -1.0], [2.9, -3.1], [0.25, -0.5]])
    check_slopes(
        "\n".join(
            f"x, g: F.grid_sample(x, g, {mode!r}, {padding!r}, align_corners={corners})"
            for padding, corners in ways
        ),
        x=numbers(2, 3, 5, 7),
        g=grid,
        tolerance=1e-4,
    )


@pytest.mark.exhaustive
def test_volumes_at_the_places_of_a_grid() -> None:
    """Three dimensions, and a grid that parameters make."""
    check_slopes(
        """
        x, g: F.grid_sample(x, g, padding_mode="border", align_corners=False)
        x, g: F.grid_sample(x, g, "nearest", "reflection", align_corners=True)
        x, t: F.grid_sample(x, F.affine_grid(t, (2, 2, 3, 2, 4), False), align_corners=False)
        """,
        x=numbers(2, 2, 3, 4, 5),
        g=numbers(2, 3, 2, 2, 3, seed=1) * 0.8,
        t=numbers(2, 3, 4, seed=2) * 0.4,
        tolerance=1e-4,
    )


def test_bags_of_rows() -> None:
    """Sums, means and maxima, with empty bags, padding, and factors of rows."""
    modes = [
        f"w: F.embedding_bag(i, w, {rest}, mode={mode!r})"
        for mode in ("sum", "mean", "max")
        for rest in ("o", "o, padding_idx=3", "p, include_last_offset=True")
    ]
    check_slopes(
        "\n".join(modes)
        + """
        w: F.embedding_bag(t, w, mode="max")
        w, s: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=s, padding_idx=3)
        w: F.embedding(t, w, padding_idx=3, scale_grad_by_freq=True)
        """,
        w=numbers(11, 3),
        i=torch.tensor([1, 3, 3, 9, 0, 2, 3]),
        o=torch.tensor([0, 2, 2, 5]),
        p=torch.tensor([0, 2, 2, 5, 7]),
        t=torch.tensor([[1, 3, 3, 9], [10, 3, 2, 1]]),
        s=numbers(7, seed=1),
    )


def test_bags_whose_gradients_are_divided_by_frequency() -> None:
    """As of an embedding; torch's bags take the frequencies of other rows on CPUs."""
    numbers_of_rows = torch.tensor([1, 3, 3, 9, 0, 2, 3])
    table, weights = numbers(11, 2), numbers(3, 2, seed=1)

    def slope(table: Any) -> Any:
        table = table.detach().requires_grad_()
        begins = torch.tensor([0, 2, 5])
        bags = F.embedding_bag(numbers_of_rows, table, begins, scale_grad_by_freq=True, mode="sum")
        return torch.autograd.grad((bags * weights).sum(), table)

    free = table.clone().requires_grad_()
    rows = F.embedding(numbers_of_rows, free, scale_grad_by_freq=True)
    of_rows = weights[torch.tensor([0, 0, 1, 1, 1, 2, 2])]
    (expected,) = torch.autograd.grad((rows * of_rows).sum(), free)
    (found,) = run(imported(slope, table), table)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_rows_of_limited_length() -> None:
    """The rows that are looked up become shorter, also in the table itself."""

    def look_up(indices: Any, table: Any) -> Any:
        table = table.clone()
        return F.embedding(indices, table, max_norm=1.2), table

    check_all(
        "look_up(i, w)",
        names={"look_up": look_up},
        i=torch.tensor([[1, 4], [4, 6]]),
        w=numbers(7, 3),
    )


@pytest.mark.exhaustive
def test_distances() -> None:
    """All norms, also where two rows are the same."""
    norms = ("0.0", "0.5", "1.0", "1.5", "2.0", "3.0", "float('inf')")
    pairs = [f"a, b: torch.cdist(a, b, p={norm})" for norm in norms]
    within = [f"a: F.pdist(a[0], p={norm})" for norm in norms]
    rows = numbers(2, 5, 3)
    others = numbers(2, 4, 3, seed=1)
    others[1, 2] = rows[1, 0]
    more = ["a, b: torch.cdist(a.repeat(1, 6, 1), b)", "a: torch.cdist(a, a)"]
    check_slopes("\n".join([*pairs, *within, *more]), a=rows, b=others, tolerance=1e-3)


def test_maxima_of_fractional_windows() -> None:
    """Places that samples choose, with the numbers of the largest elements, and gradients."""
    arguments = {
        "x": numbers(2, 3, 8, 9).round(decimals=1),
        "y": numbers(2, 3, 5, 6, 7, seed=1),
        "s": torch.rand(2, 3, 2, generator=torch.Generator().manual_seed(0)),
        "t": torch.rand(2, 3, 3, generator=torch.Generator().manual_seed(1)),
    }
    planes = "F.fractional_max_pool2d(x, (2, 3), output_size=(3, 4), {}_random_samples=s)"
    volumes = "F.fractional_max_pool3d(y, 2, output_size=(3, 1, 2), {}_random_samples=t)"
    both = [each.format("return_indices=True, ") for each in (planes, volumes)]
    check_all("\n".join(both), **arguments)
    check_slopes(f"x: {planes.format('')}\ny: {volumes.format('')}", **arguments)


def test_elements_put_where_a_mask_is_true() -> None:
    """The gradient of the source is that of the elements it gave."""
    check_slopes(
        """
        x, y: x.masked_scatter(x > 0.3, y)
        x, y: x.masked_scatter(torch.tensor([[True, False, True]]), y)
        """,
        x=numbers(4, 3),
        y=numbers(3, 5, seed=1),
    )
