"""Whether a module is spelled as in 2026: passes of that year ask it, and those of both."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


def is_of_2025(root: Operation) -> bool:
    """True for a module whose operations write to destinations without saying what they accept."""
    from ttmlir.mlir.core_prefix import TTCORE, core_prefix_of

    if core_prefix_of(root) != TTCORE:
        return False
    written = [
        op
        for op in root.walk()
        if op.name.startswith("ttir.") and getattr(op, "has_destination", False)
    ]
    return bool(written) and not any("operand_constraints" in op.properties for op in written)


def in_value_form(passes: Sequence[Pass]) -> list[Pass]:
    """The passes, which are left out for modules that are not spelled as in 2026."""
    return [when("2026", each) for each in passes]


def in_earlier_form(passes: Sequence[Pass]) -> list[Pass]:
    """The passes, which are left out for modules that are spelled as in 2026."""
    return [when("2024", each) for each in passes]


def when(spelling: str, step: PassT) -> PassT:
    """The same pass with the same options, for modules of one of the `CONDITIONS`.

    In the text of a pipeline it has `spelled=` among its options.
    """
    cls = _conditional(type(step), spelling)
    made = object.__new__(cls)
    for name, value in vars(step).items():
        object.__setattr__(made, name, value)
    return cast("PassT", made)


def _is_earlier(root: Operation) -> bool:
    return not is_value_form(root)


CONDITIONS: Mapping[str, Callable[[Operation], bool]] = {
    "2024": _is_earlier,
    "2025": is_of_2025,
    "2026": is_value_form,
}
"""How modules are spelled, by the year."""


@cache
def _conditional(cls: type[Pass], spelling: str) -> type[Pass]:
    condition = CONDITIONS[spelling]

    def applies(self: Pass, op: Operation) -> bool:
        return condition(op) and cls.applies(self, op)

    namespace = {
        "applies": applies,
        "spelled": spelling,
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
    }
    return type(cls.__name__, (cls,), namespace)
