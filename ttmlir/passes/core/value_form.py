"""Whether a module is spelled as in 2026: passes of that year ask it, and those of both."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.ir import Operation

    from ttmlir.passes.core.base import Pass

PassT = TypeVar("PassT", bound="Pass")

_MARKS = frozenset(("ttcore.device", "ttcore.load_cached", "ttcore.device_module"))
_OPEN = ("ttir.", "ttnn.")


def is_value_form(root: Operation) -> bool:
    """True for a module whose operations make their results, or that has a module for the device.

    Operations that have no destination in either spelling, such as constants, do not tell.
    """
    for op in root.walk():
        if op.name in _MARKS:
            return True
        if op.name.startswith(_OPEN):
            has_destination = getattr(op, "has_destination", None)
            if has_destination is not None:
                return not has_destination
    return False


def in_value_form(passes: Sequence[Pass]) -> list[Pass]:
    """The passes, which are left out for modules that are not spelled as in 2026."""
    return [_only(each, late=True) for each in passes]


def in_earlier_form(passes: Sequence[Pass]) -> list[Pass]:
    """The passes, which are left out for modules that are spelled as in 2026."""
    return [_only(each, late=False) for each in passes]


def _only(step: PassT, *, late: bool) -> PassT:
    """The same pass with the same options, for modules of one spelling."""
    cls = _class_for(type(step), late=late)
    made = object.__new__(cls)
    for name, value in vars(step).items():
        object.__setattr__(made, name, value)
    return cast("PassT", made)


@cache
def _class_for(cls: type[Pass], *, late: bool) -> type[Pass]:
    def applies(self: Pass, op: Operation) -> bool:
        return is_value_form(op) is late and cls.applies(self, op)

    def run(self: Pass, ctx: Context, op: Operation) -> None:
        # Whoever runs passes without a manager leaves them out, too.
        if applies(self, op):
            cls.run(self, ctx, op)

    namespace = {
        "applies": applies,
        "run": run,
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
    }
    return type(cls.__name__, (cls,), namespace)
