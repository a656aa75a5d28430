"""Python that decides by numbers that are known while a model is traced, against torch itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")

X = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))


def check(model: Callable[..., Any], *arguments: Any) -> None:
    """The compiled model returns what torch does."""
    wanted = model(*arguments)
    found = ttmlir.compile(model, *arguments)(*arguments)
    pairs = zip(*(torch.utils._pytree.tree_leaves(each) for each in (found, wanted)), strict=True)
    for first, second in pairs:
        torch.testing.assert_close(first, second)


def refusal(model: Callable[..., Any]) -> str:
    """The text of the error."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(model, X)
    return str(caught.value)


def test_shapes_by_known_numbers() -> None:
    """Masks, counts and sizes that do not depend on arguments."""

    def model(x: Any) -> Any:
        some = torch.tensor([3, 1, 3])
        return (
            (x[:, torch.arange(5) % 2 == 0], x[torch.arange(3) > 0, 1:], x[torch.eye(3, 5).bool()]),
            x[:, : torch.ones(4, dtype=torch.int64).sum() - 1],
            (x.masked_select(torch.arange(5) > 2), x.masked_select(torch.eye(3, 5) > 0)),
            x.repeat_interleave(torch.tensor([1, 0, 2]), dim=0),
            x.repeat_interleave(torch.arange(15)),
            (torch.nonzero(torch.eye(3)) * x[0, 0], torch.where(torch.eye(3) > 0)[0] + x[0, :3]),
            (some.unique() + x[:1, :1], torch.bincount(some) + x[:1, :1]),
            (F.pad(x, (torch.tensor(1), some[0])), x.expand(some.sum() - 5, 3, 5)),
            (sum(x[i] * i for i in torch.arange(3)), x * len(torch.ones(3, 2).nonzero())),
            x if f"{some[0]}" == "3" else -x,
        )

    check(model, X)


def test_known_tensors_at_computed_places() -> None:
    """Elements of a buffer and of a parameter at a place that is an argument."""

    class Schedule(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("kept", torch.linspace(1, 0, 7))
            self.shifts = nn.Parameter(torch.arange(35.0).reshape(7, 5))

        def forward(self, x: Any, step: Any) -> Any:
            return x * self.kept[step].sqrt() + self.shifts[step] * (1 - self.kept[-step])

    for step in (0, 4):
        check(Schedule(), X, torch.tensor(step))


def test_parameters_are_written_at_computed_places() -> None:
    """A cache takes what a layer with gradients makes, at a place that is an argument."""

    class Cached(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("rows", torch.arange(70.0).reshape(2, 7, 5))
            self.places = nn.Embedding(9, 5)

        def forward(self, x: Any, step: Any) -> Any:
            rows = self.rows.clone()
            rows[:, step, 1:] = (x[:2] + self.places.weight[step])[:, 1:]
            return rows, rows.sum(1)

    for step in (0, 6):
        check(Cached(), X, torch.tensor(step))


def test_decisions_by_masks_that_are_made_inside() -> None:
    """Whole masks, and masks that were written to."""

    def model(x: Any) -> Any:
        mask = torch.zeros(x.shape[1])
        mask[1:3].fill_(1)
        mask[0] = 1
        if mask.sum() == 3 and not mask.all():
            x = x + 1
        if 0 in mask.tolist():
            mask = mask.unique().clone()
            mask[0] = 7
        return x[:, :2] + mask

    check(model, X)


def test_tensors_that_are_closed_over() -> None:
    """Python may decide by them, as by their shapes."""
    mask = torch.tensor([True, False, True])
    check(lambda x: x[mask] if mask.any() else x, X)


class Deciding(nn.Module):
    """A module with numbers in buffers."""

    def __init__(self) -> None:
        """Begin without calls."""
        super().__init__()
        self.register_buffer("count", torch.tensor(2))
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x: Any) -> Any:
        """Decides by a buffer; another one changes."""
        self.calls += 1
        for _ in range(self.count):
            x = x * 2
        return x + self.calls


def test_decisions_by_buffers() -> None:
    """Of a module that does not change them."""
    torch.testing.assert_close(ttmlir.compile(Deciding(), X)(X), Deciding()(X))


class Counting(Deciding):
    """A module that decides by what it changes."""

    def forward(self, x: Any) -> Any:
        """The first calls return something else."""
        if self.calls > 2:
            x = x + 1
        self.calls = self.calls + 1
        return x


def test_decisions_by_buffers_that_change_are_refused() -> None:
    """The next call would decide otherwise; the place is that of the decision."""
    text = refusal(Counting())
    assert "test_known_values.py:" in text
    assert "if self.calls > 2:" in text
    assert "the buffer 'calls', by which Python decides, changes in each call" in text


class Ring(Deciding):
    """A module that keeps the last rows, and finds them by what it changes."""

    def __init__(self) -> None:
        """Begin with rows of zeros."""
        super().__init__()
        self.register_buffer("rows", torch.zeros(3, 5))

    def forward(self, x: Any) -> Any:
        """Returns the newest row, too, a view of what was written."""
        self.rows[self.calls % 3, 1:] = x[0, 1:]
        newest = self.rows[self.calls % 3]
        self.calls += 1
        return newest, self.rows.sum(0) / self.calls.clamp(max=3), x * 0.5**self.calls


def test_places_by_buffers_that_change() -> None:
    """Python needs no number of them: it stays in the program."""
    model = Ring()
    compiled = ttmlir.compile(model, X)
    for call in range(5):
        for found, wanted in zip(compiled(X * call), model(X * call), strict=True):
            torch.testing.assert_close(found, wanted)


class Reading(Ring):
    """A module that needs a number after one that it does not need."""

    def forward(self, x: Any) -> Any:
        """Refused at the second."""
        row = self.rows[self.calls]
        self.calls += 1
        return row, x[: int(self.calls)]


def test_places_of_decisions() -> None:
    """The one that cannot be without a number, and what to do there."""
    text = refusal(Reading())
    assert "return row, x[: int(self.calls)]" in text
    assert "n.item() stays a number of the program where int(n) does not" in text


def test_numbers_of_arguments_are_not_known() -> None:
    """Neither are those of tensors that they were written to, nor random ones."""

    def written(x: Any) -> Any:
        mask = torch.zeros(5)
        mask[1:3].copy_(x[0, :2])
        return x if mask.sum() == 0 else -x

    for function in (
        written,
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x if torch.rand(()) > 0.5 else -x,
    ):
        assert "may decide by a tensor that the model closes over" in refusal(function)
