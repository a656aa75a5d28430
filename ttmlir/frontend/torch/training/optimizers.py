"""What the optimizers of torch do to a parameter in one step.

The formulas are those of `torch.optim`, with the rate and the number of the step as tensors, so
that one program does every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.frontend.torch.decompositions.untraceable import Lookup
from ttmlir.frontend.torch.distributed.placing import (
    as_of_devices,
    is_distributed,
    on_one_device,
    whole_of,
)
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.training import lbfgs
from ttmlir.runtime.errors import InputError

Group = Mapping[str, Any]
"""Options of some parameters, as in `optimizer.param_groups`; a tensor is what schedules move."""
Slots = dict[str, Any]
"""What an optimizer keeps of a parameter between steps, by torch's names."""


@dataclass(frozen=True)
class Moment:
    """The tensors of one step that are the same for a group of parameters."""

    rate: Any
    """The learning rate: a tensor of no dimension."""
    number: Any
    """The number of the step, from 1: a tensor of no dimension."""
    rows: Any = None
    """Of a table whose looked up rows alone move: a truth value for each row."""


@dataclass(frozen=True)
class Start:
    """What a slot has before the first step."""

    value: float = 0.0
    shape: tuple[int, ...] | None = None
    """That of the parameter if None; `()` is one number for all of it."""

    def build(self, parameter: Any) -> Any:
        """The tensor for a parameter."""
        if self.shape == ():
            return torch_package().tensor(self.value)
        shape = parameter.shape if self.shape is None else self.shape
        value = complex(self.value, self.value) if parameter.is_complex() else self.value
        return parameter.new_full(shape, value)


@dataclass(frozen=True)
class Update:
    """How an optimizer moves parameters."""

    slots: Callable[[Group, Any], Mapping[str, Start]]
    """What it keeps of a parameter under some options."""
    move: Callable[[Group, Any, Any, Slots, Moment], tuple[Any, Slots]]
    """From a parameter, its gradient and what is kept to the new parameter and what is kept then.
    """
    counts: bool = True
    """Whether it keeps the number of steps with each parameter."""
    counts_whole: bool = False
    """Whether that is a number of Python's, not a tensor."""
    moves_rows: bool = False
    """Whether it moves rows that are looked up alone."""
    is_joint: bool = False
    """Whether it moves all parameters of a group as one vector, and keeps what it keeps with the
    first of them."""


def find_update(optimizer: Any) -> Update:
    """The update of an optimizer; TypeError for one that is not known."""
    name = type(optimizer).__name__
    if f"{type(optimizer).__module__}.".startswith("torch.optim.") and name in UPDATES:
        return UPDATES[name]
    reason = f"it takes those of torch.optim that are {', '.join(UPDATES)}"
    refuse(
        f"ttmlir.train_step cannot compile the optimizer {name}; {reason}; "
        "ttmlir.compile takes a step function that computes other updates from torch.func.grad"
    )


def optimizers_in(given: Any) -> list[Any]:
    """One optimizer, or several, as a list; TypeError for what is none."""
    found = listed(given)
    for each in found:
        if not isinstance(each, torch_package().optim.Optimizer):
            kind = type(each).__name__
            refuse(f"an optimizer is one of torch.optim, or a list of several, not a {kind}")
    return found


def listed(given: Any) -> list[Any]:
    """One thing, or several, as a list."""
    several = isinstance(given, (list, tuple))
    return list(cast("Sequence[Any]", given)) if several else [given]


def refuse(reason: str) -> NoReturn:
    """Fail with what a step of training takes."""
    raise ArgumentTypeError(reason)


def _zeros(*names: str) -> dict[str, Start]:
    return {name: Start() for name in names}


def _always(slots: Mapping[str, Start]) -> Callable[[Group, Any], Mapping[str, Start]]:
    """The same slots for all options and parameters."""
    return lambda _group, _parameter: slots


# -- stochastic gradient descent ---------------------------------------------------------------


def _momentum_slots(group: Group, _: Any) -> dict[str, Start]:
    return _zeros("momentum_buffer") if _is_on(group["momentum"]) else {}


def _is_on(factor: Any) -> bool:
    """True for a factor that is not 0, or is one that a schedule moves."""
    return hasattr(factor, "dim") or bool(factor)


def _sgd(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    gradient = _decayed(group, parameter, gradient)
    kept: Slots = {}
    if _is_on(momentum := group["momentum"]):
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


def _adam_slots(group: Group, _: Any) -> dict[str, Start]:
    more = ("max_exp_avg_sq",) if group.get("amsgrad") else ()
    return _zeros("exp_avg", "exp_avg_sq", *more)


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


def _average(kept: Any, gradient: Any, beta: Any) -> Any:
    return kept + (gradient - kept) * (1 - beta)


def _average_square(kept: Any, gradient: Any, beta: float) -> Any:
    return kept * beta + gradient * gradient * (1 - beta)


def _averages(group: Group, gradient: Any, slots: Slots) -> tuple[Any, Any]:
    """The new averages of the gradient and of its square."""
    beta1, beta2 = group["betas"]
    mean = _average(slots["exp_avg"], gradient, beta1)
    return mean, _average_square(slots["exp_avg_sq"], gradient, beta2)


def _missing(beta: Any, moment: Moment) -> Any:
    """1 - beta ** number; what is near 0 keeps all its digits."""
    if not _is_on(beta):
        return torch_package().ones_like(moment.number)
    fall = beta.log() if hasattr(beta, "dim") else math.log(beta)
    return -(moment.number * fall).expm1()


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


def _rmsprop_slots(group: Group, parameter: Any) -> dict[str, Start]:
    centered = ("grad_avg",) if group["centered"] else ()
    return {**_zeros("square_avg", *centered), **_momentum_slots(group, parameter)}


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
    if _is_on(momentum := group["momentum"]):
        kept["momentum_buffer"] = move = slots["momentum_buffer"] * momentum + move
    return parameter - move * moment.rate, kept


def _adagrad_slots(group: Group, _: Any) -> dict[str, Start]:
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


def _asgd_slots(*_: Any) -> dict[str, Start]:
    return {"ax": Start(), "mu": Start(1.0, shape=()), "eta": Start(shape=())}


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


# -- matrices ----------------------------------------------------------------------------------


def _adafactor_slots(_: Group, parameter: Any) -> dict[str, Start]:
    shape = tuple(parameter.shape)
    if len(shape) < 2:
        return _zeros("variance")
    return {
        "row_var": Start(shape=(*shape[:-1], 1)),
        "col_var": Start(shape=(*shape[:-2], 1, shape[-1])),
    }


def _adafactor(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    torch = torch_package()
    gradient = -gradient if group["maximize"] else gradient
    eps1, eps2 = group["eps"]
    eps1 = torch.finfo(parameter.dtype).eps if eps1 is None else eps1
    share = moment.number ** group["beta2_decay"]
    rate = torch.minimum(moment.rate, moment.number.rsqrt())
    size = _root_mean_square(parameter).clamp(min=eps2) * rate
    if decay := group["weight_decay"]:
        parameter = parameter * (1 - moment.rate * decay)
    square = gradient * gradient
    if gradient.dim() > 1:
        means = {"row_var": square.mean(-1, keepdim=True), "col_var": square.mean(-2, keepdim=True)}
        kept = {name: slots[name] + (mean - slots[name]) * share for name, mean in means.items()}
        rows = kept["row_var"]
        variance = rows @ kept["col_var"] / rows.mean(-2, keepdim=True).clamp(min=eps1)
    else:
        variance = slots["variance"] + (square - slots["variance"]) * share
        kept = {"variance": variance}
    move = gradient * variance.clamp(min=eps1 * eps1).rsqrt()
    size = size / (_root_mean_square(move) / group["d"]).clamp(min=1.0)
    return parameter - move * size, kept


def _root_mean_square(x: Any) -> Any:
    return x.square().mean().sqrt()


def _muon(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    momentum = group["momentum"]
    buffer = _average(slots["momentum_buffer"], gradient, momentum)
    move = gradient + (buffer - gradient) * momentum if group["nesterov"] else buffer
    rows, columns = parameter.shape
    match group["adjust_lr_fn"]:
        case None | "original":
            ratio = math.sqrt(max(1, rows / columns))
        case "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        case _:
            ratio = 1.0
    parameter = parameter * (1 - moment.rate * group["weight_decay"])
    turned = _orthogonalized(group, move).to(parameter.dtype)
    return parameter - turned * (moment.rate * ratio), {"momentum_buffer": buffer}


def _orthogonalized(group: Group, matrix: Any) -> Any:
    """About the nearest matrix with orthogonal rows or columns: Newton and Schulz.

    As torch does, it keeps matrices in bf16, and scales and adds their products before it rounds.
    """
    a, b, c = group["ns_coefficients"]
    is_tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.bfloat16()
    x = x.T if is_tall else x
    x = x / x.norm().clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        wide, products = x.float(), (x @ x.T).float()
        change = (products * b + (products @ products) * c).bfloat16()
        x = (wide * a + change.float() @ wide).bfloat16()
    return x.T if is_tall else x


# -- tables ------------------------------------------------------------------------------------


def _sparse_adam(
    group: Group, parameter: Any, gradient: Any, slots: Slots, moment: Moment
) -> tuple[Any, Slots]:
    """Adam of the rows that were looked up; nothing changes in others."""
    torch = torch_package()
    rows = moment.rows.reshape(-1, *(1,) * (parameter.dim() - 1))
    gradient = -gradient if group["maximize"] else gradient
    mean, square = _averages(group, gradient, slots)
    beta1, beta2 = group["betas"]
    size = moment.rate * _missing(beta2, moment).sqrt() / _missing(beta1, moment)
    moved = parameter - mean / (square.sqrt() + group["eps"]) * size
    kept = {"exp_avg": mean, "exp_avg_sq": square}
    new = {name: torch.where(rows, each, slots[name]) for name, each in kept.items()}
    return torch.where(rows, moved, parameter), new


def no_rows(table: Any) -> Any:
    """A 0 for each row of a table."""
    return torch_package().zeros(table.shape[:1])


def _mark_rows(found: Any, table: Any, lookups: Sequence[Lookup]) -> Any:
    """What is there for each row of a table, with 1 for those that are looked up."""
    torch = torch_package()
    numbers = torch.arange(table.shape[0])
    for each in lookups:
        rows = on_one_device(each.rows).reshape(-1).long()
        is_row = torch.ones_like(rows, dtype=found.dtype)
        marked = torch.zeros_like(found).scatter(0, rows, is_row)
        if each.padding is not None:
            marked = marked * (numbers != each.padding % table.shape[0])
        found = torch.maximum(found, marked)
    return found


def _lbfgs_slots(group: Group, _: Any) -> dict[str, Start]:
    lengths = [_as_real(parameter).numel() for parameter in group["params"]]
    shapes = lbfgs.shapes_of_kept(group["history_size"], sum(lengths))
    return {name: Start(shape=shape) for name, shape in shapes.items()}


def _refuse_one_loss(*_: Any) -> NoReturn:
    refuse(
        "LBFGS computes the loss several times in a step, so it goes without a GradScaler, and "
        "train_function wants optimizer.step(closure) with a function that computes the loss and "
        "its gradients"
    )


UPDATES: Mapping[str, Update] = {
    "SGD": Update(_momentum_slots, _sgd, counts=False),
    "Adam": Update(_adam_slots, _adam),
    "AdamW": Update(_adam_slots, _adam),
    "Adamax": Update(_always(_zeros("exp_avg", "exp_inf")), _adamax),
    "NAdam": Update(
        _always({**_zeros("exp_avg", "exp_avg_sq"), "mu_product": Start(1.0, shape=())}), _nadam
    ),
    "RAdam": Update(_always(_zeros("exp_avg", "exp_avg_sq")), _radam),
    "RMSprop": Update(_rmsprop_slots, _rmsprop),
    "Adagrad": Update(_adagrad_slots, _adagrad),
    "Adadelta": Update(_always(_zeros("square_avg", "acc_delta")), _adadelta),
    "Rprop": Update(_always(_zeros("prev", "step_size")), _rprop),
    "ASGD": Update(_asgd_slots, _asgd),
    "Adafactor": Update(_adafactor_slots, _adafactor),
    "Muon": Update(_always(_zeros("momentum_buffer")), _muon, counts=False),
    "SparseAdam": Update(_adam_slots, _sparse_adam, counts_whole=True, moves_rows=True),
    "LBFGS": Update(_lbfgs_slots, _refuse_one_loss, counts=False, is_joint=True),
}
"""By the names of the classes of `torch.optim`."""


# --- Keeping --------------------------------------------------------------------------------------
# What optimizers keep of the parameters of a step, and how they move them.

COUNT = "step"
"""The counter of the first parameter's steps; others have optimizer and first count after it."""


@dataclass
class Moved:
    """The parameters of one group of an optimizer."""

    optimizer: int
    """The number of the optimizer, and of the group among those of all."""
    number: int
    group: Group
    update: Update
    members: dict[str, Any] = field(default_factory=dict[str, Any])
    """Parameters by their names in the module."""
    counters: dict[str, str] = field(default_factory=dict[str, str])
    """The buffer that counts the steps of each."""
    fixed: dict[str, Any] = field(init=False)
    """The options that the program was compiled for."""

    def __post_init__(self) -> None:
        """Read the options as they are now."""
        self.fixed = fixed_options(self.group)

    def slots(self, name: str, parameter: Any, group: Group | None = None) -> Mapping[str, Start]:
        """What is kept of a member; under the options of another group if one is given."""
        if self.update.is_joint and name != next(iter(self.members)):
            return {}
        return self.update.slots(_with_schedules(self.group if group is None else group), parameter)

    def check_options(self, group: Group) -> None:
        """InputError for a group with other options than the program was compiled for."""
        for name, value in fixed_options(group, is_cycled(self.group)).items():
            if name not in self.fixed or self.fixed[name] != value:
                raise InputError(
                    f"'{name}' of parameter group {self.number} is {value!r}, but the step "
                    f"was compiled for {self.fixed.get(name)!r}; 'lr' may change, and a momentum "
                    "that a scheduler moves which was made before the step; for other changes "
                    "call ttmlir.train_step again"
                )

    def number_of(self, value: Any) -> Any:
        """A number as a tensor, in double precision where parameters are, as torch computes."""
        torch = torch_package()
        wide = (torch.float64, torch.complex128)
        is_wide = any(each.dtype in wide for each in self.members.values())
        return torch.tensor(float(value), dtype=torch.float64 if is_wide else torch.float32)

    def read(self, name: str, parameter: Any, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the state of torch's optimizer for a member says, with a tensor for each slot."""
        if not self.update.is_joint or not state:
            return state
        shapes = {slot: start.shape or () for slot, start in self.slots(name, parameter).items()}
        return lbfgs.from_state(state, shapes)


class Keeping:
    """The parameters that optimizers move, and the first values of what they keep."""

    def __init__(self, module: Any, optimizers: Any) -> None:
        """Of the parameters of a module; TypeError for what cannot be compiled."""
        self.optimizers = optimizers_in(optimizers)
        self.buffers: dict[str, Any] = {}
        """By the name of the slot and of the parameter."""
        self.groups: list[Moved] = []
        self._counters: dict[tuple[int, float], str] = {}
        names = {id(parameter): name for name, parameter in module.named_parameters()}
        for number, optimizer in enumerate(self.optimizers):
            update = find_update(optimizer)
            for group in optimizer.param_groups:
                moved = Moved(number, len(self.groups), group, update)
                self._add(moved, names)
                self.groups.append(moved)
        self.buffers.setdefault(COUNT, torch_package().tensor(0.0))
        self._found: dict[str, set[str]] = {}
        self._lookups: Sequence[Lookup] = ()
        """What is looked up in the step that is traced."""
        self._earlier: dict[str, Any] = {}
        """Marks of rows by tables that were looked up before, and how many lookups these have."""
        self._seen: dict[str, int] = {}

    def _add(self, moved: Moved, names: Mapping[int, str]) -> None:
        torch = torch_package()
        optimizer = self.optimizers[moved.optimizer]
        for parameter in moved.group["params"]:
            if id(parameter) not in names:
                refuse("the optimizer has a parameter that the model does not have")
            if moved.update.is_joint and is_distributed(parameter):
                refuse("LBFGS moves parameters of one device; Adam moves those of several")
            if not parameter.requires_grad:
                if moved.update.is_joint:
                    refuse("LBFGS moves all its parameters; give it those that require a gradient")
                continue
            name = names[id(parameter)]
            if any(name in other.members for other in self.groups):
                refuse(f"two optimizers move the parameter '{name}'; one of them may")
            moved.members[name] = parameter
            known = moved.read(name, parameter, optimizer.state.get(parameter, {}))
            count = float(known.get("step", 0))
            for slot, start in moved.slots(name, parameter).items():
                value = known.get(slot)
                if value is None:
                    value = start.build(parameter)
                elif not moved.update.counts:
                    # How many is not known; the next one is not the first.
                    count = max(count, 1.0)
                self.buffers[f"{slot}.{name}"] = value.detach().clone()
            moved.counters[name] = counter = self._counter(moved.optimizer, count)
            self.buffers.setdefault(counter, torch.tensor(count))

    def _counter(self, optimizer: int, count: float) -> str:
        """The name of the counter of an optimizer's parameters that have done so many steps."""
        name = COUNT if not self._counters else f"{COUNT}_{optimizer}_{int(count)}"
        return self._counters.setdefault((optimizer, count), name)

    def check_others(
        self, parameters: Mapping[str, Any], optimizers: Sequence[Any], *, are_read: bool
    ) -> None:
        """Refuse optimizers unlike those of the step, for other parameters of these names.

        From those that are read the step goes on, so they have its options. What is written into
        others is all that they keep.
        """
        wanted = [type(each).__name__ for each in self.optimizers]
        found = [type(each).__name__ for each in optimizers]
        if found != wanted:
            raise ArgumentError(
                f"the optimizers of the step are {', '.join(wanted)}, not {', '.join(found)}"
            )
        for moved in self.groups:
            groups = {
                id(parameter): group
                for group in optimizers[moved.optimizer].param_groups
                for parameter in group["params"]
            }
            for name, parameter in moved.members.items():
                group = groups.get(id(parameters[name]))
                if group is None:
                    raise ArgumentError(
                        f"optimizer {moved.optimizer} ({found[moved.optimizer]}) does not move "
                        f"the parameter '{name}' of the model, as that of the step does; several "
                        "are given in the step's order"
                    )
                if are_read:
                    moved.check_options(group)
                    continue
                slots = moved.slots(name, parameter, group)
                more = [slot for slot in slots if f"{slot}.{name}" not in self.buffers]
                if more and moved.update.counts:
                    raise ArgumentError(
                        f"optimizer {moved.optimizer} ({found[moved.optimizer]}) keeps "
                        f"'{more[0]}' of '{name}', which the step does not; compile a step of "
                        "optimizers with the same options"
                    )

    def of_others(self, parameters: Mapping[str, Any], optimizers: Sequence[Any]) -> dict[str, Any]:
        """What other optimizers keep of other parameters of these names, by the names of buffers.

        InputError if parameters that are counted together have done different numbers of steps.
        """
        found: dict[str, Any] = {}
        for moved in self.groups:
            state = optimizers[moved.optimizer].state
            for name, counter in moved.counters.items():
                known = moved.read(name, parameters[name], state.get(parameters[name], {}))
                slots = moved.slots(name, parameters[name])
                for slot, start in slots.items():
                    value = known.get(slot)
                    found[f"{slot}.{name}"] = (
                        start.build(whole_of(parameters[name], f"'{name}'"))
                        if value is None
                        else value
                    )
                if not known:
                    continue
                if moved.update.counts:
                    number = float(known["step"])
                else:
                    # Not the first, if there is anything.
                    number = max(float(self.buffers[counter]), float(bool(slots)))
                if float(found.setdefault(counter, torch_package().tensor(number))) != number:
                    raise InputError(
                        f"'{name}' has done {int(number)} steps, and other parameters that are "
                        f"counted with it {int(found[counter])}; call ttmlir.train_step again"
                    )
            for counter in moved.counters.values():
                # A new optimizer begins to count.
                found.setdefault(counter, torch_package().tensor(0.0))
        return found

    def rates(self) -> dict[str, list[Any]]:
        """What schedules move in each group, as tensors by the keyword that a step takes."""
        found = {"lr": [moved.number_of(moved.group["lr"]) for moved in self.groups]}
        cycled = [moved for moved in self.groups if is_cycled(moved.group)]
        if cycled:
            found["momentum"] = [moved.number_of(_momentum(moved.group)) for moved in cycled]
        return found

    def apply(
        self,
        module: Any,
        gradients: Mapping[str, Any],
        rates: Mapping[str, Sequence[Any]],
        optimizer: int | None = None,
        *,
        skips: Any = None,
    ) -> None:
        """Move the parameters of a traced module by gradients: those of one optimizer, or all.

        What has no gradient stays as it is, and so does everything where `skips` is true.
        """
        torch = torch_package()
        parameters = dict(module.model.named_parameters())
        kept = dict(module.optimizer.named_buffers())
        chosen = [each for each in self.groups if optimizer in (None, each.optimizer)]
        with torch.no_grad():
            numbers = self._count(chosen, kept, gradients, skips)
            for moved in chosen:
                if moved.update.is_joint:
                    _refuse_one_loss()
                group = self._with_rates(moved, rates)
                for name in moved.members:
                    if name not in gradients:
                        continue
                    parameter = parameters[name]
                    slots: Slots = {
                        slot: kept[f"{slot}.{name}"]
                        for slot in moved.update.slots(group, parameter)
                    }
                    rate, number = rates["lr"][moved.number], numbers[moved.counters[name]]
                    rows = self._rows_to_move(moved, name, parameter)
                    moment = Moment(rate, number.to(rate.dtype), rows)
                    # Optimizers take complex numbers for pairs of real ones.
                    given = {slot: _as_real(value) for slot, value in slots.items()}
                    new_parameter, new = moved.update.move(
                        group, _as_real(parameter), _as_real(gradients[name]), given, moment
                    )
                    _write(parameter, new_parameter, skips)
                    for slot, value in new.items():
                        _write(slots[slot], value, skips)

    def joint(self, optimizer: int) -> Moved | None:
        """The group of an optimizer that moves all its parameters as one vector."""
        found = [each for each in self.groups if each.optimizer == optimizer]
        return found[0] if found[0].update.is_joint else None

    def only_joint(self) -> Moved | None:
        """The joint group of a step with one loss; TypeError if others move besides it."""
        found = [each for each in self.groups if each.update.is_joint]
        if found and len(self.groups) > 1:
            refuse(
                "ttmlir.train_step takes LBFGS alone, not among other optimizers; "
                "ttmlir.train_function takes a step with several"
            )
        return found[0] if found else None

    def minimize(
        self,
        module: Any,
        moved: Moved,
        rates: Mapping[str, Sequence[Any]],
        evaluate: Callable[[], tuple[Any, Mapping[str, Any]]],
    ) -> Any:
        """Move the parameters of a joint group of a traced module.

        `evaluate` computes the loss, or several values of which it is the first, and gradients by
        the names of parameters, as often as it is called; its values before the step are returned.
        """
        torch = torch_package()
        parameters, buffers = dict(module.model.named_parameters()), list(module.model.buffers())
        kept = dict(module.optimizer.named_buffers())
        members = {name: parameters[name] for name in moved.members}
        first = next(iter(members))
        slots = {slot: kept[f"{slot}.{first}"] for slot in moved.slots(first, members[first])}

        def write(values: Any) -> None:
            parts = values.split([_as_real(each).numel() for each in members.values()])
            for parameter, part in zip(members.values(), parts, strict=True):
                _write(parameter, part.view_as(_as_real(parameter)))

        found: list[Any] = []

        def evaluate_at(values: Any, runs: Any) -> tuple[Any, Any]:
            before = [buffer.clone() for buffer in buffers]
            if runs is not None:
                write(values)
            with torch.enable_grad():
                value, gradients = evaluate()
            found.append(value)
            if runs is not None:
                for buffer, old in zip(buffers, before, strict=True):
                    buffer.copy_(torch.where(runs, buffer, old))
            zero = {name: torch.zeros_like(each) for name, each in members.items()}
            return loss_of(value).detach(), _joined({**zero, **gradients}, members)

        with torch.no_grad():
            counted = dict.fromkeys(members, None)
            self._count([moved], kept, counted, None)
            start, rate = _joined(members, members), rates["lr"][moved.number]
            moved_to, new = lbfgs.minimize(moved.group, start, slots, rate, evaluate_at)
            write(moved_to)
            for slot, value in new.items():
                slots[slot].copy_(value)
        return found[0]

    def _count(
        self,
        groups: Sequence[Moved],
        kept: Mapping[str, Any],
        gradients: Mapping[str, Any],
        skips: Any,
    ) -> dict[str, Any]:
        """Count the step; the new numbers of steps by the names of their counters."""
        found: dict[str, set[str]] = {}
        for moved in groups:
            for name, counter in moved.counters.items():
                if name in gradients:
                    found.setdefault(counter, set()).add(name)
        numbers: dict[str, Any] = {}
        for counter, names in found.items():
            if self._found.setdefault(counter, names) != names:
                odd = sorted(self._found[counter] ^ names)[0]
                refuse(
                    f"the parameter '{odd}' has a gradient in one step of its optimizer and none "
                    "in another one of the same program; give such parameters an optimizer of "
                    "their own"
                )
            numbers[counter] = kept[counter] + 1
            _write(kept[counter], numbers[counter], skips)
        return numbers

    def _with_rates(self, moved: Moved, rates: Mapping[str, Sequence[Any]]) -> Group:
        if not is_cycled(moved.group):
            return moved.group
        before = [each for each in self.groups[: moved.number] if is_cycled(each.group)]
        return _with_momentum(moved.group, rates["momentum"][len(before)])

    def begin(self, lookups: Sequence[Lookup]) -> None:
        """Forget what an earlier trace of the step has found; lookups are noted in this list."""
        self._found.clear()
        self._lookups = lookups
        self._earlier.clear()
        self._seen.clear()

    # -- rows that are looked up ---------------------------------------------------------------

    @property
    def tables(self) -> dict[str, Any]:
        """Parameters of which rows that are looked up move alone, by their names."""
        groups = [moved for moved in self.groups if moved.update.moves_rows]
        return {name: each for moved in groups for name, each in moved.members.items()}

    def marks(self, name: str, table: Any) -> Any:
        """A number for each row of a traced table: above 0 if it has a gradient."""
        new = [each for each in self._lookups[self._seen.get(name, 0) :] if each.table is table]
        earlier = self._earlier.get(name)
        return _mark_rows(no_rows(table) if earlier is None else earlier, table, new)

    def set_marks(self, name: str, marks: Any = None) -> None:
        """Replace what was looked up of a table by now; by nothing without marks."""
        self._earlier[name] = marks
        self._seen[name] = len(self._lookups)

    def _rows_to_move(self, moved: Moved, name: str, parameter: Any) -> Any:
        if not moved.update.moves_rows:
            return None
        if not any(each.table is parameter for each in self._lookups):
            refuse(
                "SparseAdam moves tables of Embedding(sparse=True) and EmbeddingBag(sparse=True) "
                "alone, as torch's does; Adam moves other parameters"
            )
        return as_of_devices(self.marks(name, parameter) > 0, parameter)


def loss_of(value: Any) -> Any:
    """The loss that a step returns, alone or before other values."""
    return cast("Sequence[Any]", value)[0] if isinstance(value, (tuple, list)) else value


def _joined(tensors: Mapping[str, Any], names: Iterable[str]) -> Any:
    """One vector of the tensors with these names."""
    parts = [_as_real(tensors[name]).detach().reshape(-1) for name in names]
    return torch_package().cat(parts)


def _as_real(tensor: Any) -> Any:
    torch = torch_package()
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _write(tensor: Any, values: Any, skips: Any = None) -> None:
    """Copy what was computed of a tensor, as pairs if it is complex, into it; unless `skips`."""
    torch = torch_package()
    if tensor.is_complex():
        values = torch.view_as_complex(values)
    tensor.copy_(values if skips is None else torch.where(skips, tensor, values))


_MARK = "max_momentum"
"""What schedules that move the momentum, or the first beta, leave in a group."""


def is_cycled(group: Group) -> bool:
    """True if a schedule moves the momentum of a group, as CyclicLR and OneCycleLR do."""
    return _MARK in group


def _momentum(group: Group) -> Any:
    return group["momentum"] if "momentum" in group else group["betas"][0]


def _with_momentum(group: Group, momentum: Any) -> Group:
    if "momentum" in group:
        return {**group, "momentum": momentum}
    return {**group, "betas": (momentum, *group["betas"][1:])}


def _with_schedules(group: Group) -> Group:
    """The options with a tensor where a schedule moves one."""
    return _with_momentum(group, torch_package().tensor(0.0)) if is_cycled(group) else group


def fixed_options(group: Group, has_schedule: bool | None = None) -> dict[str, Any]:
    """The options of a group that are part of the program.

    Without the momentum if a schedule moves it, which the group itself says if nobody else does.
    """
    fixed = {name: value for name, value in group.items() if name not in _LOOSE}
    if is_cycled(group) if has_schedule is None else has_schedule:
        fixed = {name: value for name, value in fixed.items() if name != "momentum"}
        if "betas" in fixed:
            fixed["betas"] = group["betas"][1:]
    return fixed


_LOOSE = (
    *("params", "lr", "foreach", "fused", "capturable", "differentiable"),
    # What schedules write down for themselves.
    *("initial_lr", "max_lr", "min_lr", "swa_lr", "base_momentum", "max_momentum"),
)
"""Options that may change, or that make no difference."""
