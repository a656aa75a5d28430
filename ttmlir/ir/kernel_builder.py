"""Making kernels, call by call: the regions of a `ttmetal.dispatch`, or functions."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    TensorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir import optable
from ttmlir.dialects.ttkernel import RESULT_TYPES, CBType, L1AddrPtrType, ThreadTypeAttr, op_class
from ttmlir.ir.builder import Builder, OpBuilder
from ttmlir.ir.constants import constant_indices
from ttmlir.ir.rewriting import erase_unused
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.data_format import ScalarType
from ttmlir.layout.enums import DataType, ThreadType
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes import exact_float32
from ttmlir.optable import definition
from ttmlir.optable.elementwise import DEFINITIONS
from ttmlir.optable.kernel import CALLS, KernelCall, Scalar
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, Format, Step
from ttmlir.optable.op_definition import OpDefinition, Shape, broadcast_shape

# --- Tile arithmetic ------------------------------------------------------------------------------
# How the vector unit sees numbers, and which operations it computes on them.
#
# What kernels compute with: f32, f16, bf16 and 32-bit integers. Truth values are 0 and 1 in bf16,
# on which arithmetic and bits follow logic; integers of 8 and 16 bits are widened to 32 before they
# are computed with, and cut afterwards. Both roads to kernels, ttmetal's and the direct one, ask
# here.

_FORMATS = {
    DataType.F32: "Float32",
    DataType.F16: "Float16",
    DataType.BF16: "Float16_b",
    DataType.U16: "UInt16",
    DataType.U8: "UInt8",
}
UNSIGNED = ("ui8", "ui16", "ui32", "ui64", "index")
"""Keywords of integers without sign."""
WORKING = ScalarType("i32")
"""What the vector unit computes with where integers are shorter."""
_FLIP = tuple(
    Step(call="bitwise_xor_tile", slots=(slot,), scalars=(-(1 << 31),)) for slot in (0, 1)
)
"""Numbers without a sign are in the order of numbers with one if their first bits are flipped."""


def is_float(element: ScalarType) -> bool:
    """True for what the vector unit sees as floating-point numbers, truth values included."""
    return element.data_type in (DataType.F32, DataType.F16, DataType.BF16)


def is_wide(element: ScalarType) -> bool:
    """True for numbers of 32 bits, which need all bits of DST."""
    return element.data_type in (DataType.F32, DataType.U32)


def is_short(element: ScalarType) -> bool:
    """True for integers of 8 and 16 bits, which the vector unit computes with as 32-bit ones."""
    return element.data_type in (DataType.U16, DataType.U8)


def is_wide_unsigned(element: ScalarType) -> bool:
    """True for integers without sign that fill 32 bits, which the vector unit orders by sign."""
    return element.data_type is DataType.U32 and element.keyword in UNSIGNED


def nearest_integer(number: float, *, has_sign: bool = True) -> int:
    """A limit of integers as one of 32 bits, the last one for what is beyond.

    LayoutError for NaN, which limits no integer.
    """
    if math.isnan(number):
        raise LayoutError("has a limit of integers that is NaN; give a number")
    least = -(1 << 31) if has_sign else 0
    return int(min(max(number, least), least + (1 << 32) - 1))


def format_name(element: ScalarType) -> str:
    """tt-metal's name of the number format in which the vector unit sees an element type."""
    if element.data_type is DataType.U32:
        return "UInt32" if is_wide_unsigned(element) else "Int32"
    return _FORMATS[element.data_type]


def steps_of(mnemonic: str, element: ScalarType) -> Sequence[Step]:
    """How an operation is computed on numbers of a type; LayoutError if it is not."""
    supported = _supported(element)
    if mnemonic not in supported:
        raise LayoutError(
            f"kernels do not compute {mnemonic} of {element}; on {element} they compute "
            f"{', '.join(computed_on(element))}; convert the operands by ttir.typecast or use "
            "target='ttnn' (ttir-to-ttnn-backend-pipeline)"
        )
    return supported[mnemonic]


def computed_on(element: ScalarType) -> Sequence[str]:
    """The operations that kernels compute on numbers of this type, in alphabetical order."""
    return sorted(_supported(element))


def _supported(element: ScalarType) -> Mapping[str, Sequence[Step]]:
    """The steps of every operation on numbers of this type."""
    if element.keyword == "i1":
        steps = _supported(ScalarType("bf16"))
        logic = {
            definition.mnemonic: steps[_on_truth(definition)]
            for definition in DEFINITIONS
            if definition.on_truth
        }
        return {**steps, **logic}
    if is_float(element):
        return {n: c.floats for n, c in TILE_CALLS.items() if c.floats is not None}
    integers = {n: c.integers for n, c in TILE_CALLS.items() if c.integers is not None}
    if is_wide_unsigned(element):
        ordered = {name: (*_FLIP, *integers[name]) for name in ("ge", "gt", "le", "lt")}
        extremes = {name: (*_FLIP, *integers[name], _FLIP[0]) for name in ("maximum", "minimum")}
        # What takes no steps leaves integers as they are.
        signless = {
            name: steps
            for name, steps in integers.items()
            if optable.definition(name).ignores_sign or not steps
        }
        unsigned = {n: c.unsigned for n, c in TILE_CALLS.items() if c.unsigned is not None}
        return signless | ordered | extremes | unsigned
    if is_short(element) and element.keyword not in UNSIGNED:
        # The copies of the sign above the number would move into it.
        integers.pop("logical_right_shift")
    return integers


def computed_as(mnemonic: str, element: ScalarType) -> str:
    """The operation whose steps compute another one: on truth values it may be one of logic."""
    return _on_truth(optable.definition(mnemonic)) if element.keyword == "i1" else mnemonic


def _on_truth(definition: OpDefinition) -> str:
    keeps = not definition.on_truth or TILE_CALLS[definition.mnemonic].keeps_truth
    return definition.mnemonic if keeps else definition.on_truth


# --- Register calls -------------------------------------------------------------------------------
# Operations on tiles of DST as calls: the steps of a definition, conversions, numbers that fill a
# tile.
#
# Each call comes with the one that prepares it. Which tiles of DST are free is not known here.

_CALLS = {call.mnemonic: call for call in CALLS}

Templates = tuple[tuple[str, str | bool], ...]
"""Template arguments by name."""


@dataclass(frozen=True)
class Buffer:
    """A circular buffer, by the number of the operand that it holds."""

    number: int


@dataclass(frozen=True)
class Place:
    """The place of the tile in hand within a buffer."""

    buffer: Buffer


CallOperand = Buffer | Place | int | float


@dataclass(frozen=True)
class TileCall:
    """A call with its operands, and the call that prepares it."""

    mnemonic: str
    operands: tuple[CallOperand, ...]
    templates: Templates = ()
    init: TileCall | None = None
    unpacks: bool = False
    """True for a copy from a buffer: what prepares the unpacker leaves the vector unit as it is."""


class RegisterCalls:
    """Adds calls on tiles of DST to a list."""

    def __init__(self, calls: list[TileCall] | None = None):
        """Add to these calls."""
        self.calls: list[TileCall] = [] if calls is None else calls

    def call(
        self, mnemonic: str, operands: tuple[CallOperand, ...], templates: Templates = ()
    ) -> None:
        """Add a call on DST, after the call of its definition that prepares it."""
        init = _CALLS[_CALLS[mnemonic].init]
        taken = tuple((n, v) for n, v in templates if n in _template_names(init))
        prepared = TileCall(init.mnemonic, (), taken)
        self.calls.append(TileCall(mnemonic, operands, templates, prepared))

    def fill(self, slot: int, number: float, element: ScalarType) -> None:
        """Fill a tile with a number."""
        if is_float(element) and math.isfinite(number):
            self.call("fill_tile", (slot, float(number)))
        elif is_float(element):
            self.call("fill_tile_bitcast", (slot, bits_of(number)))
        else:
            self.call("fill_tile_int", (slot, _signed(int(number))))

    def compute(
        self,
        step: Step,
        slots: Sequence[int],
        element: ScalarType,
        target: ScalarType,
        parameters: Mapping[str, float],
    ) -> None:
        """One step of an operation whose operands and further tiles are in `slots`.

        It computes on numbers of type `element`, and its result is of type `target`.
        """
        definition = _CALLS[step.call]
        encodings = definition.tiles.scalars if definition.tiles is not None else ()
        scalars = (
            _encode(parameters[scalar] if isinstance(scalar, str) else scalar, encoding)
            for scalar, (_, _, encoding) in zip(step.scalars, encodings, strict=True)
        )
        names = {Format.OPERAND: format_name(element), Format.RESULT: format_name(target)}
        templates = [(name, _template_of_call(value, names)) for name, value in step.templates]
        if format_name(element) == "UInt32":
            templates = [(n, "UInt32" if v == "Int32" else v) for n, v in templates]
        places = tuple(slots[slot] for slot in step.slots)
        self.call(step.call, (*places, *scalars), tuple(templates))

    def convert(
        self, slot: int, element: ScalarType, target: ScalarType, *, has_truths: bool = False
    ) -> None:
        """Convert a tile to another format; to truth values, by asking what is not 0.

        `has_truths`: the tile holds nothing but 0 and 1.
        """
        if is_short(target):
            self._narrow(slot, element, target)
            return
        if target.keyword == "i1" != element.keyword and not has_truths:
            self.call("nez_tile" if is_float(element) else "nez_tile_int32", (slot,))
            if is_float(element):
                return
        formats = (("in_dtype", format_name(element)), ("out_dtype", format_name(target)))
        # Integers of one width differ in what their bits mean, not in their bits.
        if formats[0][1] != formats[1][1] and element.data_type is not target.data_type:
            self.call("typecast_tile", (slot,), formats)

    def widen(self, slot: int, element: ScalarType) -> None:
        """Let a short integer that was read as one without a sign have 32 bits, and its sign."""
        formats = (("in_dtype", format_name(element)), ("out_dtype", format_name(WORKING)))
        self.call("typecast_tile", (slot,), formats)
        if element.keyword not in UNSIGNED:
            above = 32 - 8 * element.size_bytes
            self.call("left_shift_tile", (slot, above))
            self.call("right_shift_tile", (slot, above))

    def _narrow(self, slot: int, element: ScalarType, target: ScalarType) -> None:
        """Keep the lower bits of an integer; limit a floating-point number to the range."""
        if is_float(element):
            self.convert(slot, element, WORKING)
            bits = 8 * target.size_bytes
            sign = 0 if target.keyword in UNSIGNED else 1 << (bits - 1)
            self.call("clamp_tile_int32", (slot, -sign, (1 << bits) - 1 - sign))
        self.call("bitwise_and_tile", (slot, (1 << 8 * target.size_bytes) - 1))
        formats = (("in_dtype", format_name(WORKING)), ("out_dtype", format_name(target)))
        self.call("typecast_tile", (slot,), formats)


def _template_names(call: KernelCall) -> Sequence[str]:
    return [template.name for template in call.templates]


def _template_of_call(value: str | Format, names: Mapping[Format, str]) -> str | bool:
    if isinstance(value, Format):
        return names[value]
    return value == "true" if value in ("true", "false") else value


def _encode(number: float, encoding: Scalar) -> float:
    """A number as the operand of a call."""
    match encoding:
        case Scalar.FLOAT:
            return float(number)
        case Scalar.INTEGER:
            return nearest_integer(number)
        case Scalar.FLOAT_BITS:
            return bits_of(number)


def bits_of(number: float) -> int:
    """The bits of a number in float32, as an integer with sign."""
    (bits,) = struct.unpack("<i", struct.pack("<f", number))
    return bits


def _signed(number: int) -> int:
    """The lower 32 bits of an integer as one with sign."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


# --- Index arithmetic -----------------------------------------------------------------------------
# Computing with the numbers of elements.
#
# Numbers are integer tensors of any shape that broadcast against each other.


def create_indices(
    builder: Builder, numbers: Sequence[int], element: Attribute, shape: Shape | None = None
) -> SSAValue:
    """A constant of these numbers, in one dimension unless a shape is given."""
    type_ = TensorType(element, (len(numbers),) if shape is None else shape)
    return builder.create_numbers(numbers, type_)


def widen(builder: Builder, numbers: SSAValue) -> SSAValue:
    """The numbers in a signed type that holds the number of any element: 32 bits at least."""
    keyword = str(element_type(numbers))
    if keyword.startswith("u"):
        return builder.cast(numbers, i64)
    return builder.cast(numbers, i32) if keyword in ("i8", "i16") else numbers


def combine(builder: Builder, mnemonic: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """An operation on two tensors that broadcast; comparisons make i1."""
    shape = broadcast_shape(value_shape(a), value_shape(b))
    element = i1 if definition(mnemonic).gives_truth else element_type(a)
    return builder.create(mnemonic, [a, b], TensorType(element, shape))


def clamp_inside(builder: Builder, numbers: SSAValue, last: int) -> SSAValue:
    """The numbers, those outside of 0 to `last` replaced by the nearer end."""
    known = constant_indices(numbers)
    if known is not None and all(0 <= number <= last for number in known):
        return numbers
    if exact_float32(last) is not None:
        return builder.create("clamp", [numbers], numbers.type, min=0.0, max=float(last))
    low, high = (builder.create_scalar(bound, element_type(numbers)) for bound in (0, last))
    return combine(builder, "minimum", combine(builder, "maximum", numbers, low), high)


def test_inside(builder: Builder, numbers: SSAValue, last: int) -> SSAValue | None:
    """Which numbers are from 0 to `last`; None if all of them are known to be."""
    known = constant_indices(numbers)
    if known is not None and all(0 <= number <= last for number in known):
        return None
    low, high = (builder.create_scalar(bound, element_type(numbers)) for bound in (0, last))
    above, below = combine(builder, "ge", numbers, low), combine(builder, "le", numbers, high)
    return combine(builder, "logical_and", above, below)


def split_components(
    builder: Builder, indices: SSAValue, vector_dim: int, count: int
) -> list[SSAValue]:
    """The single numbers of index vectors, each as a tensor of the other dimensions."""
    extents = value_shape(indices)
    rest = [extent for dim, extent in enumerate(extents) if dim != vector_dim]
    if count and (vector_dim == len(extents) or extents[vector_dim] == 1):
        return [builder.reshape(indices, rest)]
    found: list[SSAValue] = []
    for number in range(count):
        begins = [number if dim == vector_dim else 0 for dim in range(len(extents))]
        ends = [number + 1 if dim == vector_dim else e for dim, e in enumerate(extents)]
        found.append(builder.reshape(builder.slice(indices, begins, ends), rest))
    return found


def align_along(
    builder: Builder, numbers: SSAValue, rank: int, dim: int, batch_of: Mapping[int, int]
) -> SSAValue:
    """Numbers along dimension `dim` of a tensor, as `ttir.gather` and `ttir.scatter` take them.

    `batch_of` names the dimensions of the numbers that go along with dimensions of the tensor; the
    others are merged at `dim`.
    """
    extents = value_shape(numbers)
    free = [i for i in range(len(extents)) if i not in batch_of.values()]
    order: list[int] = []
    shape: list[int] = []
    for i in range(rank):
        batches = free if i == dim else [batch_of[i]] if i in batch_of else []
        order += batches
        shape.append(math.prod(extents[j] for j in batches))
    return builder.reshape(builder.permute(numbers, order), shape)


def number_windows(
    builder: Builder,
    extents: Mapping[int, int],
    sizes: Mapping[int, int],
    starts: Mapping[int, SSAValue],
    batch_of: Mapping[int, int],
    batches: Shape,
    element: Attribute,
) -> SSAValue:
    """Numbers, in row-major order, of the elements of windows into some dimensions of a tensor.

    `extents` and `sizes` are those of the dimensions and of the windows. Windows begin at `starts`,
    which are shaped like the batches, or at the number of their batch in the dimensions of
    `batch_of`, or else at 0. The result has the batches, then each size that is not 1.
    """
    wide = [dim for dim in extents if sizes[dim] > 1]
    ones = (1,) * len(wide)
    parts: list[SSAValue] = []
    for dim, extent in extents.items():
        terms: list[SSAValue] = []
        if dim in starts:
            terms.append(builder.reshape(starts[dim], (*batches, *ones)))
        elif dim in batch_of:
            shape = _only(extent, batch_of[dim], len(batches) + len(wide))
            terms.append(create_indices(builder, range(extent), element, shape))
        if dim in wide or not terms:
            place = len(batches) + wide.index(dim) if dim in wide else 0
            shape = _only(sizes[dim], place, len(batches) + len(wide))
            terms.append(create_indices(builder, range(sizes[dim]), element, shape))
        parts.append(terms[0] if len(terms) == 1 else combine(builder, "add", *terms))
    total = _linear(builder, parts, [*extents.values()])
    # Without a start, nothing repeats the numbers along the batches.
    return builder.broadcast(total, (*batches, *(sizes[dim] for dim in wide)))


def _only(extent: int, place: int, rank: int) -> Shape:
    return tuple(extent if dim == place else 1 for dim in range(rank))


def _linear(builder: Builder, parts: Sequence[SSAValue], extents: Sequence[int]) -> SSAValue:
    """The numbers of elements in row-major order, of their numbers along each dimension."""
    total = parts[0]
    for part, extent in zip(parts[1:], extents[1:], strict=True):
        count = builder.create_scalar(extent, element_type(total))
        total = combine(builder, "add", combine(builder, "multiply", total, count), part)
    return total


def slice_at(
    builder: Builder, operand: SSAValue, starts: Sequence[SSAValue | int], sizes: Shape
) -> SSAValue:
    """The slice of these sizes that begins at these numbers, moved inside where needed."""
    extents = value_shape(operand)
    if extents == sizes:
        return operand
    begins = find_slice_begins(builder, starts, extents, sizes)
    if isinstance(begins, tuple):
        ends = [begin + size for begin, size in zip(begins, sizes, strict=True)]
        return builder.slice(operand, begins, ends)
    type_ = TensorType(element_type(operand), sizes)
    return builder.create("slice_dynamic", [operand, begins], type_, sizes=sizes)


def find_slice_begins(
    builder: Builder, starts: Sequence[SSAValue | int], extents: Shape, sizes: Shape
) -> SSAValue | tuple[int, ...]:
    """The begins of a slice as one tensor, which `ttir.slice_dynamic` takes.

    If all of them are known, they are returned as numbers that lie inside. What is known among
    others is put together in constants.
    """
    known: list[int | None] = []
    for start, extent, size in zip(starts, extents, sizes, strict=True):
        number = start if isinstance(start, int) else _known_number(start)
        is_whole = extent == size
        known.append(0 if is_whole else number and min(max(number, 0), extent - size))
    if None not in known:
        return tuple(number or 0 for number in known)
    tensors = {
        dim: widen(builder, builder.reshape(start, (1,)))
        for dim, start in enumerate(starts)
        if known[dim] is None and isinstance(start, SSAValue)
    }
    element = element_type(next(iter(tensors.values())))
    parts: list[SSAValue] = []
    run: list[int] = []
    for dim, number in enumerate(known):
        if number is not None:
            run.append(number)
        if run and (number is None or dim == len(known) - 1):
            parts.append(create_indices(builder, run, element))
            run = []
        if dim in tensors:
            parts.append(tensors[dim])
    if len(parts) == 1:
        return parts[0]
    return builder.create("concat", parts, TensorType(element, (len(known),)), dim=0)


def _known_number(start: SSAValue) -> int | None:
    numbers = constant_indices(start)
    return None if numbers is None else numbers[0]


# --- Kernel builder -------------------------------------------------------------------------------

_WITHOUT_EFFECT = ("arith.", "ttkernel.my_logical_")
"""What may be left out where nothing uses it."""

Carried = Sequence[SSAValue]
"""The values that a loop hands from one turn to the next."""
Number = SSAValue | int
"""A 32-bit integer, which may be known."""

_RESULTS = {call.mnemonic: RESULT_TYPES[call.result[1]] for call in CALLS if call.result}


class KernelBuilder(OpBuilder):
    """The code of one kernel, written call by call.

    Equal constants are one value. They stand at the top: those that are asked for before the first
    call in that order, later ones each before all others. MLIR's greedy rewriter leaves them so.
    """

    def __init__(self, location: LocationAttr, buffers: Sequence[CBType] = ()):
        """Begin a kernel whose arguments are circular buffers."""
        self._entry = Block(arg_types=buffers)
        super().__init__(self._entry, location)
        self._constants: dict[Attribute, SSAValue] = {}

    @property
    def buffers(self) -> Sequence[SSAValue]:
        """The arguments."""
        return self._entry.args

    def constant(self, value: float) -> SSAValue:
        """A 32-bit number: an integer or a floating-point number."""
        attr = IntegerAttr(value, i32) if isinstance(value, int) else FloatAttr(value, f32)
        known = self._constants.get(attr)
        if known is not None:
            return known
        op = arith.ConstantOp.create(
            properties={"value": attr}, result_types=[attr.type], location=self.location
        )
        first = self._entry.first_op
        if first is None or isinstance(self._entry.last_op, arith.ConstantOp):
            self._entry.add_op(op)
        else:
            self._entry.insert_op_before(op, first)
        self._constants[attr] = op.results[0]
        return op.results[0]

    def value(self, number: SSAValue | float) -> SSAValue:
        """A number as a value."""
        return number if isinstance(number, SSAValue) else self.constant(number)

    def call(
        self, mnemonic: str, *operands: SSAValue | float, **templates: str | bool | int
    ) -> Sequence[SSAValue]:
        """Make the call `ttkernel.<mnemonic>`; numbers become constants. Its results."""
        result = _RESULTS.get(mnemonic)
        values = list(map(self.value, operands))
        op = op_class(mnemonic).create(
            operands=values,
            result_types=[] if result is None else [result],
            properties={name: _template(value) for name, value in templates.items()},
            location=self.location,
        )
        self.insert(op)
        return op.results

    def variables(self, count: int) -> Variables:
        """New variables, which hold nothing yet."""
        op = memref.AllocaOp.get(i32, shape=[count])
        op.location = self.location
        self.insert(op)
        return Variables(self, op.memref)

    def pointer(self, address: SSAValue | int, width: int = 32) -> SSAValue:
        """A pointer to integers of so many bits at an address of this core's L1."""
        value = address if isinstance(address, SSAValue) else self.constant(address)
        op = op_class("reinterpret_cast").create(
            operands=[value], result_types=[L1AddrPtrType.get(width)], location=self.location
        )
        self.insert(op)
        return op.results[0]

    def add(self, lhs: Number, rhs: Number) -> Number:
        """The sum of two numbers."""
        if isinstance(lhs, int):
            lhs, rhs = rhs, lhs
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        return lhs if rhs == 0 else self.arithmetic(arith.AddiOp, lhs, rhs)

    def multiply(self, lhs: Number, factor: int) -> Number:
        """The product of a number and one that is known."""
        if isinstance(lhs, int) or factor in (0, 1):
            return lhs if factor == 1 else factor * (0 if isinstance(lhs, SSAValue) else lhs)
        return self.arithmetic(arith.MuliOp, lhs, factor)

    def arithmetic(
        self, kind: type[arith.SignlessIntegerBinaryOperation], lhs: Number, rhs: Number
    ) -> SSAValue:
        """An operation on two 32-bit integers."""
        op = kind(self.value(lhs), self.value(rhs))
        op.location = self.location
        self.insert(op)
        return op.result

    def compare(self, predicate: str, lhs: Number, rhs: Number) -> SSAValue:
        """Whether a comparison of two 32-bit integers holds: `eq`, `ne`, `slt` and so on."""
        op = arith.CmpiOp(self.value(lhs), self.value(rhs), predicate)
        op.location = self.location
        self.insert(op)
        return op.result

    def choose(self, condition: SSAValue, first: Number, second: Number) -> SSAValue:
        """The first number if a condition holds, else the second."""
        op = arith.SelectOp(condition, self.value(first), self.value(second))
        op.location = self.location
        self.insert(op)
        return op.result

    def branch(
        self,
        condition: SSAValue,
        then: Callable[[], None],
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        """Do one thing if a condition holds, another one if not."""
        outer = self.block
        blocks: list[Block] = []
        for body in (then, otherwise):
            self.block = Block()
            if body is not None:
                body()
                end = scf.YieldOp()
                end.location = self.location
                self.block.add_op(end)
            blocks.append(self.block)
        self.block = outer
        second = Region() if otherwise is None else Region(blocks[1])
        op = scf.IfOp(condition, [], Region(blocks[0]), second)
        op.location = self.location
        self.insert(op)

    def count(self, extent: Number, body: Callable[[SSAValue], object]) -> None:
        """Do `body` for each number below `extent`."""

        def turn(number: SSAValue, _: Carried) -> Carried:
            body(number)
            return ()

        self._for(extent, (), turn)

    def loop(self, extent: int, start: Carried, body: Callable[[Carried], Carried]) -> Carried:
        """Do `body` so many times, each time with what it returned before; what it returns last."""
        return self._for(extent, start, lambda _, carried: body(carried))

    def _for(
        self, extent: Number, start: Carried, body: Callable[[SSAValue, Carried], Carried]
    ) -> Carried:
        lower, upper, step = map(self.value, (0, extent, 1))
        inner = Block(arg_types=[i32, *(value.type for value in start)])
        outer, self.block = self.block, inner
        end = scf.YieldOp(*body(inner.args[0], inner.args[1:]))
        end.location = self.location
        inner.add_op(end)
        self.block = outer
        loop = scf.ForOp(lower, upper, step, list(start), inner)
        loop.location = self.location
        outer.add_op(loop)
        return loop.results

    def walk(
        self,
        extents: Sequence[int],
        strides: Sequence[Sequence[int]],
        start: Carried,
        body: Callable[[Carried], None],
    ) -> None:
        """Loops over a block, outermost dimension first, with running numbers.

        Each number grows by its stride along a dimension from one turn to the next.
        """

        def run(depth: int, numbers: Carried) -> Carried:
            if depth == len(extents):
                body(numbers)
                return numbers
            # The loop inside has gone some of the way already.
            inside = depth + 1 < len(extents)
            gone = [extents[depth + 1] * each[depth + 1] if inside else 0 for each in strides]
            steps = [each[depth] - done for each, done in zip(strides, gone, strict=True)]

            def turn(before: Carried) -> Carried:
                after = run(depth + 1, before)
                sums = (self.add(number, step) for number, step in zip(after, steps, strict=True))
                return list(map(self.value, sums))

            return self.loop(extents[depth], numbers, turn)

        run(0, start)

    def finish(self) -> Region:
        """End the kernel; the region that holds it."""
        self.call("return")
        return Region(self._entry)

    def finish_function(self, name: str, thread: ThreadType) -> func.FuncOp:
        """End the kernel; the private function that holds it."""
        end = func.ReturnOp()
        end.location = self.location
        self.insert(end)
        erase_unused(op for op in self._entry.walk() if op.name.startswith(_WITHOUT_EFFECT))
        types = list(self._entry.arg_types)
        function = func.FuncOp(name, (types, []), Region(self._entry), visibility="private")
        function.attributes["ttkernel.thread"] = ThreadTypeAttr(thread)
        function.location = self.location
        return function


class Variables:
    """32-bit integers of a kernel that change in loops and branches."""

    def __init__(self, kernel: KernelBuilder, array: SSAValue) -> None:
        """Those in a local array."""
        self._kernel = kernel
        self._array = array

    def load(self, number: int) -> SSAValue:
        """What a variable holds."""
        op = memref.LoadOp.get(self._array, [self._place(number)])
        op.location = self._kernel.location
        return self._kernel.insert(op).res

    def store(self, number: int, value: Number) -> None:
        """Let a variable hold a number."""
        kernel = self._kernel
        op = memref.StoreOp.get(kernel.value(value), self._array, [self._place(number)])
        op.location = kernel.location
        kernel.insert(op)

    def _place(self, number: int) -> SSAValue:
        op = arith.ConstantOp.from_int_and_width(number, IndexType())
        op.location = self._kernel.location
        return self._kernel.insert(op).result


def _template(value: str | bool | int) -> Attribute:
    if isinstance(value, str):
        return StringAttr(value)
    return IntegerAttr(int(value), i1 if isinstance(value, bool) else i32)
