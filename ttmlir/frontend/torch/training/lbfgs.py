"""`torch.optim.LBFGS` in a step of training: as many evaluations as it may ask for, one by one.

How often torch evaluates the loss depends on numbers. A program evaluates it as often as `max_iter`
and `max_eval` let it, and what comes after torch's last evaluation changes nothing. The formulas
are those of torch: https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html, and
J. Nocedal and S. Wright, "Numerical Optimization", chapters 3 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from ttmlir.frontend.torch.elements import torch_package

Kept = dict[str, Any]
"""What is kept between steps, by torch's names: see `shapes_of_kept`."""
Evaluate = Callable[[Any, Any], tuple[Any, Any]]
"""From parameters, and whether torch evaluates here, to the loss and its gradient. None: yes.

Parameters and gradients are vectors of all parameters, one after the other.
"""
_DECREASE, _CURVATURE = 1e-4, 0.9
"""The strong Wolfe conditions, as torch has them."""
_HISTORY, _PAIRS = ("old_dirs", "old_stps"), 1e-10
"""The newest last; steps along which the gradient changes by less are left out."""


def shapes_of_kept(history: int, length: int) -> dict[str, tuple[int, ...]]:
    """Shapes of what is kept for so many parameters; all are 0 before the first step.

    `old_dirs` are changes of the gradient, `old_stps` the steps that led to them, both of shape
    [history, length] and 0 where there is none yet. `d` and `t` are the last direction and how far
    it went.
    """
    vectors = dict.fromkeys(("d", "prev_flat_grad"), (length,))
    numbers: dict[str, tuple[int, ...]] = dict.fromkeys(
        ("t", "H_diag", "prev_loss", "n_iter", "func_evals"), ()
    )
    return {**dict.fromkeys(_HISTORY, (history, length)), **vectors, **numbers}


def from_state(state: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> Kept:
    """What `optimizer.state` of the first parameter says, as tensors of the shapes."""
    torch = torch_package()
    kept: Kept = {}
    for name, shape in shapes.items():
        kept[name] = torch.zeros(shape)
        value = state.get(name)
        if name in _HISTORY and value:
            newest = value[-shape[0] :]
            kept[name][-len(newest) :] = torch.stack(list(newest))
        elif name not in _HISTORY and value is not None:
            kept[name] = torch.as_tensor(value, dtype=torch.float32).detach().clone()
    return kept


def to_state(kept: Kept) -> dict[str, Any]:
    """What torch's optimizer keeps of the first parameter, from tensors."""
    directions, steps = (kept[name] for name in _HISTORY)
    used = (steps != 0).any(1)
    pairs = directions[used], steps[used]
    numbers = {name: float(kept[name]) for name in ("t", "prev_loss")}
    counts = {name: int(kept[name]) for name in ("n_iter", "func_evals")}
    return {
        **{name: list(rows.clone()) for name, rows in zip(_HISTORY, pairs, strict=True)},
        "ro": list(1.0 / (pairs[0] * pairs[1]).sum(1)),
        **{name: kept[name].clone() for name in ("d", "prev_flat_grad", "H_diag")},
        **numbers,
        **counts,
    }


def minimize(
    group: Mapping[str, Any], start: Any, kept: Kept, rate: Any, evaluate: Evaluate
) -> tuple[Any, Kept]:
    """One step: the parameters after it, and what is kept then."""
    loss, gradient = evaluate(start, None)
    state = _State(group, rate, start, loss, gradient, kept)
    state.kept["func_evals"] = kept["func_evals"] + 1
    state.runs = ~(gradient.abs().max() <= group["tolerance_grad"])
    if group["line_search_fn"] is None:
        _move_by_rate(state, evaluate)
    else:
        _search(state, evaluate)
    return state.x, state.kept


class _State:
    """Where a step is; masks say for which of it torch's loop still runs."""

    def __init__(
        self, group: Mapping[str, Any], rate: Any, x: Any, loss: Any, gradient: Any, kept: Kept
    ) -> None:
        self.group, self.rate = group, rate
        self.x, self.loss, self.gradient = x, loss, gradient
        self.kept = dict(kept)
        self.runs: Any = None

    def begin_iteration(self, mask: Any) -> Any:
        """Turn to the next direction where the mask says so; the slope of the loss along it.

        Where the loss does not fall along it, nothing runs any more.
        """
        torch = torch_package()
        kept, gradient = self.kept, self.gradient
        number = kept["n_iter"] + 1
        is_first = number == 1
        change, moved = gradient - kept["prev_flat_grad"], kept["d"] * kept["t"]
        curvature = change.dot(moved)
        is_new = ~is_first & (curvature > _PAIRS)
        new = dict(zip(_HISTORY, (change, moved), strict=True))
        for name, vector in new.items():
            grown = torch.cat([kept[name][1:], vector[None]])
            new[name] = torch.where(is_new, grown, kept[name])
        size = torch.where(is_first, 1.0, kept["H_diag"])
        size = torch.where(is_new, curvature / change.dot(change), size)
        first = (1 / gradient.abs().sum()).clamp(max=1.0) * self.rate
        new |= {
            "n_iter": number,
            "H_diag": size,
            "d": _direction(gradient, new["old_dirs"], new["old_stps"], size),
            "prev_flat_grad": gradient,
            "prev_loss": self.loss,
            "t": torch.where(is_first, first, self.rate),
        }
        self.keep(mask, new)
        slope = gradient.dot(kept["d"])
        self.runs = self.runs & ~(mask & (slope > -self.group["tolerance_change"]))
        return slope

    def keep(self, mask: Any, new: Kept) -> None:
        """Replace what is kept where the mask says so."""
        for name, value in new.items():
            self.kept[name] = torch_package().where(mask, value, self.kept[name])

    def end_iteration(self, mask: Any) -> None:
        """Stop where the mask says that an iteration ended, and nothing more is gained."""
        change, kept = self.group["tolerance_change"], self.kept
        small = (self.gradient.abs().max() <= self.group["tolerance_grad"]) | (
            (kept["d"] * kept["t"]).abs().max() <= change
        )
        stops = small | ((self.loss - kept["prev_loss"]).abs() < change)
        self.runs = self.runs & ~(mask & stops)


def _direction(gradient: Any, changes: Any, steps: Any, size: Any) -> Any:
    """Minus the gradient, times the inverse Hessian that changes of the gradient tell.

    The two loops over the history, each of which computes a number from those before it, are
    solutions of triangular systems of the products of steps and changes.
    """
    torch = torch_package()
    products = steps @ changes.T
    lengths = products.diagonal()
    used = lengths != 0
    system = products.triu(1) + torch.where(used, lengths, 1.0).diag()
    solve = torch.linalg.solve_triangular
    first = solve(system, -(steps @ gradient)[:, None], upper=True)
    turned = (-gradient - (changes.T @ first)[:, 0]) * size
    right = lengths[:, None] * first - (changes @ turned)[:, None]
    second = solve(system.T, torch.where(used[:, None], right, 0.0), upper=False)
    return turned + (steps.T @ second)[:, 0]


def _move_by_rate(state: _State, evaluate: Evaluate) -> None:
    """Iterations that move by the rate, each with one evaluation."""
    torch = torch_package()
    last, evaluations = state.group["max_iter"], state.group["max_eval"]
    for number in range(1, max(min(last, evaluations - 1), 1) + 1):
        state.begin_iteration(state.runs)
        runs = state.runs
        state.x = torch.where(runs, state.x + state.kept["d"] * state.kept["t"], state.x)
        if number == last:
            return
        loss, gradient = evaluate(state.x, runs)
        state.loss = torch.where(runs, loss, state.loss)
        state.gradient = torch.where(runs, gradient, state.gradient)
        state.kept["func_evals"] = state.kept["func_evals"] + runs
        state.end_iteration(runs)


# -- the line search ---------------------------------------------------------------------------


class _Point(NamedTuple):
    """A place on the line of a search: how far it is, and the loss there."""

    t: Any
    loss: Any
    slope: Any
    gradient: Any


def _choose(mask: Any, first: Any, second: Any) -> Any:
    """A point, or several in a tuple, where the mask is true, else another."""
    if isinstance(first, _Point):
        return _Point(*(_choose(mask, *each) for each in zip(first, second, strict=True)))
    if isinstance(first, tuple):
        pairs = zip(cast("tuple[Any, ...]", first), second, strict=True)
        return tuple(_choose(mask, *each) for each in pairs)
    return torch_package().where(mask, first, second)


def _search(state: _State, evaluate: Evaluate) -> None:
    """Iterations that search along their direction until the strong Wolfe conditions hold.

    An evaluation continues the search that goes on, or begins that of the next iteration.
    """
    torch = torch_package()
    group = state.group
    zero, no = torch.zeros(()), torch.zeros((), dtype=torch.bool)
    searches, evaluations, iterations = no, zero + 1, zero
    begin = previous = _Point(zero, state.loss, zero, state.gradient)
    line = _Line(zero, zero, no, (begin, begin), no, no)
    for _ in range(group["max_eval"]):
        begins = state.runs & ~searches
        slope = state.begin_iteration(begins)
        begins = begins & state.runs
        iterations = iterations + begins
        begin = _choose(begins, _Point(zero, state.loss, slope, state.gradient), begin)
        previous = _choose(begins, begin, previous)
        line = _choose_line(
            begins, _Line(zero, group["max_eval"] - evaluations, no, (begin, begin), no, no), line
        )
        runs, t = state.runs, state.kept["t"]
        loss, gradient = evaluate(state.x + state.kept["d"] * t, runs)
        state.kept["func_evals"] = state.kept["func_evals"] + runs
        evaluations = evaluations + runs
        new = _Point(t, loss, gradient.dot(state.kept["d"]), gradient)
        width = state.kept["d"].abs().max() / group["tolerance_change"]
        line, following, found = line.take(begin, previous, new, width)
        previous = new
        ends = runs & line.is_done
        state.keep(runs, {"t": torch.where(ends, found.t, following)})
        state.x = torch.where(ends, state.x + state.kept["d"] * found.t, state.x)
        state.loss = torch.where(ends, found.loss, state.loss)
        state.gradient = torch.where(ends, found.gradient, state.gradient)
        state.end_iteration(ends)
        spent = (iterations >= group["max_iter"]) | (evaluations >= group["max_eval"])
        state.runs = state.runs & ~(ends & spent)
        searches = state.runs & ~ends


class _Line(NamedTuple):
    """How far the search along a direction is."""

    number: Any
    """Evaluations besides the first one."""
    most: Any
    is_bracketed: Any
    """Whether the minimum is between two points; else they are further and further away."""
    bracket: tuple[_Point, _Point]
    """The point with the smaller loss, and the other."""
    is_first: Any
    """Whether the one with the smaller loss is torch's first: of two that are equal it is."""
    slow: Any
    """Whether the last point was near an end of the bracket."""
    is_done: Any = None

    def take(
        self, begin: _Point, previous: _Point, new: _Point, width: Any
    ) -> tuple[_Line, Any, _Point]:
        """The search after an evaluation; where to evaluate next, and the best point yet."""
        torch = torch_package()
        is_left = self.number < self.most
        limit = begin.loss + new.t * begin.slope * _DECREASE
        is_flat = new.slope.abs() <= begin.slope * -_CURVATURE
        # While there is no bracket: does one end here?
        rises = (new.loss > limit) | ((self.number > 1) & (new.loss >= previous.loss))
        meets = is_left & ~rises & is_flat
        closes = is_left & ~meets & (rises | (new.slope >= 0))
        other = _choose(is_left, previous, begin)
        first_is_low = other.loss <= new.loss
        found = _choose(first_is_low, (other, new), (new, other))
        found = _choose(meets, (new, new), found)
        # With one: the new point takes the place of an end.
        low, high = self.bracket
        is_worse = (new.loss > limit) | (new.loss >= low.loss)
        turns = ~is_flat & (new.slope * (high.t - low.t) >= 0)
        stays = torch.where(self.is_first, low.loss <= new.loss, ~(new.loss <= low.loss))
        narrowed = _choose(
            is_worse,
            _choose(stays, (low, new), (new, low)),
            (new, _choose(turns, low, high)),
        )
        flips = is_worse & ~stays
        is_bracketed = self.is_bracketed | closes
        bracket = _choose(self.is_bracketed, narrowed, found)
        is_first = torch.where(self.is_bracketed, self.is_first ^ flips, first_is_low)
        is_done = torch.where(self.is_bracketed, ~is_worse & is_flat, meets) | ~is_left
        low, high = bracket
        is_done = is_done | (is_bracketed & ((high.t - low.t).abs() * width < 1))
        # The next place to look at.
        further = _interpolate(previous, new, new.t + (new.t - previous.t) * 0.01, new.t * 10)
        left, right = torch.minimum(low.t, high.t), torch.maximum(low.t, high.t)
        inside = _interpolate(low, high, left, right)
        margin = (right - left) * 0.1
        is_near = torch.minimum(right - inside, inside - left) < margin
        moves = is_near & (self.slow | (inside >= right) | (inside <= left))
        is_right = (inside - right).abs() < (inside - left).abs()
        inside = torch.where(moves, torch.where(is_right, right - margin, left + margin), inside)
        slow = is_bracketed & is_near & ~moves
        line = _Line(self.number + 1, self.most, is_bracketed, bracket, is_first, slow, is_done)
        return line, torch.where(is_bracketed, inside, further), low


def _choose_line(mask: Any, first: _Line, second: _Line) -> _Line:
    return _Line(*(_choose(mask, *pair) for pair in zip(first[:-1], second[:-1], strict=True)))


def _interpolate(one: _Point, other: _Point, least: Any, most: Any) -> Any:
    """Where the cubic curve through two points with their slopes is least, inside of bounds."""
    torch = torch_package()
    is_right = one.t <= other.t
    left, right = _choose(is_right, one, other), _choose(is_right, other, one)
    mean = left.slope + right.slope - 3 * (left.loss - right.loss) / (left.t - right.t)
    square = mean * mean - left.slope * right.slope
    root = square.clamp(min=0).sqrt()
    share = (right.slope + root - mean) / (right.slope - left.slope + 2 * root)
    place = right.t - (right.t - left.t) * share
    inside = torch.minimum(torch.maximum(place, least), most)
    return torch.where(square >= 0, inside, (least + most) / 2)
