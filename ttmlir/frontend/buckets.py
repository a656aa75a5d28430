"""Sizes that differ from call to call: a program for each of a few sizes, chosen at the call.

    length = ttmlir.Buckets(16, 64, 256)
    compiled = ttmlir.compile(
        model, tokens, mask, buckets={"tokens": {1: length}, "mask": {1: length}}
    )
    compiled(tokens, mask)     # of any length up to 256

A call takes the smallest sizes that its arrays fit into. Arrays are padded at the end, with zeros
or with the number that `fill` gives; results are cropped to the size that was given. The model has
to leave padded elements out by itself, as language models do by a mask. All programs are in one
file, which holds the weights once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ttmlir.frontend.calls.calling import Number, NumericsName
from ttmlir.runtime.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ttmlir.frontend.programs import CompiledPrograms, Program
    from ttmlir.runtime.element import Array


class Buckets:
    """The sizes that one dynamic size is compiled for.

    Dimensions with the same object have the same size in each call.
    """

    def __init__(self, *sizes: int) -> None:
        """At least two sizes; the order does not matter."""
        self.sizes = tuple(sorted(set(sizes)))
        if len(self.sizes) < 2 or self.sizes[0] < 1:
            # With one size nobody could tell which dimensions of results follow it.
            raise ValueError(f"buckets are two or more sizes above 0, got {_join(sizes)}")

    def __repr__(self) -> str:
        """The sizes."""
        return f"Buckets({', '.join(map(str, self.sizes))})"


Sizes = Buckets | Sequence[int]
BucketsByName = Mapping[str, Mapping[int, Sizes]]
"""Sizes by arguments and dimensions; equal tuples are the same dynamic size."""


@dataclass(frozen=True)
class BucketPlan:
    """Which dimensions of which arrays are dynamic."""

    names: tuple[str, ...]
    """Of all arrays of a call."""
    dimensions: tuple[tuple[int, int, int], ...]
    """Array, dimension, and the number of the dynamic size."""
    sizes: tuple[Buckets, ...]

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """One size for each dynamic size, for all programs, the smallest first."""
        return list(itertools.product(*(each.sizes for each in self.sizes)))

    def shape_in(self, choice: tuple[int, ...], array: int, shape: Sequence[int]) -> list[int]:
        """The shape of an array in the program of a choice."""
        result = list(shape)
        for number, dimension, size in self.dimensions:
            if number == array:
                result[dimension] = choice[size]
        return result

    def measure(self, shapes: Sequence[Sequence[int]], name: str) -> tuple[int, ...]:
        """The dynamic sizes that arrays have; InputError where they differ or are too large."""
        found: dict[int, tuple[int, str]] = {}
        for number, dimension, size in self.dimensions:
            shape = shapes[number]
            where = f"dimension {dimension} of {self.names[number]}"
            if dimension >= len(shape):
                raise InputError(f"'{name}': there is no {where}, which has the shape {shape}")
            extent, first = found.setdefault(size, (shape[dimension], where))
            if extent != shape[dimension]:
                raise InputError(
                    f"'{name}': {where} is {shape[dimension]}, but {first} is {extent}; they have "
                    "the same buckets, so they are the same size; give each a ttmlir.Buckets of "
                    "its own if they differ"
                )
        for size, (extent, where) in found.items():
            sizes = self.sizes[size].sizes
            if not 0 < extent <= sizes[-1]:
                raise InputError(
                    f"'{name}': {where} is {extent}; the buckets are {_join(sizes)}: compile with "
                    "a larger one, or split the input"
                )
        return tuple(found[size][0] for size in range(len(self.sizes)))


def plan_buckets(
    names: Sequence[str], shapes: Sequence[Sequence[int]], buckets: BucketsByName
) -> BucketPlan:
    """The plan for arrays of these names and shapes; ValueError for buckets that do not fit."""
    sizes: list[Buckets] = []
    keys: dict[object, int] = {}
    dimensions: list[tuple[int, int, int]] = []
    _check_form(buckets)
    for name, by_dimension in buckets.items():
        if name not in names:
            raise ValueError(f"buckets: there is no argument '{name}'; there are {_join(names)}")
        number = list(names).index(name)
        for dimension, given in by_dimension.items():
            rank = len(shapes[number])
            if not -rank <= dimension < rank:
                raise ValueError(f"buckets: '{name}' has {rank} dimensions, none is {dimension}")
            key: object = given if isinstance(given, Buckets) else tuple(given)
            if key not in keys:
                keys[key] = len(sizes)
                sizes.append(given if isinstance(given, Buckets) else Buckets(*given))
            dimensions.append((number, dimension % rank, keys[key]))
    if not dimensions:
        raise ValueError(_FORM)
    return BucketPlan(tuple(names), tuple(dimensions), tuple(sizes))


_FORM = "buckets are sizes by arguments and dimensions: {'x': {0: (1, 8)}}"


def _check_form(buckets: Any) -> None:
    """TypeError for what is not written as sizes by arguments and dimensions."""
    for by_dimension in _values(buckets, buckets):
        for sizes in _values(by_dimension, buckets):
            if isinstance(sizes, str) or not isinstance(sizes, (Sequence, Buckets)):
                raise TypeError(f"{_FORM}; got {buckets!r}")


def _values(mapping: Any, buckets: Any) -> list[Any]:
    if not isinstance(mapping, Mapping):
        raise TypeError(f"{_FORM}; got {buckets!r}")
    return list(cast("Mapping[Any, Any]", mapping).values())


class BucketedModel:
    """A model of several programs, one of which is chosen by the sizes of a call's arrays."""

    def __init__(
        self, plan: BucketPlan, programs: CompiledPrograms, fill: Mapping[str, Number]
    ) -> None:
        """`programs` are in the order of the plan's choices; `fill` pads arrays by their names."""
        unknown = [name for name in fill if name not in plan.names]
        if unknown:
            raise ValueError(
                f"fill: there is no argument '{unknown[0]}'; there are {_join(plan.names)}"
            )
        self._plan = plan
        self.programs = programs
        """All programs, by names such as `main_16`."""
        self._fill = [fill.get(name, 0) for name in plan.names]
        self._by_choice = dict(zip(plan.choices, programs.values(), strict=True))
        self._cropped = self._find_cropped()

    def _find_cropped(self) -> list[list[tuple[int, int]]]:
        """For each result, its dynamic dimensions with the numbers of their sizes."""
        shapes = [[desc.shape for desc in each.outputs] for each in self._by_choice.values()]
        return [
            [
                (dimension, size)
                for dimension, extents in enumerate(zip(*of_result, strict=True))
                if (size := self._size_of(extents, number, dimension)) is not None
            ]
            for number, of_result in enumerate(zip(*shapes, strict=True))
        ]

    def _size_of(self, extents: Sequence[int], result: int, dimension: int) -> int | None:
        """The dynamic size that a dimension of a result has in all programs; None for none."""
        if len(set(extents)) == 1:
            return None
        for size, _ in enumerate(self._plan.sizes):
            if list(extents) == [choice[size] for choice in self._by_choice]:
                return size
        choices = [" x ".join(map(str, choice)) for choice in self._by_choice]
        raise ValueError(
            f"'{self.name}': dimension {dimension} of result {result} is {_join(extents)} for the "
            f"buckets {_join(choices)}; results can be cropped only where they have the size of "
            "an argument: return it unpacked, or compile for each size"
        )

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.programs.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to know about the model."""
        return self.programs.warnings

    def __repr__(self) -> str:
        """The buckets, and the size of the file."""
        dynamic = [
            f"{self._plan.names[number]}[{dimension}]: {self._plan.sizes[size].sizes}"
            for number, dimension, size in self._plan.dimensions
        ]
        size = len(self.programs.to_bytes())
        return f"BucketedModel({self.name}, {', '.join(dynamic)}, {size:,} bytes)"

    def __call__(self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any) -> Any:
        """Run the smallest program that the arrays fit into; results have the size of the call."""
        actual, choice = self._choose(args, kwargs)
        program = self._by_choice[choice]
        arrays = [
            self._pad(number, np.asarray(array), choice)
            for number, array in enumerate(program.flatten(args, kwargs))
        ]

        def crop(results: Sequence[Array]) -> list[Array]:
            return [
                array[_window({dimension: actual[size] for dimension, size in dimensions})]
                for array, dimensions in zip(results, self._cropped, strict=True)
            ]

        return program.run_arrays(arrays, numerics=numerics, change=crop)

    def program_for(self, *args: Any, **kwargs: Any) -> Program:
        """The program that a call with these arguments takes."""
        return self._by_choice[self._choose(args, kwargs)[1]]

    def _choose(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The dynamic sizes of the arguments, and those of the program for them."""
        arrays = next(iter(self.programs.values())).flatten(args, kwargs)
        actual = self._plan.measure([np.shape(each) for each in arrays], self.name)
        return actual, tuple(
            next(each for each in buckets.sizes if each >= size)
            for buckets, size in zip(self._plan.sizes, actual, strict=True)
        )

    def _pad(self, number: int, array: Array, choice: tuple[int, ...]) -> Array:
        shape = self._plan.shape_in(choice, number, array.shape)
        if shape == list(array.shape):
            return array
        padded = np.full(shape, self._fill[number], array.dtype)
        padded[_window(dict(enumerate(array.shape)))] = array
        return padded

    def save(self, path: str | Path) -> Path:
        """Write the file of all programs."""
        return self.programs.save(path)


def _window(extents: Mapping[int, int]) -> tuple[slice, ...]:
    """The first elements along some dimensions, all along the others."""
    rank = max(extents, default=-1) + 1
    return tuple(slice(extents.get(dimension)) for dimension in range(rank))


def _join(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))
