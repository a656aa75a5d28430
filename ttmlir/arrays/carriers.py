"""Carriers of arrays that need no IR: numbers of NumPy, and shapes alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttmlir.arrays.array import Array, Number, Scalar, Shape
from ttmlir.optable.op_definition import Family, OpDefinition
from ttmlir.optable.window import compute_on_image

_SHORT: dict[str, Any] = {
    **{"i1": "bool", "bf16": ml_dtypes.bfloat16, "index": "int64"},
    **{"complex<f32>": "complex64", "complex<f64>": "complex128"},
}
_NAMES = {"bool": "i1", "bfloat16": "bf16"}


@cache
def host_dtype(dtype: str) -> np.dtype[Any]:
    """The type of NumPy that has the numbers of a type such as `f32` or `ui8`.

    Integers of a width that NumPy lacks are in the next wider type.
    """
    if dtype in _SHORT:
        return np.dtype(_SHORT[dtype])
    if dtype.startswith("f8"):
        return np.dtype(f"float8_{dtype[2:].lower()}")
    kind = dtype.rstrip("0123456789")
    width = int(dtype[len(kind) :])
    kind = kind.replace("ui", "u").replace("si", "i")
    return np.dtype(f"{kind}{max(1, 1 << (width - 1).bit_length() >> 3)}")


def name_of(dtype: np.dtype[Any]) -> str:
    """The name, such as `f32` or `ui8`, of a type of NumPy."""
    known = _NAMES.get(dtype.name)
    return known or f"{dtype.kind.replace('u', 'ui')}{8 * dtype.itemsize}"


@cache
def _takes_shape(definition: OpDefinition) -> bool:
    """True where the reference function needs the shape of the result."""
    names = {parameter.name for parameter in definition.ttir_signature}
    return "shape" in inspect.signature(definition.reference).parameters and "shape" not in names


def compute_reference(
    definition: OpDefinition,
    operands: Sequence[Any],
    shape: Shape,
    types: tuple[Any, Any],
    parameters: Mapping[str, Any],
    kernel: Callable[..., Any] | None = None,
) -> Any:
    """What the reference function of a definition computes from the parameters of its ttir
    operation.

    `types` are those of NumPy that hold the elements of the first operand and of the result. A
    kernel stands for the function, if there is one.
    """
    if definition.family is Family.WINDOW:
        if definition.ttir_parameters is not None:
            return compute_on_image(np, definition, operands, shape, parameters).reshape(shape)
        return definition.reference(np, *operands, **parameters).reshape(shape)
    more: dict[str, Any] = {"shape": shape} if _takes_shape(definition) else {}
    if definition.takes_types:
        more |= dict(zip(("source", "target"), types, strict=True))
    return (kernel or definition.reference)(np, *operands, **parameters, **more)


class NumPyCarrier:
    """Numbers, computed as the definitions of the operation table say and rounded to their type."""

    holds_numbers = True
    kernels: Mapping[str, Callable[..., Any]] = MappingProxyType({})
    """What stands for reference functions, by the mnemonics of definitions."""

    def keep(self, numbers: NDArray[Any], dtype: str) -> NDArray[Any]:
        """Numbers that were computed for a type, as they are kept."""
        return numbers.astype(host_dtype(dtype), copy=False)

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Any:
        """What the definition's reference function computes."""
        arrays = [
            each.value if isinstance(each, Array) else self.fill(each.number, (), each.dtype)
            for each in operands
        ]
        types = host_dtype(operands[0].dtype if operands else dtype), host_dtype(dtype)
        with np.errstate(all="ignore"):
            kernel = self.kernels.get(definition.mnemonic)
            found = compute_reference(definition, arrays, shape, types, parameters, kernel)
            if len(definition.results) == 1:
                return self.keep(np.asarray(found), dtype)
            return self.keep(found[0], dtype), np.asarray(found[1], np.int32)

    def fill(self, number: Number, shape: Shape, dtype: str) -> NDArray[Any]:
        """One number everywhere; integers wrap."""
        target = host_dtype(dtype)
        if target.kind in "iu":
            one = np.array(int(number) % (1 << 64), np.uint64).astype(target)
        else:
            one = self.keep(np.asarray(number, target), dtype)
        return np.full(shape, one)

    def constant(self, numbers: Any, dtype: str) -> NDArray[Any]:
        """The numbers in another type."""
        return self.keep(numbers.astype(host_dtype(dtype)), dtype)

    def repeat(
        self,
        count: int,
        step: Callable[..., Sequence[Array]],
        state: Sequence[Array],
        goes_on: Callable[..., Array] | None,
    ) -> list[Any]:
        """The state after some steps."""
        state = list(state)
        for number in range(count):
            if goes_on is not None and not goes_on(*state).value:
                break
            place = Array(self, np.asarray(number, np.int32), (), "i32")
            state = list(step(place, *state))
        return [each.value for each in state]

    def take(self, array: Array, dim: int, place: Array) -> NDArray[Any]:
        """The part at a place, which is moved inside as StableHLO's `dynamic_slice` does."""
        at = int(np.clip(place.value, 0, array.shape[dim] - 1))
        return np.take(array.value, [at], dim)

    def put(self, array: Array, dim: int, place: Array, part: Array) -> NDArray[Any]:
        """With another part at a place, which is moved inside."""
        found = array.value.copy()
        at = int(np.clip(place.value, 0, array.shape[dim] - 1))
        found[(slice(None),) * dim + (slice(at, at + 1),)] = part.value
        return found

    def sort_descending(self, keys: Array, other: Array, dim: int) -> NDArray[Any]:
        """In the order of keys, the largest first."""
        order = np.argsort(-keys.value, dim, kind="stable")
        return np.take_along_axis(other.value, order, dim)


class ShapeCarrier:
    """Arrays without elements: what is left are shapes and types, and what was asked for."""

    holds_numbers = False

    def __init__(self) -> None:
        """Begin to count."""
        self.counts: dict[str, int] = {}
        """How many operations of each mnemonic there were."""

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Any:
        """Nothing but a count."""
        self.counts[definition.mnemonic] = self.counts.get(definition.mnemonic, 0) + 1
        return None if len(definition.results) == 1 else (None, None)

    def fill(self, number: Number, shape: Shape, dtype: str) -> None:
        """Nothing."""

    def constant(self, numbers: Any, dtype: str) -> None:
        """Nothing."""

    def repeat(
        self,
        count: int,
        step: Callable[..., Sequence[Array]],
        state: Sequence[Array],
        goes_on: Callable[..., Array] | None,
    ) -> list[None]:
        """One step, which has to keep the shapes."""
        after = step(Array(self, None, (), "i32"), *state)
        assert [each.shape for each in after] == [each.shape for each in state], "shapes stay"
        return [None] * len(state)

    def take(self, array: Array, dim: int, place: Array) -> None:
        """Nothing."""

    def put(self, array: Array, dim: int, place: Array, part: Array) -> None:
        """Nothing."""

    def sort_descending(self, keys: Array, other: Array, dim: int) -> None:
        """Nothing."""


_NUMPY = NumPyCarrier()


def array_of(numbers: Any, dtype: str | None = None) -> Array:
    """The array of numbers of NumPy, in their own type or another one."""
    values = np.asarray(numbers)
    if dtype is not None:
        values = values.astype(host_dtype(dtype), copy=False)
    return Array(_NUMPY, values, values.shape, name_of(values.dtype))


def on_numbers(function: Callable[..., Array], dtype: str = "f64") -> Callable[..., NDArray[Any]]:
    """A function of arrays as one of NumPy's, computed in a type and rounded to its first one's.

    Arguments that are no arrays of NumPy stay as they are; numbers other than real ones give `f32`.
    """

    def run(*arguments: Any, **keywords: Any) -> NDArray[Any]:
        first = arguments[0].dtype
        inputs = [array_of(each, dtype) if hasattr(each, "dtype") else each for each in arguments]
        found: NDArray[Any] = function(*inputs, **keywords).value
        is_real = name_of(first) in ("f64", "f32", "f16", "bf16")
        return found.astype(first if is_real else np.float32, copy=False)

    return run
