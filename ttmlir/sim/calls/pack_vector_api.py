"""Calls of the PACK thread on the vector unit, which works on the half of DST that it waited for.

Source: tt-metal 0.81, the headers of `ttmlir.optable.kernel.pack_vector`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from ttmlir.optable.kernel.cpp_compute_calls import PREFIX
from ttmlir.optable.kernel.pack_vector import CALLS
from ttmlir.sim.calls.compute_api import ComputeApi
from ttmlir.sim.calls.followed_lanes import FollowedLanesApi
from ttmlir.sim.calls.kernel_api import Template, declared_calls, kernel_call
from ttmlir.sim.calls.lanes_api import compute_by
from ttmlir.sim.calls.late_vector_api import LateVectorApi
from ttmlir.sim.machine.registers import Half


class _PackUnit(LateVectorApi):
    """The vector unit, with the half of DST of the PACK thread."""

    @property
    def half(self) -> Half:
        """That half."""
        return self.dst.pack


class PackVectorApi(ComputeApi):
    """The calls; each is one of the vector unit."""

    @cached_property
    def unit(self) -> _PackUnit:
        """The vector unit; a run without such calls makes none."""
        return _PackUnit(self.core, self.thread, self.options, self.settings)

    @kernel_call()
    def exp_packthread_tile_init(self, *, template: Template = ()) -> None:
        """Prepare exponentials, and remember the factor of the fast form, bits of float32."""
        self.unit.prepare_exponential("exp_packthread_tile_init", template)

    @kernel_call()
    def exp_packthread_tile(
        self, dst: int, mode: int = 4, scale: int = 0x3F80, *, template: Template = ()
    ) -> None:
        """Of x, or of x times a number."""
        self.unit.exponentiate("exp_packthread_tile", dst, scale, template)


def _add_methods() -> None:
    """Give the class a method for every definition that it does not define."""
    for definition in CALLS:
        name = definition.cpp
        if name in vars(PackVectorApi):
            continue
        method = _preparing(name)
        if definition.reference is not None:
            method = _computing(compute_by(definition))
        method.__name__ = name
        method.__doc__ = definition.summary
        setattr(PackVectorApi, name, method)


def _add_instructions() -> None:
    """Give the class the instructions on lanes that sfpi's classes call."""
    for name, facts in declared_calls(FollowedLanesApi).items():
        if name.startswith(PREFIX):
            method = kernel_call(pure=facts.pure, steady=facts.steady)(_instructing(name))
            method.__name__ = name
            setattr(PackVectorApi, name, method)


def _instructing(name: str) -> Callable[..., Any]:
    def method(self: PackVectorApi, *arguments: Any) -> Any:
        """An instruction of the vector unit."""
        return getattr(self.unit, name)(*arguments)

    return method


def _computing(compute: Callable[..., None]) -> Callable[..., None]:
    @kernel_call()
    def method(self: PackVectorApi, *arguments: Any, template: Template = ()) -> None:
        compute(self.unit, *arguments, template=template)

    return method


def _preparing(name: str) -> Callable[..., None]:
    @kernel_call()
    def method(self: PackVectorApi, *, template: Template = ()) -> None:
        self.unit.prepare_vector(name)

    return method


_add_methods()
_add_instructions()
