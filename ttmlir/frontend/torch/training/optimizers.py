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
"""What an optimizer keeps of a parameter between steps: tensors of its shape, by torch's names."""


@dataclass(frozen=True)
class Moment:
    """The tensors of one step that are the same for a group of parameters."""

    rate: Any
    """The learning rate: a tensor of no dimension."""
    number: Any
    """The number of the step, from 1: a tensor of no dimension."""


@dataclass(frozen=True)
class Update:
    """How an optimizer moves parameters."""

    slots: Callable[[Group], tuple[str, ...]]
    """Names of what it keeps of each parameter under some options."""
    move: Callable[[Group, Any, Any, Slots, Moment], tuple[Any, Slots]]
    """From a parameter, its gradient and what is kept to the new parameter and what is kept then.
    """


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


# -- stochastic gradient descent ---------------------------------------------------------------


def _sgd_slots(group: Group) -> tuple[str, ...]:
    return ("momentum_buffer",) if group["momentum"] else ()


def _sgd(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    kept: Slots = {}
    if momentum := group["momentum"]:
        moved = slots["momentum_buffer"] * momentum + gradient * (1 - group["dampening"])
        if group["dampening"]:
            # The first step takes all of the gradient.
            moved = torch_package().where(moment.number == 1, gradient, moved)
        kept["momentum_buffer"] = moved
        gradient = gradient + moved * momentum if group["nesterov"] else moved
    return parameter - gradient * moment.rate, kept


def _decayed(group: Group, parameter: Any, gradient: Any) -> Any:
    """The gradient with the sign that is asked for, and the pull of the parameter to 0."""
    gradient = -gradient if group["maximize"] else gradient
    decay = group["weight_decay"]
    return gradient + parameter * decay if decay else gradient


# -- Adam --------------------------------------------------------------------------------------


def _adam_slots(group: Group) -> tuple[str, ...]:
    return ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))


def _adam(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    torch = torch_package()
    if group.get("decoupled_weight_decay"):
        gradient = -gradient if group["maximize"] else gradient
        if decay := group["weight_decay"]:
            parameter = parameter * (1 - moment.rate * decay)
    else:
        gradient = _decayed(group, parameter, gradient)
    beta1, beta2 = group["betas"]
    mean = slots["exp_avg"] + (gradient - slots["exp_avg"]) * (1 - beta1)
    square = slots["exp_avg_sq"] * beta2 + gradient * gradient * (1 - beta2)
    kept = {"exp_avg": mean, "exp_avg_sq": square}
    if group["amsgrad"]:
        square = torch.maximum(slots["max_exp_avg_sq"], square)
        kept["max_exp_avg_sq"] = square
    size = moment.rate / _missing(beta1, moment)
    spread = square.sqrt() / _missing(beta2, moment).sqrt() + group["eps"]
    return parameter - mean / spread * size, kept


def _missing(beta: float, moment: Moment) -> Any:
    """1 - beta ** number; what is near 0 keeps all its digits."""
    if beta == 0:
        return torch_package().ones_like(moment.number)
    return -(moment.number * math.log(beta)).expm1()


UPDATES: Mapping[str, Update] = {
    "SGD": Update(_sgd_slots, _sgd),
    "Adam": Update(_adam_slots, _adam),
    "AdamW": Update(_adam_slots, _adam),
}
"""By the names of the classes of `torch.optim`."""

COUNTING = ("Adam", "AdamW")
"""Those that keep the number of steps with each parameter."""
