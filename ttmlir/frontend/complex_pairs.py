"""Models with complex arguments and results, whose programs take and return pairs of real arrays.

`z` is `z.real` and `z.imag` in the program, one after the other; a call takes and returns complex
arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ttmlir.frontend.calls import Number
from ttmlir.frontend.compiled import ImportedModel
from ttmlir.ir.tensor_types import is_complex
from ttmlir.layout.data_format import PARTS
from ttmlir.passes.stablehlo.complex.boundaries import split_signature
from ttmlir.runtime.signature import CallSignature, names_of_pair
from ttmlir.runtime.tensor import Array, join_pairs, part_of, split_complex, split_leaves

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp


@dataclass(frozen=True)
class ComplexPlaces:
    """Which arguments and results of a function are complex."""

    inputs: tuple[bool, ...]
    outputs: tuple[bool, ...]

    @classmethod
    def of(cls, function: FuncOp) -> ComplexPlaces:
        """Those of a function before its signature is split."""
        types = function.function_type
        inputs, outputs = types.inputs.data, types.outputs.data
        return cls(tuple(map(is_complex, inputs)), tuple(map(is_complex, outputs)))

    def __bool__(self) -> bool:
        """True if there are any."""
        return any((*self.inputs, *self.outputs))


def split_model(imported: ImportedModel, function: FuncOp) -> ImportedModel:
    """A model whose public function takes pairs; one without complex numbers as it is."""
    places = ComplexPlaces.of(function)
    split_signature(function)
    return call_with_pairs(imported, places)


def call_with_pairs(imported: ImportedModel, places: ComplexPlaces) -> ImportedModel:
    """A model whose program takes and returns pairs where it says that it does complex arrays."""
    if not places:
        return imported
    names = imported.input_names
    given = [flag for index, flag in enumerate(places.inputs) if index not in imported.bound]

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        return split_leaves(imported.flatten(args, kwargs), given, names, imported.name)

    def split_results(results: Any) -> list[Array]:
        assert imported.flatten_results is not None, "asked for only if there is one"
        return split_complex(imported.flatten_results(results))

    def unflatten(results: Sequence[Array]) -> Any:
        return imported.unflatten(join_pairs(results, places.outputs))

    signature = _split_signature(imported.signature, places)
    return replace(
        imported,
        input_names=_names_of_parts(names, given),
        flatten=flatten,
        unflatten=unflatten,
        flatten_results=imported.flatten_results and split_results,
        bound=_Parts(imported.bound, places.inputs) if imported.bound else imported.bound,
        state=signature.bound[len(signature.bound) - signature.state :],
        signature=signature,
    )


def _names_of_parts(names: Sequence[str], are_pairs: Sequence[bool]) -> list[str]:
    return [
        part
        for name, is_pair in zip(names, are_pairs, strict=True)
        for part in (names_of_pair(name) if is_pair else (name,))
    ]


def _split_signature(signature: CallSignature, places: ComplexPlaces) -> CallSignature:
    firsts = np.cumsum([0, *(1 + flag for flag in places.inputs)]).tolist()
    bound = [
        first for index in signature.bound for first in range(firsts[index], firsts[index + 1])
    ]
    state = signature.bound[len(signature.bound) - signature.state :]
    given = [flag for index, flag in enumerate(places.inputs) if index not in set(signature.bound)]
    return replace(
        signature,
        input_names=tuple(_names_of_parts(signature.input_names, places.inputs)),
        arguments=signature.arguments.with_complex(iter(given)),
        results=signature.results.with_complex(iter(places.outputs[signature.state :])),
        bound=tuple(bound),
        state=sum(1 + places.inputs[index] for index in state),
    )


class _Parts(MutableMapping[int, Array]):
    """Weights and state by the number of the input, complex ones as their parts."""

    def __init__(self, bound: Mapping[int, Array], are_pairs: Sequence[bool]) -> None:
        self._bound = cast("MutableMapping[int, Array]", bound)
        self._places = [
            (index, part)
            for index, is_pair in enumerate(are_pairs)
            for part in (PARTS if is_pair else ("",))
        ]

    def __getitem__(self, number: int) -> Array:
        """The array of an input, as it is now; KeyError for others."""
        if not 0 <= number < len(self._places):
            raise KeyError(number)
        index, part = self._places[number]
        array = self._bound[index]
        return part_of(array, part) if part else array

    def __setitem__(self, number: int, array: Array) -> None:
        """Replace an array, or a part of one."""
        index, part = self._places[number]
        if part:
            whole: Any = np.array(self._bound[index])
            (whole.real if part == PARTS[0] else whole.imag)[...] = array
            array = whole
        self._bound[index] = array

    def __delitem__(self, number: int) -> None:
        """Not possible."""
        raise AssertionError("inputs of a program stay")

    def __iter__(self) -> Iterator[int]:
        """The numbers of the inputs."""
        return (number for number, (index, _) in enumerate(self._places) if index in self._bound)

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)
