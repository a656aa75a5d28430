"""Random ttir programs with their evaluation in NumPy.

Programs are functions of operations of all kinds on f32, bf16, i32 and i1. The evaluation is
written from the meaning of each operation, in 64 bits. It carries a bound on what rounding can make
of each value; operations that jump are only applied to values that are exact.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import ml_dtypes
import numpy as np
from oracles.elementwise_oracles import (
    ARITHMETIC,
    BITWISE,
    COMPARISONS,
    DIVISIONS,
    EXACT,
    OF_BOOLEANS,
    OF_INTEGERS,
    SMOOTH,
    STEPS,
    away_from_zero,
    is_exact,
    within,
    wrapped,
    wrapped_matmul,
    wrapped_product,
)
from samples.ttir_text import FunctionText, tensor

Array = Any
Shape = tuple[int, ...]
T = TypeVar("T")

HOST = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i1": np.bool_}
FLOATS = ("f32", "bf16")
UNIT = {"f32": 2.0**-24, "bf16": 2.0**-8}
"""Largest relative error of rounding a result."""
LARGEST = 2.0**20
"""Size of floats beyond which programs do not go on."""
MOST_ELEMENTS = 4000
MOST_WRITTEN = 300
"""Elements of constants that are not all equal."""
CONSTRAINTS = ("#device", "#tile", "#l1", "#sharded")
ALIASES = """
#l1 = #tt.operand_constraint<l1|scalar|interleaved|none>
#sharded = #tt.operand_constraint<l1_block_sharded>
"""


@dataclass(frozen=True)
class Precision:
    """How the results of operations are rounded, by their element type."""

    operation: Mapping[str, float]
    """Largest relative error of one operation, functions such as `exp` included."""
    bits: Mapping[str, int]
    """Bits of the largest integers that are computed without rounding."""
    steps: int
    """Roundings in a long sum, at most, that each are one of an operation."""

    def error(self, element: str, size: Array, count: int = 1) -> float:
        """Of a result, or of one that sums up `count` terms of this size altogether."""
        largest = max(1.0, float(np.abs(size).max()))
        return min(count, self.steps) * self.operation[element] * largest

    def keeps(self, element: str, size: Array, *factors: Array) -> bool:
        """True if sums of products of such factors need no rounding."""
        return is_exact(size, *factors, bits=self.bits[element])


IN_32_BITS = Precision({"f32": 2.0**-20, "bf16": 2.0**-20}, {"f32": 24, "bf16": 24}, sys.maxsize)
"""Only what a program returns is rounded to its type."""


@dataclass(frozen=True)
class Value:
    """A tensor of the program."""

    name: str
    element: str
    array: Array
    """Float64, int64 or bool."""
    error: float = 0.0
    """Bound of what separates a float of the program from `array`; 0 if there is nothing."""

    @property
    def shape(self) -> Shape:
        """Extents."""
        return self.array.shape

    @property
    def is_float(self) -> bool:
        """True for f32 and bf16."""
        return self.element in FLOATS

    @property
    def largest(self) -> float:
        """Size of the largest element."""
        return float(np.abs(self.array.astype(np.float64)).max())


def _rounded(x: Array, element: str) -> Array:
    return x.astype(HOST[element]).astype(np.float64)


def _can_broadcast(*shapes: Shape) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def _without(shape: Shape, dim: int) -> Shape:
    return (*shape[:dim], *shape[dim + 1 :])


def _i32s(numbers: Sequence[int]) -> str:
    return "[" + ", ".join(f"{number} : i32" for number in numbers) + "]"


# -- programs --------------------------------------------------------------------------------------


class Program:
    """A function that grows operation by operation, beside the values that it computes."""

    precision: ClassVar = IN_32_BITS
    extents: ClassVar = (1, 2, 3, 5, 33, 40)
    factors: ClassVar = ("f32", "bf16", "i32")
    """Element types of products of matrices."""
    missing: ClassVar = frozenset[str]()
    """Functions that are not applied."""

    def __init__(self, seed: int):
        """Choose the arguments."""
        self._random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        kinds = [(self.shape(), self.pick(tuple(HOST))) for _ in range(self.number(1, 4))]
        self.text = FunctionText([tensor(*shape, element=element) for shape, element in kinds])
        self.inputs = [
            Value(f"%arg{i}", element, self._array(shape, element))
            for i, (shape, element) in enumerate(kinds)
        ]
        self.values = list(self.inputs)
        self._used: set[str] = set()
        self._empties: dict[str, list[str]] = {}

    def returned(self) -> list[Value]:
        """Most values that nothing uses, and others: arguments, constants, the same value twice."""
        choice = random.Random(len(self.values))
        unused = [value for value in self.values if value.name not in self._used]
        found = [value for value in unused if choice.random() < 0.8]
        return found + choice.choices(self.values, k=choice.randint(0 if found else 1, 3))

    # -- choices -------------------------------------------------------------------------------

    def number(self, low: int, high: int) -> int:
        """A number between two, both included."""
        return self._random.randint(low, high)

    def pick(self, choices: Sequence[T]) -> T:
        """One of several."""
        return choices[self.number(0, len(choices) - 1)]

    def shape(self) -> Shape:
        """A small shape."""
        rank = self.number(1, 4)
        shape = tuple(self.pick(self.extents) for _ in range(rank))
        return shape if math.prod(shape) <= MOST_ELEMENTS else shape[:2]

    def value(self, *elements: str, rank: int = 1, exact: bool = False) -> Value | None:
        """A value of one of these types, later ones being likelier."""
        found = [
            value
            for value in self.values
            if (not elements or value.element in elements)
            and value.array.ndim >= rank
            and not (exact and value.error)
        ]
        return self.pick(found[-8:]) if found else None

    def partner(self, value: Value, *, exact: bool = False) -> Value:
        """A value of the same type that broadcasts against another, or a new constant."""
        found = [
            other
            for other in self.values
            if other.element == value.element
            and _can_broadcast(value.shape, other.shape)
            and not (exact and other.error)
        ]
        if len(found) > 1 and self.number(0, 2):
            return self.pick(found)
        shape = tuple(self.pick((1, extent)) for extent in value.shape[self.number(0, 1) :])
        return self._constant(self._array(shape or (1,), value.element), value.element)

    def any_value(self) -> Value:
        """A value of any type."""
        return self.pick(self.values[-8:])

    def _array(self, shape: Shape, element: str) -> Array:
        """Numbers with few bits, so that sums and products of them are exact."""
        if element == "i1":
            return self._numbers.integers(0, 2, shape).astype(bool)
        if element == "i32":
            small = self._numbers.integers(-9, 10, shape)
            large = self._numbers.integers(-(2**31), 2**31, shape)
            return np.where(self._numbers.random(shape) < 0.9, small, large)
        return self._numbers.integers(self.pick((-16, -16, 1)), 17, shape) / 4

    # -- growth --------------------------------------------------------------------------------

    def add(
        self,
        mnemonic: str,
        inputs: Sequence[Value],
        element: str,
        array: Array,
        attributes: str = "",
        *,
        error: float = 0.0,
    ) -> None:
        """Add an operation, unless its result is too large."""
        array = np.asarray(array)
        if array.size > MOST_ELEMENTS or array.ndim == 0 or array.ndim > 5:
            return
        if element in FLOATS and not np.all(np.abs(array) <= LARGEST):
            return
        type_ = tensor(*array.shape, element=element)
        known = self._empties.setdefault(type_, [])
        if known and self.number(0, 3) == 0:
            out = self.pick(known)
        else:
            out = self.text.empty(type_)
            known.append(out)
        names = [value.name for value in inputs]
        self._used.update(names)
        name = self.text.op(
            mnemonic, names, type_, attributes, out=out, constraint=self.pick(CONSTRAINTS)
        )
        self.values.append(Value(name, element, array, error))

    def grow(self) -> None:
        """Add one operation, if there are values for it."""
        self.pick(self.growths())()

    def growths(self) -> Sequence[Callable[[], None]]:
        """What adds an operation; some of it more often than others."""
        return (
            self.smooth,
            self.smooth,
            self.smooth,
            self.step,
            self.unary_of_integers,
            self.arithmetic,
            self.arithmetic,
            self.division,
            self.power,
            self.comparison,
            self.integers,
            self.integers,
            self.booleans,
            self.choice,
            self.typecast,
            self.reduction,
            self.product,
            self.matmul,
            self.softmax,
            self.embedding,
            self.constant,
            self.arange,
            self.transpose,
            self.permute,
            self.reshape,
            self.concat,
            self.slice,
            self.repeat,
            self.pad,
            self.broadcast,
            self.squeeze,
            self.unsqueeze,
        )

    def smooth(self) -> None:
        """A function of floats."""
        x = self.value(*FLOATS)
        if x is None:
            return
        possible = [
            name
            for name, (_, domain, _, _) in SMOOTH.items()
            if domain(x.array - x.error) and domain(x.array + x.error) and name not in self.missing
        ]
        name = self.pick(possible)
        function, _, slope, attributes = SMOOTH[name]
        array = function(x.array)
        error = slope * x.error
        if error or not self.precision.keeps(x.element, array, array) or name not in EXACT:
            error += self.precision.error(x.element, array)
        self.add(name, [x], x.element, array, attributes, error=error)

    def step(self) -> None:
        """A function of floats that jumps."""
        if (x := self.value(*FLOATS, exact=True)) is not None:
            name = self.pick(tuple(STEPS))
            self.add(name, [x], x.element, STEPS[name](x.array).astype(np.float64))

    def unary_of_integers(self) -> None:
        """A function of integers or booleans."""
        x = self.value("i32", "i1")
        if x is None:
            return
        if x.element == "i1":
            name = self.pick(("logical_not", "bitwise_not"))
            self.add(name, [x], "i1", ~x.array)
            return
        name = self.pick(tuple(OF_INTEGERS))
        self.add(name, [x], "i32", wrapped(OF_INTEGERS[name](x.array)))

    def arithmetic(self) -> None:
        """Sum, difference, product, larger or smaller of floats."""
        if (x := self.value(*FLOATS)) is None:
            return
        y = self.partner(x)
        name = self.pick(tuple(ARITHMETIC))
        array = ARITHMETIC[name](x.array, y.array)
        error = x.error + y.error
        if name == "multiply":
            error = x.error * y.largest + y.error * x.largest + x.error * y.error
        if error or not self.precision.keeps(x.element, array, array):
            error += self.precision.error(x.element, array)
        self.add(name, [x, y], x.element, array, error=error)

    def division(self) -> None:
        """Quotient or remainder of exact floats."""
        x = self.value(*FLOATS, exact=True)
        if x is None:
            return
        y = self.partner(x, exact=True)
        if not away_from_zero(y.array):
            return
        if self.number(0, 1):
            array = np.fmod(x.array, y.array)
            self.add("remainder", [x, y], x.element, array)
            return
        array = x.array / y.array
        error = self.precision.error(x.element, array)
        self.add("div", [x, y], x.element, array, error=error)

    def power(self) -> None:
        """Power or angle of exact floats."""
        x = self.value(*FLOATS, exact=True)
        if x is None:
            return
        y = self.partner(x, exact=True)
        if within(0.25, 8)(x.array) and within(-4, 4)(y.array):
            array = np.power(x.array, y.array)
            error = self.precision.error(x.element, array)
            self.add("pow", [x, y], x.element, array, error=error)
        elif away_from_zero(x.array):
            array = np.arctan2(x.array, y.array)
            error = self.precision.error(x.element, array)
            self.add("atan2", [x, y], x.element, array, error=error)

    def comparison(self) -> None:
        """A comparison or a combination of truth values; the result is of any type."""
        x = self.value(exact=True)
        if x is None:
            return
        y = self.partner(x, exact=True)
        name = self.pick(tuple(COMPARISONS))
        element = self.pick(("i1", x.element))
        array = COMPARISONS[name](x.array, y.array)
        self.add(name, [x, y], element, self._as_element(array, element))

    def integers(self) -> None:
        """Two integers."""
        x = self.value("i32")
        if x is None:
            return
        y = self.partner(x)
        table = {**ARITHMETIC, **BITWISE}
        if np.all(y.array) and np.all(x.array > -(2**31)):
            table |= DIVISIONS
        name = self.pick(tuple(table))
        self.add(name, [x, y], "i32", wrapped(table[name](x.array, y.array)))

    def booleans(self) -> None:
        """Two booleans."""
        if (x := self.value("i1")) is not None:
            y = self.partner(x)
            name = self.pick(tuple(OF_BOOLEANS))
            array = OF_BOOLEANS[name](x.array, y.array)
            self.add(name, [x, y], "i1", array.astype(bool))

    def choice(self) -> None:
        """A choice by a value of any type."""
        condition, x = self.value(exact=True), self.any_value()
        if condition is None:
            return
        y = self.partner(x)
        if _can_broadcast(condition.shape, x.shape, y.shape):
            array = np.where(condition.array != 0, x.array, y.array)
            error = max(x.error, y.error)
            self.add("where", [condition, x, y], x.element, array, error=error)

    def typecast(self) -> None:
        """A conversion to any type."""
        x, element = self.any_value(), self.pick(tuple(HOST))
        if element in FLOATS:
            array = _rounded(x.array.astype(np.float64), element)
            error = x.error and x.error + 2 * UNIT[element] * x.largest
            self.add("typecast", [x], element, array, error=error)
        elif not x.error:
            self.add("typecast", [x], element, self._as_element(np.trunc(x.array), element, x))

    def _as_element(self, array: Array, element: str, source: Value | None = None) -> Array:
        """Numbers as a type; a boolean says whether a number is other than 0."""
        if element == "i1":
            return (array if source is None else source.array) != 0
        if element == "i32":
            return array.astype(np.int64)
        return array.astype(np.float64)

    # -- reductions and contractions -----------------------------------------------------------

    def _dims(self, x: Value) -> tuple[tuple[int, ...], bool, Shape, str]:
        """Dimensions to reduce, whether they stay, the resulting shape, parameters."""
        rank = x.array.ndim
        dims = tuple(dim for dim in range(rank) if self.number(0, 1)) or (rank - 1,)
        keep = bool(self.number(0, 1)) or len(dims) == rank
        written = [self.pick((dim, dim - rank)) for dim in dims]
        attributes = f"keep_dim = {str(keep).lower()}"
        if len(dims) < rank or self.number(0, 1):
            attributes += f", dim_arg = {_i32s(written)}"
        kept = [1 if dim in dims else n for dim, n in enumerate(x.shape) if keep or dim not in dims]
        return dims, keep, tuple(kept), attributes

    def reduction(self) -> None:
        """Sum, mean or extreme along dimensions; of integers, their product, too."""
        x = self.value("f32", "bf16", "i32")
        if x is None:
            return
        dims, _, shape, attributes = self._dims(x)
        last = "mean" if x.is_float else "prod"
        name = self.pick(("sum", "max", "min", last))
        count = math.prod(x.shape[dim] for dim in dims)
        if name in ("max", "min"):
            array = getattr(x.array, name)(dims).reshape(shape)
            self.add(name, [x], x.element, array, attributes, error=x.error)
            return
        function = np.prod if name == "prod" else np.sum
        total = function(x.array, dims).reshape(shape)
        if not x.is_float:
            self.add(name, [x], "i32", wrapped(total), attributes)
            return
        size = np.abs(x.array).sum(dims)
        error = count * x.error
        if error or name == "mean" or not self.precision.keeps(x.element, size, x.array):
            error += self.precision.error(x.element, size, count)
        array = total / count if name == "mean" else total
        self.add(name, [x], x.element, array, attributes, error=error)

    def product(self) -> None:
        """Product along dimensions, of integers and of exact floats."""
        x = self.value("f32", "bf16", "i32", exact=True)
        if x is None:
            return
        dims, _, shape, attributes = self._dims(x)
        if x.is_float:
            size = math.exp(np.log(np.maximum(np.abs(x.array), 1)).sum(dims).max().clip(0, 99))
            if size <= LARGEST:
                array = x.array.prod(dims).reshape(shape)
                error = self.precision.error(x.element, np.array(size), x.array.size)
                self.add("prod", [x], x.element, array, attributes, error=error)
            return
        array = x.array
        for dim in dims:
            array = wrapped_product(array, dim)
        self.add("prod", [x], "i32", array.reshape(shape), attributes)

    def matmul(self) -> None:
        """Matrix product of a value with one that fits, which may be its transpose."""
        x = self.value(*self.factors, rank=2)
        if x is None:
            return
        fitting = [
            y
            for y in self.values
            if y.element == x.element
            and y.array.ndim >= 2
            and y.shape[-2] == x.shape[-1]
            and y.shape[:-2] == x.shape[:-2]
        ]
        if not fitting:
            self._turn(x, x.array.ndim - 2, x.array.ndim - 1)
            return
        y = self.pick(fitting)
        if not x.is_float:
            self.add("matmul", [x, y], "i32", wrapped(wrapped_matmul(x.array, y.array)))
            return
        array, size = x.array @ y.array, np.abs(x.array) @ np.abs(y.array)
        count = x.shape[-1]
        error = count * (x.error * y.largest + y.error * x.largest + x.error * y.error)
        if error or not self.precision.keeps(x.element, size, x.array, y.array):
            error += self.precision.error(x.element, size, count)
        self.add("matmul", [x, y], x.element, array, error=error)

    def softmax(self) -> None:
        """Exponentials over their sum."""
        x = self.value(*FLOATS)
        if x is None:
            return
        dim = self.number(0, x.array.ndim - 1)
        powers = np.exp(x.array - x.array.max(dim, keepdims=True))
        array = powers / powers.sum(dim, keepdims=True)
        written = self.pick((dim, dim - x.array.ndim))
        attributes = f"dimension = {written} : si32"
        error = 2 * x.error + self.precision.error(x.element, array, x.shape[dim])
        self.add("softmax", [x], x.element, array, attributes, error=error)

    def embedding(self) -> None:
        """Rows of a matrix, looked up by a constant."""
        tables = [value for value in self.values if value.array.ndim == 2 and value.is_float]
        if not tables:
            return
        table = self.pick(tables)
        indices = self._numbers.integers(0, table.shape[0], (self.number(1, 3), 5))
        rows = self._constant(indices, "i32")
        self.add("embedding", [rows, table], table.element, table.array[indices], error=table.error)

    # -- creation ------------------------------------------------------------------------------

    def _constant(self, array: Array, element: str) -> Value:
        if array.size > MOST_WRITTEN:
            array = np.full(array.shape, array.flat[0])
        type_ = tensor(*array.shape, element=element)
        splat = array.size > 1 and np.all(array == array.flat[0])
        numbers = array.flat[0] if splat else array
        text = str(numbers.tolist()).lower() if element == "i1" else str(numbers.tolist())
        value = Value(self.text.constant(text, type_), element, array)
        self.values.append(value)
        return value

    def constant(self) -> None:
        """A constant with one value or many."""
        shape, element = self.shape(), self.pick(tuple(HOST))
        array = self._array(shape, element)
        if self.number(0, 1):
            array = np.full(shape, array.flat[0])
        self._constant(array, element)

    def arange(self) -> None:
        """Evenly spaced numbers."""
        shape, element = self.shape(), self.pick(("f32", "bf16", "i32"))
        dim, start = self.number(0, len(shape) - 1), self.number(-5, 5)
        step = self.pick((-3, -1, 1, 2))
        end = start + step * shape[dim]
        numbers = start + step * np.arange(shape[dim])
        array = np.broadcast_to(
            numbers.reshape([-1 if i == dim else 1 for i in range(len(shape))]), shape
        )
        type_ = tensor(*shape, element=element)
        attributes = (
            f"start = {start} : si64, end = {end} : si64, step = {step} : si64, "
            f"arange_dimension = {dim} : i64"
        )
        name = self.text.define(f'"ttir.arange"() <{{{attributes}}}> : () -> {type_}', type_)
        self.values.append(Value(name, element, self._as_element(array, element)))

    # -- movement ------------------------------------------------------------------------------

    def _move(self, mnemonic: str, x: Value, array: Array, attributes: str) -> None:
        self.add(mnemonic, [x], x.element, array, attributes, error=x.error)

    def _turn(self, x: Value, one: int, other: int) -> None:
        written = f"dim0 = {one} : si32, dim1 = {other} : si32"
        self._move("transpose", x, np.swapaxes(x.array, one, other), written)

    def transpose(self) -> None:
        """Two dimensions exchanged."""
        if (x := self.value(rank=2)) is not None:
            rank = x.array.ndim
            self._turn(x, self.number(-rank, rank - 1), self.number(-rank, rank - 1))

    def permute(self) -> None:
        """All dimensions in another order."""
        if (x := self.value(rank=2)) is not None:
            order = self.pick(list(itertools.permutations(range(x.array.ndim))))
            written = f"permutation = array<i64: {', '.join(map(str, order))}>"
            self._move("permute", x, x.array.transpose(order), written)

    def reshape(self) -> None:
        """The same elements in another shape."""
        x = self.any_value()
        rows = self.pick([n for n in (1, 2, 3, 5, 33, x.array.size) if x.array.size % n == 0])
        array = x.array.reshape(rows, -1)
        written = _i32s(self.pick(((rows, -1), array.shape)))
        self._move("reshape", x, array, f"shape = {written}")

    def concat(self) -> None:
        """Several values one after the other."""
        x = self.any_value()
        dim = self.number(0, x.array.ndim - 1)
        fitting = [
            y
            for y in self.values
            if y.element == x.element
            and y.array.ndim == x.array.ndim
            and all(
                a == b for i, (a, b) in enumerate(zip(x.shape, y.shape, strict=True)) if i != dim
            )
        ]
        parts = [self.pick(fitting) for _ in range(self.number(1, 3))]
        array = np.concatenate([part.array for part in parts], dim)
        written = self.pick((dim, dim - x.array.ndim))
        error = max(part.error for part in parts)
        self.add("concat", parts, x.element, array, f"dim = {written} : si32", error=error)

    def slice(self) -> None:
        """Every so many elements between two bounds."""
        x = self.any_value()
        begins = [self.number(0, extent - 1) for extent in x.shape]
        pairs = zip(begins, x.shape, strict=True)
        ends = [self.number(begin + 1, extent) for begin, extent in pairs]
        steps = [self.number(1, 3) for _ in begins]
        parts = tuple(slice(*bounds) for bounds in zip(begins, ends, steps, strict=True))
        below = [
            self.pick((begin, begin - extent))
            for begin, extent in zip(begins, x.shape, strict=True)
        ]
        written = f"begins = {_i32s(below)}, ends = {_i32s(ends)}, step = {_i32s(steps)}"
        self._move("slice", x, x.array[parts], written)

    def repeat(self) -> None:
        """The whole value several times."""
        x = self.any_value()
        counts = [self.number(1, 2) for _ in x.shape]
        written = f"repeat_dimensions = array<i64: {', '.join(map(str, counts))}>"
        self._move("repeat", x, np.tile(x.array, counts), written)

    def pad(self) -> None:
        """A border of ones."""
        x = self.any_value()
        widths = [(self.number(0, 2), self.number(0, 2)) for _ in x.shape]
        flat = ", ".join(str(width) for pair in widths for width in pair)
        array = np.pad(x.array, widths, constant_values=1)
        self._move("pad", x, array, f"padding = array<i32: {flat}>, value = 1.0 : f32")

    def broadcast(self) -> None:
        """Repetition along dimensions of extent 1, and along new ones."""
        x = self.any_value()
        shape = tuple(self.pick((1, 2, 5)) if extent == 1 else extent for extent in x.shape)
        if len(shape) < 4 and self.number(0, 1):
            shape = (self.pick((1, 3)), *shape)
        first = len(shape) - x.array.ndim
        written = f"dimension = [{', '.join(map(str, range(first, len(shape))))}]"
        self._move("broadcast", x, np.broadcast_to(x.array, shape), written)

    def squeeze(self) -> None:
        """A dimension of extent 1 less."""
        found = [
            (value, dim)
            for value in self.values
            for dim, extent in enumerate(value.shape)
            if extent == 1 and value.array.ndim > 1
        ]
        if found:
            x, dim = self.pick(found)
            written = self.pick((dim, dim - x.array.ndim))
            self._move("squeeze", x, x.array.squeeze(dim), f"dim = {written} : si32")

    def unsqueeze(self) -> None:
        """A dimension of extent 1 more."""
        x = self.any_value()
        if x.array.ndim < 4:
            dim = self.number(-x.array.ndim - 1, x.array.ndim)
            self._move("unsqueeze", x, np.expand_dims(x.array, dim), f"dim = {dim} : si32")


def program_of(seed: int, size: int, kind: type[Program] = Program) -> tuple[Program, list[Value]]:
    """A program and what it returns.

    A smaller size gives the beginning of the same program, so that hypothesis can cut it short.
    """
    program = kind(seed)
    while len(program.values) < len(program.inputs) + size:
        program.grow()
    return program, program.returned()


def check_result(value: Value, result: Array, text: str) -> None:
    """A result has the shape of a value, and its numbers, but for rounding."""
    assert result.shape == value.shape, text
    if not value.is_float:
        np.testing.assert_array_equal(result, value.array, err_msg=text)
        return
    right = value.array
    bound = value.error + UNIT[value.element] * 1.01 * (np.abs(right) + value.error) + 1e-37
    off = np.abs(result.astype(np.float64) - right)
    assert np.all(off <= bound), (
        f"{value.name}: {off.max()} off of {right.flat[off.argmax()]}\n{text}"
    )
