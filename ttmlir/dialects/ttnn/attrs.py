"""Attributes of ttnn: layouts, memory and cores in the library's own terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, MemRefType, NoneAttr, StringAttr
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.definition.fields import (
    FLAG,
    NUMBER,
    QUOTED,
    SYMBOL,
    ContentAttr,
    Field,
    ValueSyntax,
    assigned,
    contents_of,
    fields,
    items,
    keyword,
    one_of,
    only,
    plain,
)
from ttmlir.dialects.definition.ods import classes_in
from ttmlir.dialects.definition.syntax import (
    KeywordAttr,
    expect,
    parameter,
    parse_dimensions,
    parse_keyword,
    parse_memref,
    parse_nested,
    parse_unsigned,
    print_stripped,
)
from ttmlir.dialects.tt.layout import (
    AffineMapParameter,
    GridAttr,
    TensorLayoutAttr,
    element_of,
    element_type_of,
)
from ttmlir.layout.enums import (
    BufferType,
    DataType,
    DeviceComputeConfig,
    MathFidelity,
    MemorySpace,
    NocIndex,
    TensorMemoryLayout,
    TTNNLayout,
    TTNNTensorMemoryLayout,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout, shape_text
from ttmlir.mlir.attributes import parse_affine_map
from ttmlir.mlir.core_prefix import TTCORE, core_prefix, note_late_form, note_ttcore
from ttmlir.program import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    Core,
    CoreRange,
    CoreRanges,
    DataMovementConfig,
    DescriptionError,
    KernelConfig,
    KernelDescription,
    Processor,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
    WriterConfig,
)


@irdl_attr_definition
class LayoutAttr(KeywordAttr[TTNNLayout], enum=TTNNLayout):
    """Rows or tiles: `#ttnn.layout<tile>`."""

    name = "ttnn.layout"


@irdl_attr_definition
class TensorMemoryLayoutAttr(KeywordAttr[TTNNTensorMemoryLayout], enum=TTNNTensorMemoryLayout):
    """Spread over banks or cores: `#ttnn.tensor_memory_layout<interleaved>`."""

    name = "ttnn.tensor_memory_layout"


@irdl_attr_definition
class BufferTypeAttr(KeywordAttr[BufferType], enum=BufferType):
    """Memory: `#ttnn.buffer_type<dram>`."""

    name = "ttnn.buffer_type"

    def alias_name(self) -> str:
        """The keyword, since 2025."""
        return self.data.keyword if core_prefix() == TTCORE else ""


_LATE_MEMORY = re.compile(rf"#|<\s*({'|'.join(BufferType.keywords())})\b")
"""What a memory begins with."""


@irdl_attr_definition
class MemoryConfigAttr(ParametrizedAttribute):
    """Where and how a tensor lies: `#ttnn.memory_config<<interleaved>, <dram>>`.

    Since 2025 the memory comes first: `#ttnn.memory_config<#dram, <interleaved>>`, and a
    `#ttnn.shard_spec` may be the last.
    """

    name = "ttnn.memory_config"
    tensor_memory_layout: TensorMemoryLayoutAttr
    buffer_type: BufferTypeAttr
    shard_spec: Attribute
    """The `#ttnn.shard_spec`; none if it is not said."""

    @classmethod
    def get(cls, layout: TTNNTensorMemoryLayout, buffer: BufferType) -> MemoryConfigAttr:
        """The attribute for these two."""
        return cls(TensorMemoryLayoutAttr(layout), BufferTypeAttr(buffer), NoneAttr())

    @classmethod
    def of(cls, layout: TTNNLayoutAttr) -> MemoryConfigAttr:
        """Where tensors of a layout of 2026 lie on the device, with shards if there are some."""
        spread, buffer = layout.spread, layout.memref.memory_space
        assert isinstance(buffer, BufferTypeAttr), "layouts name their memory"
        assert isinstance(spread, TensorMemoryLayoutAttr), "it is on the device"
        shards: Attribute = NoneAttr()
        if isinstance(layout.core_ranges, CoreRangeSetAttr):
            place = layout.tensor_layout
            tile = place.tile
            shape = place.shard if tile is None else tile.scalar_shape(place.shard)
            shards = ShardSpecAttr(layout.core_ranges, _extents(shape), StringAttr("row_major"))
        return cls(spread, buffer, shards)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<<layout>, <buffer type>>`, or both the other way round."""
        owner = "TTNN_MemoryConfigAttr"
        expect(parser, "<")
        position, text = parser.pos, parser.lexer.input.content
        if core_prefix() == TTCORE and _LATE_MEMORY.match(text, parser.pos):
            buffer = parse_nested(parser, BufferTypeAttr)
            expect(parser, ",")
            layout = parse_nested(parser, TensorMemoryLayoutAttr)
            shard_spec: Attribute = NoneAttr()
            if parser.parse_optional_punctuation(",") is not None:
                shard_spec = _parse_shard_spec(parser)
            expect(parser, ">")
            is_sharded = not isinstance(shard_spec, NoneAttr)
            if fault := _memory_fault(buffer.value, layout.value, is_sharded=is_sharded):
                parser.raise_error(fault, position)
            return (layout, buffer, shard_spec)
        with parameter(parser, owner, "tensor_memory_layout", "TensorMemoryLayoutAttr"):
            layout = parse_nested(parser, TensorMemoryLayoutAttr)
        expect(parser, ",")
        with parameter(parser, owner, "buffer_type", "BufferTypeAttr"):
            buffer = parse_nested(parser, BufferTypeAttr)
        expect(parser, ">")
        return (layout, buffer, NoneAttr())

    def print_parameters(self, printer: Printer) -> None:
        """Write `<<layout>, <buffer type>>`, or both the other way round."""
        printer.print_string("<")
        if core_prefix() == TTCORE:
            printer.print_attribute(self.buffer_type)
            printer.print_string(", ")
            print_stripped(printer, self.tensor_memory_layout)
            if not isinstance(self.shard_spec, NoneAttr):
                printer.print_string(", ")
                printer.print_attribute(self.shard_spec)
            printer.print_string(">")
            return
        print_stripped(printer, self.tensor_memory_layout)
        printer.print_string(", ")
        print_stripped(printer, self.buffer_type)
        printer.print_string(">")


def _memory_fault(
    buffer: BufferType, layout: TTNNTensorMemoryLayout, *, is_sharded: bool
) -> str | None:
    """Why a tensor cannot lie so in this memory; None if it can."""
    kinds = TTNNTensorMemoryLayout
    shards = (kinds.HEIGHT_SHARDED, kinds.WIDTH_SHARDED, kinds.BLOCK_SHARDED)
    if is_sharded and buffer not in (BufferType.L1, BufferType.DRAM):
        return "Sharding is only valid for L1 or DRAM buffer type"
    if is_sharded and layout not in shards:
        return (
            "Sharding is only valid for block sharded, height sharded, or width sharded tensor "
            "memory layout"
        )
    if buffer is BufferType.SYSTEM_MEMORY:
        return "Memory layout is not allowed for SystemMemory buffer type."
    if buffer is BufferType.DRAM and layout is kinds.BLOCK_SHARDED:
        return (
            "BlockSharded layout is not supported for DRAM buffer type; use WidthSharded, "
            "HeightSharded or Interleaved"
        )
    return None


def _parse_shard_spec(parser: AttrParser) -> Attribute:
    position = parser.pos
    found = parser.parse_attribute()
    if not isinstance(found, ShardSpecAttr):
        parser.raise_error("expected '#ttnn.shard_spec'", position)
    return found


def _extents(extents: Sequence[int]) -> ArrayAttr[IntAttr]:
    return ArrayAttr(IntAttr(extent) for extent in extents)


def _extents_text(extents: ArrayAttr[IntAttr]) -> str:
    return "x".join(str(extent.data) for extent in extents.data)


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute):
    """Extents of a tensor: `#ttnn.shape<64x128>`; operations that make tensors may say theirs."""

    name = "ttnn.shape"
    shape: ArrayAttr[IntAttr]

    @classmethod
    def of(cls, shape: Sequence[int]) -> ShapeAttr:
        """The attribute of these extents."""
        return cls(_extents(shape))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<extents>`."""
        expect(parser, "<")
        with parameter(parser, "TTNN_ShapeAttr", "shape", "::llvm::ArrayRef<int64_t>"):
            shape = parse_dimensions(parser)
        expect(parser, ">")
        return (_extents(shape),)

    def print_parameters(self, printer: Printer) -> None:
        """Write `<extents>`."""
        printer.print_string(f"<{_extents_text(self.shape)}>")


@irdl_attr_definition
class CoreRangeAttr(ParametrizedAttribute):
    """A rectangle of cores: `#ttnn.core_range<0x0, 8x8>` starts at (0, 0) and has 8x8 cores.

    Also read is the later form, the columns and rows of both corners: `<(0,0), (7,7)>`.
    """

    name = "ttnn.core_range"
    offset: ArrayAttr[IntAttr]
    size: ArrayAttr[IntAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<offset, size>`."""
        owner, cpp_type = "TTNN_CoreRangeAttr", "::llvm::ArrayRef<int64_t>"
        expect(parser, "<")
        position = parser.pos
        if parser.parse_optional_punctuation("(") is not None:
            x0, y0 = _parse_corner(parser)
            expect(parser, ",")
            expect(parser, "(")
            x1, y1 = _parse_corner(parser)
            if x1 < x0 or y1 < y0:
                parser.raise_error("the corner of low columns and rows comes first", position)
            expect(parser, ">")
            return (_extents((y0, x0)), _extents((y1 - y0 + 1, x1 - x0 + 1)))
        with parameter(parser, owner, "offset", cpp_type):
            offset = parse_dimensions(parser)
        expect(parser, ",")
        with parameter(parser, owner, "size", cpp_type):
            size = parse_dimensions(parser)
        expect(parser, ">")
        return (_extents(offset), _extents(size))

    def print_parameters(self, printer: Printer) -> None:
        """Write `<offset, size>`."""
        printer.print_string(f"<{_extents_text(self.offset)}, {_extents_text(self.size)}>")


def _parse_corner(parser: AttrParser) -> tuple[int, int]:
    """Column and row of a core, after the bracket."""
    x = parse_unsigned(parser)
    expect(parser, ",")
    y = parse_unsigned(parser)
    expect(parser, ")")
    return x, y


_CONFIG_FLAGS = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "dst_full_sync_en")


@irdl_attr_definition
class DeviceComputeConfigAttr(Data[DeviceComputeConfig]):
    """How the matrix unit computes: fidelity, and whether sums have 32 bits.

    `#ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = true>`; what is
    not said is as the library likes, sums of 16 bits here.
    """

    name = "ttnn.device_compute_kernel_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DeviceComputeConfig:
        """Read `<math_fidelity = hifi2, fp32_dest_acc_en = true>` and other flags."""
        expect(parser, "<")
        _expect_field(parser, "math_fidelity")
        fidelity = parse_keyword(parser, MathFidelity, "::mlir::tt::ttnn::MathFidelity")
        flags: dict[str, bool] = {}
        while parser.parse_optional_punctuation(",") is not None:
            position = parser.pos
            name = parser.parse_optional_identifier()
            if name not in _CONFIG_FLAGS or name in flags:
                parser.raise_error(f"expected one of: {', '.join(_CONFIG_FLAGS)}", position)
            expect(parser, "=")
            flags[name] = parser.parse_boolean()
        expect(parser, ">")
        return DeviceComputeConfig(math_fidelity=fidelity, **flags)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        config = self.data
        flags = ((name, getattr(config, name)) for name in _CONFIG_FLAGS)
        said = (f", {name} = {str(flag).lower()}" for name, flag in flags if flag is not None)
        printer.print_string(f"<math_fidelity = {config.math_fidelity.keyword}{''.join(said)}>")


def _expect_field(parser: AttrParser, name: str) -> None:
    parser.parse_keyword(name)
    expect(parser, "=")


# --- Layout ---------------------------------------------------------------------------------------
# Layouts and devices of ttnn as tt-mlir has spelled them since 2025.
#
#     #dram = #ttnn.buffer_type<dram>
#     #ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
#         memref<2x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#
# `#ttnn.ttnn_layout` says the same as `#tt.layout`, and passes ask both for their `tensor_layout`.
# Tensors in DRAM and on the host are on a grid of one.

BUFFER_TYPES = {
    MemorySpace.SYSTEM: BufferType.SYSTEM_MEMORY,
    MemorySpace.DEVICE_DRAM: BufferType.DRAM,
    MemorySpace.DEVICE_L1: BufferType.L1,
}
"""ttnn's names of memories."""
_MEMORY_SPACES = {buffer: space for space, buffer in BUFFER_TYPES.items()}

MEMORY_LAYOUTS = {
    TensorMemoryLayout.INTERLEAVED: TTNNTensorMemoryLayout.INTERLEAVED,
    TensorMemoryLayout.SINGLE_BANK: TTNNTensorMemoryLayout.SINGLE_BANK,
    TensorMemoryLayout.HEIGHT_SHARDED: TTNNTensorMemoryLayout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: TTNNTensorMemoryLayout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: TTNNTensorMemoryLayout.BLOCK_SHARDED,
}
"""ttnn's names of memory layouts."""
_MEMORY_LAYOUTS_READ = {late: layout for layout, late in MEMORY_LAYOUTS.items()}


def _note_reading() -> None:
    """Let the text that is read be one of the later form."""
    note_late_form()
    note_ttcore()


@irdl_attr_definition
class TTNNLayoutAttr(ParametrizedAttribute, TensorLayoutAttr):
    """How a tensor of ttnn lies in memory: `#ttnn.ttnn_layout<map, <grid>, memref, <layout>>`.

    Parameters: the linear map from the tensor's dimensions to physical ones, the grid, the shard of
    one core as a memref whose memory space is a `#ttnn.buffer_type`, and, on a device, how shards
    are spread in memory.
    """

    name = "ttnn.ttnn_layout"
    linear: AffineMapParameter
    grid: GridAttr
    memref: MemRefType[Attribute]
    spread: TensorMemoryLayoutAttr | NoneAttr
    core_ranges: Attribute
    """The `#ttnn.core_range_set` of the shards, since 2026; none if it is not said."""

    @classmethod
    def of(cls, layout: TensorLayout) -> TTNNLayoutAttr:
        """The attribute of a layout; LayoutError for memories that ttnn has no name for."""
        note_late_form()
        return _layout_attr(layout)

    @property
    def tensor_layout(self) -> TensorLayout:
        """The layout as plain data.

        LayoutError if the memref has a layout map of its own, dynamic extents, or a memory that
        tensors are not in.
        """
        return _tensor_layout(self)

    def alias_name(self) -> str:
        """The stem of the alias."""
        return "ttnn_layout"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<map, <grid>, memref>`, then `, <memory layout>` and `, core_ranges = ...`."""
        owner = "TTNN_TTNNLayoutAttr"
        _note_reading()
        expect(parser, "<")
        with parameter(parser, owner, "linear", "AffineMap"):
            linear = parse_affine_map(parser)
        expect(parser, ",")
        with parameter(parser, owner, "grid", "GridAttr"):
            grid = parse_nested(parser, GridAttr)
        expect(parser, ",")
        with parameter(parser, owner, "memref", "MemRefType"):
            memref = parse_memref(parser)
        spread, core_ranges = NoneAttr(), NoneAttr()
        while parser.parse_optional_punctuation(",") is not None:
            if parser.parse_optional_keyword("core_ranges") is not None:
                expect(parser, "=")
                core_ranges = parse_nested(parser, CoreRangeSetAttr)
                break
            with parameter(parser, owner, "mem_layout", "TensorMemoryLayoutAttr"):
                spread = parse_nested(parser, TensorMemoryLayoutAttr)
        expect(parser, ">")
        return [AffineMapParameter(linear), grid, memref, spread, core_ranges]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        printer.print_string(f"<{self.linear.data}, <{self.grid.data}>, ")
        printer.print_attribute(self.memref)
        if isinstance(self.spread, TensorMemoryLayoutAttr):
            printer.print_string(", ")
            print_stripped(printer, self.spread)
        if isinstance(self.core_ranges, CoreRangeSetAttr):
            printer.print_string(", core_ranges = ")
            print_stripped(printer, self.core_ranges)
        printer.print_string(">")


@lru_cache(maxsize=4096)
def _layout_attr(layout: TensorLayout) -> TTNNLayoutAttr:
    buffer = BUFFER_TYPES.get(layout.memory_space)
    if buffer is None:
        raise LayoutError(f"ttnn has no tensors in the memory '{layout.memory_space.keyword}'")
    spread = MEMORY_LAYOUTS.get(layout.memory_layout)
    return TTNNLayoutAttr(
        AffineMapParameter(layout.linear),
        GridAttr(layout.grid),
        MemRefType(
            element_type_of(layout.element), layout.shard, memory_space=BufferTypeAttr(buffer)
        ),
        NoneAttr() if spread is None else TensorMemoryLayoutAttr(spread),
        NoneAttr(),
    )


@lru_cache(maxsize=4096)
def _tensor_layout(attribute: TTNNLayoutAttr) -> TensorLayout:
    memref, spread = attribute.memref, attribute.spread
    space = memref.memory_space
    if not isinstance(space, BufferTypeAttr) or space.data not in _MEMORY_SPACES:
        known = ", ".join(buffer.keyword for buffer in _MEMORY_SPACES)
        raise LayoutError(
            f"the memref of a layout of ttnn names one of the memories {known}, got '{memref}'"
        )
    shard = memref.get_shape()
    if not isinstance(memref.layout, NoneAttr) or any(extent < 0 for extent in shard):
        raise LayoutError(f"the memref of a layout is contiguous and static, got '{memref}'")
    return TensorLayout(
        linear=attribute.linear.data,
        grid=attribute.grid.data,
        shard=shard,
        element=element_of(memref.element_type),
        memory_space=_MEMORY_SPACES[space.data],
        memory_layout=(
            _MEMORY_LAYOUTS_READ[spread.data]
            if isinstance(spread, TensorMemoryLayoutAttr)
            else TensorMemoryLayout.NONE
        ),
    )


@irdl_attr_definition
class TTNNDeviceType(ParametrizedAttribute, TypeAttribute):
    """A device, which the module around describes: `!ttnn.device`."""

    name = "ttnn.device"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read nothing."""
        _note_reading()
        return []


class _MeshExtentsAttr(Data[tuple[int, ...]], SpacedOpaqueSyntaxAttribute):
    """Extents of a mesh of devices, inside `#ttnn<...>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, ...]:
        """Read the extents, such as `1x1`."""
        position = parser.pos
        extents = parse_dimensions(parser)
        if len(extents) != 2:
            parser.raise_error(f"expected rows and columns, got {len(extents)} extents", position)
        return extents

    def print_parameter(self, printer: Printer) -> None:
        """Write the extents."""
        printer.print_string(shape_text(self.data))


@irdl_attr_definition
class MeshShapeAttr(_MeshExtentsAttr):
    """Rows and columns of a mesh of devices: `#ttnn<mesh_shape 1x1>`."""

    name = "ttnn.mesh_shape"


@irdl_attr_definition
class MeshOffsetAttr(_MeshExtentsAttr):
    """Where a mesh begins in that of the machine: `#ttnn<mesh_offset 0x0>`."""

    name = "ttnn.mesh_offset"


# --- Program attrs --------------------------------------------------------------------------------
# Attributes of ttnn that describe programs of kernels, as `ttnn.generic` holds them.
#
# The syntax is that of tt-mlir (late 2025), where a kernel is the function that `symbol_ref` names.
# Here a kernel holds its C++ itself, as `source`; what else is not in tt-mlir is printed only where
# it says more than the default: `rt_args` of single cores, `named_ct_args`, `defines`, and the `id`
# of a semaphore.

ItemT = TypeVar("ItemT")
_FP32 = "fp32"
_DEFAULT = "default"


class _Described(ContentAttr[ItemT]):
    """An attribute that is a part of a description; what the description refuses is an error."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ItemT:
        """Read `<...>`."""
        position = parser.pos
        try:
            return super().parse_parameter(parser)
        except DescriptionError as error:
            parser.raise_error(str(error), position)


def _attribute_of(
    kinds: Mapping[type[ItemT], type[Data[Any]]], key: Callable[[Any], type[ItemT]], what: str
) -> ValueSyntax[Any]:
    """What an attribute of one of some kinds holds; the attribute is written with its name."""
    classes = tuple(kinds.values())

    def read(parser: AttrParser) -> Any:
        position = parser.pos
        attr = parser.parse_optional_attribute()
        if not isinstance(attr, classes):
            parser.raise_error(f"expected {what}", position)
        return cast("Data[Any]", attr).data

    return ValueSyntax(
        read, lambda printer, value: printer.print_attribute(kinds[key(value)](value))
    )


# -- arguments ------------------------------------------------------------------------------------


def _argument(make: Callable[[int], Argument]) -> ValueSyntax[Argument]:
    """An argument of a kernel, with one number."""
    return plain(lambda parser: make(parse_unsigned(parser)), lambda value: str(_number(value)))


def _number(argument: Argument) -> int:
    match argument:
        case AddressOfTensor(number) | TensorAccessorArgs(number):
            return number
        case CircularBufferIndex(number) | SemaphoreAt(number):
            return number
        case int():
            return argument


@irdl_attr_definition
class CBBufferIndexArgAttr(_Described[Argument]):
    """The number of a circular buffer: `#ttnn.kernel_arg_cb_buffer_index<0>`."""

    name = "ttnn.kernel_arg_cb_buffer_index"
    CONTENT: ClassVar = _argument(CircularBufferIndex)


@irdl_attr_definition
class AddressOfTensorArgAttr(_Described[Argument]):
    """The address of an operand: `#ttnn.kernel_arg_address_of_tensor<0>`."""

    name = "ttnn.kernel_arg_address_of_tensor"
    CONTENT: ClassVar = _argument(AddressOfTensor)


@irdl_attr_definition
class SemaphoreAtArgAttr(_Described[Argument]):
    """The number of a semaphore of the program: `#ttnn.kernel_arg_semaphore_at<0>`."""

    name = "ttnn.kernel_arg_semaphore_at"
    CONTENT: ClassVar = _argument(SemaphoreAt)


@irdl_attr_definition
class TensorAccessorArgsAttr(_Described[Argument]):
    """What a TensorAccessor reads of an operand: `#ttnn.kernel_arg_tensor_accessor_args<0>`."""

    name = "ttnn.kernel_arg_tensor_accessor_args"
    CONTENT: ClassVar = _argument(TensorAccessorArgs)


@irdl_attr_definition
class ScalarArgAttr(_Described[Argument]):
    """A word of 32 bits: `#ttnn.kernel_arg_scalar<7>`."""

    name = "ttnn.kernel_arg_scalar"
    CONTENT: ClassVar = _argument(int)


_ARGUMENT_KINDS: Mapping[type[Argument], type[Data[Any]]] = {
    CircularBufferIndex: CBBufferIndexArgAttr,
    AddressOfTensor: AddressOfTensorArgAttr,
    SemaphoreAt: SemaphoreAtArgAttr,
    TensorAccessorArgs: TensorAccessorArgsAttr,
    int: ScalarArgAttr,
}
_ARGUMENTS = items(_attribute_of(_ARGUMENT_KINDS, type, "a kernel's argument"))
_NAMED_ARGUMENTS = items(assigned(QUOTED, _attribute_of(_ARGUMENT_KINDS, type, "argument")))


# -- cores ----------------------------------------------------------------------------------------


def _range_text(each: CoreRange) -> str:
    (x0, y0), (x1, y1) = each.start, each.end
    return f"#ttnn.core_range<({x0},{y0}), ({x1},{y1})>"


def _parse_range(parser: AttrParser) -> CoreRange:
    position = parser.pos
    attr = parser.parse_attribute()
    if not isinstance(attr, CoreRangeAttr):
        parser.raise_error("expected '#ttnn.core_range'", position)
    offset = [each.data for each in attr.offset.data]
    size = [each.data for each in attr.size.data]
    if len(offset) != 2 or len(size) != 2:
        parser.raise_error("a range of cores has two dimensions", position)
    # The older form counts rows first.
    (y, x), (rows, columns) = offset, size
    return CoreRange((x, y), (x + columns - 1, y + rows - 1))


_RANGES = items(plain(_parse_range, _range_text))


def _parse_ranges(parser: AttrParser) -> CoreRanges:
    """The rectangles; nothing at all is no rectangle, too."""
    is_empty = parser.lexer.input.content.startswith(">", parser.pos)
    return () if is_empty else _RANGES.read(parser)


def _print_ranges(printer: Printer, ranges: CoreRanges) -> None:
    if ranges:
        _RANGES.write(printer, ranges)


@irdl_attr_definition
class CoreRangeSetAttr(_Described[CoreRanges]):
    """Rectangles of cores: `#ttnn.core_range_set<[#ttnn.core_range<(0,0), (7,7)>]>`."""

    name = "ttnn.core_range_set"

    CONTENT: ClassVar = ValueSyntax(_parse_ranges, _print_ranges)


_ORIENTATIONS = ("row_major", "col_major")


@irdl_attr_definition
class ShardSpecAttr(ParametrizedAttribute):
    """Which cores hold the shards of a tensor, how large those are, and in which order they come:
    `#ttnn.shard_spec<<[#ttnn.core_range<(0,0), (7,7)>]>, <32x64>, <row_major>>`."""

    name = "ttnn.shard_spec"
    core_ranges: CoreRangeSetAttr
    shape: ArrayAttr[IntAttr]
    orientation: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<<ranges>, <extents>, <orientation>>`."""
        note_ttcore()
        expect(parser, "<")
        ranges = parse_nested(parser, CoreRangeSetAttr)
        expect(parser, ",")
        expect(parser, "<")
        shape = parse_dimensions(parser)
        for punctuation in (">", ",", "<"):
            expect(parser, punctuation)
        position = parser.pos
        orientation = parser.parse_optional_identifier()
        if orientation not in _ORIENTATIONS:
            parser.raise_error(f"expected one of {', '.join(_ORIENTATIONS)}", position)
        expect(parser, ">")
        expect(parser, ">")
        return (ranges, _extents(shape), StringAttr(orientation))

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        printer.print_string("<")
        print_stripped(printer, self.core_ranges)
        printer.print_string(", ")
        printer.print_string(f"<{_extents_text(self.shape)}>, <{self.orientation.data}>>")


# -- kernels --------------------------------------------------------------------------------------


def _parse_core_arguments(parser: AttrParser) -> tuple[Core, Arguments]:
    expect(parser, "<")
    expect(parser, "(")
    core = _parse_corner(parser)
    expect(parser, ",")
    arguments = _ARGUMENTS.read(parser)
    expect(parser, ">")
    return core, arguments


def _print_core_arguments(printer: Printer, each: tuple[Core, Arguments]) -> None:
    (x, y), arguments = each
    printer.print_string(f"<({x},{y}), ")
    _ARGUMENTS.write(printer, arguments)
    printer.print_string(">")


_CORE_RANGES = Field("core_ranges", contents_of(CoreRangeSetAttr))


def _kernel(config: Callable[..., KernelConfig], *settings: Field) -> ValueSyntax[Any]:
    """A kernel on a kind of processor, which the settings configure."""

    def make(**members: Any) -> KernelDescription:
        given = {name: members.pop(f"config.{name}") for name in names}
        return KernelDescription(config=config(**given), **members)

    names = [field.name if not field.member else field.member for field in settings]
    return fields(
        make,
        Field("symbol_ref", SYMBOL, "name"),
        _CORE_RANGES,
        *(
            replace(field, member=f"config.{name}")
            for field, name in zip(settings, names, strict=True)
        ),
        Field("ct_args", _ARGUMENTS, "compile_time_args"),
        Field("common_rt_args", _ARGUMENTS, "common_runtime_args"),
        Field("named_ct_args", _NAMED_ARGUMENTS, "named_compile_time_args", ()),
        Field(
            "rt_args",
            items(ValueSyntax(_parse_core_arguments, _print_core_arguments)),
            "runtime_args",
            (),
        ),
        Field("defines", items(assigned(QUOTED, QUOTED)), default=()),
        Field("source", QUOTED, default=""),
    )


@irdl_attr_definition
class ReadKernelAttr(_Described[KernelDescription]):
    """A kernel that reads: on RISCV_1, through network 0."""

    name = "ttnn.read_kernel"
    CONTENT: ClassVar = _kernel(ReaderConfig)


@irdl_attr_definition
class WriteKernelAttr(_Described[KernelDescription]):
    """A kernel that writes: on RISCV_0, through network 1."""

    name = "ttnn.write_kernel"
    CONTENT: ClassVar = _kernel(WriterConfig)


_PROCESSORS = {each.name.lower(): each for each in Processor}
_PROCESSOR = one_of(*_PROCESSORS)


@irdl_attr_definition
class DataMovementKernelAttr(_Described[KernelDescription]):
    """A kernel that moves data, on a processor and a network of its choice."""

    name = "ttnn.data_movement_kernel"
    CONTENT: ClassVar = _kernel(
        DataMovementConfig,
        Field(
            "processor",
            plain(
                lambda parser: _PROCESSORS[_PROCESSOR.read(parser)],
                lambda processor: processor.name.lower(),
            ),
        ),
        Field("noc_index", keyword(NocIndex, "::mlir::tt::ttnn::NocIndex"), "noc"),
    )


_MODES = items(one_of(_FP32, _DEFAULT))


def _parse_modes(parser: AttrParser) -> tuple[int, ...]:
    """The circular buffers that are unpacked with all bits."""
    return tuple(index for index, mode in enumerate(_MODES.read(parser)) if mode == _FP32)


def _print_modes(printer: Printer, unpacked: tuple[int, ...]) -> None:
    count = max((*unpacked, 0)) + 1
    _MODES.write(printer, tuple(_FP32 if i in unpacked else _DEFAULT for i in range(count)))


@irdl_attr_definition
class ComputeKernelAttr(_Described[KernelDescription]):
    """A kernel that computes."""

    name = "ttnn.compute_kernel"
    CONTENT: ClassVar = _kernel(
        ComputeConfig,
        Field(
            "math_fidelity", keyword(MathFidelity, "::mlir::tt::ttnn::ComputeKernelMathFidelity")
        ),
        Field("fp32_dest_acc_en", FLAG),
        Field("dst_full_sync_en", FLAG),
        Field(
            "unpack_to_dest_modes", ValueSyntax(_parse_modes, _print_modes), "unpack_to_dest_fp32"
        ),
        Field("bfp8_pack_precise", FLAG),
        Field("math_approx_mode", FLAG),
    )


_KERNEL_KINDS: Mapping[type[KernelConfig], type[Data[Any]]] = {
    ReaderConfig: ReadKernelAttr,
    WriterConfig: WriteKernelAttr,
    DataMovementConfig: DataMovementKernelAttr,
    ComputeConfig: ComputeKernelAttr,
}


def _kind_of(kernel: KernelDescription) -> type[KernelConfig]:
    return type(kernel.config)


# -- circular buffers and semaphores --------------------------------------------------------------


@irdl_attr_definition
class GlobalAddressOfTensorAttr(_Described[int]):
    """The shards of an operand, which a circular buffer is on."""

    name = "ttnn.kernel_cb_global_buffer_address_of_tensor"
    CONTENT: ClassVar = NUMBER


@irdl_attr_definition
class KernelCBFormatAttr(_Described[CircularBufferFormat]):
    """Pages: `#ttnn.kernel_cb_format<buffer_index = 0, dtype = bf16, page_size = 2048>`."""

    name = "ttnn.kernel_cb_format"
    CONTENT: ClassVar = fields(
        CircularBufferFormat,
        Field("buffer_index", NUMBER, "index"),
        Field("dtype", keyword(DataType, "::mlir::tt::DataType"), "data_type"),
        Field("page_size", NUMBER),
    )

    def verify(self) -> None:
        """VerifyException for tiles of fewer rows, which the attribute has no word for."""
        if self.data.tile_height != 32:
            raise VerifyException(
                f"circular buffer {self.data.index} holds tiles of {self.data.tile_height} rows, "
                "which `ttnn.kernel_cb_format` cannot say; tiles have 32"
            )


_GLOBAL_ADDRESS = _attribute_of(
    {int: GlobalAddressOfTensorAttr}, lambda value: int, "a kernel's buffer"
)


@irdl_attr_definition
class KernelCBAttr(_Described[CircularBufferDescription]):
    """Circular buffers that share bytes of L1."""

    name = "ttnn.kernel_cb"
    CONTENT: ClassVar = fields(
        CircularBufferDescription,
        Field("total_size", NUMBER),
        _CORE_RANGES,
        Field("formats", items(contents_of(KernelCBFormatAttr))),
        Field("buffer", _GLOBAL_ADDRESS, "tensor", None),
    )


@irdl_attr_definition
class KernelSemaphoreAttr(_Described[SemaphoreDescription]):
    """A semaphore of worker cores."""

    name = "ttnn.kernel_semaphore"
    CONTENT: ClassVar = fields(
        SemaphoreDescription,
        Field("id", NUMBER, default=None),
        Field("core_type", only("worker"), None),
        _CORE_RANGES,
        Field("initial_value", NUMBER),
    )


@irdl_attr_definition
class ProgramAttr(_Described[ProgramDescription]):
    """A program of kernels: `#ttnn.program<kernels = [...], cbs = [...], semaphores = [...]>`."""

    name = "ttnn.program"
    CONTENT: ClassVar = fields(
        ProgramDescription,
        Field(
            "kernels",
            items(_attribute_of(_KERNEL_KINDS, _kind_of, "a kernel")),
        ),
        Field("cbs", items(contents_of(KernelCBAttr)), "circular_buffers"),
        Field("semaphores", items(contents_of(KernelSemaphoreAttr))),
    )


ATTRIBUTES = classes_in(globals(), Attribute)
"""Every attribute of this module."""
