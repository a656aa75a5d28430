"""Arrays as mathematics writes them, and what a carrier of them has to provide.

An `Array` has a shape and a data type; what it consists of is the carrier's: numbers of NumPy, a
value of IR that is being built, or nothing. Every elementwise definition of the operation table is
a method of its name, operators are the definitions of theirs, and operands broadcast as in NumPy:

    decay = (-x.abs()).exp()
    y = (x >= 0).where(1, decay) / (decay + 1)

Nothing changes precision by itself: a result has the type of the operands, a Python number takes
the type of the array beside it, and `cast` converts. Types are named as in MLIR: `f32`, `bf16`,
`i32`, `ui8`, `i1`. Truth values are `i1`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from ttmlir.errors import ArgumentError, MissingNameError
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.indexing import gathered_shape
from ttmlir.optable.op_definition import OpDefinition, broadcast_shape

Shape = tuple[int, ...]
Number = float | int | bool

TRUTH = "i1"
_EPSILON = {"f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}


class Scalar(NamedTuple):
    """A Python number as an operand: one that broadcasts, in the type of its neighbour."""

    number: Number
    dtype: str
    shape: Shape = ()


class Carrier(Protocol):
    """What makes the values of arrays; shapes and types of results are given."""

    holds_numbers: bool
    """Whether values are numbers of NumPy, which every other carrier takes as constants."""

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Any:
        """The result of an operation of the operation table; numbers are elementwise operands.

        Of an operation with two results it is both, the second one of places, which are `i32`.
        """
        ...

    def fill(self, number: Number, shape: Shape, dtype: str) -> Any:
        """One number everywhere."""
        ...

    def constant(self, numbers: Any, dtype: str) -> Any:
        """The numbers of a NumPy array, in a type that holds them."""
        ...


class LoopCarrier(Carrier, Protocol):
    """A carrier whose arrays algorithms can run loops over, at places that the loops compute."""

    def repeat(
        self,
        count: int,
        step: Callable[..., Sequence[Array]],
        state: Sequence[Array],
        goes_on: Callable[..., Array] | None,
    ) -> list[Any]:
        """The state after `count` steps `state = step(number, *state)`.

        With `goes_on`, a condition on the state, perhaps after fewer.
        """
        ...

    def take(self, array: Array, dim: int, place: Array) -> Any:
        """The part at a place along a dimension, which stays with an extent of 1."""
        ...

    def put(self, array: Array, dim: int, place: Array, part: Array) -> Any:
        """The array with another part at a place along a dimension."""
        ...

    def sort_descending(self, keys: Array, other: Array, dim: int) -> Any:
        """An array in the order of keys of its shape, the largest first; equal ones stay."""
        ...


class Array:
    """A value of a carrier with its shape and data type."""

    __slots__ = ("carrier", "dtype", "shape", "value")

    def __init__(self, carrier: Carrier, value: Any, shape: Sequence[int], dtype: str) -> None:
        """Wrap a value."""
        self.carrier = carrier
        self.value = value
        self.shape: Shape = tuple(shape)
        self.dtype = dtype

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_real(self) -> bool:
        """True for floating point numbers."""
        return "f" in self.dtype

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number."""
        return _EPSILON.get(self.dtype, 2.0**-23)

    # -- any operation -------------------------------------------------------------------------

    def create(
        self,
        mnemonic: str,
        *others: Array | Scalar,
        shape: Sequence[int] | None = None,
        dtype: str = "",
        parameters: dict[str, Any] | None = None,
    ) -> Array:
        """The result of a definition of this and others, in this type and shape unless given."""
        shape = self.shape if shape is None else tuple(shape)
        dtype = dtype or self.dtype
        operands: Sequence[Array | Scalar] = (self, *others)
        # Of numbers alone the result is numbers; beside other arrays they are constants.
        carriers = [each.carrier for each in operands if isinstance(each, Array)]
        carrier = next((each for each in carriers if not each.holds_numbers), self.carrier)
        value = carrier.create(DEFINITIONS[mnemonic], operands, shape, dtype, parameters or {})
        return Array(carrier, value, shape, dtype)

    # -- elements ------------------------------------------------------------------------------

    def apply(self, mnemonic: str, *others: Array | Number, **parameters: Any) -> Array:
        """An elementwise definition of this and others, with its parameters."""
        operands = [self._operand(other) for other in others]
        shape = broadcast_shape(self.shape, *(each.shape for each in operands))
        dtype = TRUTH if DEFINITIONS[mnemonic].gives_truth else [self, *operands][-1].dtype
        return self.create(mnemonic, *operands, shape=shape, dtype=dtype, parameters=parameters)

    def __getattr__(self, mnemonic: str) -> Callable[..., Array]:
        """The elementwise definition of that name."""
        definition = DEFINITIONS.get(mnemonic)
        if definition is None or not definition.family.is_elementwise:
            raise MissingNameError(f"there is no elementwise operation '{mnemonic}'")
        return partial(self.apply, mnemonic)

    def _operand(self, other: Array | Number) -> Array | Scalar:
        return other if isinstance(other, Array) else Scalar(other, self.dtype)

    def fill(self, number: Number, shape: Sequence[int] | None = None, dtype: str = "") -> Array:
        """An array of one number, of this type and shape unless others are given."""
        shape = self.shape if shape is None else tuple(shape)
        dtype = dtype or self.dtype
        return Array(self.carrier, self.carrier.fill(number, shape, dtype), shape, dtype)

    def constant(self, numbers: Any) -> Array:
        """The numbers of a NumPy array, rounded to this type."""
        return Array(
            self.carrier, self.carrier.constant(numbers, self.dtype), numbers.shape, self.dtype
        )

    def where(self, yes: Array | Number, no: Array | Number) -> Array:
        """Elements of `yes` where this is true, else of `no`; one of them is an array."""
        like = yes if isinstance(yes, Array) else no
        assert isinstance(like, Array), "one of them is an array"
        branches = [like._operand(each) for each in (yes, no)]
        shape = broadcast_shape(self.shape, *(each.shape for each in branches))
        return self.create("where", *branches, shape=shape, dtype=like.dtype)

    def cast(self, dtype: str) -> Array:
        """Numbers of another type."""
        return self if dtype == self.dtype else self.create("typecast", dtype=dtype)

    def bitcast(self, dtype: str) -> Array:
        """The same bits as numbers of another type of the same width."""
        return self if dtype == self.dtype else self.create("bitcast_convert", dtype=dtype)

    def is_nan(self) -> Array:
        """Whether it is not a number; False for integers."""
        return self.ne(self)

    def limit(self, low: Number | None = None, high: Number | None = None) -> Array:
        """Not below one number, and not above another one."""
        if self.is_real and all(each is None or self._is_parameter(each) for each in (low, high)):
            bounds = -math.inf if low is None else low, math.inf if high is None else high
            return self.clamp(min=float(bounds[0]), max=float(bounds[1]))
        found = self if low is None else self.maximum(low)
        return found if high is None else found.minimum(high)

    def __add__(self, other: Array | Number) -> Array:
        """The sum."""
        return self.apply("add", other)

    def __radd__(self, other: Number) -> Array:
        """The sum."""
        return self.apply("add", other)

    def __sub__(self, other: Array | Number) -> Array:
        """The difference."""
        return self.apply("subtract", other)

    def __rsub__(self, other: Number) -> Array:
        """The difference from a number."""
        return self._reflect("subtract", other)

    def __mul__(self, other: Array | Number) -> Array:
        """The product of elements."""
        return self.apply("multiply", other)

    def __rmul__(self, other: Number) -> Array:
        """The product of elements."""
        return self.apply("multiply", other)

    def __truediv__(self, other: Array | Number) -> Array:
        """The quotient; of integers, rounded toward zero."""
        return self.apply("div", other)

    def __rtruediv__(self, other: Number) -> Array:
        """A number over this."""
        return self._reflect("div", other)

    def _reflect(self, mnemonic: str, number: Number) -> Array:
        operands = Scalar(number, self.dtype), self
        value = self.carrier.create(DEFINITIONS[mnemonic], operands, self.shape, self.dtype, {})
        return Array(self.carrier, value, self.shape, self.dtype)

    def __neg__(self) -> Array:
        """The opposite."""
        return self.apply("neg")

    def __lt__(self, other: Array | Number) -> Array:
        """Whether it is less."""
        return self.apply("lt", other)

    def __le__(self, other: Array | Number) -> Array:
        """Whether it is less or equal."""
        return self.apply("le", other)

    def __gt__(self, other: Array | Number) -> Array:
        """Whether it is larger."""
        return self.apply("gt", other)

    def __ge__(self, other: Array | Number) -> Array:
        """Whether it is larger or equal."""
        return self.apply("ge", other)

    def __and__(self, other: Array | int) -> Array:
        """Both are true, or the bits that both have."""
        return self.apply("logical_and" if self.dtype == TRUTH else "bitwise_and", other)

    def __or__(self, other: Array | int) -> Array:
        """One is true, or the bits that one has."""
        return self.apply("logical_or" if self.dtype == TRUTH else "bitwise_or", other)

    def __xor__(self, other: Array | int) -> Array:
        """Just one is true, or the bits that just one has."""
        return self.apply("logical_xor" if self.dtype == TRUTH else "bitwise_xor", other)

    def __lshift__(self, other: int) -> Array:
        """The bits moved up, with zeros below."""
        return self.apply("logical_left_shift", other)

    def __rshift__(self, other: int) -> Array:
        """The bits moved down, with zeros above; `right_shift` keeps the sign."""
        return self.apply("logical_right_shift", other)

    # -- reductions and products ---------------------------------------------------------------

    def sum(self, *dims: int, keep: bool = True) -> Array:
        """Sums along dimensions, which stay with an extent of 1 if `keep`."""
        return self._reduce("sum", dims, keep=keep)

    def mean(self, *dims: int, keep: bool = True) -> Array:
        """Means along dimensions, which stay with an extent of 1 if `keep`."""
        return self._reduce("mean", dims, keep=keep)

    def max(self, *dims: int, keep: bool = True) -> Array:
        """The largest elements along dimensions, which stay with an extent of 1 if `keep`."""
        return self._reduce("max", dims, keep=keep)

    def min(self, *dims: int, keep: bool = True) -> Array:
        """The smallest elements along dimensions, which stay with an extent of 1 if `keep`."""
        return self._reduce("min", dims, keep=keep)

    def any(self, *dims: int, keep: bool = True) -> Array:
        """Whether one of the truth values along dimensions is true; they stay if `keep`."""
        return self._reduce("reduce_or", dims, keep=keep)

    def argmax(self, dim: int, dtype: str = "i64") -> Array:
        """The place of the first of the largest elements along a dimension; NaN is larger."""
        dim %= self.rank
        shape = [1 if i == dim else n for i, n in enumerate(self.shape)]
        parameters = {"dim_arg": (dim,), "keep_dim": True}
        return self.create("argmax", shape=shape, dtype=dtype, parameters=parameters)

    def sort(
        self, dim: int, *, descending: bool = False, stable: bool = False
    ) -> tuple[Array, Array]:
        """The elements in order along a dimension and their places before, as i32.

        NaN is the largest; equal ones stay in their order, on which the caller relies if `stable`.
        """
        parameters = {"dim": dim % self.rank, "descending": descending, "stable": stable}
        definition = DEFINITIONS["sort"]
        values, places = self.carrier.create(
            definition, (self,), self.shape, self.dtype, parameters
        )
        found = Array(self.carrier, values, self.shape, self.dtype)
        return found, Array(self.carrier, places, self.shape, "i32")

    def cumsum(self, dim: int) -> Array:
        """The sums of elements up to each one along a dimension."""
        return self.create("cumsum", parameters={"dim": dim % self.rank})

    def _reduce(self, mnemonic: str, dims: Shape, *, keep: bool) -> Array:
        if not dims:
            return self
        dims = tuple(dim % self.rank for dim in dims)
        pairs = enumerate(self.shape)
        shape = [1 if i in dims else n for i, n in pairs if keep or i not in dims]
        return self.create(mnemonic, shape=shape, parameters={"keep_dim": keep, "dim_arg": dims})

    def __matmul__(self, other: Array) -> Array:
        """The products of matrices: vectors are rows or columns, leading dimensions are batches."""
        left = self.unsqueeze(0) if self.rank == 1 else self
        right = other.unsqueeze(1) if other.rank == 1 else other
        if left.shape[-1] != right.shape[-2]:
            raise ArgumentError(
                f"there is no product of {list(self.shape)} and {list(other.shape)}: the matrices "
                f"have {left.shape[-1]} columns and {right.shape[-2]} rows, which have to be equal"
            )
        batches = broadcast_shape(left.shape[:-2], right.shape[:-2])
        shape = (*batches, *self.shape[-2:-1], *(other.shape[-1:] if other.rank > 1 else ()))
        if right.rank == 2 and left.rank > 2:
            # One product for the whole batch.
            left = left.reshape((math.prod(left.shape[:-1]), left.shape[-1]))
        rank = max(left.rank, right.rank)
        left, right = (
            each.reshape((1,) * (rank - each.rank) + each.shape) for each in (left, right)
        )
        batches = broadcast_shape(left.shape[:-2], right.shape[:-2])
        full = *batches, left.shape[-2], right.shape[-1]
        return left.create("matmul", right, shape=full).reshape(shape)

    def times_transposed(self, other: Array) -> Array:
        """The products of a batch of matrices with the transposed ones of another batch."""
        return self._multiply(other, 2, 2)

    def transposed_times(self, other: Array) -> Array:
        """The products of the transposed matrices of a batch with those of another batch."""
        return self._multiply(other, 1, 1)

    def _multiply(self, other: Array, left: int, right: int) -> Array:
        """Products summed over a dimension of each, 1 or 2; 0 are batches."""
        shape = (self.shape[0], self.shape[3 - left], other.shape[3 - right])
        dims = {
            "batch_dims_lhs": (0,),
            "contract_dims_lhs": (left,),
            "batch_dims_rhs": (0,),
            "contract_dims_rhs": (right,),
        }
        return self.create("dot_general", other, shape=shape, parameters=dims)

    # -- movement ------------------------------------------------------------------------------

    def reshape(self, shape: Sequence[int]) -> Array:
        """The same elements, in row-major order, in another shape."""
        shape = tuple(shape)
        if shape == self.shape:
            return self
        return self.create("reshape", shape=shape, parameters={"shape": shape})

    def permute(self, order: Sequence[int]) -> Array:
        """The dimensions in another order."""
        order = tuple(order)
        if order == tuple(range(self.rank)):
            return self
        return self.create(
            "permute",
            shape=[self.shape[i] for i in order],
            parameters={"permutation": order},
        )

    def transpose(self) -> Array:
        """Rows and columns exchanged."""
        return self.permute([*range(self.rank - 2), self.rank - 1, self.rank - 2])

    def unsqueeze(self, *dims: int) -> Array:
        """With further dimensions of extent 1 at these places of the result."""
        rank = self.rank + len(dims)
        places = {dim % rank for dim in dims}
        rest = iter(self.shape)
        return self.reshape([1 if i in places else next(rest) for i in range(rank)])

    def squeeze(self, *dims: int) -> Array:
        """Without these dimensions, of extent 1."""
        dropped = {dim % self.rank for dim in dims}
        return self.reshape([n for i, n in enumerate(self.shape) if i not in dropped])

    def broadcast(self, shape: Sequence[int]) -> Array:
        """Repeated to a shape whose last dimensions are its own."""
        shape = tuple(shape)
        own = self.reshape((1,) * (len(shape) - self.rank) + self.shape)
        if own.shape == shape:
            return own
        return own.create(
            "broadcast", shape=shape, parameters={"dimension": tuple(range(len(shape)))}
        )

    def slice(
        self, begins: Sequence[int], ends: Sequence[int], steps: Sequence[int] | None = None
    ) -> Array:
        """Every step-th element between two bounds of each dimension."""
        begins, ends, step = tuple(begins), tuple(ends), tuple(steps or (1,) * self.rank)
        bounds = zip(begins, ends, step, strict=True)
        shape = tuple(-(-(end - begin) // each) for begin, end, each in bounds)
        if shape == self.shape:
            return self
        if 0 in shape:
            # Operations begin at elements, which there may be none of.
            return self.fill(0, shape)
        return self.create(
            "slice", shape=shape, parameters={"begins": begins, "ends": ends, "step": step}
        )

    def cut(self, dim: int, begin: int, end: int, step: int = 1) -> Array:
        """Every step-th element between two bounds along a dimension."""
        begins, ends, steps = [0] * self.rank, [*self.shape], [1] * self.rank
        begins[dim], ends[dim], steps[dim] = begin, end, step
        return self.slice(begins, ends, steps)

    def pad(self, margins: Sequence[tuple[int, int]], number: Number) -> Array:
        """With so many more elements of a number in front and behind; below 0 fewer elements."""
        pairs = [*zip(self.shape, margins, strict=True)]
        kept = self.slice(
            [max(-low, 0) for low, _ in margins],
            [extent - max(-high, 0) for extent, (_, high) in pairs],
        )
        padding = tuple(max(count, 0) for pair in margins for count in pair)
        if not any(padding):
            return kept
        if not self._is_parameter(number):
            places = self.fill(1, dtype=TRUTH).pad(margins, 0)
            return places.where(self.pad(margins, 0), number)
        shape = [low + extent + high for extent, (low, high) in pairs]
        return kept.create("pad", shape=shape, parameters={"padding": padding, "value": number})

    def _is_parameter(self, number: Number) -> bool:
        """False for numbers of this type that parameters of operations, which are f32, round."""
        if self.dtype != "f64" and self.is_real:
            return True
        try:
            (rounded,) = struct.unpack("<f", struct.pack("<f", number))
        except OverflowError:
            return False
        return rounded == number or math.isnan(rounded)

    def dilate(self, dim: int, step: int, number: Number) -> Array:
        """With `step - 1` elements of a number between the elements along a dimension."""
        shape, extent = self.shape, self.shape[dim]
        if step == 1 or extent <= 1:
            return self
        before, after = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
        dilated = (extent - 1) * step + 1
        apart = self.reshape((before * extent, 1, after))
        padded = apart.pad([(0, 0), (0, step - 1), (0, 0)], number)
        merged = padded.reshape((before, extent * step, after))
        return merged.cut(1, 0, dilated).reshape((*shape[:dim], dilated, *shape[dim + 1 :]))

    def reverse(self, dim: int) -> Array:
        """The elements along a dimension, the last one first."""
        return self.create("reverse", parameters={"dimensions": (dim % self.rank,)})

    def count(self, dim: int, shape: Sequence[int] | None = None, dtype: str = "i32") -> Array:
        """The place of each element along a dimension, for this shape or another one."""
        shape = self.shape if shape is None else tuple(shape)
        dim %= len(shape)
        parameters = {"start": 0, "end": shape[dim], "step": 1, "arange_dimension": dim}
        value = self.carrier.create(DEFINITIONS["arange"], (), shape, dtype, parameters)
        return Array(self.carrier, value, shape, dtype)

    # -- places that are computed --------------------------------------------------------------

    def gather(self, dim: int, index: Array) -> Array:
        """The elements at places along a dimension; extents of 1 of the others are repeated."""
        dim %= self.rank
        shape = gathered_shape(self.shape, index.shape, dim=dim)
        return self.create("gather", index, shape=shape, parameters={"dim": dim})

    def select(self, dim: int, index: Array) -> Array:
        """The slices at places of a dimension, instead of which there are those of the index."""
        dim %= self.rank
        rest = [i for i in range(self.rank) if i != dim]
        width = math.prod(self.shape[i] for i in rest)
        table = self.permute([dim, *rest]).reshape((self.shape[dim], width))
        flat = index.reshape((math.prod(index.shape),))
        found = flat.create("embedding", table, shape=(*flat.shape, width), dtype=self.dtype)
        found = found.reshape((*index.shape, *(self.shape[i] for i in rest)))
        count = index.rank
        order = [*range(count, count + dim), *range(count), *range(count + dim, found.rank)]
        return found.permute(order)

    def scatter(self, dim: int, index: Array, source: Array, combine: str = "") -> Array:
        """With elements of another array put to places along a dimension.

        They are combined with those that are there by `add`, `multiply`, `maximum` or `minimum`.
        Places beyond the end are left out.
        """
        mnemonic = f"scatter_{combine}" if combine else "scatter"
        return self.create(mnemonic, index, source, parameters={"dim": dim % self.rank})

    @property
    def _loops(self) -> LoopCarrier:
        return cast("LoopCarrier", self.carrier)

    def take(self, dim: int, place: Array) -> Array:
        """The part at a place along a dimension, which stays with an extent of 1."""
        dim %= self.rank
        shape = [1 if i == dim else n for i, n in enumerate(self.shape)]
        return Array(self.carrier, self._loops.take(self, dim, place), shape, self.dtype)

    def put(self, dim: int, place: Array, part: Array) -> Array:
        """With another part at a place along a dimension."""
        value = self._loops.put(self, dim % self.rank, place, part)
        return Array(self.carrier, value, self.shape, self.dtype)

    def sort_descending(self, keys: Array, dim: int) -> Array:
        """In the order of keys of this shape, the largest first; equal ones stay."""
        value = self._loops.sort_descending(keys, self, dim % self.rank)
        return Array(self.carrier, value, self.shape, self.dtype)


def repeat(
    count: int,
    step: Callable[..., Sequence[Array]],
    *state: Array,
    goes_on: Callable[..., Array] | None = None,
) -> list[Array]:
    """The state after `count` steps, `state = step(number, *state)`.

    With `goes_on`, a condition on the state, perhaps after fewer.
    """
    carrier = cast("LoopCarrier", state[0].carrier)
    values = carrier.repeat(count, step, state, goes_on)
    pairs = zip(values, state, strict=True)
    return [Array(carrier, value, each.shape, each.dtype) for value, each in pairs]


def concatenate(parts: Sequence[Array], dim: int) -> Array:
    """Arrays one after the other along a dimension; those without elements are left out."""
    first = parts[0]
    dim %= first.rank
    kept = [part for part in parts if part.shape[dim]] or [first]
    if len(kept) == 1:
        return kept[0]
    shape = [*first.shape]
    shape[dim] = sum(part.shape[dim] for part in kept)
    return kept[0].create("concat", *kept[1:], shape=shape, parameters={"dim": dim})


def contract(
    a: Array,
    a_dims: Sequence[Hashable],
    b: Array,
    b_dims: Sequence[Hashable],
    dims: Sequence[Hashable],
) -> Array:
    """The sum, over the dimensions that are not in `dims`, of the products of two arrays.

    Dimensions are identified by any names. What only one operand has and the result has not is
    summed up before.
    """
    a, a_dims = _sum_out(a, a_dims, {*b_dims, *dims})
    b, b_dims = _sum_out(b, b_dims, {*a_dims, *dims})
    batch = [dim for dim in dims if dim in a_dims and dim in b_dims]
    inner = [dim for dim in a_dims if dim in b_dims and dim not in dims]
    rows = [dim for dim in a_dims if dim not in b_dims]
    columns = [dim for dim in b_dims if dim not in a_dims]
    extents = dict(zip((*a_dims, *b_dims), (*a.shape, *b.shape), strict=True))
    natural = [*batch, *rows, *columns]
    shape = [extents[dim] for dim in natural]
    one_each = len(inner) == len(rows) == len(columns) == 1
    if one_each and [*a_dims] == batch + rows + inner and [*b_dims] == batch + inner + columns:
        product = a.create("matmul", b, shape=shape)
    else:
        parameters = {
            "batch_dims_lhs": tuple(a_dims.index(dim) for dim in batch),
            "batch_dims_rhs": tuple(b_dims.index(dim) for dim in batch),
            "contract_dims_lhs": tuple(a_dims.index(dim) for dim in inner),
            "contract_dims_rhs": tuple(b_dims.index(dim) for dim in inner),
        }
        product = a.create("dot_general", b, shape=shape, parameters=parameters)
    return product.permute([natural.index(dim) for dim in dims])


def _sum_out(
    x: Array, dims: Sequence[Hashable], kept: set[Hashable]
) -> tuple[Array, Sequence[Hashable]]:
    """The array and its dimensions after a sum over all others than the kept ones."""
    lost = tuple(place for place, dim in enumerate(dims) if dim not in kept)
    if not lost:
        return x, dims
    left = [place for place in range(len(dims)) if place not in lost]
    shape = [x.shape[place] for place in left]
    total = x.create("sum", shape=shape, parameters={"keep_dim": False, "dim_arg": lost})
    return total, [dims[place] for place in left]
