"""Optimizers' steps, whose gradients are inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttmlir.arrays.array import Array
from ttmlir.frontend.onnx.call import Call, Rule

Update = Callable[[Call, Array, Array, Sequence[Array], Sequence[Array]], Sequence[Array]]
"""The new value of a tensor and its states, of the rate, the number of the step, the value and its
gradient, and the states."""


def _step(states: int, update: Update) -> Rule:
    """The rule of an optimizer with so many states for each tensor."""

    def rule(call: Call) -> tuple[Array, ...]:
        rate, number = call.array("R"), call.array("T")
        given = call.arrays("inputs")
        width = 2 + states
        if len(given) % width:
            call.refuse(f"it has {len(given)} tensors; each has {width - 1} with it")
        count = len(given) // width
        found: list[Sequence[Array]] = []
        for place in range(count):
            x, gradient, *own = given[place::count]
            gradient = gradient + x * float(call["norm_coefficient"])
            found.append(update(call, rate, number, (x, gradient), own))
        return tuple(each for group in zip(*found, strict=True) for each in group)

    return rule


def _adagrad(
    call: Call, rate: Array, number: Array, pair: Sequence[Array], states: Sequence[Array]
) -> Sequence[Array]:
    (x, gradient), (total,) = pair, states
    rate = rate / (number.cast(x.dtype) * float(call["decay_factor"]) + 1.0)
    total = total + gradient.square()
    return x - rate * gradient / (total.sqrt() + float(call["epsilon"])), total


def _adam(
    call: Call, rate: Array, number: Array, pair: Sequence[Array], states: Sequence[Array]
) -> Sequence[Array]:
    (x, gradient), (first, second) = pair, states
    alpha, beta = float(call["alpha"]), float(call["beta"])
    first = first * alpha + gradient * (1 - alpha)
    second = second * beta + gradient.square() * (1 - beta)
    step = number.cast(x.dtype)
    # The first step has no correction.
    correction = (1 - _power(beta, step)).sqrt() / (1 - _power(alpha, step))
    rate = (step > 0).where(rate * correction, rate)
    new = x - rate * first / (second.sqrt() + float(call["epsilon"]))
    return new * (1 - float(call["norm_coefficient_post"])), first, second


def _power(base: float, exponent: Array) -> Array:
    return exponent.fill(base).pow(exponent)


def _momentum(
    call: Call, rate: Array, number: Array, pair: Sequence[Array], states: Sequence[Array]
) -> Sequence[Array]:
    (x, gradient), (velocity,) = pair, states
    alpha, beta = float(call.required("alpha")), float(call.required("beta"))
    mode = call.choose("mode", ("standard", "nesterov"))
    share = (number > 0).where(beta, number.fill(1.0, dtype=x.dtype))
    velocity = velocity * alpha + gradient * share
    ahead = gradient + velocity * alpha if mode == "nesterov" else velocity
    return x - rate * ahead, velocity


RULES: dict[str, Rule] = {
    "Adagrad": _step(1, _adagrad),
    "Adam": _step(2, _adam),
    "Momentum": _step(1, _momentum),
}
"""Rules by the names of operators of the domain `ai.onnx.preview.training`."""
