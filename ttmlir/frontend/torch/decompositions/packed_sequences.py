"""Packed sequences, whose lengths are numbers in a tensor, as padded rows with their lengths.

torch keeps the steps of all sequences in one matrix, as many rows as the lengths add up to. That is
no shape here: the rows stay padded, and steps beyond a sequence's length change no state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.frontend.torch.elements import torch_package

_ON_EACH_ROW = frozenset(
    "alpha_dropout dropout elu embedding gelu hardtanh layer_norm leaky_relu linear log_softmax "
    "normalize relu selu sigmoid silu softmax tanh".split()
)
"""Functions of `.data` that compute each step by itself, so padded ones do no harm."""


class _PaddedRows:
    """What stands for the data of a packed sequence: (steps, sequences, features), padded."""

    def __init__(self, padded: Any) -> None:
        self.padded = padded
        self.dtype, self.device = padded.dtype, padded.device

    def dim(self) -> int:
        """Of the matrix that it stands for."""
        return self.padded.dim() - 1

    def size(self, dim: int = -1) -> int:
        """The width; how many rows there are is not known."""
        if dim not in (-1, self.dim() - 1):
            raise ArgumentError(_UNKNOWN)
        return self.padded.size(-1)

    def to(self, *args: Any, **keywords: Any) -> _PaddedRows:
        """In another element type."""
        return _PaddedRows(self.padded.to(*args, **keywords))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ArgumentError(_UNKNOWN)

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = function.__name__
        if name in _CELLS:
            return _run(_CELLS[name], *args, **(kwargs or {}))
        if name == "_pad_packed_sequence":
            return _unpack(*args)
        if name not in _ON_EACH_ROW:
            raise ArgumentError(_UNKNOWN)
        plain = [each.padded if isinstance(each, _PaddedRows) else each for each in args]
        return _PaddedRows(function(*plain, **(kwargs or {})))


_UNKNOWN = (
    "the data of a packed sequence have as many rows as the lengths say, which is not known here; "
    "give pad_packed_sequence's result to what follows, and choose its rows by a mask"
)


class _Lengths:
    """What stands for the numbers of sequences at each step."""

    device = SimpleNamespace(type="cpu")

    def __init__(self, lengths: Any, steps: int) -> None:
        self.lengths, self.steps = lengths, steps

    def size(self, dim: int = 0) -> int:
        """As many as there are steps, of the padded rows."""
        return (self.steps,)[dim]

    def __getitem__(self, index: int) -> int:
        if index != 0:
            raise ArgumentError(_UNKNOWN)
        return len(self.lengths)

    def inside(self, step: int) -> Any:
        """Which sequences are longer than a number of steps, as a column."""
        return (self.lengths > step).unsqueeze(-1)

    __torch_function__ = _PaddedRows.__torch_function__


def pack_padded_sequence(x: Any, lengths: Any, batch_first: bool) -> tuple[_PaddedRows, _Lengths]:
    """The rows of sequences with the lengths of them, of (sequences, steps, ...) or transposed."""
    padded = x.transpose(0, 1) if batch_first else x
    return _PaddedRows(padded), _Lengths(lengths, len(padded))


def _unpack(
    rows: _PaddedRows, lengths: _Lengths, batch_first: bool, value: float, steps: int
) -> tuple[Any, Any]:
    torch = torch_package()
    padded = rows.padded
    counts = torch.arange(lengths.steps).reshape(-1, *[1] * (padded.dim() - 1))
    inside = counts < lengths.lengths.reshape(1, -1, *[1] * (padded.dim() - 2))
    found = torch.where(inside, padded, torch.full((), value, dtype=padded.dtype))
    if steps > lengths.steps:
        missing = [0, 0] * (padded.dim() - 1) + [0, steps - lengths.steps]
        found = torch.nn.functional.pad(found, missing, value=value)
    return found.transpose(0, 1) if batch_first else found, lengths.lengths


# -- recurrent layers ------------------------------------------------------------------------------

Cell = Callable[[Any, tuple[Any, ...], Sequence[Any], bool], tuple[Any, ...]]
"""The states after a step, from the input's part of the gates, the states, and weights."""


def _apply(weights: Sequence[Any], number: int, x: Any, biased: bool) -> Any:
    """The matrix of weights of this number, with its bias."""
    product = x @ weights[number].mT
    return product + weights[2 + number] if biased else product


def _step_lstm(gates: Any, states: tuple[Any, ...], weights: Any, biased: bool) -> tuple[Any, ...]:
    hidden, cell = states
    parts = (gates + _apply(weights, 1, hidden, biased)).chunk(4, -1)
    keep, drop, out = (parts[number].sigmoid() for number in (0, 1, 3))
    cell = drop * cell + keep * parts[2].tanh()
    hidden = out * cell.tanh()
    projection = weights[4 if biased else 2 :]
    return (hidden @ projection[0].mT if projection else hidden), cell


def _step_gru(gates: Any, states: tuple[Any, ...], weights: Any, biased: bool) -> tuple[Any, ...]:
    [hidden] = states
    given, own = gates.chunk(3, -1), _apply(weights, 1, hidden, biased).chunk(3, -1)
    reset, update = ((given[number] + own[number]).sigmoid() for number in (0, 1))
    new = (given[2] + reset * own[2]).tanh()
    return (new + update * (hidden - new),)


def _simple_step(activation: str) -> Cell:
    def step(gates: Any, states: tuple[Any, ...], weights: Any, biased: bool) -> tuple[Any, ...]:
        return (getattr(gates + _apply(weights, 1, states[0], biased), activation)(),)

    return step


_CELLS: dict[str, Cell] = {
    "gru": _step_gru,
    "lstm": _step_lstm,
    "rnn_relu": _simple_step("relu"),
    "rnn_tanh": _simple_step("tanh"),
}


def _run(
    step: Cell,
    rows: _PaddedRows,
    lengths: _Lengths,
    hx: Any,
    flat_weights: Sequence[Any],
    biased: bool,
    layers: int,
    dropout: float,
    training: bool,
    bidirectional: bool,
) -> tuple[Any, ...]:
    """The outputs of the last layer, and the last states of all."""
    torch = torch_package()
    starts: Any = (hx,) if hasattr(hx, "dim") else hx
    directions = 2 if bidirectional else 1
    count = len(flat_weights) // (layers * directions)
    x, ends = rows.padded, list[tuple[Any, ...]]()
    for layer in range(layers):
        outputs: list[Any] = []
        for direction in range(directions):
            number = layer * directions + direction
            weights = flat_weights[number * count : (number + 1) * count]
            gates = _apply(weights, 0, x, biased)
            states = tuple(each[number] for each in starts)
            found: list[Any] = [None] * lengths.steps
            for place in _order(lengths.steps, backward=direction == 1):
                inside = lengths.inside(place)
                after = step(gates[place], states, weights, biased)
                states = tuple(
                    torch.where(inside, new, old) for new, old in zip(after, states, strict=True)
                )
                # Beyond a length it is the last state: no row of the result.
                found[place] = states[0]
            outputs.append(torch.stack(found))
            ends.append(states)
        x = torch.cat(outputs, -1)
        if dropout and training and layer < layers - 1:
            x = torch.nn.functional.dropout(x, dropout)
    last = [torch.stack(each) for each in zip(*ends, strict=True)]
    return (_PaddedRows(x), *last)


def _order(steps: int, *, backward: bool) -> Iterator[int]:
    return iter(range(steps - 1, -1, -1) if backward else range(steps))
