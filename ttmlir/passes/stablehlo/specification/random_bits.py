"""Random numbers: StableHLO's generators, bit for bit as XLA has them on CPUs.

THREE_FRY: a state of two numbers of 64 bits is a key and a counter, which grows by one for each
pair of words. The first dimension with an even extent (or else the longest) is halved; words of a
pair are neighbours in it. PHILOX, which DEFAULT is on CPUs: the counter has the two or three
numbers of the state, the lowest one second; the key is the first one. It grows by one for four
words. Numbers of 8 and 16 bits are the lower bits of a word each, those of 64 bits are two words.

`stablehlo.rng` has no state: XLA draws other numbers in every run. Here such an operation draws
words of Threefry, the same ones in every run: its key is 1 for the last one of a module, 2 for the
one before it, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.stablehlo.enums import EnumAttr
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.optable.generators import (
    PHILOX_FACTORS,
    PHILOX_ROUNDS,
    PHILOX_STEPS,
    ROW,
    threefry,
)
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.complex.parts import Arithmetic
from ttmlir.passes.stablehlo.specification.bits import width_of
from ttmlir.passes.stablehlo.specification.numbers import Number
from ttmlir.passes.stablehlo.specification.structure import module_of
from ttmlir.passes.stablehlo.specification.words import WORD, take_words
from ttmlir.passes.stablehlo.specification.writer import Writer

_INTEGERS: dict[int, Attribute] = {8: IntegerType(8), 16: IntegerType(16)}
"""Integers of fewer bits than a word."""
_HALF = 16
_LOWER = (1 << _HALF) - 1


def _generate_bits(op: Operation) -> None:
    """Draw words, and count on."""
    (state,) = op.operands
    algorithm = cast("EnumAttr", op.properties["rng_algorithm"]).data
    is_threefry = algorithm == "THREE_FRY"
    sizes = (2,) if is_threefry else (2, 3)
    count = value_shape(state)[0]
    if count not in sizes:
        refuse_to_legalize(
            op,
            f"the state of {algorithm} has {' or '.join(map(str, sizes))} numbers of 64 bits, not "
            f"{count}",
        )
    generator = _Generator(op)
    words = take_words(generator.build, state)
    type_ = cast("TensorType[Attribute]", op.results[1].type)
    shape, in_pairs = type_.get_shape(), width_of(type_.element_type) == 64
    if in_pairs:
        shape = (*shape, 2)
    if is_threefry:
        drawn, counter = generator.draw_threefry(words, shape, in_pairs=in_pairs)
    else:
        drawn, counter = generator.draw_philox(words, shape)
    key = generator.build.slice_along(words, 0, 0, 1)
    new = generator.build.concat([key, counter], 0)
    joined = Writer(op).create("bitcast_convert", (new,), state.type)
    replace(op, joined, _as_numbers(op, generator.build, drawn, type_))


def _as_numbers(
    op: Operation, build: Builder, words: SSAValue, type_: TensorType[Attribute]
) -> SSAValue:
    """Words as numbers of as many or fewer bits, pairs of words as those of 64."""
    element = type_.element_type
    width = width_of(element)
    if width == 64:
        return Writer(op).create("bitcast_convert", (words,), type_)
    bits = build.cast(words, _INTEGERS.get(width, WORD))
    if bits.type == type_:
        return bits
    if isinstance(element, IntegerType) and width < 32:
        return build.cast(words, type_.element_type)
    return build.create("bitcast_convert", (bits,), type_)


class _Generator:
    """Draws words in front of an operation.

    The words of a state of n numbers of 64 bits are a tensor of n rows, the lower ones first.
    """

    def __init__(self, op: Operation) -> None:
        self.build = Builder.before(op)
        self._do = Arithmetic(self.build)

    def draw_threefry(
        self, state: SSAValue, shape: Sequence[int], *, in_pairs: bool
    ) -> tuple[SSAValue, SSAValue]:
        """Words of a shape, and the new counter; pairs are along the last dimension."""
        build = self.build
        extents = (*shape[:-1], 1, 2) if in_pairs else shape
        even = (dim for dim, extent in enumerate(extents) if extent % 2 == 0)
        split = len(shape) if in_pairs else next(even, None)
        if split is None:
            extents = extents or (1,)
            split = extents.index(max(extents))
        halves = [-(-n // 2) if dim == split else n for dim, n in enumerate(extents)]
        count = math.prod(halves)
        low, high = self._count_up(self._words(state, 1), count)
        key = self._words(state, 0)
        pair = threefry((key[0], key[1]), (low, high), _rotate)
        apart = [*halves[: split + 1], 1, *halves[split + 1 :]]
        parts = [build.reshape(self._cut(word, count), apart) for word in pair]
        joined = build.concat(parts, split + 1)
        both = [2 * half if dim == split else half for dim, half in enumerate(halves)]
        drawn = build.slice(build.reshape(joined, both), [0] * len(both), extents)
        return build.reshape(drawn, shape), self._advance(state, count)

    def draw_philox(self, state: SSAValue, shape: Sequence[int]) -> tuple[SSAValue, SSAValue]:
        """Words of a shape, and the new counter."""
        build, do = self.build, self._do
        count = -(-math.prod(shape) // 4)
        counter = self._words(state, 1)
        low = self._count_up(counter, count)
        # Below the key, or the third number of the state, is what wraps around.
        above = self._words(state, 2 if value_shape(state)[0] == 3 else 0)
        third = self._carry(low[1], counter[1]) + above[0]
        fourth = self._carry(third, above[0]) + above[1]
        # Two rows of words, which the rounds treat alike.
        even, odd = self._stack(low[0], third), self._stack(low[1], fourth)
        key = Number(do, build.reshape(build.slice_along(state, 0, 0, 1), (2, 1, 1)))
        type_ = TensorType(WORD, (2, 1, 1))
        factors, steps = (
            Number(do, build.create_numbers(numbers, type_))
            for numbers in (PHILOX_FACTORS, PHILOX_STEPS)
        )
        parts = _halves(factors)
        for turn in range(PHILOX_ROUNDS):
            if turn:
                key = key + steps
            upper = self._swap(_upper_of_product(even, parts))
            lower = self._swap(even * factors)
            even = upper.apply("bitwise_xor", odd).apply("bitwise_xor", key)
            odd = lower
        rows = [
            build.reshape(
                self._cut(Number(do, build.slice_along(each.value, 0, n, n + 1)), count), (count, 1)
            )
            for n in range(2)
            for each in (even, odd)
        ]
        drawn = build.reshape(build.concat(rows, 1), (4 * count,))
        drawn = build.reshape(build.slice_along(drawn, 0, 0, math.prod(shape)), shape)
        return drawn, self._advance(state, count)

    def _words(self, state: SSAValue, number: int) -> tuple[Number, Number]:
        """Both words of a number of the state, as tensors of one element."""
        row = self.build.slice_along(state, 0, number, number + 1)
        low, high = (
            Number(self._do, self.build.slice_along(row, 1, place, place + 1)) for place in (0, 1)
        )
        return low, high

    def _count_up(self, counter: Sequence[Number], count: int) -> tuple[Number, Number]:
        """So many numbers, each one more than the last, in rows that may be longer."""
        build = self.build
        shape = (1, count) if count < ROW else (-(-count // ROW), ROW)
        length = math.prod(shape)
        type_ = TensorType(WORD, (length,))
        numbers = build.create("arange", (), type_, start=0, end=length, step=1, arange_dimension=0)
        low = Number(self._do, build.reshape(numbers, shape)) + counter[0]
        return low, self._carry(low, counter[0]) + counter[1]

    def _carry(self, total: Number, start: Number) -> Number:
        """1 where sums have wrapped around, so that they are less than what was added to."""
        repeated = Number(self._do, self.build.broadcast(start.value, value_shape(total.value)))
        return Number(self._do, self.build.cast(total.is_true("lt", repeated), WORD))

    def _advance(self, state: SSAValue, count: int) -> SSAValue:
        """The words of the counter, so many further on."""
        build = self.build
        carry: Number | float = count
        words: list[SSAValue] = []
        for number in range(1, value_shape(state)[0]):
            for word in self._words(state, number):
                total = word + carry
                carry = self._carry(total, word)
                words.append(total.value)
        return build.reshape(build.concat(words, 1), (len(words) // 2, 2))

    def _stack(self, first: Number, second: Number) -> Number:
        build = self.build
        rows = [
            build.reshape(each.value, (1, *value_shape(each.value))) for each in (first, second)
        ]
        return Number(self._do, build.concat(rows, 0))

    def _swap(self, rows: Number) -> Number:
        type_ = rows.value.type
        return Number(self._do, self.build.create("reverse", (rows.value,), type_, dimensions=(0,)))

    def _cut(self, words: Number, count: int) -> SSAValue:
        """The first words, in one dimension."""
        flat = self.build.reshape(words.value, (math.prod(value_shape(words.value)),))
        return self.build.slice_along(flat, 0, 0, count)


def _rotate(word: Number, places: int) -> Number:
    lower = word.apply("logical_right_shift", 32 - places)
    return word.apply("logical_left_shift", places).apply("bitwise_or", lower)


def _halves(word: Number) -> tuple[Number, Number]:
    return word.apply("bitwise_and", _LOWER), word.apply("logical_right_shift", _HALF)


def _upper_of_product(word: Number, factor: tuple[Number, Number]) -> Number:
    """The upper word of a product, the factor being given as halves of 16 bits."""
    low, high = _halves(word)
    middle = high * factor[0] + (low * factor[0]).apply("logical_right_shift", _HALF)
    lower, upper = _halves(middle)
    other = (low * factor[1] + lower).apply("logical_right_shift", _HALF)
    return high * factor[1] + upper + other


def _draw(op: Operation) -> None:
    """Numbers of a distribution, of words that no state counts."""
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    generator = _Generator(op)
    build = generator.build
    key = [_number_of(op), 0, 0, 0]
    state = build.create_numbers(key, TensorType(WORD, (2, 2)))
    drawn, _ = generator.draw_threefry(state, type_.get_shape(), in_pairs=False)
    words = Number(Arithmetic(build), drawn)
    first, second = (
        Number(words.do, build.broadcast(operand, type_.get_shape())) for operand in op.operands[:2]
    )
    is_normal = cast("EnumAttr", op.properties["rng_distribution"]).data == "NORMAL"
    if isinstance(type_.element_type, AnyFloat):
        found = _normal(words) if is_normal else _uniform(words)
        scale = second if is_normal else second - first
        number = Number(words.do, build.cast(found.value, type_.element_type))
        replace(op, (number * scale + first).value)
        return
    if is_normal or width_of(type_.element_type) == 64:
        refuse_to_legalize(
            op,
            "normal numbers have to be floating point numbers, and uniform ones to have at most 32 "
            "bits; draw others and convert them",
        )
    span = Number(words.do, build.cast((second - first).value, WORD))
    remainder = build.cast(words.apply("remainder", span).value, type_.element_type)
    replace(op, (Number(words.do, remainder) + first).value)


def _number_of(op: Operation) -> int:
    """How many such operations there are from this one to the end of the module.

    Those before have been expanded.
    """
    return sum(other.name == op.name for other in module_of(op).walk())


def _uniform(words: Number) -> Number:
    """Numbers of [0, 1) of 23 bits, as `jax.random.uniform` makes them."""
    bits = words.apply("logical_right_shift", 9)
    build = words.do.build
    return Number(words.do, build.cast(bits.value, f32)) * 2.0**-23


def _normal(words: Number) -> Number:
    low = -1 + 2.0**-24
    return (_uniform(words) * (1 - low) + low).apply("erfinv") * math.sqrt(2)


RULES: dict[str, ConversionRule] = {
    "stablehlo.rng": _draw,
    "stablehlo.rng_bit_generator": _generate_bits,
}
"""Rules by the full name of the operation."""
