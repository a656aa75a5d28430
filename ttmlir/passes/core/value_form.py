"""Whether a module is spelled as in 2026: passes of that year ask it, and those of both."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar, cast

from ttmlir.passes.core.base import LaterPasses, Pass, Pipeline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xdsl.ir import Operation

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


CACHE_OPERATIONS = tuple(
    f"ttir.{mnemonic}"
    for mnemonic in ("fill_cache", "update_cache", "paged_fill_cache", "paged_update_cache")
)
"""Operations that write their first operand, and gave it as their result in 2025."""


def is_of_2025(root: Operation) -> bool:
    """True for a module whose operations write to destinations without saying what they accept.

    So is one whose caches are results of what writes them.
    """
    from ttmlir.mlir.core_prefix import TTCORE, core_prefix_of

    if any(op.name in CACHE_OPERATIONS and op.results for op in root.walk()):
        return True
    if core_prefix_of(root) != TTCORE:
        return False
    written = [
        op
        for op in root.walk()
        if op.name.startswith("ttir.") and getattr(op, "has_destination", False)
    ]
    return bool(written) and not any("operand_constraints" in op.properties for op in written)


def names_tt(root: Operation) -> bool:
    """True for a module whose text names the dialect `tt`, as texts of 2024 do.

    Tells programs of other dialects apart, which are written alike in all years.
    """
    from ttmlir.mlir.core_prefix import was_read_with_tt

    return was_read_with_tt(root)


def wants_values(step: Pass, root: Operation) -> bool:
    """True for a pass of ttir on a module of late 2025, whose operations write to `ttir.empty`.

    Passes see the operations of such a module as those of 2026, if all of them are there, too.
    """
    from ttmlir.mlir.core_prefix import names_empty_late

    is_of_ttir = type(step).__module__.startswith(_OF_TTIR) or step.name == "canonicalize"
    return is_of_ttir and names_empty_late(root) and is_of_2025(root) and _has_values(root)


_OF_TTIR = "ttmlir.passes.ttir."


def _has_values(root: Operation) -> bool:
    """True if all operations of ttir are also in 2026, and tensors have no layouts."""
    from ttmlir.dialects import ttir
    from ttmlir.ir.tensor_types import layout_of

    return root.name == "builtin.module" and not any(
        (isinstance(op, ttir.TTIROp) and not isinstance(op, ttir.TTIRTableOp))
        or op.name.startswith("d2m.")
        or any(layout_of(result.type) is not None for result in op.results)
        for op in root.walk()
    )


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


def _does_not_name_tt(root: Operation) -> bool:
    return not names_tt(root)


CONDITIONS: Mapping[str, Callable[[Operation], bool]] = {
    "2024": _is_earlier,
    "2025": is_of_2025,
    "2026": is_value_form,
    "tt": names_tt,
    "not-tt": _does_not_name_tt,
}
"""How modules are spelled, by the year; how those of other dialects are, by what they name."""


def run_on(later: LaterPasses, root: Operation) -> bool:
    """True if the passes run on a module."""
    return CONDITIONS[later.spelling](root)


def make_all(later: LaterPasses) -> list[Pass]:
    """The passes, each of which is left out for other modules."""
    return [when(later.spelling, each) for each in later.make()]


@dataclass(frozen=True)
class SpelledPipeline(Pipeline):
    """A pipeline some of whose passes depend on how a module is spelled."""

    def passes(self) -> Sequence[Pass]:
        """The passes for modules of all spellings."""
        made: list[Pass] = []
        for step in self.choose_steps():
            made += make_all(step) if isinstance(step, LaterPasses) else [step]
        return made

    def steps(self) -> Sequence[Pass | LaterPasses]:
        """The same, made for the first module of a spelling."""
        return self.choose_steps()

    @abstractmethod
    def choose_steps(self) -> Sequence[Pass | LaterPasses]:
        """The passes that the options ask for."""


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
