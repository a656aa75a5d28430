"""What the optimizers of torch do to a parameter in one step.

The formulas are those of `torch.optim`, with the rate and the number of the step as tensors, so
that one program does every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ttmlir.frontend.torch.elements import torch_package

Group = Mapping[str, Any]
"""Options of some parameters, as in `optimizer.param_groups`."""
Slots = dict[str, Any]
"""What an optimizer keeps of a parameter between steps, by torch's names."""


@dataclass(frozen=True)
class Moment:
    """The tensors of one step that are the same for a group of parameters."""

    rate: Any
    """The learning rate: a tensor of no dimension."""
    number: Any
    """The number of the step, from 1: a tensor of no dimension."""


@dataclass(frozen=True)
class Start:
    """What a slot has before the first step."""

    value: float = 0.0
    single: bool = False
    """One number for all of a parameter: a tensor of no dimension."""

    def build(self, parameter: Any) -> Any:
        """The tensor for a parameter."""
        torch = torch_package()
        if self.single:
            return torch.tensor(self.value)
        is_complex = parameter.is_complex()
        value = complex(self.value, self.value) if is_complex else self.value
        return torch.full_like(parameter, value)


@dataclass(frozen=True)
class Update:
    """How an optimizer moves parameters."""

    slots: Callable[[Group], Mapping[str, Start]]
    """What it keeps of each parameter under some options."""
    move: Callable[[Group, Any, Any, Slots, Moment], tuple[Any, Slots]]
    """From a parameter, its gradient and what is kept to the new parameter and what is kept then.
    """
    counts: bool = True
    """Whether it keeps the number of steps with each parameter."""


def find_update(optimizer: Any) -> Update:
    """The update of an optimizer; TypeError for one that is not known."""
    name = type(optimizer).__name__
    if type(optimizer).__module__.startswith("torch.optim.") and name in UPDATES:
        return UPDATES[name]
    _refuse(
        f"ttmlir.train_step cannot compile the optimizer {name}; it takes those of torch.optim "
        f"that are {', '.join(UPDATES)}; ttmlir.compile takes a step function that computes other "
        "updates from torch.func.grad"
    )


def _refuse(reason: str) -> NoReturn:
    raise TypeError(reason)


def _zeros(*names: str) -> dict[str, Start]:
    return {name: Start() for name in names}


# -- stochastic gradient descent ---------------------------------------------------------------


def _sgd_slots(group: Group) -> dict[str, Start]:
    return _zeros("momentum_buffer") if group["momentum"] else {}


def _sgd(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    kept: Slots = {}
    if momentum := group["momentum"]:
        moved = slots["momentum_buffer"] * momentum + gradient * (1 - group["dampening"])
        if group["dampening"]:
            # The first step takes all of the gradient.
            moved = _or_at_first(moved, gradient, moment)
        kept["momentum_buffer"] = moved
        gradient = gradient + moved * momentum if group["nesterov"] else moved
    return parameter - gradient * moment.rate, kept


def _or_at_first(value: Any, first: Any, moment: Moment) -> Any:
    """The value, or in the first step another one."""
    return torch_package().where(moment.number == 1, first, value)


def _decayed(group: Group, parameter: Any, gradient: Any) -> Any:
    """The gradient with the sign that is asked for, and the pull of the parameter to 0."""
    gradient = -gradient if group["maximize"] else gradient
    decay = group["weight_decay"]
    return gradient + parameter * decay if decay else gradient


# -- Adam --------------------------------------------------------------------------------------


def _adam_slots(group: Group) -> dict[str, Start]:
    return _zeros("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))


def _adam(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    parameter, gradient = _apply_decay(group, parameter, gradient, moment)
    beta1, beta2 = group["betas"]
    mean, square = _averages(group, gradient, slots)
    kept = {"exp_avg": mean, "exp_avg_sq": square}
    if group["amsgrad"]:
        square = torch_package().maximum(slots["max_exp_avg_sq"], square)
        kept["max_exp_avg_sq"] = square
    size = moment.rate / _missing(beta1, moment)
    spread = square.sqrt() / _missing(beta2, moment).sqrt() + group["eps"]
    return parameter - mean / spread * size, kept


def _apply_decay(group: Group, parameter: Any, gradient: Any, moment: Moment) -> tuple[Any, Any]:
    """Parameter and gradient, one of them with the decay: the parameter itself if decoupled."""
    if not group.get("decoupled_weight_decay"):
        return parameter, _decayed(group, parameter, gradient)
    if decay := group["weight_decay"]:
        parameter = parameter * (1 - moment.rate * decay)
    return parameter, -gradient if group["maximize"] else gradient


def _average(kept: Any, gradient: Any, beta: float) -> Any:
    return kept + (gradient - kept) * (1 - beta)


def _average_square(kept: Any, gradient: Any, beta: float) -> Any:
    return kept * beta + gradient * gradient * (1 - beta)


def _averages(group: Group, gradient: Any, slots: Slots) -> tuple[Any, Any]:
    """The new averages of the gradient and of its square."""
    beta1, beta2 = group["betas"]
    mean = _average(slots["exp_avg"], gradient, beta1)
    return mean, _average_square(slots["exp_avg_sq"], gradient, beta2)


def _missing(beta: float, moment: Moment) -> Any:
    """1 - beta ** number; what is near 0 keeps all its digits."""
    if beta == 0:
        return torch_package().ones_like(moment.number)
    return -(moment.number * math.log(beta)).expm1()


# -- relatives of Adam -------------------------------------------------------------------------


def _adamax(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    beta1, beta2 = group["betas"]
    mean = _average(slots["exp_avg"], gradient, beta1)
    largest = torch_package().maximum(slots["exp_inf"] * beta2, gradient.abs() + group["eps"])
    size = moment.rate / _missing(beta1, moment)
    return parameter - mean / largest * size, {"exp_avg": mean, "exp_inf": largest}


def _nadam(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    parameter, gradient = _apply_decay(group, parameter, gradient, moment)
    beta1, beta2 = group["betas"]
    mean, square = _averages(group, gradient, slots)
    fall = math.log(0.96) * group["momentum_decay"]
    now, following = (
        (1 - (number * fall).exp() * 0.5) * beta1 for number in (moment.number, moment.number + 1)
    )
    product = slots["mu_product"] * now
    spread = (square / _missing(beta2, moment)).sqrt() + group["eps"]
    own = (1 - now) / (1 - product)
    past = following / (1 - product * following)
    parameter = parameter - (gradient * own + mean * past) / spread * moment.rate
    return parameter, {"exp_avg": mean, "exp_avg_sq": square, "mu_product": product}


def _radam(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    parameter, gradient = _apply_decay(group, parameter, gradient, moment)
    beta1, beta2 = group["betas"]
    mean, square = _averages(group, gradient, slots)
    move = mean / _missing(beta1, moment)
    limit = 2 / (1 - beta2) - 1
    # The length grows with the steps, to the limit.
    if limit > 5:
        length = _averaged_length(beta2, moment)
        long = length.clamp(min=5.0)
        rect = (long - 4) * (long - 2) / long * (limit / ((limit - 4) * (limit - 2)))
        size = (rect * _missing(beta2, moment)).sqrt()
        adapted = move / (square.sqrt() + group["eps"]) * size
        move = torch_package().where(length > 5, adapted, move)
    return parameter - move * moment.rate, {"exp_avg": mean, "exp_avg_sq": square}


def _averaged_length(beta: float, moment: Moment) -> Any:
    """How many steps an average with `beta` is of: 2/(1-b) - 1 - 2 n b**n / (1 - b**n).

    In the first steps that is a small difference of large numbers. With x = -n log(b) the last
    term is 2 n / (exp(x) - 1) = 2 n / x - n + n (x/6 - x**3/360 + ...), where 2 n / x is the same
    in all steps.
    """
    limit, fall = 2 / (1 - beta) - 1, -math.log(beta)
    number = moment.number
    x = number * fall
    early = x.clamp(max=1.0)
    y = early * early
    series = early * (1 / 6 - y * (1 / 360 - y * (1 / 15120 - y * (1 / 604800))))
    return torch_package().where(
        x < 1, number * (1 - series) + (limit - 2 / fall), limit - number * 2 / x.expm1()
    )


# -- averages of squares -----------------------------------------------------------------------


def _rmsprop_slots(group: Group) -> dict[str, Start]:
    momentum = ("momentum_buffer",) if group["momentum"] else ()
    return _zeros("square_avg", *momentum, *(("grad_avg",) if group["centered"] else ()))


def _rmsprop(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    square = _average_square(slots["square_avg"], gradient, group["alpha"])
    kept = {"square_avg": square}
    if group["centered"]:
        kept["grad_avg"] = mean = _average(slots["grad_avg"], gradient, group["alpha"])
        square = square - mean * mean
    move = gradient / (square.sqrt() + group["eps"])
    if momentum := group["momentum"]:
        kept["momentum_buffer"] = move = slots["momentum_buffer"] * momentum + move
    return parameter - move * moment.rate, kept


def _adagrad_slots(group: Group) -> dict[str, Start]:
    return {"sum": Start(group["initial_accumulator_value"])}


def _adagrad(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    total = slots["sum"] + gradient * gradient
    size = moment.rate / ((moment.number - 1) * group["lr_decay"] + 1)
    return parameter - gradient / (total.sqrt() + group["eps"]) * size, {"sum": total}


def _adadelta(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    rho, eps = group["rho"], group["eps"]
    square = _average_square(slots["square_avg"], gradient, rho)
    move = (slots["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * gradient
    kept = {"square_avg": square, "acc_delta": _average_square(slots["acc_delta"], move, rho)}
    return parameter - move * moment.rate, kept


# -- others ------------------------------------------------------------------------------------


def _rprop(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    torch = torch_package()
    gradient = -gradient if group["maximize"] else gradient
    shrink, grow = group["etas"]
    agreement = gradient * slots["prev"]
    factor = torch.where(agreement < 0, shrink, torch.ones_like(gradient))
    factor = torch.where(agreement > 0, grow, factor)
    size = _or_at_first(slots["step_size"], moment.rate, moment) * factor
    size = size.clamp(*group["step_sizes"])
    # Where the sign changes, the parameter waits.
    gradient = torch.where(agreement < 0, 0.0, gradient)
    return parameter - gradient.sign() * size, {"prev": gradient, "step_size": size}


def _asgd_slots(_group: Group) -> dict[str, Start]:
    return {"ax": Start(), "mu": Start(1.0, single=True), "eta": Start(single=True)}


def _asgd(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    size = _or_at_first(slots["eta"], moment.rate, moment)
    parameter = parameter * (1 - size * group["lambd"]) - gradient * size
    kept = {
        "ax": slots["ax"] + (parameter - slots["ax"]) * slots["mu"],
        "mu": 1 / (moment.number - group["t0"]).clamp(min=1.0),
        "eta": moment.rate / (moment.rate * moment.number * group["lambd"] + 1) ** group["alpha"],
    }
    return parameter, kept


UPDATES: Mapping[str, Update] = {
    "SGD": Update(_sgd_slots, _sgd, counts=False),
    "Adam": Update(_adam_slots, _adam),
    "AdamW": Update(_adam_slots, _adam),
    "Adamax": Update(lambda _: _zeros("exp_avg", "exp_inf"), _adamax),
    "NAdam": Update(
        lambda _: {**_zeros("exp_avg", "exp_avg_sq"), "mu_product": Start(1.0, single=True)}, _nadam
    ),
    "RAdam": Update(lambda _: _zeros("exp_avg", "exp_avg_sq"), _radam),
    "RMSprop": Update(_rmsprop_slots, _rmsprop),
    "Adagrad": Update(_adagrad_slots, _adagrad),
    "Adadelta": Update(lambda _: _zeros("square_avg", "acc_delta"), _adadelta),
    "Rprop": Update(lambda _: _zeros("prev", "step_size"), _rprop),
    "ASGD": Update(_asgd_slots, _asgd),
}
"""By the names of the classes of `torch.optim`."""
