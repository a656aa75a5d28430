"""Losses and their gradients against torch, with all reductions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from samples.torch_gradients import check_slopes, numbers, slopes
from samples.torch_programs import check_all

import ttmlir

torch: Any = import_module("torch")
F: Any = import_module("torch.nn.functional")

LOGARITHMS = numbers(7, 3, 5).log_softmax(2)
LABELS = {
    "padded": torch.tensor([[1, 2, 2], [3, 1, 4], [2, 2, 2]]),
    "zero": torch.tensor([[1, 2, 2], [3, 1, 0], [2, 2, 2]]),
    "row": torch.tensor([1, 2, 2, 3, 1]),
    "frames": torch.tensor([7, 5, 6]),
    "counts": torch.tensor([3, 2, 0]),
    "few": torch.tensor([3, 5, 2]),
}
"""Of three rows; with `few` frames the first one has no room for its labels."""


ALIGNMENTS = {
    "padded, frames, counts": "mean",
    "row, [7, 5, 6], [3, 2, 0]": "sum",
    "row.int(), frames.int(), counts.int()": "none",
    "zero, [7, 7, 7], [3, 3, 3], blank=4": "sum",
    "padded, few, counts, zero_infinity=True": "mean",
}
"""What is given, with the reduction of each run of the tests; `make test-all` has all of them."""


@pytest.mark.parametrize(
    ("given", "reduction"),
    [
        pytest.param(given, each, marks=() if each == chosen else pytest.mark.exhaustive)
        for given, chosen in ALIGNMENTS.items()
        for each in ("mean", "sum", "none")
    ],
)
def test_alignments(given: str, reduction: str) -> None:
    """CTC: labels in rows or one behind the other, equal neighbours, none, and no room."""
    call = f"F.ctc_loss(x, {given}, reduction={reduction!r})"
    check_all(call, x=LOGARITHMS, **LABELS)
    check_slopes(call, x=LOGARITHMS, **LABELS, tolerance=1e-4)


@pytest.mark.exhaustive
def test_alignments_of_one_row() -> None:
    """Without a batch; rows without room have an infinite loss and no gradient."""
    check_slopes(
        """
        x: F.ctc_loss(x[:, 0].contiguous(), row[:3], frames[0], counts[0])
        x: F.ctc_loss(x, padded, few, counts, reduction="none")
        """,
        x=LOGARITHMS,
        **LABELS,
        tolerance=1e-4,
    )


def test_alignments_are_a_loop() -> None:
    """The program does not grow with the number of frames."""

    def loss(logits: Any, labels: Any) -> Any:
        logits = logits.detach().requires_grad_()
        count = logits.shape[0]
        value = torch.nn.CTCLoss()(logits.log_softmax(2), labels, [count], [labels.shape[1]])
        return torch.autograd.grad(value, logits)

    labels = torch.tensor([[1, 3, 2, 2]])
    shorter, compiled = (ttmlir.compile(loss, numbers(n, 1, 5), labels) for n in (40, 90))
    lengths = {len(each.text("ttir").splitlines()) for each in (shorter, compiled)}
    assert len(lengths) == 1
    x = numbers(90, 1, 5, seed=3)
    torch.testing.assert_close(compiled(x, labels), loss(x, labels), rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_margins_and_variances(reduction: str) -> None:
    """Labels above others by a margin; variances, which torch checks, below the least one too."""
    check_slopes(
        f"""
        x: F.multilabel_margin_loss(x, labels, reduction={reduction!r})
        x: F.multilabel_margin_loss(x[1], labels[1], reduction={reduction!r})
        x: F.multi_margin_loss(x, label, reduction={reduction!r})
        x: F.multi_margin_loss(x, label, 2, 0.7, u, reduction={reduction!r})
        x: F.multi_margin_loss(x[1], label[1], reduction={reduction!r})
        x, y, w: F.gaussian_nll_loss(x, y, w, reduction={reduction!r})
        x, v: F.gaussian_nll_loss(x, y, v, full=True, eps=0.5, reduction={reduction!r})
        x: F.gaussian_nll_loss(x, y, 0.7, reduction={reduction!r})
        """,
        x=numbers(5, 4),
        y=numbers(5, 4, seed=1),
        u=torch.tensor([0.3, 1.5, 0.7, 2.0]),
        w=numbers(4, seed=2).abs().expand(5, 4).contiguous(),
        v=numbers(5, 1, seed=3).abs(),
        label=torch.tensor([0, 3, 1, 2, 3]),
        labels=torch.tensor(
            [[1, 2, -1, 0], [0, -1, 1, 2], [3, 2, 1, 0], [-1, 1, 2, 3], [2, -1, 0, 0]]
        ),
    )


def test_wrong_variances() -> None:
    """Their shape is checked as in torch."""
    x = numbers(5, 4)
    with pytest.raises(ttmlir.CompilationError, match=r"var of shape \(3,\) for an input of"):
        ttmlir.compile(lambda x: F.gaussian_nll_loss(x, x, torch.ones(3)), x)


def test_clusters_of_classes() -> None:
    """Classes in clusters, of some of which a batch has no targets; a row, and gradients."""
    torch.manual_seed(0)
    loss = torch.nn.AdaptiveLogSoftmaxWithLoss(6, 11, [3, 7], div_value=2.0)
    x, targets = torch.randn(5, 6), torch.tensor([0, 2, 4, 6, 1])

    def learn(x: Any, targets: Any) -> Any:
        found = loss(x, targets)
        return found, torch.autograd.grad(found.loss, [*loss.head.parameters()])

    compiled = ttmlir.compile(learn, x, targets)
    for given in (targets, targets.flip(0) + 4):
        torch.testing.assert_close(compiled(x, given), learn(x, given), rtol=1e-5, atol=1e-6)
    row = ttmlir.compile(loss, x[0], targets[2])
    torch.testing.assert_close(tuple(row(x[0], targets[2])), tuple(loss(x[0], targets[2])))


def test_classes_that_a_loss_closes_over() -> None:
    """torch looks at their numbers, which are no data of the program."""
    classes, x = torch.tensor([2, 0, 3, 1, 2]), numbers(5, 4)

    def slope(x: Any) -> Any:
        return slopes(lambda x: x.softmax(1) * F.one_hot(classes, 4), x)

    torch.testing.assert_close(ttmlir.compile(slope, x)(x), slope(x))
