"""Recurrent networks: RNN, GRU and LSTM, as loops over the steps of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.frontend.body import BodyBuilder
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.loops import iterate
from ttmlir.frontend.onnx.rules import elementwise

Activation = Callable[[Array], Array]

_OPERATIONS = 24
"""About as many operations a step of a cell is."""


@dataclass(frozen=True)
class _Kind:
    """An activation function with the defaults of its parameters; None for those it has not."""

    function: Callable[..., Array]
    alpha: float | None = None
    beta: float | None = None


def _affine(x: Array, alpha: float, beta: float) -> Array:
    return x * alpha + beta


def _scaled_tanh(x: Array, alpha: float, beta: float) -> Array:
    return (x * beta).tanh() * alpha


_ACTIVATIONS: dict[str, _Kind] = {
    "Affine": _Kind(_affine, 1.0, 0.0),
    "Elu": _Kind(elementwise.elu_of, 1.0),
    "HardSigmoid": _Kind(elementwise.hard_sigmoid, 0.2, 0.5),
    "LeakyRelu": _Kind(elementwise.leaky_relu, 0.01),
    "Relu": _Kind(methodcaller("relu")),
    "ScaledTanh": _Kind(_scaled_tanh, 1.0, 1.0),
    "Sigmoid": _Kind(methodcaller("sigmoid")),
    "Softplus": _Kind(elementwise.softplus),
    "Softsign": _Kind(elementwise.softsign),
    "Tanh": _Kind(methodcaller("tanh")),
    "ThresholdedRelu": _Kind(elementwise.thresholded_relu, 1.0),
}
"""Activation functions by ONNX's names."""


def _activations(call: Call, defaults: Sequence[str], directions: int) -> list[list[Activation]]:
    """The functions of each direction."""
    names = [*(call["activations"] or [*defaults] * directions)]
    if call.operator == "RNN":
        # Its default has two, whatever its directions are.
        names = names[:directions]
    if len(names) != len(defaults) * directions:
        call.refuse(
            f"it has {len(names)} activations; there have to be {len(defaults) * directions}"
        )
    given = {name: list(call[f"activation_{name}"] or ()) for name in ("alpha", "beta")}
    found: list[Activation] = []
    count = len(defaults)
    for name in names:
        kind = _ACTIVATIONS.get(str(name))
        if kind is None:
            call.refuse(
                f"the activation '{name}' is not supported; there are {', '.join(_ACTIVATIONS)}"
            )
        parameters: dict[str, float] = {}
        for key, default in (("alpha", kind.alpha), ("beta", kind.beta)):
            if default is not None:
                parameters[key] = given[key].pop(0) if given[key] else default
        # As in onnxruntime, gates are clipped, and not the memory of an LSTM.
        of_memory = len(found) % count == _OF_MEMORY
        limit = None if of_memory else call["clip"]
        found.append(_clipped(limit, partial(kind.function, **parameters)))
    return [found[first : first + count] for first in range(0, len(found), count)]


_OF_MEMORY = 2
"""The place of the activation of the memory among those of an LSTM."""


def _clipped(limit: float | None, function: Activation) -> Activation:
    return function if limit is None else lambda x: function(x.limit(-limit, limit))


Cell = Callable[[Array, Sequence[Array], Sequence[Array], Sequence[Activation]], Sequence[Array]]
"""The new state, the output first: of what comes from the input, the state, and the weights."""


def _rnn_cell(
    gates: Array, state: Sequence[Array], weights: Sequence[Array], functions: Sequence[Activation]
) -> Sequence[Array]:
    return (functions[0](gates + state[0] @ weights[0]),)


def _parts(x: Array, count: int) -> list[Array]:
    size = x.shape[-1] // count
    return [x.cut(x.rank - 1, i * size, (i + 1) * size) for i in range(count)]


def _gru_cell(
    gates: Array,
    state: Sequence[Array],
    weights: Sequence[Array],
    functions: Sequence[Activation],
    *,
    linear: bool,
) -> Sequence[Array]:
    """Weights are those of both gates, those of the hidden state, and its bias."""
    (hidden,), (both, own, bias) = state, weights
    update, reset, new = _parts(gates, 3)
    update_more, reset_more = _parts(hidden @ both, 2)
    update, reset = functions[0](update + update_more), functions[0](reset + reset_more)
    if linear:
        new = functions[1](new + reset * (hidden @ own + bias))
    else:
        new = functions[1](new + (reset * hidden) @ own + bias)
    return ((1 - update) * new + update * hidden,)


def _lstm_cell(
    gates: Array,
    state: Sequence[Array],
    weights: Sequence[Array],
    functions: Sequence[Activation],
    *,
    coupled: bool,
) -> Sequence[Array]:
    """Weights are those of the gates, and of peepholes, if there are any."""
    hidden, memory = state
    sums = gates + hidden @ weights[0]
    enter, leave, forget, new = _parts(sums, 4)
    peepholes = _parts(weights[1], 3) if len(weights) > 1 else []
    if peepholes:
        enter, forget = enter + peepholes[0] * memory, forget + peepholes[2] * memory
    enter = functions[0](enter)
    forget = 1 - enter if coupled else functions[0](forget)
    memory = forget * memory + enter * functions[1](new)
    leave = functions[0](leave + peepholes[1] * memory if peepholes else leave)
    return leave * functions[2](memory), memory


@dataclass(frozen=True)
class _Network:
    """What a network of one direction consists of."""

    cell: Cell
    functions: Sequence[Activation]
    states: Sequence[Array]
    weights: Sequence[Array]


def _run(
    call: Call, gates: Array, network: _Network, lengths: Array | None, *, is_reversed: bool
) -> tuple[Array, list[Array]]:
    """The outputs of all steps, and the last state."""
    count = gates.shape[0]
    rows = [gates.reverse(0) if is_reversed else gates]
    others = [*network.weights]
    if lengths is not None:
        steps = array_of(range(count), "i64").reshape((count, 1, 1))
        is_inside = steps < lengths.cast("i64").reshape((1, lengths.shape[0], 1))
        rows.append(is_inside.reverse(0) if is_reversed else is_inside)

    def step(
        inner: BodyBuilder,
        number: Array,
        state: Sequence[Array],
        own: Sequence[Array],
        weights: Sequence[Array],
    ) -> tuple[Sequence[Array], Sequence[Array]]:
        del inner, number
        after = network.cell(own[0], state, weights, network.functions)
        if lengths is None:
            return after, [after[0]]
        # Steps behind the end leave the state as it is.
        is_inside = own[1]
        output = is_inside.where(after[0], 0)
        kept = [is_inside.where(new, old) for new, old in zip(after, state, strict=True)]
        return kept, [output]

    last, stacks = iterate(
        call, step, network.states, rows, others, count=count, operations=_OPERATIONS
    )
    return stacks[0].reverse(0) if is_reversed else stacks[0], last


def _recurrent(
    call: Call, count: int, defaults: Sequence[str], make: Callable[..., tuple[Cell, list[Array]]]
) -> tuple[Array, ...]:
    """A network with so many gates; `make` gives the cell and the weights of a direction."""
    x, w, r = (call.array(name) for name in ("X", "W", "R"))
    direction = call.choose("direction", ("forward", "reverse", "bidirectional"))
    directions = 2 if direction == "bidirectional" else 1
    if x.rank != 3 or w.rank != 3 or r.rank != 3:
        call.refuse("the input and the weights have to have 3 dimensions")
    hidden = r.shape[2]
    expected = (directions, count * hidden)
    if w.shape != (*expected, x.shape[2]) or r.shape != (*expected, hidden):
        call.refuse(
            f"the weights have the shapes {list(w.shape)} and {list(r.shape)}; of an input of "
            f"{x.shape[2]} and a state of {hidden} numbers they have to be "
            f"{[*expected, x.shape[2]]} and {[*expected, hidden]}"
        )
    batch_first = bool(call["layout"])
    x = x.permute((1, 0, 2)) if batch_first else x
    batch, bias = x.shape[1], call.optional("B")
    lengths = _lengths(call, x.shape[0])
    first: list[Array] = []
    for name in ("initial_h", "initial_c")[: 2 if call.operator == "LSTM" else 1]:
        given = call.optional(name)
        if given is None:
            given = call.fill(0, (directions, batch, hidden), x.dtype)
        elif batch_first:
            given = given.permute((1, 0, 2))
        first.append(given)
    functions = _activations(call, defaults, directions)
    outputs: list[Array] = []
    lasts: list[list[Array]] = []
    for place in range(directions):
        own_w, own_r = (_at(each, place) for each in (w, r))
        own_bias = None if bias is None else _at(bias, place)
        cell, weights = make(call, own_r, own_bias, place)
        gates = x @ own_w.transpose()
        if own_bias is not None:
            gates = gates + _gate_bias(own_bias, count, call.operator)
        states = [_at(each, place) for each in first]
        network = _Network(cell, functions[place], states, weights)
        is_reversed = direction == "reverse" or place == 1
        output, last = _run(call, gates, network, lengths, is_reversed=is_reversed)
        outputs.append(output.unsqueeze(1))
        lasts.append([each.unsqueeze(0) for each in last])
    y = concatenate(outputs, 1)
    ends = [concatenate(each, 0) for each in zip(*lasts, strict=True)]
    if batch_first:
        y, ends = y.permute((2, 0, 1, 3)), [each.permute((1, 0, 2)) for each in ends]
    return y, *ends


def _at(x: Array, place: int) -> Array:
    return x.cut(0, place, place + 1).squeeze(0)


def _lengths(call: Call, count: int) -> Array | None:
    """The lengths of sequences that are not all as long as the longest one can be."""
    if not call.has("sequence_lens"):
        return None
    lengths = call.array("sequence_lens")
    if lengths.carrier.holds_numbers and (lengths.value == count).all():
        return None
    return lengths


def _gate_bias(bias: Array, count: int, operator: str) -> Array:
    """What is added for each gate; the new state of a GRU has the part of its own later."""
    parts = _parts(bias, 2 * count)
    sums = [a + b for a, b in zip(parts[:count], parts[count:], strict=True)]
    if operator == "GRU":
        sums[2] = parts[2]
    return concatenate(sums, 0)


def _rnn(call: Call) -> tuple[Array, ...]:
    def make(call: Call, r: Array, bias: Array | None, place: int) -> tuple[Cell, list[Array]]:
        del call, bias, place
        return _rnn_cell, [r.transpose()]

    return _recurrent(call, 1, ("Tanh",), make)


def _gru(call: Call) -> tuple[Array, ...]:
    cell = partial(_gru_cell, linear=bool(call["linear_before_reset"]))

    def make(call: Call, r: Array, bias: Array | None, place: int) -> tuple[Cell, list[Array]]:
        del place
        hidden = r.shape[1]
        both, own = r.cut(0, 0, 2 * hidden), r.cut(0, 2 * hidden, 3 * hidden)
        late = call.fill(0, (hidden,), r.dtype) if bias is None else _parts(bias, 6)[5]
        return cell, [both.transpose(), own.transpose(), late]

    return _recurrent(call, 3, ("Sigmoid", "Tanh"), make)


def _lstm(call: Call) -> tuple[Array, ...]:
    cell = partial(_lstm_cell, coupled=bool(call["input_forget"]))

    def make(call: Call, r: Array, bias: Array | None, place: int) -> tuple[Cell, list[Array]]:
        del bias
        peepholes: list[Any] = [_at(call.array("P"), place)] if call.has("P") else []
        return cell, [r.transpose(), *peepholes]

    return _recurrent(call, 4, ("Sigmoid", "Tanh", "Tanh"), make)


RULES: dict[str, Rule] = {"GRU": _gru, "LSTM": _lstm, "RNN": _rnn}
"""Rules by the names of operators."""
