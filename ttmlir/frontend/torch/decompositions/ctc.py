"""Connectionist temporal classification, of all ways to align labels with frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ttmlir.frontend.torch.elements import torch_package

# Graves et al., "Connectionist Temporal Classification", 2006: between, before and after the
# labels of a row there may be blanks, so that it has 2 * labels + 1 states. Sums over ways are
# recurrences over time in logarithms; those from the beginning (`alpha`) give the loss, and with
# those from the end (`beta`) its gradient.


class _Rows(NamedTuple):
    """What is asked for, in one form: N rows of at most T frames and S labels."""

    log_probs: Any
    """T x N x classes."""
    states: Any
    """The class of each state, N x (2 S + 1)."""
    may_skip: Any
    """Whether a state may follow that two before it: both are labels, and others."""
    frames: Any
    """How many frames each row has, N."""
    labels: Any
    """How many labels each row has, N."""


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str | int = "mean",
    zero_infinity: bool = False,
) -> Any:
    """As `torch.nn.functional.ctc_loss`, with its rules for lengths and reductions."""
    torch = torch_package()
    frames, labels = (
        torch.as_tensor(each, dtype=torch.int64).reshape(-1)
        for each in (input_lengths, target_lengths)
    )
    is_one = log_probs.dim() == 2
    if is_one:
        log_probs = log_probs.unsqueeze(1)
    if targets.dim() == 1:
        targets = _in_rows(targets, labels, target_lengths)
    given = log_probs, targets.to(torch.int64), frames, labels
    loss, _ = _function().apply(*given, blank)
    if zero_infinity:
        loss = torch.where(loss == torch.inf, 0, loss)
    if reduction in ("mean", 1):
        return (loss / torch.clamp(labels, min=1).to(loss.dtype)).mean()
    if reduction in ("sum", 2):
        return loss.sum()
    return loss.squeeze(0) if is_one else loss


def _in_rows(targets: Any, labels: Any, lengths: Any) -> Any:
    """Labels that stand one after the other, in rows that are as long as need be."""
    torch = torch_package()
    is_known = not hasattr(lengths, "dim")
    width: int = max(lengths, default=0) if is_known else targets.shape[0]
    begins = (labels.cumsum(0) - labels).unsqueeze(1)
    places = begins + torch.arange(width)
    if not targets.shape[0]:
        return torch.zeros_like(places)
    return targets[torch.clamp(places, max=targets.shape[0] - 1)]


@cache
def _function() -> Any:
    """The loss of each row as a function with a gradient of its own, as torch's."""
    torch = torch_package()

    class CTC(torch.autograd.Function):
        @staticmethod
        def forward(
            log_probs: Any, targets: Any, frames: Any, labels: Any, blank: int
        ) -> tuple[Any, Any]:
            rows = _prepare(log_probs, targets, frames, labels, blank)
            alpha = _alphas(rows)
            return _losses(rows, alpha), alpha

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs[:-1], *output)
            ctx.blank = inputs[-1]
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx: Any, gradient: Any, _: Any) -> tuple[Any, ...]:
            log_probs, targets, frames, labels, loss, alpha = ctx.saved_tensors
            rows = _prepare(log_probs, targets, frames, labels, ctx.blank)
            return _gradient(rows, gradient, loss, alpha), None, None, None, None

    return CTC


def _prepare(log_probs: Any, targets: Any, frames: Any, labels: Any, blank: int) -> _Rows:
    torch = torch_package()
    count, width = targets.shape
    blanks = torch.full((count, width + 1), blank, dtype=torch.int64)
    states = torch.stack([blanks.narrow(1, 0, width), targets], 2).reshape(count, 2 * width)
    states = torch.cat([states, blanks.narrow(1, 0, 1)], 1)
    other = torch.logical_and(states != blank, states != _shift_right(states, 2, blank))
    # The first label has nothing two before it.
    may_skip = torch.logical_and(other, torch.arange(2 * width + 1) >= 2)
    return _Rows(log_probs, states, may_skip, frames, labels)


def _shift_right(x: Any, count: int, filling: float) -> Any:
    """The elements moved to the right, after others."""
    torch = torch_package()
    width = x.shape[1]
    front = torch.full((x.shape[0], min(count, width)), filling, dtype=x.dtype)
    return torch.cat([front, x.narrow(1, 0, max(width - count, 0))], 1)


def _shift_left(x: Any, count: int, filling: float) -> Any:
    """The elements some places to the left, in front of others."""
    return _shift_right(x.flip(1), count, filling).flip(1)


def _emissions(rows: _Rows) -> Any:
    """The logarithms of the probabilities of states, T x N x states."""
    states = rows.states.unsqueeze(0).expand(rows.log_probs.shape[0], -1, -1)
    return rows.log_probs.gather(2, states)


def _sum_of(terms: Sequence[Any]) -> Any:
    """The logarithm of the sum of numbers that are given as logarithms, of which all may be 0."""
    torch = torch_package()
    largest = torch.stack(list(terms)).amax(0)
    offset = torch.where(largest == -torch.inf, 0, largest)
    total: Any = sum((term - offset).exp() for term in terms)
    return total.log() + offset


def _alphas(rows: _Rows) -> Any:
    """The sums over ways from the first frame to each state, its frame included."""
    torch = torch_package()
    number = torch.arange(rows.states.shape[1])
    # In front of the first frame: a way begins with the first two states.
    has_labels = rows.labels.unsqueeze(1) > 0
    is_first = torch.logical_or(number == 0, torch.logical_and(number == 1, has_labels))
    before = torch.where(is_first, 0.0, -torch.inf).to(rows.log_probs.dtype)

    def step(last: Any, emission: Any, is_begin: Any, may_skip: Any) -> list[Any]:
        skipped = torch.where(may_skip, _shift_right(last, 2, -torch.inf), -torch.inf)
        moved = _sum_of([last, _shift_right(last, 1, -torch.inf), skipped])
        reached = torch.where(is_begin, last, moved) + emission
        return [reached, reached.clone()]

    emissions = _emissions(rows)
    is_begin = torch.arange(emissions.shape[0]) == 0
    return _scan(step, before, [emissions, is_begin], [rows.may_skip])


def _betas(rows: _Rows) -> Any:
    """The sums over ways from each state, its frame included, to the row's last frame."""
    torch = torch_package()
    number, end = torch.arange(rows.states.shape[1]), 2 * rows.labels.unsqueeze(1)
    is_last = torch.logical_or(number == end, number == end - 1)
    after = torch.where(is_last, 0.0, -torch.inf).to(rows.log_probs.dtype)

    def step(following: Any, emission: Any, left: Any, may_skip: Any, after: Any) -> list[Any]:
        skipped = torch.where(may_skip, following, -torch.inf)
        nearer, farther = (
            _shift_left(following, 1, -torch.inf),
            _shift_left(skipped, 2, -torch.inf),
        )
        moved = _sum_of([following, nearer, farther])
        reached = torch.where(left == 0, after, moved) + emission
        reached = torch.where(left < 0, -torch.inf, reached)
        return [reached, reached.clone()]

    emissions = _emissions(rows)
    times = torch.arange(emissions.shape[0]).reshape(-1, 1, 1)
    # How many frames there still are after each one, T x N x 1.
    left = rows.frames.reshape(-1, 1) - 1 - times
    start = torch.full_like(after, -torch.inf)
    frames = [emissions.flip(0), left.flip(0)]
    return _scan(step, start, frames, [rows.may_skip, after]).flip(0)


def _scan(
    step: Callable[..., list[Any]], start: Any, frames: Sequence[Any], others: Sequence[Any]
) -> Any:
    """What a step makes of each frame: one loop of the program."""
    # The operation that `scan` calls: that one lets Dynamo read the step, which follows no caches.
    scan: Any = torch_package().ops.higher_order.scan
    return scan(step, [start], list(frames), list(others))[1]


def _losses(rows: _Rows, alpha: Any) -> Any:
    """Minus the logarithm of the sum over ways that end with the last label or a blank."""
    torch = torch_package()
    count = rows.states.shape[0]
    # Without any frame, there is only the way without labels.
    none = torch.where(rows.labels == 0, 0.0, -torch.inf).to(alpha.dtype)
    time = torch.clamp(rows.frames - 1, min=0).reshape(1, count, 1).expand(1, count, alpha.shape[2])
    last = alpha.gather(0, time).squeeze(0)
    ends = [2 * rows.labels, torch.clamp(2 * rows.labels - 1, min=0)]
    blank, label = (last.gather(1, end.unsqueeze(1)).squeeze(1) for end in ends)
    label = torch.where(rows.labels == 0, -torch.inf, label)
    return -torch.where(rows.frames == 0, none, _sum_of([blank, label]))


def _gradient(rows: _Rows, gradient: Any, loss: Any, alpha: Any) -> Any:
    """Of logarithms of probabilities that are 1 together, as torch has it.

    It is their probability, less the part of all ways that pass through the class.
    """
    torch = torch_package()
    # Of the frame, which both sums contain, one is too many.
    ways = alpha + _betas(rows) - _emissions(rows) + loss.reshape(1, -1, 1)
    parts = torch.where(torch.isnan(ways), 0, ways.exp())
    states = rows.states.unsqueeze(0).expand(parts.shape)
    passed = torch.zeros_like(rows.log_probs).scatter_add(2, states, parts)
    slope = (rows.log_probs.exp() - passed) * gradient.reshape(1, -1, 1)
    # There is no way to align the row: torch has no gradient then, unless losses like that are 0.
    is_none = (loss == torch.inf).reshape(1, -1, 1)
    hopeless = torch.where((gradient == 0).reshape(1, -1, 1), 0, torch.nan).to(slope.dtype)
    slope = torch.where(is_none, hopeless, slope)
    times = torch.arange(slope.shape[0]).reshape(-1, 1)
    return torch.where((times < rows.frames).unsqueeze(2), slope, 0)
