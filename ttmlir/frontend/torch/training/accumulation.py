"""Gradients that several calls of a step add up before the parameters move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.frontend.torch.distributed.placing import placed_as
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.training.optimizers import Keeping, no_rows

_CALLS, _GRADIENT, _ROWS = "calls", "gradient.", "rows."


def check_count(count: Any) -> int:
    """How many calls are one round; ArgumentError for what is no such number."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ArgumentError(f"accumulate is a number of calls from 1 on, not {count!r}")
    return count


def first_values(keeping: Keeping, count: int) -> dict[str, Any]:
    """What a step keeps between the calls of a round; nothing if there is but one."""
    torch = torch_package()
    if count == 1:
        return {}
    members = {name: each for moved in keeping.groups for name, each in moved.members.items()}
    zeros = {name: torch.zeros_like(each, requires_grad=False) for name, each in members.items()}
    return {
        _CALLS: torch.tensor(0.0),
        **{f"{_GRADIENT}{name}": value for name, value in zeros.items()},
        **{f"{_ROWS}{name}": no_rows(each) for name, each in keeping.tables.items()},
    }


class Round:
    """A call among those of a round, while it is traced."""

    def __init__(
        self, kept: Mapping[str, Any], keeping: Keeping, parameters: Mapping[str, Any], count: int
    ) -> None:
        """With the buffers and parameters of the step that is traced."""
        self._kept = kept
        self._keeping = keeping
        self._tables = {name: parameters[name] for name in keeping.tables}
        for name in self._tables:
            keeping.set_marks(name, kept[f"{_ROWS}{name}"].clone())
        self._count = count
        self._calls = kept[_CALLS]
        self.goes_on = self._calls + 1 < count
        """A truth value: that this is not the last call, and nothing moves."""
        self._before: dict[str, tuple[Any, int]] = {}
        self._moved: set[int] = set()

    def end(self) -> None:
        """Count the call."""
        torch = torch_package()
        with torch.no_grad():
            self._calls.copy_(torch.where(self.goes_on, self._calls + 1, 0.0))

    # -- a loss --------------------------------------------------------------------------------

    def add(self, gradients: Mapping[str, Any]) -> dict[str, Any]:
        """The mean gradients of the round, if this is its last call; kept for the next one else."""
        torch = torch_package()
        found: dict[str, Any] = {}
        with torch.no_grad():
            for name, gradient in gradients.items():
                kept = self._kept[f"{_GRADIENT}{name}"]
                found[name] = total = kept + gradient / self._count
                kept.copy_(torch.where(self.goes_on, total, torch.zeros_like(total)))
            for name, table in self._tables.items():
                marks = self._keeping.marks(name, table)
                self._kept[f"{_ROWS}{name}"].copy_(
                    torch.where(self.goes_on, marks, torch.zeros_like(marks))
                )
        return found

    # -- a function with its own calls ---------------------------------------------------------

    def begin(self, parameters: Mapping[str, Any]) -> None:
        """Give parameters the gradients that earlier calls have left."""
        for name, parameter in parameters.items():
            if (kept := self._kept.get(f"{_GRADIENT}{name}")) is not None:
                self._put(name, parameter, kept.clone())

    def _put(self, name: str, parameter: Any, gradient: Any) -> None:
        parameter.grad = gradient
        self._before[name] = gradient, gradient._version

    def is_changed(self, name: str, parameter: Any) -> bool:
        """Whether a parameter has got a gradient in this call."""
        before, version = self._before[name]
        return parameter.grad is not before or before._version != version

    def moved(self, optimizer: int) -> None:
        """Note that the function has called `step` of an optimizer."""
        self._moved.add(optimizer)

    def clear(self, optimizer: int, parameters: Mapping[str, Any]) -> None:
        """Clear gradients at the end of a round after a move, at the begin of one before it."""
        torch = torch_package()
        is_cleared = ~self.goes_on if optimizer in self._moved else self._calls == 0
        for name, parameter in parameters.items():
            old, is_changed = parameter.grad, self.is_changed(name, parameter)
            new = torch.where(is_cleared, torch.zeros_like(old), old).detach()
            if is_changed:
                parameter.grad = new
            else:
                self._put(name, parameter, new)
            if name in self._tables:
                marks = self._keeping.marks(name, parameter)
                kept = torch.where(is_cleared, torch.zeros_like(marks), marks)
                self._keeping.set_marks(name, kept)

    def keep(self, parameters: Mapping[str, Any]) -> None:
        """Keep the gradients that the function has left."""
        with torch_package().no_grad():
            for name in self._before:
                gradient = placed_as(parameters[name].grad, parameters[name])
                self._kept[f"{_GRADIENT}{name}"].copy_(gradient)
            for name, table in self._tables.items():
                self._kept[f"{_ROWS}{name}"].copy_(self._keeping.marks(name, table))
