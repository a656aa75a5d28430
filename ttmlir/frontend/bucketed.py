"""Models compiled for a few sizes of each dynamic dimension: what `buckets` of `compile` make."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from ttmlir.errors import ArgumentError, MissingNameError
from ttmlir.frontend.buckets import BucketPlan, SizedPrograms, listed
from ttmlir.frontend.compiled import CompiledModel, CompiledPrograms, Program

if TYPE_CHECKING:
    from pathlib import Path


STEPS = 8
"""Sizes for which it is tried how results follow them."""


def grows_slowly(sizes: Sequence[int], given: Sequence[int]) -> bool:
    """True if sizes of results for some sizes of an argument, each by one larger than the one
    before, let results be cropped: they begin with what belongs to the beginning of the argument.

    So does not what is larger than the argument, as where something else comes after it, or what
    grows by more than one, as where dimensions are joined.
    """
    return all(0 <= after - before <= 1 for before, after in itertools.pairwise(sizes)) and all(
        size <= own for size, own in zip(sizes, given, strict=True)
    )


Measure = Callable[[tuple[int, ...]], Sequence[Sequence[int]]]
"""The shapes of all results, for one size for each dynamic size."""


class BucketedModel(SizedPrograms):
    """A compiled model of several programs, one of which is chosen by the sizes of a call's arrays.

    What a model of one program tells about itself, such as `inputs` or `estimate`, its programs do.
    """

    def __init__(
        self, plan: BucketPlan, programs: CompiledPrograms, measure: Measure | None = None
    ) -> None:
        """`programs` are in the order of the plan's choices; `measure` says which shapes the
        results have for any dynamic sizes."""
        self.programs = programs
        """All programs, by names such as `main_16`."""
        self._measure = None if measure is None else cache(measure)
        if any(each.is_bounded for each in programs.values()):
            raise ArgumentError(
                f"'{programs.name}': sizes of results depend on numbers, of which padding would be "
                "a part; compile for each size without buckets"
            )
        super().__init__(programs.name, plan, programs.values())

    def _extent(self, actual: tuple[int, ...], result: int, dimension: int) -> int:
        assert self._measure is not None, "it has said how the dimension follows"
        return self._measure(actual)[result][dimension]

    def _check_follows(self, extents: Sequence[int], result: int, dimension: int) -> None:
        if self._follows(extents, result, dimension):
            return
        choices = [" x ".join(map(str, choice)) for choice in self._by_choice]
        raise ArgumentError(
            f"'{self.name}': dimension {dimension} of result {result} is {listed(extents)} for the "
            f"buckets {listed(choices)}; results can be cropped only where they have the size of "
            "an argument, or a smaller one that grows with it by at most one: return it unpacked, "
            "or compile for each size"
        )

    def _follows(self, extents: Sequence[int], result: int, dimension: int) -> bool:
        """True if a dimension follows one dynamic size so that it can be cropped."""
        measure = self._measure
        if measure is None:
            return False
        try:
            return self._is_measured(measure, extents, result, dimension)
        except Exception:  # Of the framework or of the user's code, which numbers decide about.
            return False

    def _is_measured(
        self, measure: Measure, extents: Sequence[int], result: int, dimension: int
    ) -> bool:
        if list(extents) != [measure(choice)[result][dimension] for choice in self._by_choice]:
            return False
        followed: list[bool] = []
        most = [each.sizes[-1] for each in self._plan.sizes]
        for size, largest in enumerate(most):
            given = range(max(1, largest - STEPS), largest + 1)
            found = [
                measure((*most[:size], each, *most[size + 1 :]))[result][dimension]
                for each in given
            ]
            if len(set(found)) > 1:
                followed.append(grows_slowly(found, given))
        return followed == [True]

    def __getattr__(self, name: str) -> NoReturn:
        """AttributeError that says where else a name of compiled models is."""
        if name.startswith("_") or not hasattr(CompiledModel, name):
            raise MissingNameError(f"a model with buckets has no attribute '{name}'")
        first = next(iter(self.programs))
        where = f"its programs have: compiled.programs.{first}.{name}"
        if not hasattr(Program, name):
            where = "compile the model for one size to have it"
        raise MissingNameError(f"a model with buckets has no '{name}' for all sizes; {where}")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to know about the model."""
        return self.programs.warnings

    def __repr__(self) -> str:
        """The buckets, and the size of the file."""
        size = len(self.programs.to_bytes())
        return f"BucketedModel({self.name}, {super().__repr__()}, {size:,} bytes)"

    def program_for(self, *args: Any, **kwargs: Any) -> Program:
        """The program that a call with these arguments takes."""
        return super().program_for(*args, **kwargs)

    def restart(self) -> None:
        """Give state the numbers back that it began with."""
        self.programs.restart()

    def to_bytes(self) -> bytes:
        """The file of all programs."""
        return self.programs.to_bytes()

    def text(self, stage: str = "ttir", *, elide_above: int | None = None) -> str:
        """All programs, as `text` of `CompiledPrograms` gives them."""
        return self.programs.text(stage, elide_above=elide_above)

    def save(self, path: str | Path, *, golden: bool = False) -> Path:
        """Write the file of all programs, which `ttmlir.load` gives back; with `golden=True` it
        also holds examples of each size, and what the framework computes for them."""
        return self.programs.save(path, golden=golden)
