"""Programs whose shapes depend on data, where results have fixed shapes, against torch itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")

X = torch.randn(6, 5, generator=torch.Generator().manual_seed(4))
SOME = torch.tensor([False, True, True, False, True, True])
MASKS = {"some": SOME, "one": torch.arange(6) == 3, "all": SOME | True}


def check(model: Callable[..., Any], *others: tuple[Any, ...]) -> None:
    """The model, compiled for the first arguments, returns what torch does for all of them."""
    compiled = ttmlir.compile(model, *_copied(others[0]))
    for arguments in others:
        found, wanted = compiled(*_copied(arguments)), model(*_copied(arguments))
        for first, second in zip(_leaves(found), _leaves(wanted), strict=True):
            torch.testing.assert_close(first, second)


def _copied(arguments: tuple[Any, ...]) -> list[Any]:
    return [each.clone() for each in arguments]


def _leaves(value: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(value)


def refusal(model: Callable[..., Any], *arguments: Any) -> str:
    """The text of the error."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(model, *arguments)
    return str(caught.value)


def reductions(x: Any, mask: Any) -> Any:
    """Of the rows that a mask selects, each by itself and together."""
    y = x[mask]
    count = y.shape[0]
    changed = torch.zeros_like(x)
    changed[mask] = F.layer_norm(y, (5,)) * y.sum(0) + count
    return (
        changed,
        (y.sum(0), y.mean(0), y.amax(0), y.min(0), y.argmax(0), y.prod(0), y.logsumexp(0)),
        (y.sum(), y.mean(), y.reshape(-1).sum() / count, (y > 0).all(0), (y > 1).any()),
        (y.softmax(0).sum(0), y.cumsum(0).amax(0), y.sort(0)[0][0], y.T @ y, (y @ y.T).sum()),
        (y[0], y[-1], y[1:].sum(0), y[y[:, 0] > 0].sum(0), torch.arange(count).sum()),
        F.conv1d(y[:, None], torch.ones(2, 1, 3)).sum(0),
        x.masked_select(x > 0).sum(),
    )


def test_what_is_computed_of_selected_rows() -> None:
    """Of some rows, of one and of all of them."""
    check(reductions, *((X, mask) for mask in MASKS.values()))


def more_of_rows(x: Any, mask: Any) -> Any:
    """Deviations, reversals, the largest, masks beside other indices, and scatters."""
    y = x[mask]
    places = torch.arange(6)[mask]
    changed = x.clone()
    changed[mask, places % 5] += y[:, 2]
    return (
        (y.var(0), y.std(unbiased=False), y.std(0, keepdim=True), torch.var_mean(y, 0)),
        (y.var(1).sum(), y.var((0, 1), correction=0), torch.std_mean(y)),
        (y.flip(0)[0], y.flip((0, 1)).cumsum(0)[0], (y * y.flip(0)).amax(0)),
        (y.topk(1, 0), y[:, 3].topk(1, largest=False).values, y.topk(2).values.sum(0)),
        (x[mask, places % 5].sum(), x[mask, torch.tensor([2])].amax(), changed),
        torch.zeros(4).scatter_add(0, places % 4, y[:, 0]),
        torch.ones(6, 5).scatter(0, places[:, None].expand(-1, 5), y),
        torch.zeros(3, 5).scatter_reduce(0, (places % 3)[:, None].expand(-1, 5), y, "amax"),
        torch.zeros(6).scatter(0, places, 2.0),
        x[: places[0].item()].sum(0),
    )


def test_more_that_is_computed_of_selected_rows() -> None:
    """For masks of another number of rows, too; a single one has no deviation."""
    check(more_of_rows, *((X, MASKS[name]) for name in ("some", "all")))


def writes(x: Any, mask: Any) -> Any:
    """Selected rows put to places, added to them, and joined with others."""
    y = x[mask] * 2
    places = mask.nonzero()[:, 0]
    (again,) = torch.where(mask)
    put, added = x.clone(), x.clone()
    put[places] = y
    added[again] += y
    joined = torch.cat([y, x])
    return (
        (put, added, x.index_put((again,), y, accumulate=True)),
        (x.masked_scatter(mask[:, None], y), torch.zeros_like(x).index_add(0, places, y)),
        (joined.sum(0), joined.softmax(0).amax(0)),
        # The same number of rows, chosen by another mask.
        (y + x[mask.flip(0)]).sum(0),
    )


def test_writes_of_selected_rows() -> None:
    """To where they were, and to other places."""
    check(writes, *((X, mask) for mask in MASKS.values()))


def _scaled(x: Any, mask: Any) -> Any:
    y = x.clone()
    y[mask] *= 2
    return y


def _column_raised(x: Any, mask: Any) -> Any:
    y = x.clone()
    y[mask, 2] += 1
    return y


def _selected_raised(x: Any, mask: Any) -> Any:
    y = x.clone()
    chosen = y[mask]
    more = chosen[chosen[:, 0] > 0]
    more.add_(1)
    flat = y.masked_select(y > 0)
    flat.mul_(3)
    return y, chosen.sum(), more.sum(0), flat.sum()


def _filled_with_a_row(x: Any, mask: Any) -> Any:
    y, z, flat = x.clone(), x.t().clone(), x.clone()
    y[mask] = x[0]
    y[mask, 1] = 7
    z[:, mask] = x[:1].t()
    flat[mask[:, None] & (x > 0)] = x[:1, 1]
    return y, z, flat


def _columns_changed(x: Any, mask: Any) -> Any:
    y, z, cube = x.t().clone(), x.t().clone(), x.reshape(5, 6, 1).expand(5, 6, 2).clone()
    y[:, mask] -= y[:, mask].mean(1, keepdim=True)
    y[0, mask] = y[1, mask].flip(0)
    z[torch.tensor([[1], [-1]]), mask] = x[0, :2, None]
    cube[:, mask] = cube[:, mask].sigmoid() * 2
    return y, z, cube, y[:, mask].sum(1), x[mask][:, x[0] > 0].sum(1).sum()


@pytest.mark.parametrize(
    "model",
    [_scaled, _column_raised, _selected_raised, _filled_with_a_row, _columns_changed],
)
def test_writes_to_a_selection(model: Callable[..., Any]) -> None:
    """What a mask selects is a copy: rows that it does not select stay as they are."""
    check(model, *((X, mask) for mask in MASKS.values()))


def _beside_numbers(x: Any, mask: Any) -> Any:
    places, y, z = torch.tensor([2, -1, 0, 1]), x.clone(), torch.stack([x, x * 2], 1)
    y[mask, places] = x[:4, 0]
    y[mask, places] *= 3
    z[mask, :, places] = x[:4, :2]
    return y, z, y[mask, places], z[mask, 1, places].sum()


def _of_known_size(x: Any, mask: Any) -> Any:
    y = x.t().clone()
    y[:, mask] = x[:4].t()
    return x[mask] + x[:4], x[mask.nonzero()[:, 0]] * x[:4], y


@pytest.mark.parametrize("model", [_beside_numbers, _of_known_size])
def test_as_many_as_what_stands_beside_them(model: Callable[..., Any]) -> None:
    """Masks with as many true values as other indices or operands have elements."""
    check(model, (X, SOME), (X, SOME.flip(0)))


def _windows(x: Any, place: Any) -> Any:
    n = place.item()
    y = x[n : n + 2]
    convolved = F.conv1d(y[:, None], torch.ones(1, 1, 2))
    return (
        (y, x[:, place - 1 : place + 1], x.narrow(0, place, 3), x * y.shape[0]),
        (y @ x.T, y.reshape(-1).flip(0), convolved, torch.cat([y, x]), y + x[:2]),
        (x[place:].sum(0), x[:place].sum(0), x[place - 2 : place].sum(0)),
    )


def test_windows_at_places() -> None:
    """As many elements as the bounds say, where both have the same place."""
    check(_windows, (X, torch.tensor(2)), (X, torch.tensor(3)))


def _windows_written(x: Any, place: Any) -> Any:
    cache, zeroed, raised, moved, parts = (x.clone() for _ in range(5))
    cache[1:, place : place + 2] = x[:5, :2]
    cache[0, place - 1 : place + 1] = x[:2, 0]
    zeroed[:place, place:] = 0
    raised[:, :place] += 1
    raised[place:].mul_(2)
    moved[place : place + 2] *= moved[place - 2 : place]
    moved[place : place + 1].zero_()
    n = place.item()
    part = parts[:n]
    part -= 1
    parts[n : n + 2] = x[:2] * parts[n] + parts[parts[:, 0] > 0].sum()
    return cache, zeroed, raised, moved, parts, part.sum()


def test_writes_to_windows_at_places() -> None:
    """As caches are written, and what lies outside of a window that changes in place."""
    check(_windows_written, (X, torch.tensor(2)), (X, torch.tensor(3)))


def test_different_numbers() -> None:
    """`unique` with the places and counts of numbers."""

    def model(x: Any) -> Any:
        numbers, places, counts = torch.unique(x, return_inverse=True, return_counts=True)
        same = torch.unique_consecutive(x)
        return numbers.sum(), places, counts.amax(), (numbers * counts).sum(), same.sum()

    check(model, (torch.tensor([3, 1, 3, 2, 2, 9]),), (torch.tensor([7, 7, 7, 7, 7, 7]),))


def test_parts_whose_lengths_are_data() -> None:
    """Routing by sorted rows: each part has a factor of its own."""

    def model(x: Any, lengths: Any) -> Any:
        parts = x.split(lengths.tolist())
        return torch.cat([part * (i + 1) for i, part in enumerate(parts)]) + x

    check(model, (X, torch.tensor([1, 3, 2])), (X, torch.tensor([0, 6, 0])))


class Experts(nn.Module):
    """A mixture of experts with a loop over those that were hit, as transformers writes it."""

    def __init__(self) -> None:
        """Three experts, of which two are chosen for a row; nobody may choose a fourth."""
        super().__init__()
        self.weights = nn.Parameter(torch.randn(3, 5, 5))

    def forward(self, x: Any, chosen: Any, scores: Any) -> Any:
        """Sums of what experts make of rows."""
        total = torch.zeros_like(x)
        turns = torch.zeros(())
        mask = F.one_hot(chosen, num_classes=4).permute(2, 1, 0)
        for expert in torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero():
            number = expert[0]
            with torch.no_grad():
                order, rows = torch.where(mask[number])
            found = torch.tanh(F.linear(x[rows], self.weights[number]))
            total.index_add_(0, rows, found * scores[rows, order, None])
            turns += 1
        return total, turns


def test_experts_that_were_hit() -> None:
    """Some of them, or one; the number of turns counts those, too."""
    scores = torch.rand(6, 2)
    some = torch.tensor([[0, 1], [2, 0], [1, 2], [1, 0], [2, 1], [0, 2]])
    one = torch.zeros(6, 2, dtype=torch.int64)
    check(Experts().eval(), (X, some, scores), (X, one, scores))


def test_writes_in_turns() -> None:
    """By places in two dimensions."""

    def model(x: Any, mask: Any) -> Any:
        for row, column in mask.nonzero():
            x[row, column] = x[row, column] * 10 + 1
        return x

    check(model, (X[:2, :3], X[:2, :3] > 0))


def _rebound(x: Any) -> Any:
    total = torch.zeros(5)
    for i in (x[:, 0] > 0).nonzero():
        total = total + x[i[0]]
    return total


def _listed(x: Any) -> Any:
    return sum(x[i] for i in [int(place) for place in (x[:, 0] > 0).nonzero()])


def test_loops_whose_turns_are_lost_are_refused() -> None:
    """What a turn makes is not known behind the loop; the advice works."""
    for model in (_rebound, _listed):
        text = refusal(model, X)
        assert "test_rows_by_data.py:" in text
        assert "let the loop write to a tensor that was made in front of it: total += ..." in text


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda x: x[x > 0], "the result has a shape that depends on the numbers in a tensor"),
        (lambda x: x.nonzero(), "the result has a shape that depends on the numbers in a tensor"),
        (lambda x: x[x[:, 0] > 0].roll(1, 0).sum(0), "the shape u0x5 depends on the numbers"),
        (lambda x: x[: int(x[0, 0])].sum(0), "n.item() stays a number of the program"),
        (lambda x: torch.bincount(x[0].long()), "torch.bincount(x, minlength=n) counts"),
        (lambda x: x.repeat_interleave(x[:, 0].long(), 0).sum(0), "output_size=n"),
    ],
)
def test_refusals(model: Callable[..., Any], words: str) -> None:
    """Results of unknown shapes, and operations that mix rows."""
    assert words in refusal(model, X)
