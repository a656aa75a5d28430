"""The calls of the MATH thread on the vector unit (SFPU), made from the rows of the table of calls.

A row's `meaning` is the function; it is computed in float32 (or on 32-bit integers), and in device
numerics the result is rounded to the format of DST. Source of the rounding and of the behaviour on
infinities and NaN: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor (VectorUnit.md,
FloatBitPatterns.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import Arch
from ttmlir.layout.number_conversion import convert
from ttmlir.optable.kernel import ALL_CALLS, Element, KernelCall, Role, Scalar
from ttmlir.sim.calls.compute_api import ComputeApi, ComputeSettings, Template
from ttmlir.sim.calls.declaration import kernel_call
from ttmlir.sim.execution.thread import KernelThread
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.numerics import Register, store_vector
from ttmlir.sim.options import SimOptions

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
_ELEMENTS = {
    Element.FLOAT: _FLOAT32,
    Element.INT32: _INT32,
    Element.UINT32: np.dtype(np.uint32),
}


class VectorApi(ComputeApi):
    """Calls on the vector unit; those with a meaning in their row are added below the class."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """The vector unit, not yet prepared for anything."""
        super().__init__(core, thread, options, settings)
        self._vector_prepared: set[str] = set()
        self._on_blackhole = core.chip.arch is Arch.BLACKHOLE
        self._random = np.random.default_rng(0)

    def tile(self, index: int, kind: Literal["read", "write"] = "read") -> Array:
        """A tile of DST in place, in the order of memory; `kind` is `read` or `write`."""
        self.check_tile(index, kind)
        return self.dst.math.faces(index)

    def prepare_vector(self, name: str) -> None:
        """Note that an `_init` call was made."""
        self._vector_prepared.add(name)
        self.reconfigured()

    def check_vector_prepared(self, row: KernelCall) -> None:
        """Find fault with a function that the vector unit was not prepared for."""
        if row.init and row.init not in self._vector_prepared:
            self.report(
                "init", f"the vector unit is not prepared for {row.cpp}; call {row.init} before"
            )

    def compute(self, call: _Call, arguments: Sequence[Any], template: Template) -> None:
        """Compute a call with a meaning on tiles of DST."""
        row = call.row
        self.check_vector_prepared(row)
        element = _ELEMENTS.get(call.element)
        if element is None:
            element = _element_of(*self.numbers_of(row.cpp, template, 1))
        tiles = [self.tile(arguments[place]).view(element) for place in call.inputs]
        scalars = {name: decode(arguments[place]) for place, name, decode in call.scalars}
        cost, meaning = row.cost, call.meaning
        if row.approximation is not None and row.approximates(template):
            cost = row.approximation.cost
            if not self.exact:
                meaning = row.approximation.meaning or meaning
        with np.errstate(all="ignore"):
            self._put(arguments[call.output], meaning(np, *tiles, **scalars), element)
        self.spend(cost.math_on(blackhole=self._on_blackhole))

    def _put(self, index: int, result: Array, element: np.dtype[Any]) -> None:
        """Store a result in a tile of DST."""
        values = np.asarray(result).astype(element, copy=False)
        if element == np.float32 and not self.exact:
            values = store_vector(values, self.dst.register)
        self.tile(index, "write").view(element)[:] = values

    @kernel_call()
    def typecast_tile(self, dst: int, *, template: Template = ()) -> None:
        """Numbers of one `DataFormat` to another.

        The rule is that of all conversions (`ttmlir.layout.number_conversion`), save that integers
        of 32 bits saturate where they become shorter ones. Integers in DST take 32 bits each.
        """
        row = _ROWS["typecast_tile"]
        self.check_vector_prepared(row)
        source, target = self.numbers_of("typecast_tile", template, 2)
        numbers = self.tile(dst).view(_element_of(source))
        if target not in INTEGER_FORMATS:
            self._put(dst, _round(convert(numbers, _FLOAT32), target), _FLOAT32)
        else:
            dtype = INTEGER_FORMATS[target]
            if dtype.itemsize < 4 and numbers.dtype.kind in "iu":
                numbers = numbers.clip(np.iinfo(dtype).min, np.iinfo(dtype).max)
            self._put(dst, convert(numbers, dtype).astype(np.uint32).view(np.int32), _INT32)
        self.spend(row.cost.math)

    @kernel_call()
    def mask_tile(self, dst: int, mask: int, data_format: int = 5) -> None:
        """Zero where the tile behind this one is zero, whatever number the mask is said to have."""
        self._mask("mask_tile", dst, np.float32(0))

    @kernel_call()
    def mask_posinf_tile(self, dst: int, mask: int) -> None:
        """Infinity where the tile behind this one is zero."""
        self._mask("mask_posinf_tile", dst, np.float32(np.inf))

    def _mask(self, name: str, dst: int, value: np.float32) -> None:
        row = _ROWS[name]
        self.check_vector_prepared(row)
        mask = self.tile(dst + 1)
        tile = self.tile(dst, "write")
        tile[mask == 0] = value
        self.spend(row.cost.math)

    @kernel_call()
    def rand_tile_init(self, seed: int) -> None:
        """Start the generator of random numbers; its numbers are not those of the chip."""
        self._random = np.random.default_rng(seed & 0xFFFF_FFFF)
        self.prepare_vector("rand_tile_init")

    @kernel_call()
    def rand_tile(self, dst: int, start: int, scale: int) -> None:
        """Random numbers: from, plus scale times numbers in [0, 1), given as bits of float32."""
        row = _ROWS["rand_tile"]
        self.check_vector_prepared(row)
        drawn = self._random.random(1024, np.float32)
        self._put(dst, _float_of(start) + _float_of(scale) * drawn, np.dtype(np.float32))
        self.spend(row.cost.math)


class _Call:
    """A row, with the places of its arguments."""

    __slots__ = ("element", "inputs", "meaning", "output", "row", "scalars")

    def __init__(self, row: KernelCall, meaning: Callable[..., Any]) -> None:
        assert row.tiles is not None, f"the row of {row.cpp} has a meaning but no tiles"
        places = {name: place for place, (name, _) in enumerate(row.operands)}
        self.row = row
        self.meaning = meaning
        self.element = row.tiles.element
        self.inputs = tuple(places[name] for name in row.tiles.dst)
        self.output = places[row.tiles.to]
        self.scalars = tuple(
            (places[name], parameter, _DECODERS[encoding])
            for name, parameter, encoding in row.tiles.scalars
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


def _round(values: Array, data_format: int) -> Array:
    """Numbers as the 16-bit float of a format's class has them; Float32 has all of them."""
    if data_format in _BFLOAT16_CLASS:
        return store_vector(values, Register.BF16)
    return values.astype(np.float16).astype(np.float32) if data_format == 1 else values


_ROWS = {row.cpp: row for row in ALL_CALLS if row.roles is Role.MATH and row.header}


def _computing(row: KernelCall, meaning: Callable[..., Any]) -> Callable[..., None]:
    call = _Call(row, meaning)

    @kernel_call()
    def method(self: VectorApi, *arguments: Any, template: Template = ()) -> None:
        self.compute(call, arguments, template)

    return method


def _preparing(name: str) -> Callable[..., None]:
    @kernel_call()
    def method(self: VectorApi, *arguments: Any, template: Template = ()) -> None:
        self.prepare_vector(name)

    return method


def _add_methods() -> None:
    """Give `VectorApi` a method for every row of the vector unit that it does not define."""
    for name, row in _ROWS.items():
        if name in vars(VectorApi):
            continue
        if row.meaning is not None:
            method = _computing(row, row.meaning)
        elif name.endswith("_init"):
            method = _preparing(name)
        else:
            continue
        method.__name__ = name
        method.__doc__ = row.summary
        setattr(VectorApi, name, method)


_add_methods()
