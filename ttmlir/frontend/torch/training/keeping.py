"""What optimizers keep of the parameters of a step, and how they move them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.training.optimizers import (
    Group,
    Moment,
    Slots,
    Update,
    find_update,
    refuse,
)
from ttmlir.runtime.errors import InputError

COUNT = "step"
"""The counter of the first parameter's steps; others have optimizer and first count behind it."""


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


class Keeping:
    """The parameters that optimizers move, and the first values of what they keep."""

    def __init__(self, module: Any, optimizers: Sequence[Any]) -> None:
        """Of the parameters of a module; TypeError for what cannot be compiled."""
        self.optimizers = list(optimizers)
        self.buffers: dict[str, Any] = {}
        """By the name of the slot and of the parameter."""
        self.groups: list[Moved] = []
        self._counters: dict[tuple[int, float], str] = {}
        names = {id(parameter): name for name, parameter in module.named_parameters()}
        for number, optimizer in enumerate(self.optimizers):
            for group in optimizer.param_groups:
                moved = Moved(number, len(self.groups), group, find_update(optimizer))
                self._add(moved, names)
                self.groups.append(moved)
        self.buffers.setdefault(COUNT, torch_package().tensor(0.0))
        self._found: dict[str, set[str]] = {}

    def _add(self, moved: Moved, names: Mapping[int, str]) -> None:
        torch = torch_package()
        optimizer = self.optimizers[moved.optimizer]
        for parameter in moved.group["params"]:
            if id(parameter) not in names:
                refuse("the optimizer has a parameter that the model does not have")
            if not parameter.requires_grad:
                continue
            name = names[id(parameter)]
            if any(name in other.members for other in self.groups):
                refuse(f"two optimizers move the parameter '{name}'; one of them may")
            known = optimizer.state.get(parameter, {})
            count = float(known.get("step", 0))
            for slot, start in moved.update.slots(_with_schedules(moved.group), parameter).items():
                value = known.get(slot)
                if value is None:
                    value = start.build(parameter)
                elif not moved.update.counts:
                    # How many is not known; the next one is not the first.
                    count = max(count, 1.0)
                self.buffers[f"{slot}.{name}"] = value.detach().clone()
            moved.members[name] = parameter
            moved.counters[name] = counter = self._counter(moved.optimizer, count)
            self.buffers.setdefault(counter, torch.tensor(count))

    def _counter(self, optimizer: int, count: float) -> str:
        """The name of the counter of an optimizer's parameters that have done so many steps."""
        name = COUNT if not self._counters else f"{COUNT}_{optimizer}_{int(count)}"
        return self._counters.setdefault((optimizer, count), name)

    def of_others(self, parameters: Mapping[str, Any], optimizers: Sequence[Any]) -> dict[str, Any]:
        """What other optimizers keep of other parameters of these names, by the names of buffers.

        InputError if parameters that are counted together have done different numbers of steps.
        """
        found: dict[str, Any] = {}
        for moved in self.groups:
            state = optimizers[moved.optimizer].state
            for name, counter in moved.counters.items():
                known = state.get(parameters[name], {})
                slots = moved.update.slots(_with_schedules(moved.group), parameters[name])
                for slot, start in slots.items():
                    value = known.get(slot)
                    found[f"{slot}.{name}"] = (
                        start.build(parameters[name]) if value is None else value
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
        return found

    def rates(self) -> dict[str, list[Any]]:
        """What schedules move in each group, as tensors by the keyword that a step takes."""
        torch = torch_package()
        found = {"lr": [torch.tensor(float(moved.group["lr"])) for moved in self.groups]}
        momenta = [_momentum(moved.group) for moved in self.groups if is_cycled(moved.group)]
        if momenta:
            found["momentum"] = [torch.tensor(float(momentum)) for momentum in momenta]
        return found

    def apply(
        self,
        module: Any,
        gradients: Mapping[str, Any],
        rates: Mapping[str, Sequence[Any]],
        optimizer: int | None = None,
    ) -> None:
        """Move the parameters of a traced module by gradients: those of one optimizer, or all.

        What has no gradient stays as it is.
        """
        torch = torch_package()
        parameters = dict(module.model.named_parameters())
        kept = dict(module.optimizer.named_buffers())
        chosen = [each for each in self.groups if optimizer in (None, each.optimizer)]
        with torch.no_grad():
            numbers = self._count(chosen, kept, gradients)
            for moved in chosen:
                group = self._with_rates(moved, rates)
                for name in moved.members:
                    if name not in gradients:
                        continue
                    parameter = parameters[name]
                    slots: Slots = {
                        slot: kept[f"{slot}.{name}"]
                        for slot in moved.update.slots(group, parameter)
                    }
                    moment = Moment(rates["lr"][moved.number], numbers[moved.counters[name]])
                    # Optimizers take complex numbers for pairs of real ones.
                    given = {slot: _as_real(value) for slot, value in slots.items()}
                    new_parameter, new = moved.update.move(
                        group, _as_real(parameter), _as_real(gradients[name]), given, moment
                    )
                    _write(parameter, new_parameter)
                    for slot, value in new.items():
                        _write(slots[slot], value)

    def _count(
        self, groups: Sequence[Moved], kept: Mapping[str, Any], gradients: Mapping[str, Any]
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
            kept[counter].copy_(numbers[counter])
        return numbers

    def _with_rates(self, moved: Moved, rates: Mapping[str, Sequence[Any]]) -> Group:
        if not is_cycled(moved.group):
            return moved.group
        before = [each for each in self.groups[: moved.number] if is_cycled(each.group)]
        return _with_momentum(moved.group, rates["momentum"][len(before)])

    def begin(self) -> None:
        """Forget what an earlier trace of the step has found."""
        self._found.clear()


def _as_real(tensor: Any) -> Any:
    torch = torch_package()
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _write(tensor: Any, values: Any) -> None:
    """Copy what was computed of a tensor, as pairs if it is complex, into it."""
    tensor.copy_(torch_package().view_as_complex(values) if tensor.is_complex() else values)


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


def fixed_options(group: Group) -> dict[str, Any]:
    """The options of a group that are part of the program."""
    fixed = {name: value for name, value in group.items() if name not in _LOOSE}
    if is_cycled(group):
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
