"""The vector unit as sfpi's classes drive it: instructions on vectors of 32 lanes.

Vector k of a face, k from 0 to 7, is its rows 4 * (k // 2) to 4 * (k // 2) + 3, of which it has the
even columns if k is even and the odd ones if it is odd; lane l is the row l // 8 of these and the
column 2 * (l % 8) + k % 2. Vector i of DST, counted from the place that the unit stands at, is
vector i % 8 of face i // 8 % 4 of tile i // 32.

Each lane takes part or not: assignments and stores leave the others as they are. In device numerics
denormal results are 0, and stores cut off what the format of DST has no bits for. Integers are in
two's complement, save where a function says that they have a sign bit. Sources:
tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor (VectorUnit.md, SFPLOAD.md,
SFPSTORE.md, SFPSETCC.md, SFPSTOCHRND.md, SFPCAST.md); sfpi, include/{sfpi,wormhole/sfpi_hw}.h.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.data_format import convert
from ttmlir.layout.enums import Arch
from ttmlir.optable.kernel import ALL_CALLS, NARROW, Element, KernelCall, Role, Scalar, find_call
from ttmlir.optable.kernel.cpp_compute_calls import ORDERS, PREFIX
from ttmlir.sim.calls.compute_api import ComputeApi, ComputeSettings
from ttmlir.sim.calls.kernel_api import Template, kernel_call
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.lookup_tables import look_up
from ttmlir.sim.machine.numerics import (
    Register,
    faces_of_rows,
    round_to,
    rows_of_faces,
    store_vector,
    to_source,
)
from ttmlir.sim.machine.registers import Half, join_poison
from ttmlir.sim.options import SimOptions

# --- Vector api -----------------------------------------------------------------------------------
# The calls of the MATH thread on the vector unit (SFPU), made from the definitions of the table of
# calls.
#
# A definition's `reference` is the function; it is computed in float32 (or on 32-bit integers), and
# in device numerics the result is rounded to the format of DST. Source of the rounding and of the
# behaviour on infinities and NaN: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor
# (VectorUnit.md, FloatBitPatterns.md).
#
# Behind the calls on whole tiles stand those on columns of tiles, and those that go down the rows.

Array = NDArray[Any]

INTEGER_FORMATS: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.int32),
    9: np.dtype(np.uint16),
    14: np.dtype(np.int8),
    24: np.dtype(np.uint32),
    30: np.dtype(np.uint8),
}
"""The whole numbers among tt-metal's `DataFormat`: Int32, UInt16, Int8, UInt32, UInt8."""

_BFLOAT16_CLASS = frozenset({5, 6, 7, 15})
"""Float16_b and the block floats of its class, by their numbers in `DataFormat`."""

_FLOAT32: np.dtype[Any] = np.dtype(np.float32)
_INT32: np.dtype[Any] = np.dtype(np.int32)
_ELEMENTS = {Element.FLOAT: _FLOAT32, Element.INT32: _INT32, Element.UINT32: np.dtype(np.uint32)}


_STREAM_SEED = 0x9E37_79B9
"""How far the seeds of two streams of random numbers lie apart."""


class VectorApi(ComputeApi):
    """Calls on the vector unit; those with a reference in their definition are added below the
    class."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """The vector unit, not yet prepared for anything."""
        super().__init__(core, thread, options, settings)
        self._vector_prepared: set[str] = set()
        self._random = np.random.default_rng(0)

    @property
    def half(self) -> Half:
        """The half of DST that the unit works on: that of the thread."""
        return self.dst.math

    def tile(self, index: int, kind: Literal["read", "write"] = "read") -> Array:
        """A tile of DST in place, in the order of memory; `kind` is `read` or `write`."""
        self.check_tile(index, kind)
        return self.half.faces(index)

    def prepare_vector(self, name: str) -> None:
        """Note that an `_init` call was made."""
        self._vector_prepared.add(name)
        self.reconfigured()

    def check_vector_prepared(self, definition: KernelCall) -> None:
        """Find fault with a function that the vector unit was not prepared for."""
        if definition.init and definition.init not in self._vector_prepared:
            self.report(
                "init",
                f"the vector unit is not prepared for {definition.cpp}; "
                f"call {definition.init} before",
            )

    def compute(self, call: _Call, arguments: Sequence[Any], template: Template) -> None:
        """Compute a call with a reference on tiles of DST."""
        definition = call.definition
        self.check_vector_prepared(definition)
        element = _ELEMENTS.get(call.element)
        if element is None:
            element = _element_of(*self.numbers_of(definition.cpp, template, 1))
        elif template and not definition.templates and int(template[0]) in INTEGER_FORMATS:
            # In 2026 a call of floats may be one of integers, too: logical_not_tile<Int32>.
            element = _element_of(int(template[0]))
        scalars = {name: decode(arguments[place]) for place, name, decode in call.scalars}
        cost = definition.cost
        reference = call.reference if self.exact else definition.on_device or call.reference
        approximates = definition.approximation is not None and definition.approximates(template)
        narrows = definition.narrows(template) and not approximates
        if definition.approximation is not None and approximates:
            cost = definition.approximation.cost
            if not self.exact:
                reference = definition.approximation.reference or reference
        inputs, output = [arguments[place] for place in call.inputs], arguments[call.output]
        on_card = None
        if not self.exact and element == np.float32:
            form = "_approximate" if approximates else f"_{NARROW}" if narrows else ""
            name = definition.cpp.partition("_tile")[0] + form
            on_card = self.find_on_card(name, len(inputs), scalars)
        if on_card is not None:
            self._apply(on_card, inputs, output, element, on_card, is_stored=True)
        else:
            kind = reference, *scalars.items()
            self._apply(partial(reference, np, **scalars), inputs, output, element, kind)
        self.spend_on_math(cost, narrow=narrows)

    def apply_stored(self, function: Callable[..., Array], index: int) -> None:
        """Replace the numbers of a tile by those of a function that are stored as they are."""
        element = np.dtype(np.float32)
        self._apply(function, [index], index, element, function, is_stored=True)

    def _apply(
        self,
        function: Callable[..., Any],
        inputs: Sequence[int],
        output: int,
        element: np.dtype[Any],
        kind: Hashable,
        *,
        is_stored: bool = False,
    ) -> None:
        """Put a function of tiles of DST into another one; those of equal `kind` are the same.

        With `is_stored` its numbers are those that DST holds, else they are rounded to them.
        """
        poisons = self.half.take_poisons(inputs, output)
        tiles = [self.tile(index).view(element) for index in inputs]
        with np.errstate(all="ignore"):
            result = function(*tiles)
        if is_stored:
            self.tile(output, "write").view(element)[:] = result
        else:
            self._put(output, result, element)
        for index, poison in poisons.items():
            self.half.put_poison(index, poison)

    def rounded(self, result: Any, element: np.dtype[Any]) -> Array:
        """A result as DST holds it."""
        values = np.atleast_1d(result).astype(element, copy=False)
        if element == np.float32 and not self.exact:
            values = store_vector(values, self.dst.register)
        return values

    def find_on_card(
        self, name: str, tiles: int, numbers: Mapping[str, Any]
    ) -> Callable[..., Array] | None:
        """The bits of the vector unit's function, where they are known."""
        if self.dst.register not in (Register.BF16, Register.FP32):
            return None
        from ttmlir.sim.machine.card_tiles import tile_function

        arch = Arch.BLACKHOLE if self.on_blackhole else Arch.WORMHOLE_B0
        wide = self.dst.register is Register.FP32
        return tile_function(name, arch, wide=wide, numbers=numbers, tiles=tiles)

    def _put(self, index: int, result: Array, element: np.dtype[Any]) -> None:
        """Store a result in a tile of DST."""
        values = self.rounded(result, element)
        self.tile(index, "write").view(element)[:] = values

    @kernel_call()
    def typecast_tile(self, dst: int, *, template: Template = ()) -> None:
        """Numbers of one `DataFormat` to another.

        The rule is that of all conversions (`ttmlir.layout.data_format`), save that integers
        of 32 bits saturate where they become shorter ones. Integers in DST take 32 bits each.
        """
        definition = _CALLS["typecast_tile"]
        self.check_vector_prepared(definition)
        source, target = self.numbers_of("typecast_tile", template, 2)
        element = _INT32 if target in INTEGER_FORMATS else _FLOAT32
        function = partial(_cast, source=_element_of(source), target=target)
        self._apply(function, [dst], dst, element, ("typecast_tile", source, target))
        self.spend(definition.cost.math)

    @kernel_call()
    def mask_tile(self, dst: int, mask: int, data_format: int = 5) -> None:
        """Zero where the tile after this one is zero, whatever number the mask is said to have."""
        self._mask("mask_tile", dst, np.float32(0))

    @kernel_call()
    def mask_posinf_tile(self, dst: int, mask: int) -> None:
        """Infinity where the tile after this one is zero."""
        self._mask("mask_posinf_tile", dst, np.float32(np.inf))

    def _mask(self, name: str, dst: int, value: np.float32) -> None:
        definition = _CALLS[name]
        self.check_vector_prepared(definition)
        poison, of_mask = (self.half.poisons.pop(each, None) for each in (dst, dst + 1))
        is_masked = self.tile(dst + 1) == 0
        self.tile(dst, "write")[is_masked] = value
        self.half.put_poison(dst, join_poison(poison and poison.only(~is_masked), of_mask))
        self.half.put_poison(dst + 1, of_mask)
        self.spend(definition.cost.math)

    @kernel_call()
    def rand_tile_init(self, seed: int = 0, stream: int = 0) -> None:
        """Start the generator of random numbers; its numbers are not those of the chip."""
        self._random = np.random.default_rng((seed + stream * _STREAM_SEED) & 0xFFFF_FFFF)
        self.prepare_vector("rand_tile_init")

    @kernel_call()
    def rand_tile(self, dst: int, start: int, scale: int) -> None:
        """Random numbers: from, plus scale times numbers in [0, 1), given as bits of float32."""
        definition = _CALLS["rand_tile"]
        self.check_vector_prepared(definition)
        drawn = self._random.random(1024, np.float32)
        self._put(dst, _float_of(start) + _float_of(scale) * drawn, np.dtype(np.float32))
        self.spend(definition.cost.math)


class _Call:
    """A definition, with the places of its arguments."""

    __slots__ = ("definition", "element", "inputs", "output", "reference", "scalars")

    def __init__(self, definition: KernelCall, reference: Callable[..., Any]) -> None:
        assert definition.tiles is not None, (
            f"the definition of {definition.cpp} has a reference but no tiles"
        )
        places = {name: place for place, (name, _) in enumerate(definition.operands)}
        self.definition = definition
        self.reference = reference
        self.element = definition.tiles.element
        self.inputs = tuple(places[name] for name in definition.tiles.dst)
        self.output = places[definition.tiles.to]
        self.scalars = tuple(
            (places[name], parameter, _DECODERS[encoding])
            for name, parameter, encoding in definition.tiles.scalars
        )


def _float_of(bits: int) -> np.float32:
    return np.uint32(bits & 0xFFFF_FFFF).view(np.float32)


def _integer_of(word: int) -> np.int32:
    return np.uint32(word & 0xFFFF_FFFF).view(np.int32)


_DECODERS: dict[Scalar, Callable[[Any], Any]] = {
    Scalar.FLOAT_BITS: _float_of,
    Scalar.INTEGER: _integer_of,
    Scalar.FLOAT: np.float32,
}


def _element_of(number: int) -> np.dtype[Any]:
    """What numbers a tile holds, by its `DataFormat`."""
    if number not in INTEGER_FORMATS:
        return _ELEMENTS[Element.FLOAT]
    return np.dtype(np.int32 if INTEGER_FORMATS[number].kind == "i" else np.uint32)


def _cast(numbers: Array, source: np.dtype[Any], target: int) -> Array:
    """The bits of numbers of a type as those of a `DataFormat`."""
    numbers = numbers.view(source)
    if target not in INTEGER_FORMATS:
        return _round(convert(numbers, _FLOAT32), target)
    dtype = INTEGER_FORMATS[target]
    if dtype.itemsize < 4 and numbers.dtype.kind in "iu":
        numbers = numbers.clip(np.iinfo(dtype).min, np.iinfo(dtype).max)
    return convert(numbers, dtype).astype(np.uint32).view(np.int32)


def _round(values: Array, data_format: int) -> Array:
    """Numbers as the 16-bit float of a format's class has them; Float32 has all of them."""
    if data_format in _BFLOAT16_CLASS:
        return store_vector(values, Register.BF16)
    return values.astype(np.float16).astype(np.float32) if data_format == 1 else values


_CALLS = {
    definition.cpp: definition
    for definition in ALL_CALLS
    if definition.roles is Role.MATH and definition.header
}


def compute_by(definition: KernelCall) -> Callable[..., None]:
    """The call of a definition with a reference, a function of the vector unit."""
    assert definition.reference is not None, f"{definition.cpp} has no reference"
    call = _Call(definition, definition.reference)

    @kernel_call()
    def method(self: VectorApi, *arguments: Any, template: Template = ()) -> None:
        self.compute(call, arguments, template)

    return method


def _preparing(name: str) -> Callable[..., None]:
    @kernel_call()
    def method(self: VectorApi, *arguments: Any, template: Template = ()) -> None:
        self.prepare_vector(name)

    return method


_OWN = frozenset(vars(VectorApi))
COMPUTED = frozenset(
    name for name, each in _CALLS.items() if name not in _OWN and each.reference is not None
)
"""Calls that `VectorApi.compute` does, number by number."""
PREPARED = frozenset(
    name for name in _CALLS if name not in _OWN | COMPUTED and name.endswith("_init")
)
"""Calls that only prepare others."""


def _add_methods() -> None:
    """Give `VectorApi` a method for every definition of the vector unit that it does not define."""
    for name in sorted(COMPUTED | PREPARED):
        definition = _CALLS[name]
        method = compute_by(definition) if name in COMPUTED else _preparing(name)
        method.__name__ = name
        method.__doc__ = definition.summary
        setattr(VectorApi, name, method)


_add_methods()


# --- Columns of tiles -----------------------------------------------------------------------------
# The calls of the MATH thread on columns of tiles in DST: sorting, and running statistics.
#
# Sorting: tiles 0 and 1 of DST hold values, 2 and 3 what goes with them, such as indices. Column c
# of tile 0 and that of tile 1 below it are 64 places; the 32 columns do not mix. Statistics: mean
# and sum of squared deviations of each column, in registers of the vector unit, where they stay
# from call to call. Where such a register is stored as it is, its 32 lanes are 4 rows of 8: columns
# 0, 2 ... 14 of a tile, columns 1, 3 ... 15, columns 16, 18 ... 30 and columns 17, 19 ... 31; a row
# of lanes takes every second place of the first half of a row of the tile. Source: tt-llk,
# ckernel_sfpu_{topk,welfords}.h.

Table = list[int] | tuple[int, int]
"""A table of the kernel's own; or the address of one in memory, and how many words it has."""

_FIRST_DIRECTED = 3
"""The first phase of a sort that the direction matters to (tt-llk, bitonic_topk_ph3_st4_to_1)."""
_FEWEST_TAG_BITS, _MOST_TAG_BITS = 6, 16
_TIES_RISE = 1
"""The number of `TopkTieOrder::Ascending`."""
_VECTOR_API_PLACES = 64
"""Places of a column in two tiles."""

_LANES = np.concatenate([np.arange(start, start + 16, 2) for start in (0, 1, 16, 17)])
"""The column of each lane of a register that holds a row."""


class ColumnsApi(VectorApi):
    """Calls that treat the columns of tiles in DST apart."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """No statistics yet."""
        super().__init__(core, thread, options, settings)
        self._mean = np.zeros(32, np.float32)
        self._squares = np.zeros(32, np.float32)

    # --- Sorting --------------------------------------------------------------------------------

    @kernel_call()
    def topk_local_sort(
        self,
        dst: int,
        direction: int,
        end_phase: int,
        start_phase: int = 0,
        end_step: int = 0,
        start_step: int = 0,
        *,
        template: Template = (),
    ) -> None:
        """Phases of a bitonic sort: phase p makes runs of 2^(p+1), falling and rising in turn.

        The direction decides about runs of 16 and more; the first one of shorter runs falls.
        """
        columns = self._load_columns("topk_local_sort", dst, template)
        for phase in range(start_phase, end_phase + 1):
            alone = start_phase == end_phase and phase > 3
            first, last = (start_step, end_step) if alone else (phase + 1, min(phase + 1, 4))
            steps = [*range(first, last, -1), *range(min(phase + 1, 4), 0, -1)]
            for step in steps:
                rising = bool(direction) and phase >= _FIRST_DIRECTED
                columns.compare_apart(1 << (step - 1), 1 << (phase + 1), rising=rising)
        self._store_columns("topk_local_sort", dst, columns)

    @kernel_call()
    def topk_merge(self, dst: int, iteration: int, k: int, *, template: Template = ()) -> None:
        """The larger of each two numbers of runs that are 2^iteration runs of k apart, in front.

        Of a falling and a rising run these are the k largest; with the first flag the smallest.
        """
        columns = self._load_columns("topk_merge", dst, template[1:])
        length = self._run_length("topk_merge", k)
        apart = min(_VECTOR_API_PLACES // 2, length << iteration)
        smallest = bool(template and template[0])
        groups = self._compared(iteration, length) // (2 * length)
        for group in range(groups):
            start = 2 * apart * group
            first = np.arange(start, start + length)
            if columns.ranked:
                columns.stamp(first, 0, self._tag_mask(template, 6), largest=not smallest)
                columns.stamp(
                    first + apart, 2 * k - 1, self._tag_mask(template, 6), largest=not smallest
                )
            columns.compare(first, first + apart, rising=smallest)
        self._store_columns("topk_merge", dst, columns)

    @kernel_call()
    def topk_rebuild(
        self,
        dst: int,
        direction: int,
        iteration: int,
        k: int,
        log_k: int,
        skip_second: int,
        *,
        template: Template = (),
    ) -> None:
        """Sort runs of k that are 2^(iteration+1) runs apart, falling and rising in turn.

        As in a local sort, the direction decides about runs of 16 and more.
        """
        columns = self._load_columns("topk_rebuild", dst, template)
        length = min(k, _VECTOR_API_PLACES)
        apart = max(length, min(_VECTOR_API_PLACES // 2, length << (iteration + 1)))
        count = self._compared(iteration + 1, length) >> (skip_second & 1)
        rising = bool(direction) and log_k > _FIRST_DIRECTED
        for start in range(0, max(count // length, 1) * apart, apart):
            if start + length <= _VECTOR_API_PLACES:
                columns.sort(np.arange(start, start + length), rising=rising)
            rising = not rising
        self._store_columns("topk_rebuild", dst, columns)

    def _run_length(self, call: str, k: int) -> int:
        if k < 1:
            raise self.thread.error(f"{call} of {k} numbers; take at least one", rule="arguments")
        return min(k, _VECTOR_API_PLACES // 2)

    def _compared(self, iteration: int, length: int) -> int:
        """How many places are looked at: fewer in each iteration, but always two runs."""
        return max(_VECTOR_API_PLACES >> min(iteration, 6), 2 * length)

    def _tag_mask(self, template: Template, place: int) -> int:
        """The low bits that hold a tag, by the template argument that counts them."""
        bits = int(template[place]) if len(template) > place else _MOST_TAG_BITS
        if not _FEWEST_TAG_BITS <= bits <= _MOST_TAG_BITS:
            raise self.thread.error(
                f"tags of {bits} bits; they have {_FEWEST_TAG_BITS} to {_MOST_TAG_BITS}",
                rule="template",
            )
        return (1 << bits) - 1

    def _load_columns(self, call: str, dst: int, template: Template) -> _Columns:
        """The columns; flags are (stable, 32 bits, fused, ranked), then what ties are decided by.

        Releases before 0.81 have the first of them.
        """
        self.check_vector_prepared(find_call(call))
        flags = [int(each) for each in template[:5]]
        stable, _, fused, ranked, order = (*flags, *(0, 0, 0, 0, 0)[len(flags) :])
        values, others = (
            np.concatenate([rows_of_faces(self.tile(dst + place + half)) for half in (0, 1)])
            for place in (0, 2)
        )
        return _Columns(
            np.array(values),
            np.array(others),
            stable=bool(stable),
            fused=bool(fused),
            ranked=bool(ranked),
            ties_rise=order == _TIES_RISE,
        )

    def _store_columns(self, call: str, dst: int, columns: _Columns) -> None:
        for place, values in ((0, columns.values), (2, columns.others)):
            for half in (0, 1):
                rows = values[32 * half : 32 * half + 32]
                self.tile(dst + place + half, "write")[:] = faces_of_rows(rows).reshape(-1)
        self.spend(find_call(call).cost.math)

    # --- Statistics -----------------------------------------------------------------------------

    @kernel_call()
    def welford_init(self) -> None:
        """Prepare the calls, and forget what was added."""
        self.prepare_vector("welford_init")
        self.welford_clear()

    @kernel_call()
    def welford_clear(self) -> None:
        """Forget what was added."""
        self._mean = np.zeros(32, np.float32)
        self._squares = np.zeros(32, np.float32)

    @kernel_call()
    def welford_update(
        self, dst: int, start: int, reciprocals: Table, *, template: Template = ()
    ) -> None:
        """Add the rows of a tile: `start` were added before, number n counts 1 / (n + 1)."""
        self._add_rows("welford_update", dst, start, (0, 32), reciprocals)

    @kernel_call()
    def welford_update_rows(
        self,
        dst: int,
        start: int,
        first_row: int,
        rows: int,
        reciprocals: Table,
        *,
        template: Template = (),
    ) -> None:
        """Add some rows of a tile."""
        if not 0 <= first_row <= first_row + rows <= 32:
            raise self.thread.error(
                f"welford_update_rows of {rows} rows from {first_row} on; a tile has 32",
                rule="arguments",
            )
        self._add_rows("welford_update_rows", dst, start, (first_row, rows), reciprocals)

    def _add_rows(
        self, call: str, dst: int, start: int, rows: tuple[int, int], reciprocals: Table
    ) -> None:
        definition = find_call(call)
        self.check_vector_prepared(definition)
        tile = rows_of_faces(self.tile(dst))
        first, count = rows
        with np.errstate(all="ignore"):
            for number, values in enumerate(tile[first : first + count], start):
                difference = values - self._mean
                self._mean = self._mean + difference * self._reciprocal(number, reciprocals)
                self._squares = self._squares + difference * (values - self._mean)
        self.spend(definition.cost.math * count // 32)

    def _reciprocal(self, number: int, reciprocals: Table) -> np.float32:
        is_in_memory = isinstance(reciprocals, tuple)
        count = reciprocals[1] if is_in_memory else len(reciprocals)
        if not count:
            return np.float32(1) / np.float32(number + 1)
        if number >= count:
            raise self.thread.error(
                f"the table of reciprocals has {count} entries, and number {number} is "
                "needed; make it as long as the columns",
                rule="arguments",
            )
        bits = self.load(reciprocals[0] + 4 * number, 4, False) if is_in_memory else None
        bits = reciprocals[number] if bits is None else bits
        return np.uint32(bits & 0xFFFF_FFFF).view(np.float32)

    @kernel_call()
    def welford_save_state(self, dst: int, group: int = 0) -> None:
        """Store both registers as they are, in tiles `dst` and `dst + 1`, 4 rows for each group."""
        self._store_register("welford_save_state", dst, group, self._mean)
        self._store_register("welford_save_state", dst + 1, group, self._squares)

    @kernel_call()
    def welford_restore_state(self, dst: int, group: int = 0) -> None:
        """Load both registers as they were stored."""
        self._mean, self._squares = (
            self._load_register("welford_restore_state", tile, group) for tile in (dst, dst + 1)
        )

    def _load_register(self, call: str, dst: int, group: int) -> Array:
        register = np.empty(32, np.float32)
        register[_LANES] = self.tile(dst)[self._lanes_of(call, group)].reshape(-1)
        self.spend(find_call(call).cost.math // 2)
        return register

    @kernel_call()
    def welford_finalize_to_row(
        self, dst: int, scale: int, reciprocals: Table, *, template: Template = ()
    ) -> None:
        """Mean and variance in row 0 of two tiles; the three rows below are zero."""
        variance = self._squares * self._reciprocal(scale, reciprocals)
        for tile, values in ((dst, self._mean), (dst + 1, variance)):
            rows = np.array(rows_of_faces(self.tile(tile, "write")))
            rows[:4] = 0
            rows[0] = self._rounded(values)
            self.tile(tile, "write")[:] = faces_of_rows(rows).reshape(-1)
        self.spend(find_call("welford_finalize_to_row").cost.math)

    @kernel_call()
    def welford_finalize_to_face(self, dst: int, *arguments: Any, template: Template = ()) -> None:
        """Mean and variance as registers are stored: (dst[, group], scale, reciprocals)."""
        *group, scale, reciprocals = arguments
        variance = self._squares * self._reciprocal(scale, reciprocals)
        number = group[0] if group else 0
        self._store_register("welford_finalize_to_face", dst, number, self._mean)
        self._store_register("welford_finalize_to_face", dst + 1, number, variance)

    def _store_register(self, call: str, dst: int, group: int, values: Array) -> None:
        self._put_group(call, dst, group, 0, values)
        self.spend(find_call(call).cost.math // 2)

    def _put_group(self, call: str, dst: int, group: int, odd: int, values: Array) -> None:
        """The lanes of a register to every second place of rows, odd ones or even ones."""
        place = self._lanes_of(call, group) + odd
        self.tile(dst, "write")[place] = self._rounded(values)[_LANES].reshape(4, 8)

    def _lanes_of(self, call: str, group: int) -> Array:
        """Where in the faces of a tile the lanes of a group are."""
        if not 0 <= group < 16:
            raise self.thread.error(f"{call} of group {group}; a tile has 16", rule="arguments")
        rows = 64 * group + 16 * np.arange(4)
        return rows[:, None] + np.arange(0, 16, 2)

    def _rounded(self, values: Array) -> Array:
        return values if self.exact else store_vector(values, self.dst.register)


def complement_tags(words: Array, tags: Array, mask: int, *, largest: bool) -> Array:
    """Tags so that the larger word, by sign and magnitude, is what a stable sort puts first.

    Those of numbers with the sign that the sort puts first are complemented within `mask`.
    """
    is_positive = words.view(np.int32) >= 0
    return np.where(is_positive == largest, tags ^ np.uint32(mask), tags)


class _Columns:
    """64 places of 32 columns: values, and what moves with them."""

    def __init__(
        self,
        values: Array,
        others: Array,
        *,
        stable: bool,
        fused: bool,
        ranked: bool,
        ties_rise: bool,
    ) -> None:
        self.values = values
        self.others = others
        self.ranked = ranked
        """The low bits of values are tags."""
        self._stable = stable
        self._fused = fused
        """The low bits of values are what would move with them; nothing else does."""
        self._ties_rise = ties_rise
        """Equal values have their others in rising order when all is sorted to rise."""

    def stamp(self, places: Array, reversal: int, mask: int, *, largest: bool) -> None:
        """Tag a run with its places, of which `reversal` complements some bits."""
        words = self.values.view(np.uint32)[places] & np.uint32(~mask & 0xFFFF_FFFF)
        ranks = np.arange(len(places), dtype=np.uint32)[:, None] ^ np.uint32(reversal)
        tags = complement_tags(words, ranks, mask, largest=largest)
        self.values.view(np.uint32)[places] = words | tags

    def _keys(self, places: Array) -> Array:
        """What numbers are compared by; words with tags by sign and magnitude."""
        values = self.values[places]
        if not (self.ranked or self._fused):
            return values
        words = values.view(np.int32).astype(np.int64)
        return np.where(words < 0, -(words & 0x7FFF_FFFF), words)

    def _moving(self) -> tuple[Array, ...]:
        return (self.values,) if self._fused else (self.values, self.others)

    def compare_apart(self, distance: int, run: int, *, rising: bool) -> None:
        """One step of a bitonic sort: places so far apart, in runs that fall and rise in turn."""
        places = np.arange(_VECTOR_API_PLACES)
        first = places[(places & distance) == 0]
        for turned in (False, True):
            chosen = first[((first & run) != 0) == turned]
            if chosen.size:
                self.compare(chosen, chosen + distance, rising=rising != turned)

    def compare(self, first: Array, second: Array, *, rising: bool) -> None:
        """Put the larger number into the first place of each pair, or if `rising` the smaller."""
        a, b = self._keys(first), self._keys(second)
        swapped = a > b if rising else a < b
        if self._stable:
            x, y = (self.others[place].view(np.int32) for place in (first, second))
            swapped |= (a == b) & ((x < y) if rising != self._ties_rise else (x > y))
        for each in self._moving():
            before = each[first]
            each[first] = np.where(swapped, each[second], before)
            each[second] = np.where(swapped, before, each[second])

    def sort(self, places: Array, *, rising: bool) -> None:
        """Sort the numbers of these places."""
        keys = self._keys(places)
        order = np.argsort(keys, axis=0, kind="stable")
        if self._stable:
            whole = self.others[places].view(np.int32)
            order = np.lexsort((whole if self._ties_rise else -whole, keys), axis=0)
        if not rising:
            order = order[::-1]
        for each in self._moving():
            each[places] = np.take_along_axis(each[places], order, axis=0)


# --- Down the rows --------------------------------------------------------------------------------
# The calls of the MATH thread that go down the rows of tiles in DST, and dropout.
#
# Sums and averages keep a number for each column in registers of the vector unit, where they stay
# from call to call, so that the next tile goes on where one ends. Source: tt-llk,
# ckernel_sfpu_{cumsum,ema,dropout,reshuffle_rows,max_pool_indices}.h.

_TILE_ROWS = 32
_MOST_REDUCED = 9
"""Rows that `max_reduce_with_indices` can reduce."""
_LIST_START = 16
"""Where in a page a list of rows begins, in bytes."""


class ScansApi(ColumnsApi):
    """Calls in which a row depends on those before it, or on numbers that are drawn."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """Nothing is summed yet."""
        super().__init__(core, thread, options, settings)
        self._sums = np.zeros(_TILE_ROWS, np.float32)
        self._averages = np.zeros(_TILE_ROWS, np.float32)
        self._weights = np.zeros(2, np.float32)

    def _put_rows(self, index: int, rows: Array) -> None:
        """Store the rows of a tile, rounded to what DST holds."""
        values = rows if self.exact else store_vector(rows, self.dst.register)
        self.tile(index, "write")[:] = faces_of_rows(values)

    def _begin(self, call: str) -> None:
        self.check_vector_prepared(find_call(call))
        self.spend(find_call(call).cost.math)

    @kernel_call()
    def cumsum_tile(self, dst: int, first: int = 1) -> None:
        """Sums down each column."""
        self._begin("cumsum_tile")
        rows = np.array(rows_of_faces(self.tile(dst)))
        if not first:
            rows[0] += self._sums
        sums = np.add.accumulate(rows, axis=0, dtype=np.float32)
        self._sums = sums[-1].copy()
        self._put_rows(dst, sums)

    @kernel_call()
    def ema_init(self, alpha: int, beta: int) -> None:
        """Note how much the row before counts, and how much a row itself."""
        self.prepare_vector("ema_init")
        self._weights = np.array([alpha, beta], np.uint32).view(np.float32)

    @kernel_call()
    def ema_clear_previous_output(self) -> None:
        """Go on from zeros."""
        self._begin("ema_clear_previous_output")
        self._averages = np.zeros(_TILE_ROWS, np.float32)

    @kernel_call()
    def ema_tile(self, dst: int) -> None:
        """Averages down each column, into the next tile."""
        self._begin("ema_tile")
        alpha, beta = self._weights
        rows = np.array(rows_of_faces(self.tile(dst)))
        average = self._averages
        for row in rows:
            average = row[:] = alpha * average + beta * row
        self._averages = average.copy()
        self._put_rows(dst + 1, rows)

    @kernel_call()
    def dropout_kernel_init(self, seed: int = 0) -> None:
        """Start the generator of random numbers; its numbers are not those of the chip."""
        self._random = np.random.default_rng(seed & 0xFFFF_FFFF)
        self.prepare_vector("dropout_kernel_init")

    @kernel_call()
    def dropout_tile(self, dst: int, probability: int, scale: int) -> None:
        """Zeros in the case of a probability, else x times a number."""
        self._begin("dropout_tile")
        drawn = self._random.integers(0, 1 << 31, (_TILE_ROWS, _TILE_ROWS))
        factor = np.uint32(scale & 0xFFFF_FFFF).view(np.float32)
        rows = rows_of_faces(self.tile(dst)) * factor
        self._put_rows(dst, np.where(drawn < probability, np.float32(0), rows))

    @kernel_call()
    def reshuffle_rows_tile(self, dst: int, address: int) -> None:
        """Add rows to those of the next tile that a list in L1 names."""
        self._begin("reshuffle_rows_tile")
        rows = rows_of_faces(self.tile(dst))
        target = np.array(rows_of_faces(self.tile(dst + 1)))
        for number in range(_TILE_ROWS):
            place = self.load(address + _LIST_START + number, 1, False)
            if place < _TILE_ROWS:
                sums = target[place] + rows[number]
                target[place] = sums if self.exact else store_vector(sums, self.dst.register)
        self._put_rows(dst + 1, target)

    @kernel_call()
    def max_reduce_with_indices(
        self, dst: int, indices: int, chunk: int = 0, *, template: Template = ()
    ) -> None:
        """The largest of the first rows of each column, and what goes with it, into row 0."""
        self._begin("max_reduce_with_indices")
        numbers = [int(each) for each in template]
        count, by_rows, *more = (*numbers, *(_MOST_REDUCED, 0, 0)[len(numbers) :])
        if not 1 <= count <= _MOST_REDUCED:
            raise self.thread.error(
                f"max_reduce_with_indices of {count} rows; it takes 1 to {_MOST_REDUCED}",
                rule="arguments",
            )
        if chunk or (more[1:] and more[0] == 1):
            raise self.thread.error(
                "max_reduce_with_indices that goes on from other calls is not modelled; reduce "
                f"at most {_MOST_REDUCED} rows in one call",
                rule="arguments",
            )
        tiles = [self.tile(each, "write") for each in (dst, indices)]
        rows = [_read_rows(each, by_rows=bool(by_rows)) for each in tiles]
        places = np.argmax(rows[0][:count], axis=0)
        for tile, each in zip(tiles, rows, strict=True):
            first = each.view(np.int32)
            first[0] = first[places, np.arange(_TILE_ROWS)]
            tile[:] = each.ravel() if by_rows else faces_of_rows(each)


def _read_rows(tile: Array, *, by_rows: bool) -> Array:
    """The rows of a tile, which stand one after another or in faces."""
    return np.array(tile.reshape(_TILE_ROWS, _TILE_ROWS) if by_rows else rows_of_faces(tile))


# --- Lanes api ------------------------------------------------------------------------------------

LANES = 32
"""Lanes of a vector, and vectors of a tile."""

_FACE = 8
"""Vectors of a face."""
_MOST_NESTED = 8
"""How many sets of lanes the unit remembers (SFPPUSHC.md)."""
_REGISTERS = 8
_CONSTANTS = 3
_SMALLEST_NORMAL = np.float32(2.0**-126)
_SIGN = np.int32(-1 << 31)
_MAGNITUDE = np.int32(0x7FFFFFFF)
_FREE_CONSTANTS = frozenset((0.0, 1.0, -1.0, float(np.float32(0.8373))))
"""Those that a register holds anyway (sfpi_hw.h: `vConst0`, ...)."""
_COMPARE: tuple[Callable[[Array, Array], Array], ...] = tuple(
    {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "==": operator.eq,
        "!=": operator.ne,
    }[order]
    for order in ORDERS
)


def _find_places() -> tuple[Array, ...]:
    """Where in a tile, in the order of memory, the lanes of each of its vectors are."""
    tile = np.arange(1024).reshape(4, 16, 16)
    return tuple(
        tile[face, row : row + 4, column::2].ravel()
        for face in range(4)
        for row in range(0, 16, 4)
        for column in range(2)
    )


PLACES = _find_places()
"""The lanes of each vector."""


class LanesApi(ScansApi):
    """What the classes of sfpi's header do; kernels cannot name these calls themselves."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """A unit that stands at the first tile, with all lanes."""
        super().__init__(core, thread, options, settings)
        self._face = 0
        self._place = 0
        self._lanes: Array | None = None
        """Those that take part; None: all."""
        self._around: list[Array | None] = []
        """Those that take part around each of the conditions that are open."""
        self._before: list[Array | None] = []
        """Those that the branches of each of these conditions share."""
        self._registers = np.zeros((_REGISTERS, LANES), np.int32)
        self._constants = np.zeros((_CONSTANTS, LANES), np.int32)
        self._checked: set[tuple[int, str]] = set()
        self._started: tuple[int, int] | None = None
        """How many conditions were open when a function was started, and the clock then."""
        self._cycles = 0
        self._last_product: Array | None = None

    # --- Where the unit stands ------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_start(self, tile: int) -> None:
        """Stand at a tile, to call a function on its faces."""
        if self._started is not None:
            raise self.thread.error(
                "a function of the vector unit starts another one; call it directly", rule="sfpi"
            )
        self.check_tile(tile, "write")
        self._face = self._place = LANES * tile
        self._started = (len(self._around), self.thread.clock)
        self._cycles = 0
        self._checked = set()

    @kernel_call()
    def builtin_sfpi_next_face(self, count: int) -> None:
        """Stand so many faces further on, wherever the function has moved the unit to."""
        self._check_conditions()
        self._face += _FACE * count
        self._place = self._face

    @kernel_call()
    def builtin_sfpi_finish(self) -> None:
        """Stand at the first tile again; only the instructions of the function take time.

        The processor hands them over while the unit computes.
        """
        self._check_conditions()
        assert self._started is not None, "the header starts what it finishes"
        if self.timed:
            self.thread.clock = self._started[1]
            self.thread.occupy(self._cycles)
        self._started = None
        self._face = self._place = 0

    def _check_conditions(self) -> None:
        before = 0 if self._started is None else self._started[0]
        if len(self._around) == before:
            return
        del self._around[before:], self._before[before:]
        self._lanes = None
        raise self.thread.error(
            "the function leaves a v_if or v_block before its end; 'return', 'break' and "
            "'continue' in one concern all lanes: write them after v_endif",
            rule="sfpi",
        )

    @kernel_call()
    def builtin_sfpi_advance(self, count: int) -> None:
        """`dst_reg += count`."""
        self._place += _signed(count)
        self._take("advance")

    def _take(self, name: str) -> None:
        """Account for an instruction."""
        cycles = _cost(name)
        self._cycles += cycles
        if self._started is None:
            self.spend(cycles)

    def place_of(self, index: int) -> int:
        """The number of `dst_reg[index]` among the vectors of DST."""
        return self._place + _signed(index)

    def _find(self, index: int, kind: Literal["read", "write"]) -> tuple[Array, Array]:
        """A tile with the places of a vector in it."""
        tile, vector = divmod(self.place_of(index), LANES)
        if (tile, kind) not in self._checked:
            if not 0 <= tile < self.dst.capacity:
                raise self.thread.error(
                    f"dst_reg[{_signed(index)}] is vector {vector} of tile {tile} of DST, where a "
                    f"thread sees the tiles 0 to {self.dst.capacity - 1}; each has {LANES} vectors",
                    rule="dst-bounds",
                )
            self.check_tile(tile, kind)
            if self._started is not None:
                self._checked.add((tile, kind))
        return self.half.faces(tile), PLACES[vector]

    @kernel_call()
    def builtin_sfpi_load_floats(self, index: int) -> Array:
        """Numbers of DST."""
        tile, places = self._find(index, "read")
        self._take("load_floats")
        return tile.take(places)

    @kernel_call()
    def builtin_sfpi_load_integers(self, index: int) -> Array:
        """Integers of DST, or the bits of its numbers as float32."""
        tile, places = self._find(index, "read")
        self._take("load_integers")
        return tile.take(places).view(np.int32)

    @kernel_call()
    def builtin_sfpi_store_floats(self, index: int, values: Array) -> None:
        """Numbers to DST, cut to its format."""
        tile, places = self._find(index, "write")
        register = self.dst.register
        if not self.exact and register is not Register.FP32:
            values = to_source(values, register)
        self._put_lanes(tile, places, values)
        self._take("store_floats")

    @kernel_call()
    def builtin_sfpi_store_integers(self, index: int, values: Array) -> None:
        """Integers to DST; one of 16 bits takes them for the bits of float32."""
        self.builtin_sfpi_store_floats(index, values.view(np.float32))

    def _put_lanes(self, tile: Array, places: Array, values: Array) -> None:
        lanes = self._lanes
        if lanes is None:
            tile[places] = values
        else:
            tile[places[lanes]] = values[lanes]

    # --- Lanes that take part -------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_begin_if(self, condition: Array) -> None:
        """`v_if`: only lanes in which a condition holds."""
        self._open()
        self._narrow(condition)
        self._take("begin_if")

    @kernel_call()
    def builtin_sfpi_begin_block(self) -> None:
        """`v_block`: a place for `v_and`."""
        self._open()
        self._take("begin_block")

    def _open(self) -> None:
        if len(self._around) == _MOST_NESTED:
            raise self.thread.error(
                f"more than {_MOST_NESTED} v_if and v_block in each other, which is what the "
                "vector unit remembers",
                rule="sfpi",
            )
        self._around.append(self._lanes)
        self._before.append(self._lanes)

    def _narrow(self, condition: Array) -> None:
        lanes = self._lanes
        self._lanes = condition if lanes is None else lanes & condition

    @kernel_call()
    def builtin_sfpi_narrow(self, condition: Array) -> None:
        """`v_and`: of the lanes those in which a condition holds, too."""
        self._check_open("v_and")
        self._narrow(condition)
        self._take("narrow")

    def _check_open(self, word: str) -> None:
        if not self._around:
            message = f"{word} stands outside of v_if and v_block"
            raise self.thread.error(message, rule="sfpi")

    @kernel_call()
    def builtin_sfpi_begin_else(self) -> None:
        """`v_else`: the lanes that took no part in the branches before it."""
        self._check_open("v_else")
        before, lanes = self._before[-1], self._lanes
        others = np.zeros(LANES, np.bool_) if lanes is None else ~lanes
        self._lanes = others if before is None else before & others
        self._take("begin_else")

    @kernel_call()
    def builtin_sfpi_begin_elseif(self, condition: Array) -> None:
        """`v_elseif`, after `v_else`: of these lanes those in which a condition holds."""
        self._check_open("v_elseif")
        self._before[-1] = self._lanes
        self._narrow(condition)
        self._take("begin_elseif")

    @kernel_call()
    def builtin_sfpi_end_if(self) -> None:
        """`v_endif` and `v_endblock`: the lanes of before."""
        self._check_open("v_endif")
        self._lanes = self._around.pop()
        self._before.pop()
        self._take("end_if")

    @kernel_call()
    def builtin_sfpi_set_condition(self, condition: Array) -> None:
        """An instruction that leaves lanes out, outside of `v_if`, too."""
        self._narrow(condition)
        self._take("set_condition")

    @kernel_call()
    def builtin_sfpi_enable_lanes(self) -> None:
        """An instruction by which all lanes take part again."""
        self._lanes = None
        self._take("enable_lanes")

    @kernel_call()
    def builtin_sfpi_assign_floats(self, old: Array, new: Array) -> Array:
        """New numbers in lanes that take part."""
        return self._assign(old, new)

    @kernel_call()
    def builtin_sfpi_assign_integers(self, old: Array, new: Array) -> Array:
        """New integers in lanes that take part."""
        return self._assign(old, new)

    def _assign(self, old: Array, new: Array) -> Array:
        return new if self._lanes is None else np.where(self._lanes, new, old)

    # --- Constants and registers ----------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_fill_floats(self, value: float) -> Array:
        """The same number in all lanes; those of 32 bits take two instructions to load."""
        number = np.float32(value)
        if float(number) not in _FREE_CONSTANTS:
            is_short = not int(number.view(np.int32)) & 0xFFFF
            self._cycles += 1 if is_short else 2
        return np.full(LANES, number)

    @kernel_call()
    def builtin_sfpi_fill_integers(self, value: int) -> Array:
        """The same integer in all lanes."""
        number = _signed(value)
        if number:
            self._cycles += 1 if -(1 << 15) <= number < 1 << 16 else 2
        return np.full(LANES, number, np.int32)

    @kernel_call()
    def builtin_sfpi_lane_numbers(self) -> Array:
        """`vConstTileId`: twice the number of each lane."""
        return np.arange(0, 2 * LANES, 2, dtype=np.int32)

    @kernel_call()
    def builtin_sfpi_read_register(self, number: int) -> Array:
        """What a register holds that the kernel names."""
        return self._registers[self._number(number, _REGISTERS, "l_reg")].copy()

    @kernel_call()
    def builtin_sfpi_write_register(self, number: int, values: Array) -> None:
        """Change such a register."""
        register = self._registers[self._number(number, _REGISTERS, "l_reg")]
        register[:] = self._assign(register, values)
        self._take("write_register")

    @kernel_call()
    def builtin_sfpi_read_constant(self, number: int) -> Array:
        """A constant that kernels can set."""
        return self._constants[self._number(number, _CONSTANTS, "vConstPrgm")].copy()

    @kernel_call()
    def builtin_sfpi_write_constant(self, number: int, values: Array) -> None:
        """Set it, whatever lanes take part."""
        self._constants[self._number(number, _CONSTANTS, "vConstPrgm")] = values
        self._take("write_constant")

    def _number(self, number: int, count: int, name: str) -> int:
        if not 0 <= _signed(number) < count:
            message = f"{name} {_signed(number)}: there are those from 0 to {count - 1}"
            if name == "l_reg":
                message += "; instructions read constants as registers 8 to 15"
            raise self.thread.error(message, rule="sfpi")
        return number

    # --- Floating-point numbers -----------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_add_floats(self, a: Array, b: Array) -> Array:
        """Sums; with a product that was just computed they are one instruction."""
        self._add_up(a, b, "add_floats")
        return self._finish(a + b)

    @kernel_call()
    def builtin_sfpi_subtract_floats(self, a: Array, b: Array) -> Array:
        """Differences, likewise."""
        self._add_up(a, b, "subtract_floats")
        return self._finish(a - b)

    def _add_up(self, a: Array, b: Array, name: str) -> None:
        product = self._last_product
        self._last_product = None
        if product is None or (product is not a and product is not b):
            self._take(name)

    @kernel_call()
    def builtin_sfpi_multiply_floats(self, a: Array, b: Array) -> Array:
        """Products."""
        self._take("multiply_floats")
        self._last_product = product = self._finish(a * b)
        return product

    def _finish(self, values: Array) -> Array:
        """Results as the unit computes them."""
        if self.exact:
            return values
        tiny = np.abs(values) < _SMALLEST_NORMAL
        return np.where(tiny, np.copysign(np.float32(0), values), values) if tiny.any() else values

    @kernel_call()
    def builtin_sfpi_negate_floats(self, a: Array) -> Array:
        """The other sign."""
        self._take("negate_floats")
        return -a

    @kernel_call()
    def builtin_sfpi_absolute_floats(self, a: Array) -> Array:
        """Without sign."""
        self._take("absolute_floats")
        return np.abs(a)

    @kernel_call()
    def builtin_sfpi_minimum_floats(self, a: Array, b: Array) -> Array:
        """The smaller ones; of a NaN and a number the number."""
        self._take("minimum_floats")
        return np.fmin(a, b)

    @kernel_call()
    def builtin_sfpi_maximum_floats(self, a: Array, b: Array) -> Array:
        """The larger ones."""
        self._take("maximum_floats")
        return np.fmax(a, b)

    @kernel_call()
    def builtin_sfpi_approximate_reciprocal(self, a: Array) -> Array:
        """1 / a, of which the chip has about 7 bits."""
        self._take("approximate_reciprocal")
        return self._shorten(np.float32(1) / a)

    @kernel_call()
    def builtin_sfpi_look_up(self, a: Array, *table: Any) -> Array:
        """Lines by a table in six registers, its kind, and whether the sign of `a` stays."""
        self._take("look_up")
        *registers, kind, keeps_sign = table
        found = look_up(a, registers, _signed(kind), keeps_sign=bool(keeps_sign))
        return self._finish(found)

    @kernel_call()
    def builtin_sfpi_approximate_exponential(self, a: Array) -> Array:
        """e^a, likewise."""
        self._take("approximate_exponential")
        return self._shorten(np.exp(a))

    def _shorten(self, values: Array) -> Array:
        return values if self.exact else to_source(self._finish(values), Register.BF16)

    @kernel_call()
    def builtin_sfpi_round_to_fp16a(self, a: Array, mode: int) -> Array:
        """Numbers with 5 bits of exponent and 10 of mantissa, still laid out as float32."""
        self._take("round_to_fp16a")
        finite = np.nan_to_num(self._dither(a, 13, mode), nan=131008.0, posinf=131008.0)
        return round_to(finite.astype(np.float64), Register.FP16).astype(np.float32)

    @kernel_call()
    def builtin_sfpi_round_to_fp16b(self, a: Array, mode: int) -> Array:
        """Numbers with 7 bits of mantissa, laid out as float32: to nearest, ties to even."""
        self._take("round_to_fp16b")
        bits = self._dither(a, 16, mode).view(np.uint32)
        rounded = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
        kept = np.where(np.isfinite(a), rounded, bits | np.uint32(np.isnan(a)) << np.uint32(16))
        return (kept & np.uint32(0xFFFF0000)).astype(np.uint32).view(np.float32)

    def _dither(self, a: Array, dropped: int, mode: int) -> Array:
        """With mode 1 the dropped bits round up as often as they are large (SFPSTOCHRND.md)."""
        if not mode:
            return a
        noise = self._random.integers(0, 1 << dropped, LANES).astype(np.uint32)
        bits = a.view(np.uint32)
        lifted = (bits + noise) & np.uint32((1 << 32) - (1 << dropped))
        return np.where(np.isfinite(a), lifted, bits).astype(np.uint32).view(np.float32)

    @kernel_call()
    def builtin_sfpi_round_to_integers(self, a: Array, mode: int, most: int, signed: int) -> Array:
        """Numbers as integers up to `most`, with a sign bit or without their sign."""
        self._take("round_to_integers")
        limit = np.float64(most)
        size = np.minimum(np.nan_to_num(np.abs(a.astype(np.float64)), nan=limit), limit)
        if mode:
            size = np.floor(size + self._random.random(LANES))
        whole = np.minimum(np.rint(size), limit).astype(np.int64).astype(np.int32)
        return np.where(np.signbit(a), whole | _SIGN, whole) if signed else whole

    @kernel_call()
    def builtin_sfpi_floats_of_integers(self, a: Array) -> Array:
        """The numbers that integers with a sign bit are."""
        self._take("floats_of_integers")
        size = (a & _MAGNITUDE).astype(np.float32)
        return np.where(a < 0, -size, size)

    @kernel_call()
    def builtin_sfpi_bits_of_floats(self, a: Array) -> Array:
        """The bits of numbers."""
        return a.view(np.int32)

    @kernel_call()
    def builtin_sfpi_floats_of_bits(self, a: Array) -> Array:
        """The numbers of these bits."""
        return a.view(np.float32)

    # --- Integers -------------------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_add_integers(self, a: Array, b: Array) -> Array:
        """Sums."""
        self._take("add_integers")
        return a + b

    @kernel_call()
    def builtin_sfpi_subtract_integers(self, a: Array, b: Array) -> Array:
        """Differences."""
        self._take("subtract_integers")
        return a - b

    @kernel_call()
    def builtin_sfpi_multiply_integers(self, a: Array, b: Array) -> Array:
        """The lower 23 bits of products of 23 bits, which Blackhole has."""
        if not self.on_blackhole:
            raise self.thread.error(
                "the vector unit of Wormhole does not multiply integers; convert them to vFloat, "
                "or shift and add",
                rule="sfpi",
            )
        self._take("multiply_integers")
        low = np.int64(0x7FFFFF)
        return (((a & low) * (b & low)) & low).astype(np.int32)

    @kernel_call()
    def builtin_sfpi_absolute_integers(self, a: Array) -> Array:
        """Without sign."""
        self._take("absolute_integers")
        return np.abs(a)

    @kernel_call()
    def builtin_sfpi_and_integers(self, a: Array, b: Array) -> Array:
        """Bits of both."""
        self._take("and_integers")
        return a & b

    @kernel_call()
    def builtin_sfpi_or_integers(self, a: Array, b: Array) -> Array:
        """Bits of either."""
        self._take("or_integers")
        return a | b

    @kernel_call()
    def builtin_sfpi_xor_integers(self, a: Array, b: Array) -> Array:
        """Bits that differ."""
        self._take("xor_integers")
        return a ^ b

    @kernel_call()
    def builtin_sfpi_invert_integers(self, a: Array) -> Array:
        """The other bits."""
        self._take("invert_integers")
        return ~a

    @kernel_call()
    def builtin_sfpi_count_leading_zeros(self, a: Array) -> Array:
        """The zeros before the first bit that is set."""
        self._take("count_leading_zeros")
        bits = a.view(np.uint32).astype(np.float64)
        return (32 - np.frexp(bits)[1]).astype(np.int32)

    @kernel_call()
    def builtin_sfpi_shift_integers(self, a: Array, count: Array) -> Array:
        """Bits to the left, or to the right for negative counts; zeros come in."""
        self._take("shift_integers")
        return _shift(a.view(np.uint32).astype(np.int64), count)

    @kernel_call()
    def builtin_sfpi_shift_signed(self, a: Array, count: Array) -> Array:
        """The same with copies of the sign from the left, which Blackhole has."""
        if not self.on_blackhole:
            raise self.thread.error(
                "the vector unit of Wormhole shifts zeros in from the left; write "
                "reinterpret<vUInt>(x) >> n for that",
                rule="sfpi",
            )
        self._take("shift_signed")
        return _shift(a.astype(np.int64), count)

    @kernel_call()
    def builtin_sfpi_draw_integers(self) -> Array:
        """Random bits; they are not those of the chip."""
        self._take("draw_integers")
        return self._random.integers(0, 1 << 32, LANES).astype(np.uint32).view(np.int32)

    # --- Comparisons ----------------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_compare_floats(self, a: Array, b: Array, order: int) -> Array:
        """In which lanes numbers are in an order."""
        self._take("compare_floats")
        return _COMPARE[order](a, b)

    @kernel_call()
    def builtin_sfpi_compare_integers(self, a: Array, b: Array, order: int) -> Array:
        """In which lanes integers are."""
        self._take("compare_integers")
        return _COMPARE[order](a, b)

    @kernel_call()
    def builtin_sfpi_compare_unsigned(self, a: Array, b: Array, order: int) -> Array:
        """In which lanes integers without sign are."""
        self._take("compare_unsigned")
        return _COMPARE[order](a.view(np.uint32), b.view(np.uint32))

    @kernel_call()
    def builtin_sfpi_and_truths(self, a: Array, b: Array) -> Array:
        """Where both hold."""
        return a & b

    @kernel_call()
    def builtin_sfpi_or_truths(self, a: Array, b: Array) -> Array:
        """Where one holds."""
        self._take("or_truths")
        return a | b

    @kernel_call()
    def builtin_sfpi_invert_truths(self, a: Array) -> Array:
        """Where it does not hold."""
        self._take("invert_truths")
        return ~a

    # --- Lanes among each other -----------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_rotate_rows(self, a: Array) -> Array:
        """Each row of 8 lanes turned to the right by one."""
        self._take("rotate_rows")
        return np.roll(a.reshape(4, 8), 1, axis=1).ravel()

    @kernel_call()
    def builtin_sfpi_shift_rows(self, a: Array) -> Array:
        """Each row of 8 lanes shifted to the right by one; zeros come in."""
        self._take("shift_rows")
        moved = np.roll(a.reshape(4, 8), 1, axis=1)
        moved[:, 0] = 0
        return moved.ravel()

    @kernel_call()
    def builtin_sfpi_row_of_registers(
        self, a: Array, b: Array, c: Array, d: Array, row: int
    ) -> Array:
        """The row of a number, from 0 to 3, of each of four vectors, below each other."""
        self._take("row_of_registers")
        return np.concatenate([each.reshape(4, 8)[row] for each in (a, b, c, d)])


def _signed(value: int) -> int:
    """A number of 32 bits as one with sign."""
    return (value + (1 << 31) & 0xFFFF_FFFF) - (1 << 31)


def _shift(a: Array, count: Array) -> Array:
    """Numbers of 64 bits shifted, cut to 32 bits; from 32 places on nothing is left of them."""
    places = np.clip(count.astype(np.int64), -32, 32)
    left = a << np.maximum(places, 0)
    shifted = np.where(places < 0, a >> np.maximum(-places, 0), left)
    return (shifted & np.int64(0xFFFF_FFFF)).astype(np.uint32).view(np.int32)


@cache
def _cost(name: str) -> int:
    """Cycles of an instruction, from its row."""
    return find_call(PREFIX + name).cost.math
