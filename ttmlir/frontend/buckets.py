"""Sizes that differ from call to call: a program for each of a few sizes, chosen at the call.

    length = ttmlir.Buckets(16, 64, 256)
    compiled = ttmlir.compile(
        model, tokens, mask, buckets={"tokens": {1: length}, "mask": {1: length}}
    )
    compiled(tokens, mask)     # of any length up to 256

A call takes the smallest sizes that its arrays fit into. Arrays are padded at the end, with zeros
or with the number that `fill` gives; results are cropped to the sizes they would have. The model
has to leave padded elements out by itself, as language models do by a mask. All programs are in
one file, which holds the weights once, and says which sizes there are.
"""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.frontend.calls import Number, resize
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.signature import CallSignature, DynamicSize
from ttmlir.runtime.tensor import convert

if TYPE_CHECKING:
    from ttmlir.frontend.calls import CallableModel, NumericsName
    from ttmlir.runtime.tensor import Array, TensorDesc


class Buckets:
    """The sizes that one dynamic size is compiled for.

    Dimensions with the same object have the same size in each call.
    """

    def __init__(self, *sizes: SupportsIndex) -> None:
        """At least two sizes; the order does not matter."""
        if not all(isinstance(size, int | np.integer) for size in sizes):
            raise ArgumentTypeError(f"buckets are integers, got {listed(map(repr, sizes))}")
        self.sizes = tuple(sorted({int(size) for size in sizes}))
        if len(self.sizes) < 2 or self.sizes[0] < 1:
            # With one size nobody could tell which dimensions of results follow it.
            raise ArgumentError(f"buckets are two or more sizes above 0, got {listed(sizes)}")

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
    fill: tuple[Number, ...]
    """What each array is padded with."""

    @staticmethod
    def of_signature(signature: CallSignature) -> BucketPlan | None:
        """The plan that a file says; None if it is of a model without dynamic sizes."""
        if not (found := signature.dynamic_sizes):
            return None
        names = tuple(signature.leaf_names)
        places = [(*place, number) for number, size in enumerate(found) for place in size.places]
        sizes = tuple(Buckets(*size.sizes) for size in found)
        # Seeds of random numbers are further arrays.
        fill = (*signature.fill, *[0] * (len(names) - len(signature.fill)))
        return BucketPlan(names, tuple(sorted(places)), sizes, fill)

    def in_signature(self, signature: CallSignature) -> CallSignature:
        """The signature of the first program with what a loaded file needs of the plan."""
        sizes = [
            DynamicSize(each.sizes, tuple((a, d) for a, d, of in self.dimensions if of == number))
            for number, each in enumerate(self.sizes)
        ]
        return replace(signature, dynamic_sizes=tuple(sizes), fill=self.fill)

    def check_inputs(self, programs: Sequence[Sequence[TensorDesc]], file_name: str) -> None:
        """BinaryError where arrays of the programs of a file do not have the sizes of the plan."""
        first = [list(each.shape) for each in programs[0]]
        for choice, descs in zip(self.choices, programs, strict=True):
            shapes = [list(each.shape) for each in descs]
            fits = len(shapes) == len(first) and all(
                dimension < len(first[number]) for number, dimension, _ in self.dimensions
            )
            if not fits or shapes != [
                self.shape_in(choice, number, shape) for number, shape in enumerate(first)
            ]:
                raise BinaryError(
                    f"{file_name}: a program for the sizes {listed(choice)} takes {shapes}"
                )

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

    def resize(
        self, resize: Callable[..., Any], array: Any, number: int, choice: tuple[int, ...]
    ) -> Any:
        """An array as the program of a choice takes it, cut off or padded by `resize`."""
        given = np.shape(array)
        shape = self.shape_in(choice, number, given)
        if shape == list(given):
            return array
        fill, name = self.fill[number], self.names[number]
        try:
            return resize(array, shape, fill)
        except (ArithmeticError, RuntimeError) as error:
            raise _cannot_hold(name, array.dtype, fill) from error

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
                    f"'{name}': {where} is {extent}; the buckets are {listed(sizes)}: compile with "
                    "a larger one, or split the input"
                )
        return tuple(found[size][0] for size in range(len(self.sizes)))


def plan_buckets(
    names: Sequence[str],
    shapes: Sequence[Sequence[int]],
    buckets: BucketsByName,
    fill: Any,
) -> BucketPlan:
    """The plan for arrays of these names and shapes; ArgumentError for what does not fit."""
    sizes: list[Buckets] = []
    keys: dict[object, int] = {}
    dimensions: list[tuple[int, int, int]] = []
    _check_form(buckets)
    for name, by_dimension in buckets.items():
        if name not in names:
            raise ArgumentError(
                f"buckets: there is no argument '{name}'; there are {listed(names)}"
            )
        number = list(names).index(name)
        for dimension, given in by_dimension.items():
            rank = len(shapes[number])
            if not -rank <= dimension < rank:
                raise ArgumentError(f"buckets: '{name}' has {rank} dimensions, none is {dimension}")
            key: object = given if isinstance(given, Buckets) else tuple(given)
            if key not in keys:
                keys[key] = len(sizes)
                sizes.append(given if isinstance(given, Buckets) else Buckets(*given))
            dimensions.append((number, dimension % rank, keys[key]))
    if not dimensions:
        raise ArgumentError(_FORM)
    return BucketPlan(tuple(names), tuple(dimensions), tuple(sizes), _padding(names, fill))


def _padding(names: Sequence[str], fill: Any) -> tuple[Number, ...]:
    """What each array is padded with."""
    if not isinstance(fill, Mapping):
        raise ArgumentTypeError(f"fill is numbers by arguments: {{'x': -100}}; got {fill!r}")
    given: dict[str, Number] = {}
    for name, number in cast("Mapping[str, Any]", fill).items():
        if name not in names:
            raise ArgumentError(f"fill: there is no argument '{name}'; there are {listed(names)}")
        value = cast("Any", number.item() if isinstance(number, np.generic) else number)
        if not isinstance(value, Number):
            raise ArgumentTypeError(f"fill: '{name}' takes a number, got {reprlib.repr(value)}")
        given[name] = value
    return tuple(given.get(name, 0) for name in names)


def check_number(dtype: np.dtype[Any], number: Number, name: str) -> None:
    """Refuse a number that would become another one in the type of an argument."""
    with suppress(OverflowError, TypeError), np.errstate(all="ignore"):
        found = convert(np.asarray(number), dtype)
        is_exact = dtype.kind in "iub"
        if found.item() == number if is_exact else np.isfinite(found) == math.isfinite(number):
            return
    raise _cannot_hold(name, dtype, number)


def _cannot_hold(name: str, dtype: Any, number: Number) -> ArgumentError:
    return ArgumentError(f"fill: '{name}' is {dtype}, which cannot hold {reprlib.repr(number)}")


_FORM = "buckets are sizes by arguments and dimensions: {'x': {0: (1, 8)}}"


def _check_form(buckets: Any) -> None:
    """TypeError for what is not written as sizes by arguments and dimensions."""
    for by_dimension in _values(buckets, buckets):
        for sizes in _values(by_dimension, buckets):
            if isinstance(sizes, str) or not isinstance(sizes, (Sequence, Buckets)):
                raise ArgumentTypeError(f"{_FORM}; got {buckets!r}")
        if not all(isinstance(dimension, int) for dimension in by_dimension):
            raise ArgumentTypeError(f"{_FORM}; got {buckets!r}")


def _values(mapping: Any, buckets: Any) -> list[Any]:
    if not isinstance(mapping, Mapping):
        raise ArgumentTypeError(f"{_FORM}; got {buckets!r}")
    return list(cast("Mapping[Any, Any]", mapping).values())


class SizedPrograms:
    """Several programs of a model, one of which is chosen by the sizes of a call's arrays."""

    def __init__(self, name: str, plan: BucketPlan, programs: Iterable[CallableModel]) -> None:
        """`programs` are in the order of the plan's choices; messages name the model."""
        self.name = name
        """The name of the model."""
        self._plan = plan
        self._by_choice = dict(zip(plan.choices, programs, strict=True))
        fill = dict(zip(plan.names, plan.fill, strict=True))
        for array, desc in next(iter(self._by_choice.values())).inputs:
            check_number(desc.element.host, fill.get(array, 0), array)
        self._cropped = self._find_cropped()

    def _find_cropped(self) -> list[list[tuple[int, int | None]]]:
        """For each result, its dynamic dimensions with the numbers of their sizes; None where the
        size follows in another way."""
        shapes = [[desc.shape for desc in each.outputs] for each in self._by_choice.values()]
        return [
            [
                (dimension, self._size_of(extents, number, dimension))
                for dimension, extents in enumerate(zip(*of_result, strict=True))
                if len(set(extents)) > 1
            ]
            for number, of_result in enumerate(zip(*shapes, strict=True))
        ]

    def _size_of(self, extents: Sequence[int], result: int, dimension: int) -> int | None:
        """The dynamic size that a dimension of a result has in all programs; None where it is what
        the framework says, and can be cropped."""
        for size, _ in enumerate(self._plan.sizes):
            if list(extents) == [choice[size] for choice in self._by_choice]:
                return size
        self._check_follows(extents, result, dimension)
        return None

    def _check_follows(self, extents: Sequence[int], result: int, dimension: int) -> None:
        """Refuse a dimension of a result that cannot be cropped."""

    def _extent(self, actual: tuple[int, ...], result: int, dimension: int) -> int:
        """The size of a dimension that is no size of an argument; files do not say it."""
        choices = [" x ".join(map(str, choice)) for choice in self._by_choice]
        raise InputError(
            f"'{self.name}': the file does not say how dimension {dimension} of result {result} "
            f"follows the sizes {listed(actual)}: pad the arguments to one of {listed(choices)}"
        )

    def __repr__(self) -> str:
        """The dynamic dimensions with their buckets."""
        return ", ".join(
            f"{self._plan.names[number]}[{dimension}]: {self._plan.sizes[size].sizes}"
            for number, dimension, size in self._plan.dimensions
        )

    def __call__(self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any) -> Any:
        """Run the smallest program that the arrays fit into; results have the size of the call."""
        actual, choice = self._choose(args, kwargs)
        program = self._by_choice[choice]
        arrays = [
            self._plan.resize(resize, array, number, choice)
            for number, array in enumerate(program.flatten(args, kwargs))
        ]

        def extent(result: int, dimension: int, size: int | None) -> int | None:
            if actual == choice:
                return None
            return self._extent(actual, result, dimension) if size is None else actual[size]

        def crop(results: Sequence[Array]) -> list[Array]:
            return [
                array[_window({place: extent(number, place, size) for place, size in dimensions})]
                for number, (array, dimensions) in enumerate(
                    zip(results, self._cropped, strict=True)
                )
            ]

        return program.run_arrays(arrays, numerics=numerics, change=crop)

    def program_for(self, *args: Any, **kwargs: Any) -> Any:
        """The program that a call with these arguments takes."""
        return self._by_choice[self._choose(args, kwargs)[1]]

    def _choose(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The dynamic sizes of the arguments, and those of the program for them."""
        arrays = next(iter(self._by_choice.values())).flatten(args, kwargs)
        actual = self._plan.measure([np.shape(each) for each in arrays], self.name)
        return actual, tuple(
            next(each for each in buckets.sizes if each >= size)
            for buckets, size in zip(self._plan.sizes, actual, strict=True)
        )


def _window(extents: Mapping[int, int | None]) -> tuple[slice, ...]:
    """The first elements along some dimensions, all along the others."""
    rank = max(extents, default=-1) + 1
    return tuple(slice(extents.get(dimension)) for dimension in range(rank))


def listed(items: Iterable[object]) -> str:
    """Items for a message."""
    return ", ".join(map(str, items))
