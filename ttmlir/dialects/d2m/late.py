"""Operations of 2026: circular buffers by number, blocks that are loaded and stored by name.

In a `d2m.generic` of that year regions have no arguments: `d2m.get_cb` names the circular buffer of
an operand. Its thread may be `unified`, which loads blocks (`d2m.remote_load`), computes, and
stores blocks (`d2m.remote_store`); a pass makes threads of movement and of computation of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure

from ttmlir.dialects.d2m.generic import (
    YieldOp,
    parse_regions_and_types,
    parse_value_group,
    print_regions_and_types,
    print_value_group,
)
from ttmlir.dialects.d2m.movement import DimensionOp
from ttmlir.dialects.d2m.structure import (
    CB,
    GLOBAL_SEMAPHORE,
    INDEX,
    MEM_TX,
    MEMREF,
    SEMAPHORE,
    SHAPED,
    Allocates,
    ArrowOp,
    CBOp,
    CBType,
    ComputeOp,
    D2MOp,
    DataMovementOp,
    NumberedOp,
    RegionOp,
    TypedOp,
    WritesMemrefs,
    element_type_of_value,
    is_remote_value,
    parse_keyword_and_indices,
    parse_list_in,
    parse_optional_indices,
    print_indices,
    shape_of,
)
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import FormatOp, Spelling, nested
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    segments_attr,
    values,
)
from ttmlir.dialects.ttcore import CoreRangeAttr, OOBValAttr

_ANY = TypeConstraint("any type", ods.always)
_LOCAL_SEMAPHORE = TypeConstraint(
    "local semaphore", lambda type: type.name == "d2m.local_semaphore"
)
_UI32 = ods.integer_attr(32, Signedness.UNSIGNED)
_OOB_VAL = ods.named_attr("ttcore.oob_val")


# --- Arguments of a generic -----------------------------------------------------------------------


class _ArgumentOp(NumberedOp):
    """An argument of the generic around, in its regions or in a function that was one of them."""

    FORMAT = "`(` $operand_index `)` attr-dict `:` type(results)"

    NUMBER: ClassVar = "operand_index"
    traits = traits_def(Pure())


class GetCBOp(_ArgumentOp):
    """The circular buffer of an operand: `%cb = d2m.get_cb(0) : !d2m.cb<...>`."""

    name = "d2m.get_cb"
    FORMAT = "`(` $port `)` attr-dict `:` type(results)"
    NUMBER: ClassVar = "port"
    RESULT_NAME: ClassVar = "cb"
    SIGNATURE: ClassVar = Signature(results=values(result=CB), properties=properties(port=ods.I64))


class GetArgOp(_ArgumentOp):
    """An additional argument: `%sem = d2m.get_arg(2) : !d2m.global_semaphore`."""

    name = "d2m.get_arg"
    SIGNATURE: ClassVar = Signature(
        results=values(result=_ANY), properties=properties(operand_index=ods.I64)
    )


# --- Circular buffers -----------------------------------------------------------------------------


class _HandOverOp(CBOp):
    """What hands a circular buffer over."""

    SIGNATURE: ClassVar = Signature(values(cb=CB))


class PushOp(_HandOverOp):
    """What was reserved is written: `d2m.push %cb : !d2m.cb<memref<2x1x!tile, #l1>>`."""

    name = "d2m.push"


class PopOp(_HandOverOp):
    """What was waited for is read, and there is room again: `d2m.pop %cb : !d2m.cb<...>`."""

    name = "d2m.pop"


class AwaitOp(YieldOp):
    """Wait for local buffers that another thread yields: `d2m.await %x : (memref<...>)`."""

    name = "d2m.await"
    traits = traits_def(WritesMemrefs())

    def verify_op(self) -> None:
        """Stand anywhere in a block."""


class ScratchInitOp(_HandOverOp):
    """The buffer that `d2m.scratch_allocate` takes parts of: `d2m.scratch_init %buffer : B`."""

    name = "d2m.scratch_init"
    SIGNATURE: ClassVar = Signature(values(scratch=MEMREF))
    traits = traits_def(WritesMemrefs())


class ScratchAllocateOp(TypedOp):
    """A local buffer for what is computed on the way, a part of the scratch buffer.

    %0 = d2m.scratch_allocate {slot = 0 : i64} : memref<2x1x!tile, #l1>
    """

    name = "d2m.scratch_allocate"
    SIGNATURE: ClassVar = Signature(
        results=values(result=MEMREF), properties=properties(slot=ods.I64)
    )
    traits = traits_def(Allocates())

    def verify_op(self) -> None:
        """Check the number of the part (C1)."""
        if self.integer("slot") < 0:
            refuse(f"slot must be 0 or above, got {self.integer('slot')}")


class OperandAliasOp(ArrowOp):
    """A local buffer that is the memory of an operand: `d2m.operand_alias %x : A -> B`."""

    name = "d2m.operand_alias"
    SIGNATURE: ClassVar = Signature(values(memref=SHAPED), values(result=SHAPED))
    traits = traits_def(Pure())


# --- Positions ------------------------------------------------------------------------------------


class BlockIndexOp(DimensionOp):
    """The block of an iterator in all the grid: `d2m.block_index(0) : index`."""

    name = "d2m.block_index"
    STEM: ClassVar = "block"


class BlockOffsetOp(DimensionOp):
    """The first block of an iterator on this core: `d2m.block_offset(0) : index`."""

    name = "d2m.block_offset"
    STEM: ClassVar = "block_offset"


class GetBlockFactorOp(DimensionOp):
    """The steps of an iterator on each core: `d2m.get_block_factor(0) : index`."""

    name = "d2m.get_block_factor"
    STEM: ClassVar = "block_factor"


class MeshPositionOp(DimensionOp):
    """The place of the chip in a mesh: `d2m.mesh_position(1) : index`."""

    name = "d2m.mesh_position"
    STEM: ClassVar = "mesh"


# --- Blocks ---------------------------------------------------------------------------------------

_MCAST = ("mcastStartIndex", "mcastShape", "mcastDims")
_MCAST_WORDS = {"mcore": "mcastStartIndex", "mshape": "mcastShape", "mcast": "mcastDims"}
_DEVICE_WORDS = {"startDevice": "startDevice", "deviceMcastShape": "deviceMcastShape"}


class _RemoteOp(RegionOp):
    """A block that is moved between an operand of the generic, by indices, and this core.

    In the form with a local buffer the operation has a result; in the form with a circular buffer
    it has none.
    """

    CB_WORD: ClassVar[str]
    WORDS: ClassVar[Mapping[str, str]]
    """The groups of indices after the operands, by the word before each."""
    SPELLED: ClassVar = (SEGMENTS,)
    traits = traits_def(WritesMemrefs())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        names = [parser.parse_unresolved_operand()]
        indices = parse_optional_indices(parser)
        is_remote_first = bool(indices)
        word = None
        if not is_remote_first:
            names.append(parser.parse_unresolved_operand())
            indices = parse_optional_indices(parser)
        elif (word := parser.parse_optional_keyword(cls.CB_WORD)) is not None:
            names.append(parser.parse_unresolved_operand())
        else:
            local = parser.parse_optional_unresolved_operand()
            names += [] if local is None else [local]
        groups = {
            group: parse_keyword_and_indices(parser, keyword)
            for keyword, group in cls.WORDS.items()
        }
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types: list[Attribute] = []
        for number in range(len(names)):
            if number:
                parser.parse_optional_punctuation(",")
                parser.parse_optional_keyword(cls.CB_WORD)
            is_cb = word is not None and number == 1
            types.append(CBType.parse_short(parser) if is_cb else parser.parse_type())
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            results.append(parser.parse_type())
        found = [parser.resolve_operand(*each) for each in zip(names, types, strict=True)]
        index = IndexType()
        buffers: dict[str, list[SSAValue]] = {"cb": [], "localBuffer": [], "memref": []}
        if len(found) == 2:
            remote = found[0] if is_remote_first else found[1]
            other = found[1] if is_remote_first else found[0]
            buffers["cb" if isinstance(other.type, CBType) else "localBuffer"] = [other]
        else:
            (remote,) = found
        buffers["memref"] = [remote]
        buffers["indices"] = [parser.resolve_operand(each, index) for each in indices]
        for group, listed in groups.items():
            buffers[group] = [parser.resolve_operand(each, index) for each in listed]
        ordered = [buffers[group.name] for group in cls.SIGNATURE.operands]
        given, attributes = cls.split_dict(parser, {}, attributes, parser.pos)
        given[SEGMENTS] = segments_attr(tuple(map(len, ordered)))
        return cls.create(
            operands=[value for listed in ordered for value in listed],
            result_types=results,
            properties=given,
            attributes=attributes,
        )

    def through(self, cb: SSAValue) -> Self:
        """The same movement by a circular buffer, in place of the local buffer."""
        given = {name: self.group(name) for name in self.form().operand_index}
        given |= {"localBuffer": (), "cb": (cb,)}
        groups = [given[group.name] for group in self.SIGNATURE.operands]
        return type(self).create(
            operands=[value for group in groups for value in group],
            properties={**self.properties, SEGMENTS: segments_attr(tuple(map(len, groups)))},
            attributes=dict(self.attributes),
        )

    @property
    def remote(self) -> SSAValue:
        """The operand of the generic."""
        return self.group("memref")[0]

    @property
    def local(self) -> SSAValue | None:
        """The local buffer, or the circular buffer."""
        found = (*self.group("localBuffer"), *self.group("cb"))
        return found[0] if found else None

    @property
    def indices(self) -> tuple[SSAValue, ...]:
        """The block of each dimension of the grid."""
        return self.group("indices")

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        remote, local = self.remote, self.local
        is_cb = bool(self.group("cb"))
        is_load = self.CB_WORD == "into"
        shown = [remote] if local is None else [remote, local]
        if is_load and not is_cb and local is not None:
            shown.reverse()
        printer.print_string(" ")
        for number, value in enumerate(shown):
            if number:
                printer.print_string(f" {self.CB_WORD} " if is_cb else " ")
            printer.print_operand(value)
            if value is remote:
                print_indices(printer, self.indices)
        for keyword, group in self.WORDS.items():
            if listed := self.group(group):
                printer.print_string(f" {keyword}")
                print_indices(printer, listed)
        self.print_dict(printer)
        printer.print_string(" : ")
        for number, value in enumerate(shown):
            if number:
                printer.print_string(f" {self.CB_WORD} " if is_cb else ", ")
            printer.print_attribute(value.type)
        for result in self.results:
            printer.print_string(" -> ")
            printer.print_attribute(result.type)

    def verify_op(self) -> None:
        """Check the operand, its indices and what is on this core (C1 to C4)."""
        remote, local = self.remote, self.local
        if not is_remote_value(remote):
            refuse("memref operand must be remote, i.e. have a device layout")
        rank = len(shape_of(remote)) // 2
        if len(self.indices) != rank:
            refuse(f"number of indices ({len(self.indices)}) must match grid rank ({rank})")
        if local is None:
            refuse("must have either a local buffer or a circular buffer")
        type = local.type.underlying if isinstance(local.type, CBType) else local.type
        shard = cast("TensorType[Attribute] | MemRefType[Attribute]", type)
        if shard.get_element_type() != element_type_of_value(remote):
            refuse("local and remote elements must have the same type")
        starts, shapes = (
            self.group(name) if name in self.form().operand_index else () for name in _MCAST[:2]
        )
        if bool(starts) != bool(shapes):
            refuse("mcast start index and mcast shape must be given together")


def _index_groups(*names: str) -> tuple[ValueGroup, ...]:
    return tuple(ValueGroup(name, INDEX, variadic=True) for name in names)


class RemoteLoadOp(_RemoteOp):
    """A block of an operand, on this core, or on all that share it.

        %0 = d2m.remote_load %buffer %arg0[%i, %j] : B, A -> B
        d2m.remote_load %arg0[%i, %j] into %cb : A into !d2m.cb<B>

    `mcast[%d]` names dimensions of the grid along which cores get the same block;
    `mcore[%y, %x] mshape[%h, %w]` the cores themselves.

    C1: the operand has a grid, with an index for each of its dimensions (C2). C3: elements are the
    same on both sides. C4: cores come with their number.
    """

    name = "d2m.remote_load"
    CB_WORD: ClassVar = "into"
    WORDS: ClassVar = _MCAST_WORDS
    SIGNATURE: ClassVar = Signature(
        (
            ValueGroup("localBuffer", SHAPED, optional=True),
            ValueGroup("memref", SHAPED),
            ValueGroup("indices", INDEX, variadic=True),
            ValueGroup("cb", CB, optional=True),
            *_index_groups(*_MCAST),
        ),
        (ValueGroup("result", SHAPED, optional=True),),
    )

    @classmethod
    def of(cls, buffer: SSAValue, source: SSAValue, indices: Sequence[SSAValue]) -> Self:
        """The block of a source, in a local buffer."""
        return cls.create(
            operands=[buffer, source, *indices],
            result_types=[buffer.type],
            properties={SEGMENTS: segments_attr((1, 1, len(indices), 0, 0, 0, 0))},
        )


class RemoteStoreOp(_RemoteOp):
    """A block of this core, written to an output.

        %0 = d2m.remote_store %out[%i, %j] %buffer : A, B -> A
        d2m.remote_store %out[%i, %j] from %cb : A from !d2m.cb<B>

    C1: the output has a grid, with an index for each of its dimensions (C2). C3: elements are the
    same on both sides.
    """

    name = "d2m.remote_store"
    CB_WORD: ClassVar = "from"
    WORDS: ClassVar = _DEVICE_WORDS
    SIGNATURE: ClassVar = Signature(
        (
            ValueGroup("memref", SHAPED),
            ValueGroup("indices", INDEX, variadic=True),
            ValueGroup("localBuffer", SHAPED, optional=True),
            ValueGroup("cb", CB, optional=True),
            *_index_groups(*_DEVICE_WORDS.values()),
        ),
        (ValueGroup("result", SHAPED, optional=True),),
    )

    @classmethod
    def of(cls, target: SSAValue, indices: Sequence[SSAValue], buffer: SSAValue) -> Self:
        """The target with a block from a local buffer."""
        return cls.create(
            operands=[target, *indices, buffer],
            result_types=[target.type] if target.type.name == "tensor" else [],
            properties={SEGMENTS: segments_attr((1, len(indices), 1, 0, 0, 0))},
        )


# --- Host and device ------------------------------------------------------------------------------


class _TransferOp(FormatOp, D2MOp):
    """A move of a tensor from the host or to it."""

    FORMAT = (
        "$input `,` $output `layout` `=` $layout attr-dict `:` type($input) `into` "
        "type($output) (`->` type(results)^)?"
    )
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED, output=SHAPED),
        (ValueGroup("results", SHAPED, variadic=True),),
        (Property("layout", ods.named_attr("ttcore.metal_layout")),),
    )
    TO_DEVICE: ClassVar[bool]
    traits = traits_def(WritesMemrefs())

    def verify_op(self) -> None:
        """Check that one side is the host and the other the device (C1)."""
        sides = [is_remote_value(value) for value in self.operands]
        if sides != [not self.TO_DEVICE, self.TO_DEVICE]:
            source, target = ("host", "device") if self.TO_DEVICE else ("device", "host")
            refuse(f"input must be on the {source} and output on the {target}")


class ToDeviceOp(_TransferOp):
    """A tensor of the host, moved to the device; `layout` is that of the device.

    C1: the input has no device layout, the output has one.
    """

    name = "d2m.to_device"
    TO_DEVICE: ClassVar = True


class ToHostOp(_TransferOp):
    """A tensor of the device, moved to the host; `layout` is that of the device.

    C1: the input has a device layout, the output has none.
    """

    name = "d2m.to_host"
    TO_DEVICE: ClassVar = False


def _parse_extents(parser: Parser) -> Attribute:
    return DenseArrayBase.from_list(i64, parse_list_in(parser, "[", parser.parse_integer))


def _print_extents(printer: Printer, attr: Attribute) -> None:
    extents = cast("DenseArrayBase[IntegerType]", attr).iter_values()
    printer.print_string(str(list(extents)))


class MaskOp(FormatOp, D2MOp):
    """A tensor whose padding, beyond `logical_shape`, holds one number.

        %0 = d2m.mask %in, %out logical_shape = [50, 50] fill_value = <zero> : A into B -> B

    C1: extents are 0 or above. C2: input and output have the same shape.
    """

    name = "d2m.mask"
    FORMAT = (
        "$input `,` $output `logical_shape` `=` $logical_shape `fill_value` `=` $fill_value "
        "attr-dict `:` type($input) `into` type($output) (`->` type(results)^)?"
    )
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED, output=SHAPED),
        (ValueGroup("results", SHAPED, variadic=True),),
        properties(logical_shape=ods.DENSE_I64, fill_value=_OOB_VAL),
    )
    SPELLINGS: ClassVar = {
        "logical_shape": Spelling(_parse_extents, _print_extents),
        "fill_value": nested(OOBValAttr),
    }
    traits = traits_def(WritesMemrefs())

    @property
    def logical_shape(self) -> tuple[int, ...]:
        """The extents without padding."""
        attr = cast("DenseArrayBase[IntegerType]", self.properties["logical_shape"])
        return tuple(attr.iter_values())

    def verify_op(self) -> None:
        """Check the extents (C1) and the shapes (C2)."""
        if any(extent < 0 for extent in self.logical_shape):
            refuse(f"logical_shape must be 0 or above, got {list(self.logical_shape)}")
        if shape_of(self.operands[0]) != shape_of(self.operands[1]):
            refuse("input and output must have the same shape")


class CompositeViewOp(D2MOp):
    """Several buffers one after another along a dimension, as one; no data is moved.

    "d2m.composite_view"(%a, %b) <{dim = 0 : si32}> : (A, B) -> C
    """

    name = "d2m.composite_view"
    RESULT_NAME: ClassVar = "view"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", SHAPED, variadic=True),),
        values(result=SHAPED),
        properties(dim=ods.SI32),
    )
    traits = traits_def(Pure())


# --- Several generics at once ---------------------------------------------------------------------


class SpatialOp(D2MOp):
    """Generics that run at the same time, each on a rectangle of cores of its own.

        %r:2 = d2m.spatial {grid_ranges = [#ttcore.core_range<(0,0), (3,3)>,
            #ttcore.core_range<(4,4), (7,7)>]} ins(%a : A) outs(%b, %c : B, C) {
          ...
          d2m.spatial_yield %0 : (B)
        }, {
          ...
          d2m.spatial_yield %1 : (C)
        } : B, C

    C1: there is a range for each region. C2: no two ranges share a core. C3: a region has
    one block.
    """

    name = "d2m.spatial"
    SPELLED: ClassVar = (SEGMENTS,)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", SHAPED, variadic=True), ValueGroup("outputs", SHAPED, variadic=True)),
        (ValueGroup("results", variadic=True),),
        properties(
            grid_ranges=ods.array_attr("ranges", lambda item: isinstance(item, CoreRangeAttr))
        ),
        regions=None,
    )
    traits = traits_def(NoTerminator(), WritesMemrefs())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        given, attributes = cls.parse_dict(parser, {})
        groups = [parse_value_group(parser, keyword) for keyword in ("ins", "outs")]
        given[SEGMENTS] = segments_attr(tuple(map(len, groups)))
        regions, results = parse_regions_and_types(parser)
        return cls.create(
            operands=[*groups[0], *groups[1]],
            result_types=results,
            properties=given,
            attributes=attributes,
            regions=regions,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_dict(printer)
        for keyword, group in (("ins", "inputs"), ("outs", "outputs")):
            print_value_group(printer, keyword, self.group(group))
        print_regions_and_types(printer, self)

    @property
    def ranges(self) -> tuple[CoreRangeAttr, ...]:
        """The cores of each region."""
        return cast("ArrayAttr[CoreRangeAttr]", self.properties["grid_ranges"]).data

    def verify_op(self) -> None:
        """Check C1 to C3."""
        ranges = self.ranges
        if not self.regions:
            refuse("must have at least one region")
        if len(self.regions) != len(ranges):
            refuse(
                f"number of grid_ranges ({len(ranges)}) must match number of regions "
                f"({len(self.regions)})"
            )
        for number, each in enumerate(ranges):
            if any(each.overlaps(other) for other in ranges[:number]):
                refuse("grid_ranges must not overlap")
        if any(len(region.blocks) != 1 for region in self.regions):
            refuse("each region must have a single block")


class SpatialYieldOp(YieldOp):
    """The end of a region of a `d2m.spatial`: `d2m.spatial_yield %t : (tensor<...>)`.

    C1: it is the last operation of its block. C2: it stands in a `d2m.spatial`.
    """

    name = "d2m.spatial_yield"
    SIGNATURE: ClassVar = Signature((ValueGroup("values", SHAPED, variadic=True),))

    def verify_interfaces(self) -> None:
        """Check the place of the operation (C2)."""
        parent = self.parent_op()
        if parent is None or parent.name != SpatialOp.name:
            refuse("expects parent op 'd2m.spatial'")


# --- Semaphores -----------------------------------------------------------------------------------


class CreateLocalSemaphoreOp(TypedOp):
    """A semaphore of the cores of one program; it begins with `initial_value`, by default 0.

    %0 = d2m.create_local_semaphore {initial_value = 0 : ui32} : !d2m.local_semaphore
    """

    name = "d2m.create_local_semaphore"
    SIGNATURE: ClassVar = Signature(
        results=values(result=_LOCAL_SEMAPHORE),
        properties=(Property("initial_value", _UI32, optional=True),),
    )
    traits = traits_def(Allocates())


class ResetGlobalSemaphoreOp(FormatOp, D2MOp):
    """A semaphore becomes a number on all its cores.

    d2m.reset_global_semaphore(%semaphore) {value = 0 : ui32} : !d2m.global_semaphore
    """

    name = "d2m.reset_global_semaphore"
    FORMAT = "`(` operands `)` attr-dict `:` type(operands)"
    SIGNATURE: ClassVar = Signature(
        values(semaphore=GLOBAL_SEMAPHORE), properties=properties(value=_UI32)
    )


class CreateGlobalSemaphoreOp(ResetGlobalSemaphoreOp):
    """A semaphore in the memory of a buffer, which outlives programs.

        %0 = d2m.create_global_semaphore(%buffer) {value = 0 : ui32}
            : tensor<...> -> !d2m.global_semaphore

    C1: the buffer is divided over the cores that have the semaphore.
    """

    name = "d2m.create_global_semaphore"
    FORMAT = "`(` operands `)` attr-dict `:` type(operands) `->` type(results)"
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED), values(result=GLOBAL_SEMAPHORE), properties(value=_UI32)
    )

    def verify_op(self) -> None:
        """Check the buffer (C1)."""
        if not is_remote_value(self.operands[0]):
            refuse("input must have a device layout")


# --- Operations in generic form -------------------------------------------------------------------


def _plain(
    mnemonic: str,
    summary: str,
    base: type[D2MOp],
    operands: str,
    *given: Property,
    results: tuple[ValueGroup, ...] = (),
) -> type[D2MOp]:
    """An operation without syntax of its own.

    `operands` are words `name:kind`; `*` after the kind stands for any number, `?` for at most one.
    """
    groups: list[ValueGroup] = []
    for word in operands.split():
        name, _, kind = word.partition(":")
        constraint = _KINDS[kind.rstrip("*?")]
        groups.append(
            ValueGroup(name, constraint, optional=kind.endswith("?"), variadic=kind.endswith("*"))
        )
    contents: dict[str, object] = {
        "name": f"d2m.{mnemonic}",
        "SIGNATURE": Signature(tuple(groups), results, given),
        "traits": traits_def(WritesMemrefs()),
        "__doc__": summary,
        "__module__": __name__,
    }
    class_name = "".join(word.capitalize() for word in mnemonic.split("_")) + "Op"
    return type(class_name, (base,), contents)


_KINDS: Mapping[str, TypeConstraint] = {
    "index": INDEX,
    "semaphore": SEMAPHORE,
    "shaped": SHAPED,
    "flag": TypeConstraint("1-bit signless integer", lambda type: type == i1),
}
_RESULTS = (ValueGroup("results", SHAPED, variadic=True),)
_TX = (ValueGroup("result", MEM_TX),)
_FILL = Property("fill_value", _OOB_VAL)
_PLAIN_OPS = (
    _plain(
        "local_copy",
        "A local buffer, copied into another, block by block of their maps.",
        RegionOp,
        "src:shaped dst:shaped",
        Property("indexing_maps", ods.MAP_ARRAY, optional=True),
        results=_RESULTS,
    ),
    _plain(
        "core_read",
        "Local memory of another core, given by row and column, copied to this one.",
        DataMovementOp,
        "src:shaped dst:shaped coreIndex:index*",
        results=_TX,
    ),
    _plain(
        "core_write",
        "Local memory of this core, copied to another one, given by row and column.",
        DataMovementOp,
        "src:shaped dst:shaped coreIndex:index*",
        results=_TX,
    ),
    _plain(
        "device_synchronize",
        "Wait until a number of chips of the mesh, from one on, have arrived.",
        RegionOp,
        "semaphore:semaphore numReceivers:index startDevice:index* deviceMcastShape:index* "
        "coreIndex:index*",
    ),
    _plain(
        "block_mask",
        "A block whose elements beyond rows and columns hold one number, by two tiles of masks.",
        ComputeOp,
        "input:shaped output:shaped rowMask:shaped colMask:shaped logicalRows:index "
        "logicalCols:index",
        _FILL,
        results=_RESULTS,
    ),
    _plain(
        "write_row_mask_tile",
        "A tile of 1 in the first rows, and 0 in the others.",
        ComputeOp,
        "validRows:index output:shaped",
        results=_RESULTS,
    ),
    _plain(
        "write_col_mask_tile",
        "A tile of 1 in the first columns, and 0 in the others.",
        ComputeOp,
        "validCols:index output:shaped",
        results=_RESULTS,
    ),
    _plain(
        "fill_arange_tile",
        "A tile whose elements are their own numbers, row after row.",
        ComputeOp,
        "output:shaped",
        results=_RESULTS,
    ),
    _plain(
        "arange_block",
        "A block of numbers at equal distances, made of a tile of numbers of elements.",
        ComputeOp,
        "indexTile:shaped output:shaped",
        *properties(num_elements=ods.I64, start=ods.I64, step=ods.I64),
        results=_RESULTS,
    ),
    _plain(
        "set_l1_accumulate",
        "Whether the packer adds to what is in L1.",
        ComputeOp,
        "enable:flag",
    ),
    _plain(
        "unpack_stall_on_pack",
        "Let the unpacker wait until the packer has finished.",
        ComputeOp,
        "",
    ),
)


LATE_OPS = (*classes_in(globals(), Operation), *_PLAIN_OPS)
"""Every operation of this module."""
