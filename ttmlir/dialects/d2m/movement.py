"""Operations in regions that wait for data, move it, and keep cores in step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure

from ttmlir.dialects.d2m.structure import (
    CB,
    INDEX,
    MEM_TX,
    MEMREF,
    SEMAPHORE,
    SHAPED,
    ArrowOp,
    CBOp,
    CBType,
    DataMovementOp,
    MemTxType,
    NumberedOp,
    RegionOp,
    SemaphoreType,
    element_type_of_value,
    is_remote_value,
    parse_keyword_and_indices,
    parse_list_in,
    parse_optional_indices,
    print_indices,
    shape_of,
)
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import FormatOp
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    AttrConstraint,
    Property,
    Signature,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    segments_attr,
    values,
)
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.tensor_layout import shape_text
from ttmlir.mlir.attributes import affine_map_attr, layout_map

# --- Semaphores -----------------------------------------------------------------------------------
# Semaphores: numbers in the L1 of each core that cores set, raise and wait for.


def _parse_semaphore_type(parser: Parser) -> Attribute:
    """Read `: type`; left out is that of 2025."""
    if parser.parse_optional_punctuation(":") is None:
        return SemaphoreType()
    return parser.parse_type()


def _print_semaphore_type(printer: Printer, semaphore: SSAValue) -> None:
    if not isinstance(semaphore.type, SemaphoreType):
        printer.print_string(" : ")
        printer.print_attribute(semaphore.type)


class _SemaphoreUpdateOp(DataMovementOp):
    """A semaphore of this core, of another one, or of many gets a number."""

    SPELLED: ClassVar = (SEGMENTS,)
    SIGNATURE: ClassVar = Signature(
        (
            ValueGroup("semaphore", SEMAPHORE),
            ValueGroup("value", INDEX),
            ValueGroup("dstCoreIndex", INDEX, variadic=True),
            ValueGroup("mcastShape", INDEX, variadic=True),
        )
    )

    @classmethod
    def of(
        cls,
        semaphore: SSAValue,
        value: SSAValue,
        core: Sequence[SSAValue] = (),
        mcast: Sequence[SSAValue] = (),
    ) -> Self:
        """The operation on a core, or on a rectangle of cores, each as (row, column)."""
        return cls.create(
            operands=[semaphore, value, *core, *mcast],
            properties={SEGMENTS: segments_attr((1, 1, len(core), len(mcast)))},
        )

    @property
    def core(self) -> tuple[SSAValue, ...]:
        """Row and column of the core; none: this one."""
        return self.group("dstCoreIndex")

    @property
    def mcast_shape(self) -> tuple[SSAValue, ...]:
        """Rows and columns of cores; none: one core."""
        return self.group("mcastShape")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        semaphore = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        index = IndexType()
        groups: list[list[SSAValue]] = [[], []]
        if parser.parse_optional_punctuation(",") is not None:
            groups = [
                [
                    parser.resolve_operand(name, index)
                    for name in parse_keyword_and_indices(parser, keyword)
                ]
                for keyword in ("core", "mcast")
            ]
        _, attributes = cls.parse_dict(parser, {})
        made = cls.of(
            parser.resolve_operand(semaphore, _parse_semaphore_type(parser)),
            parser.resolve_operand(value, index),
            *groups,
        )
        made.attributes |= attributes
        return made

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands[:2], printer.print_operand)
        separator = ", "
        for keyword, listed in (("core", self.core), ("mcast", self.mcast_shape)):
            if listed:
                printer.print_string(f"{separator}{keyword}")
                print_indices(printer, listed)
                separator = " "
        self.print_dict(printer)
        _print_semaphore_type(printer, self.operands[0])

    def verify_op(self) -> None:
        """Check that a rectangle of cores has a first one (C1)."""
        if self.mcast_shape and not self.core:
            refuse("mcast shape requires mcast start index")


class SemaphoreSetOp(_SemaphoreUpdateOp):
    """A semaphore becomes a number: `d2m.semaphore_set %sem, %n, core[%y, %x] mcast[%h, %w]`.

    C1: a shape of cores comes with the first core.
    """

    name = "d2m.semaphore_set"


class SemaphoreIncOp(_SemaphoreUpdateOp):
    """A semaphore is raised by a number: `d2m.semaphore_inc %sem, %n, core[%y, %x]`.

    C1: a shape of cores comes with the first core.
    """

    name = "d2m.semaphore_inc"


class SemaphoreWaitOp(DataMovementOp):
    """Wait until this core's semaphore is a number, then set it, if a number is given.

    d2m.semaphore_wait %sem, %value reset %number
    """

    name = "d2m.semaphore_wait"
    SIGNATURE: ClassVar = Signature(
        (
            ValueGroup("semaphore", SEMAPHORE),
            ValueGroup("value", INDEX),
            ValueGroup("resetValue", INDEX, optional=True),
        )
    )

    @classmethod
    def of(cls, semaphore: SSAValue, value: SSAValue, reset: SSAValue | None = None) -> Self:
        """The operation that waits for a value."""
        return cls.create(operands=[semaphore, value, *(() if reset is None else (reset,))])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        names = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        names.append(parser.parse_unresolved_operand())
        if parser.parse_optional_keyword("reset") is not None:
            names.append(parser.parse_unresolved_operand())
        _, attributes = cls.parse_dict(parser, {})
        types = (_parse_semaphore_type(parser), IndexType(), IndexType())
        return cls.create(
            operands=[
                parser.resolve_operand(name, type) for name, type in zip(names, types, strict=False)
            ],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands[:2], printer.print_operand)
        if len(self.operands) > 2:
            printer.print_string(" reset ")
            printer.print_operand(self.operands[2])
        self.print_dict(printer)
        _print_semaphore_type(printer, self.operands[0])


# --- Movement -------------------------------------------------------------------------------------

_MAP = AttrConstraint(
    "AffineMap attribute", lambda attr: isinstance(attr, AffineMapAttr), ods.always
)
Operands = Sequence[SSAValue]


# --- Circular buffers ----------------------------------------------------------------------------


class _CBOp(CBOp, ArrowOp):
    """A shard of a circular buffer."""

    FORMAT = "operands attr-dict `:` type(operands) `->` type(results)"

    SIGNATURE: ClassVar = Signature(values(cb=CB), values(result=SHAPED))

    @classmethod
    def on(cls, cb: SSAValue) -> Self:
        """The operation on a circular buffer."""
        return cls.of(cb, cast("CBType", cb.type).underlying)

    def verify_op(self) -> None:
        """Compare the type of the result with that of the buffer's shards."""
        if cast("CBType", self.operands[0].type).underlying != self.results[0].type:
            refuse("result type must match the underlying type of the circular buffer")


class WaitOp(_CBOp):
    """Wait until a shard has been written; it is released at the end of the block.

    C1: the result has the type of the buffer's shards.
    """

    name = "d2m.wait"


class ReserveOp(_CBOp):
    """Wait until there is room for a shard; it is handed over at the end of the block.

    C1: the result has the type of the buffer's shards.
    """

    name = "d2m.reserve"


class StoreOp(FormatOp, RegionOp):
    """A copy of a shard into another: `d2m.store %destination, %source : type`.

    C1: both have the same type.
    """

    name = "d2m.store"
    FORMAT = "$dst `,` $src attr-dict `:` type($dst)"
    TYPES: ClassVar = {"src": "dst"}
    SIGNATURE: ClassVar = Signature(values(dst=SHAPED, src=SHAPED))

    def verify_op(self) -> None:
        """Compare the types (C1)."""
        if self.operands[0].type != self.operands[1].type:
            refuse("requires the same type for all operands")


class AllGatherOp(FormatOp, RegionOp):
    """Local memory of all cores that share a row, on each of them.

        d2m.all_gather %part, %parts : memref<2x1x!tile, #l1> into memref<8x2x1x!tile, #l1>

    Those are the cores that differ in the last coordinate of the grid of the generic, in its order.

    C1: the second shape is the first one after the number of cores.
    """

    name = "d2m.all_gather"
    FORMAT = "$part `,` $parts attr-dict `:` type($part) `into` type($parts)"
    SIGNATURE: ClassVar = Signature(values(part=MEMREF, parts=MEMREF))

    @classmethod
    def of(cls, part: SSAValue, parts: SSAValue) -> Self:
        """The operation on memory of this core."""
        return cls.create(operands=[part, parts])

    def verify_op(self) -> None:
        """Compare the shapes (C1)."""
        part, parts = map(shape_of, self.operands)
        if parts[1:] != part:
            refuse(f"expected parts of {shape_text(part)}, got {shape_text(parts[1:])}")


# --- Positions -----------------------------------------------------------------------------------


class DimensionOp(NumberedOp):
    """A number that a core has for each dimension."""

    FORMAT = "`(` $dim `)` attr-dict `:` type(results)"

    NUMBER: ClassVar = "dim"
    STEM: ClassVar[str]
    SIGNATURE: ClassVar = Signature(
        results=values(result=INDEX), properties=properties(dim=ods.I64)
    )
    traits = traits_def(Pure())

    @classmethod
    def at(cls, dim: int) -> Self:
        """The operation for a dimension."""
        return cls.of(dim, IndexType())

    def result_names(self) -> Sequence[str]:
        """The stem and the dimension."""
        return (f"{self.STEM}{self.number}",)


class IterIndexOp(DimensionOp):
    """The step of an iterator: `d2m.iter_index(2) : index`."""

    name = "d2m.iter_index"
    STEM: ClassVar = "iter"


class CoreIndexOp(DimensionOp):
    """The row (0) or column (1) of the core: `d2m.core_index(0) : index`."""

    name = "d2m.core_index"
    STEM: ClassVar = "core"


class GetGlobalOperandOp(NumberedOp):
    """An operand of the `d2m.generic` that a function was a region of."""

    name = "d2m.get_global_operand"
    FORMAT = "`(` $operand_index `)` attr-dict `:` type(results)"
    NUMBER: ClassVar = "operand_index"
    SIGNATURE: ClassVar = Signature(
        results=values(result=SHAPED), properties=properties(operand_index=ods.I64)
    )
    traits = traits_def(Pure())


# --- Movement ------------------------------------------------------------------------------------


def _group(name: str) -> ValueGroup:
    return ValueGroup(name, INDEX, variadic=True)


_REMOTE_INDICES = 3
"""Row and column of the grid, and a byte."""


class _DMAOp(DataMovementOp):
    """A movement of data between two buffers."""

    RESULT_NAME: ClassVar = "tx"
    COUNT: ClassVar[str]
    """The property with the number of elements that move."""

    @property
    def src(self) -> SSAValue:
        """Where the data comes from."""
        return self.group("src")[0]

    @property
    def dst(self) -> SSAValue:
        """Where it goes."""
        return self.group("dst")[0]

    @property
    def src_indices(self) -> Operands:
        """Where in the source it begins."""
        return self.group("srcIndices")

    @property
    def dst_indices(self) -> Operands:
        """Where in the destination it begins."""
        return self.group("dstIndices")

    @property
    def mcast_start_index(self) -> Operands:
        """Row and column of the first core that gets a copy; none: no multicast."""
        return self.group("mcastStartIndex") if self.HAS_MCAST else ()

    @property
    def mcast_shape(self) -> Operands:
        """Rows and columns of cores that get a copy."""
        return self.group("mcastShape") if self.HAS_MCAST else ()

    @property
    def count(self) -> int | None:
        """Number of elements that move; None: what the indices leave open."""
        attr = self.properties.get(self.COUNT)
        return None if attr is None else cast("IntegerAttr", attr).value.data

    HAS_MCAST: ClassVar[bool] = True
    HAS_MAPS: ClassVar[bool] = False

    def map_of(self, side: str) -> AffineMap | None:
        """The map of the generic that places the block of `src` or `dst`, if there is one."""
        attr = self.properties.get(f"{side}AffineMap")
        return layout_map(attr) if isinstance(attr, AffineMapAttr) else None

    @classmethod
    def of(
        cls,
        src: SSAValue,
        dst: SSAValue,
        *,
        src_indices: Operands = (),
        dst_indices: Operands = (),
        src_map: AffineMap | None = None,
        dst_map: AffineMap | None = None,
        core: Operands = (),
        mcast: Operands = (),
        count: int | None = None,
    ) -> Self:
        """The movement from `src` to `dst`; `core` and `mcast` as (row, column)."""
        properties: dict[str, Attribute] = {}
        for name, index_map in (("srcAffineMap", src_map), ("dstAffineMap", dst_map)):
            if index_map is not None:
                properties[name] = affine_map_attr(index_map)
        if count is not None:
            properties[cls.COUNT] = IntegerAttr(count, i64)
        return cls._of_groups(
            [(src,), src_indices, (dst,), dst_indices, core, mcast], properties, {}
        )

    @classmethod
    def _of_groups(
        cls,
        groups: Sequence[Operands],
        properties: dict[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Self:
        groups = groups if cls.HAS_MCAST else groups[:4]
        properties[SEGMENTS] = segments_attr(tuple(map(len, groups)))
        return cls.create(
            operands=[value for group in groups for value in group],
            result_types=[MemTxType()],
            properties=properties,
            attributes=dict(attributes),
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled: dict[str, Attribute] = {}
        names: list[list[UnresolvedOperand]] = []
        for side in ("src", "dst"):
            if side == "dst":
                parser.parse_punctuation(",")
            names.append([parser.parse_unresolved_operand()])
            if cls.HAS_MAPS and parser.parse_optional_punctuation("<") is not None:
                position = parser.pos
                index_map = parser.parse_attribute()
                if not isinstance(index_map, AffineMapAttr):
                    parser.raise_error("expected an affine map", position)
                spelled[f"{side}AffineMap"] = index_map
                parser.parse_punctuation(">")
            names.append(parse_optional_indices(parser))
        comma = parser.parse_optional_punctuation(",") is not None
        for keyword in ("core", "mcast"):
            names.append(parse_keyword_and_indices(parser, keyword) if cls.HAS_MCAST else [])
        if names[-1] or names[-2]:
            comma = parser.parse_optional_punctuation(",") is not None
        if comma:
            parser.parse_punctuation("<")
            number = parser.parse_integer(allow_boolean=False, allow_negative=False)
            spelled[cls.COUNT] = IntegerAttr(number, i64)
            parser.parse_punctuation(">")
        properties, attributes = cls.parse_dict(parser, spelled)
        parser.parse_punctuation(":")
        src_type, dst_type = _parse_two_types(parser)
        parser.parse_punctuation("->")
        parser.parse_type()
        index = IndexType()
        types = (src_type, index, dst_type, index, index, index)
        groups = [
            [parser.resolve_operand(name, type) for name in group]
            for group, type in zip(names, types, strict=True)
        ]
        properties.pop(SEGMENTS, None)
        return cls._of_groups(groups, properties, attributes)

    SPELLED: ClassVar = ("srcAffineMap", "dstAffineMap", "numElems", "optNumElems", SEGMENTS)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        for side, indices in (("src", self.src_indices), ("dst", self.dst_indices)):
            printer.print_string(", " if side == "dst" else "")
            printer.print_operand(self.group(side)[0])
            index_map = self.properties.get(f"{side}AffineMap")
            if index_map is not None:
                printer.print_string("<")
                printer.print_attribute(index_map)
                printer.print_string(">")
            print_indices(printer, indices)
        for keyword, listed in (("core", self.mcast_start_index), ("mcast", self.mcast_shape)):
            if listed:
                printer.print_string(f" {keyword}")
                print_indices(printer, listed)
        if self.count is not None:
            printer.print_string(f", <{self.count}>")
        self.print_dict(printer)
        printer.print_string(" : (")
        printer.print_attribute(self.src.type)
        printer.print_string(", ")
        printer.print_attribute(self.dst.type)
        printer.print_string(") -> ")
        printer.print_attribute(self.results[0].type)

    def verify_op(self) -> None:
        """Check what all movements require."""
        if element_type_of_value(self.src) != element_type_of_value(self.dst):
            refuse("operands to DMA must have the same element type")
        self.verify_ends()
        if self.mcast_start_index and not self.mcast_shape:
            refuse("mcast start index requires mcast shape")
        if self.mcast_shape and not self.mcast_start_index:
            refuse("mcast shape requires mcast start index")

    def verify_ends(self) -> None:
        """Check source and destination."""

    def check_remote_indices(self, side: str) -> None:
        """Compare the indices of a remote end with what is named: a shard, or a byte of it."""
        value, found = self.group(side)[0], len(self.group(f"{side}Indices"))
        expected = len(shape_of(value)) // 2 if self.count == 0 else _REMOTE_INDICES
        if found != expected:
            refuse(f"Must have {expected} {side} indices for remote {side} operand")

    def check_local_indices(self, side: str) -> None:
        """Compare the indices of a local end: none for all of it, or a byte."""
        expected = 0 if self.count == 0 else 1
        if len(self.group(f"{side}Indices")) != expected:
            refuse(f"Must have {expected} {side} index for local {side} operand")


def _parse_two_types(parser: Parser) -> tuple[Attribute, Attribute]:
    position = parser.pos
    types = parse_list_in(parser, "(", parser.parse_type)
    if len(types) != 2:
        parser.raise_error("expected the types of source and destination", position)
    return types[0], types[1]


_ENDS = (
    ValueGroup("src", SHAPED),
    _group("srcIndices"),
    ValueGroup("dst", SHAPED),
    _group("dstIndices"),
)
_MCAST = (_group("mcastStartIndex"), _group("mcastShape"))
_TX = values(result=MEM_TX)


class DMAOp(_DMAOp):
    """A movement between a remote buffer and a local one, or between local ones.

        %tx = d2m.dma %stream<#map>, %buffer : (memref<..>, memref<..>) -> !d2m.mem_tx
        %tx = d2m.dma %stream[%y, %x], %buffer : (...) -> !d2m.mem_tx
        %tx = d2m.dma %buffer, %buffer core[%y, %x] mcast[%h, %w] : (...) -> !d2m.mem_tx

    With a map, the block is the one that the generic reads in this step; indices lead to a part;
    with as many indices as dimensions, a number of elements follows. With the same buffer at both
    ends, a core that sends to many does not send to itself.
    """

    name = "d2m.dma"
    COUNT: ClassVar = "optNumElems"
    HAS_MAPS: ClassVar = True
    SIGNATURE: ClassVar = Signature(
        (*_ENDS, *_MCAST),
        _TX,
        (
            Property("srcAffineMap", _MAP, optional=True),
            Property("dstAffineMap", _MAP, optional=True),
            Property("optNumElems", ods.I64, optional=True),
        ),
    )

    def verify_ends(self) -> None:
        """Check maps, indices and the shapes that they leave."""
        remote = {"src": is_remote_value(self.src), "dst": is_remote_value(self.dst)}
        if all(remote.values()):
            refuse("cannot have both src and dst remote")
        if remote["dst"] and self.mcast_shape:
            refuse("cannot mcast to remote dst")
        rests: list[tuple[int, ...]] = []
        for side, value, indices in (
            ("src", self.src, self.src_indices),
            ("dst", self.dst, self.dst_indices),
        ):
            index_map = self.map_of(side)
            if index_map is not None and indices:
                refuse(f"cannot have both {side} affine map and indices")
            if index_map is not None and not remote[side]:
                refuse(f"if {side} affine map is provided, {side} must be remote")
            shape = shape_of(value)
            if len(indices) > len(shape):
                refuse(f"invalid number of {side} indices, expected less than {len(shape)}")
            rests.append(
                shape[len(shape) // 2 :] if index_map is not None else shape[len(indices) :]
            )
        if len(rests[0]) != len(rests[1]):
            refuse("operands must have the same post-index rank")
        if rests[0] != rests[1]:
            refuse("operands must have the same post-index shape")


class DMAReadOp(_DMAOp):
    """A movement from a remote buffer: row, column and byte there, byte here, elements.

        %tx = d2m.dma_read %src[%y, %x, %byte], %dst[%byte], <n> : (...) -> !d2m.mem_tx
        %tx = d2m.dma_read %src[%y, %x], %dst, <0> : (...) -> !d2m.mem_tx

    With 0 elements it is the whole shard of a row and column (2026).
    """

    name = "d2m.dma_read"
    COUNT: ClassVar = "numElems"
    HAS_MCAST: ClassVar = False
    SIGNATURE: ClassVar = Signature(_ENDS, _TX, properties(numElems=ods.I64))

    def verify_ends(self) -> None:
        """Check which end is remote, and the number of indices."""
        if not is_remote_value(self.src) or is_remote_value(self.dst):
            refuse("For DMARead, src must be remote and dst must be local")
        self.check_remote_indices("src")
        self.check_local_indices("dst")


class DMAWriteOp(_DMAOp):
    """A movement to a remote buffer, or to other cores.

        %tx = d2m.dma_write %src[%byte], %dst[%y, %x, %byte], <n> : (...) -> !d2m.mem_tx
        %tx = d2m.dma_write %src[%byte], %dst[%byte] core[%y, %x] mcast[%h, %w], <n> : ...
        %tx = d2m.dma_write %src, %dst[%y, %x], <0> : (...) -> !d2m.mem_tx

    With 0 elements it is the whole shard (2026).
    """

    name = "d2m.dma_write"
    COUNT: ClassVar = "numElems"
    SIGNATURE: ClassVar = Signature((*_ENDS, *_MCAST), _TX, properties(numElems=ods.I64))

    def verify_ends(self) -> None:
        """Check which end is remote, and the number of indices."""
        if is_remote_value(self.src):
            refuse("For DMAWrite, src must be local")
        remote = is_remote_value(self.dst)
        if remote:
            self.check_remote_indices("dst")
        if remote and self.mcast_shape:
            refuse("cannot mcast to remote dst")
        if not remote:
            self.check_local_indices("dst")
        self.check_local_indices("src")


class NullTxOp(FormatOp, RegionOp):
    """A movement of nothing, which is finished: `d2m.null_tx`."""

    name = "d2m.null_tx"
    FORMAT = "attr-dict"
    TYPES: ClassVar = {"result": MemTxType()}
    SIGNATURE: ClassVar = Signature(results=_TX)
    traits = traits_def(Pure())

    @classmethod
    def of(cls) -> Self:
        """The operation."""
        return cls.create(result_types=[MemTxType()])


class DMAWaitOp(FormatOp, DataMovementOp):
    """Wait until a movement is finished: `d2m.dma_wait %tx`."""

    name = "d2m.dma_wait"
    FORMAT = "$memTx attr-dict"
    TYPES: ClassVar = {"memTx": MemTxType()}
    SIGNATURE: ClassVar = Signature(values(memTx=MEM_TX))

    @classmethod
    def of(cls, transaction: SSAValue) -> Self:
        """The operation that waits for a movement."""
        return cls.create(operands=[transaction])


MOVEMENT_OPS = classes_in(globals(), Operation)
"""Every operation of this module."""
