"""`torch.amp.GradScaler` in a step of training: its scale and what it counts are state.

The scaler looks at numbers to find out whether it moves parameters; the program computes both, and
keeps the old ones where a gradient is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ttmlir.errors import ArgumentTypeError, UsageError
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.replacing import attributes_replaced

SCALE, COUNT = "scale", "count"
"""The names of what is kept of a scaler."""


def read_scaler(scaler: Any) -> dict[str, Any]:
    """The scale of a scaler, and how many steps were taken since it was changed."""
    torch = torch_package()
    if not isinstance(scaler, torch.amp.GradScaler):
        raise ArgumentTypeError(f"a scaler is a torch.amp.GradScaler, not {scaler!r}")
    known = scaler._scale
    tracker = scaler._growth_tracker
    return {
        SCALE: torch.tensor(float(scaler._init_scale if known is None else known)),
        COUNT: torch.tensor(
            int(scaler._init_growth_tracker if tracker is None else tracker), dtype=torch.int32
        ),
    }


def write_scaler(scaler: Any, values: Mapping[str, Any]) -> None:
    """Let a scaler go on with other values."""
    scaler._scale = values[SCALE].clone()
    scaler._growth_tracker = values[COUNT].clone()


_MOVES = ("step", "unscale_", "update")
"""What of a scaler looks at numbers."""


@contextmanager
def other_scalers_refused() -> Generator[None]:
    """Let calls of scalers say what to do, other than of those that are replaced themselves."""
    kind = torch_package().amp.GradScaler
    refusing = {name: _refuse_unless_disabled(name, getattr(kind, name)) for name in _MOVES}
    with attributes_replaced(kind, refusing):
        yield


def _refuse_unless_disabled(name: str, before: Callable[..., Any]) -> Callable[..., Any]:
    def call(scaler: Any, *arguments: Any, **keywords: Any) -> Any:
        if not scaler.is_enabled():
            return before(scaler, *arguments, **keywords)
        raise UsageError(
            f"{name}() of a GradScaler that the step does not have; give it as "
            "ttmlir.train_function(..., scaler=scaler)"
        )

    return call


@dataclass
class Scaling:
    """What a scaler does to tensors that are traced."""

    scaler: Any
    kept: Mapping[str, Any]
    """Its scale and count, which are traced."""
    parameters_of: Callable[[Any], Mapping[str, Any]]
    """The parameters of an optimizer that are traced, by their names."""
    move_unless: Callable[[Any, Any], None]
    """Moves those of an optimizer unless a truth value says not to."""
    _wrong: dict[int, Any] = field(default_factory=dict[int, Any])
    """Whether a gradient of an optimizer is not finite, since the last update."""

    def replacements(self) -> dict[str, Any]:
        """The attributes that the scaler has meanwhile."""
        return {
            "_scale": self.kept[SCALE],
            "_growth_tracker": self.kept[COUNT],
            "step": self.step,
            "unscale_": self.unscale,
            "update": self.update,
        }

    def unscale(self, optimizer: Any) -> None:
        """As `scaler.unscale_(optimizer)`."""
        torch = torch_package()
        if id(optimizer) in self._wrong:
            raise UsageError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        is_wrong = torch.zeros((), dtype=torch.bool)
        with torch.no_grad():
            factor = 1 / self.kept[SCALE]
            for parameter in self.parameters_of(optimizer).values():
                if parameter.grad is not None:
                    is_wrong = is_wrong | ~torch.isfinite(parameter.grad).all()
                    parameter.grad = parameter.grad * factor.to(parameter.grad.dtype)
        self._wrong[id(optimizer)] = is_wrong

    def step(self, optimizer: Any) -> None:
        """As `scaler.step(optimizer)`."""
        if id(optimizer) not in self._wrong:
            self.unscale(optimizer)
        self.move_unless(optimizer, self._wrong[id(optimizer)])

    def update(self, new_scale: Any = None) -> None:
        """As `scaler.update(new_scale)`."""
        torch = torch_package()
        scale, count = self.kept[SCALE], self.kept[COUNT]
        with torch.no_grad():
            if new_scale is not None:
                scale.copy_(torch.as_tensor(new_scale, dtype=scale.dtype))
            elif not self._wrong:
                raise UsageError("No inf checks were recorded prior to update.")
            else:
                is_wrong = torch.stack([*self._wrong.values()]).any()
                taken = count + 1
                grows = ~is_wrong & (taken == self.scaler._growth_interval)
                grown = scale * self.scaler._growth_factor
                grown = torch.where(torch.isfinite(grown), grown, scale)
                smaller = scale * self.scaler._backoff_factor
                scale.copy_(torch.where(is_wrong, smaller, torch.where(grows, grown, scale)))
                count.copy_(torch.where(is_wrong | grows, 0, taken))
        self._wrong.clear()
