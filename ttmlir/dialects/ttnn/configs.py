"""Attributes that configure operations of ttnn since 2025: programs, convolutions, activations.

    #ttnn.matmul_multi_core_reuse_program_config<compute_with_storage_grid_size =
        #ttnn.core_coord<8, 8>, in0_block_w = 1, ...>
    #ttnn.unary_with_param<op_type = relu>

They are lists of named fields, of which any may be left out; what stands in the text is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.fields import (
    ATTRIBUTE,
    FLAG,
    NUMBER,
    ValueSyntax,
    items,
    keyword,
    plain,
)
from ttmlir.dialects.definition.ods import classes_in
from ttmlir.dialects.definition.syntax import (
    expect,
    parse_keyword,
    parse_nested,
    parse_unsigned,
    print_stripped,
)
from ttmlir.dialects.tt.layout import GridAttr
from ttmlir.dialects.ttnn.attrs import CoreRangeSetAttr, TensorMemoryLayoutAttr
from ttmlir.layout.enums import DataType, TTNNTensorMemoryLayout
from ttmlir.mlir.core_prefix import note_ttcore

Fields = tuple[tuple[str, Any], ...]


def _parse_word(parser: AttrParser) -> str:
    position = parser.pos
    word = parser.parse_optional_identifier()
    if word is None:
        parser.raise_error("expected a keyword", position)
    return word


def _parse_numbers(parser: AttrParser) -> tuple[Attribute, ...]:
    position = parser.pos
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
    if not all(isinstance(each, FloatAttr | IntegerAttr) for each in numbers):
        parser.raise_error("expected a list of numbers", position)
    return tuple(numbers)


def _attribute(kind: type[Data[Any]], *, is_named: bool) -> ValueSyntax[Any]:
    """An attribute of one kind, which is written with its name or without."""

    def write(printer: Printer, value: Any) -> None:
        if is_named:
            printer.print_attribute(value)
        else:
            print_stripped(printer, value)

    return ValueSyntax(lambda parser: parse_nested(parser, kind), write)


_WORD = plain(_parse_word)
_NUMBERS = ValueSyntax(_parse_numbers, items(ATTRIBUTE).write)
_DATA_TYPE = keyword(DataType, "::mlir::tt::ttcore::DataType")
_MEMORY_LAYOUT = plain(
    lambda parser: TensorMemoryLayoutAttr(
        parse_keyword(parser, TTNNTensorMemoryLayout, "::mlir::tt::ttnn::TensorMemoryLayout")
    ),
    lambda attr: attr.data.keyword,
)


class _ConfigAttr(Data[Fields]):
    """Named fields in angle brackets, in the order of `FIELDS`."""

    FIELDS: ClassVar[Mapping[str, ValueSyntax[Any]]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Fields:
        """Read `<name = value, ...>`."""
        expect(parser, "<")
        found: dict[str, Any] = {}
        while parser.parse_optional_punctuation(">") is None:
            if found:
                expect(parser, ",")
            position = parser.pos
            name = parser.parse_optional_identifier() or ""
            if name not in cls.FIELDS or name in found:
                left = ", ".join(each for each in cls.FIELDS if each not in found)
                parser.raise_error(f"expected one of: {left}" if left else "expected '>'", position)
            expect(parser, "=")
            found[name] = cls.FIELDS[name].read(parser)
        return tuple((name, found[name]) for name in cls.FIELDS if name in found)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string("<")
        for number, (name, value) in enumerate(self.data):
            printer.print_string(f"{', ' if number else ''}{name} = ")
            self.FIELDS[name].write(printer, value)
        printer.print_string(">")


@irdl_attr_definition
class CoreCoordAttr(Data[tuple[int, int]]):
    """A core, or the size of a grid, columns first: `#ttnn.core_coord<13, 10>`."""

    name = "ttnn.core_coord"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int]:
        """Read `<x, y>`."""
        expect(parser, "<")
        x = parse_unsigned(parser)
        expect(parser, ",")
        y = parse_unsigned(parser)
        expect(parser, ">")
        return x, y

    def print_parameter(self, printer: Printer) -> None:
        """Write `<x, y>`."""
        printer.print_string(f"<{self.data[0]}, {self.data[1]}>")


@irdl_attr_definition
class UnaryWithParamAttr(_ConfigAttr):
    """A function of each element that an operation computes, too: an activation."""

    name = "ttnn.unary_with_param"
    FIELDS: ClassVar = {"op_type": _WORD, "params": _NUMBERS}


_GRID = _attribute(CoreCoordAttr, is_named=True)
_ACTIVATION = _attribute(UnaryWithParamAttr, is_named=False)
_BLOCKS = {
    "in0_block_w": NUMBER,
    "out_subblock_h": NUMBER,
    "out_subblock_w": NUMBER,
}
_OUT_BLOCKS = {"out_block_h": NUMBER, "out_block_w": NUMBER}
_PER_CORE = {"per_core_m": NUMBER, "per_core_n": NUMBER}
_FUSED = {"fused_activation": _attribute(UnaryWithParamAttr, is_named=True)}


@irdl_attr_definition
class MatmulReuseConfigAttr(_ConfigAttr):
    """Products whose cores read their own blocks of both operands."""

    name = "ttnn.matmul_multi_core_reuse_program_config"
    FIELDS: ClassVar = {"compute_with_storage_grid_size": _GRID, **_BLOCKS, **_PER_CORE}


@irdl_attr_definition
class MatmulMultiCastConfigAttr(_ConfigAttr):
    """Products whose blocks are multicast along rows and columns of cores."""

    name = "ttnn.matmul_multi_core_reuse_multi_cast_program_config"
    FIELDS: ClassVar = {
        "compute_with_storage_grid_size": _GRID,
        **_BLOCKS,
        **_OUT_BLOCKS,
        **_PER_CORE,
        "transpose_mcast": FLAG,
        **_FUSED,
        "fuse_batch": FLAG,
    }


@irdl_attr_definition
class MatmulMultiCast1DConfigAttr(_ConfigAttr):
    """Products whose blocks of one operand are multicast to all cores."""

    name = "ttnn.matmul_multi_core_reuse_multi_cast_1d_program_config"
    FIELDS: ClassVar = {
        "compute_with_storage_grid_size": _GRID,
        **_BLOCKS,
        **_OUT_BLOCKS,
        **_PER_CORE,
        "fuse_batch": FLAG,
        **_FUSED,
        "mcast_in0": FLAG,
        "gather_in0": FLAG,
        "hop_cores": _attribute(CoreRangeSetAttr, is_named=True),
        "num_global_cb_receivers": NUMBER,
        "untilize_out": FLAG,
    }


@irdl_attr_definition
class MatmulDRAMShardedConfigAttr(_ConfigAttr):
    """Products whose second operand is sharded over the banks of DRAM."""

    name = "ttnn.matmul_multi_core_reuse_multi_cast_dram_sharded_program_config"
    FIELDS: ClassVar = {"in0_block_w": NUMBER, **_PER_CORE, **_FUSED}


@irdl_attr_definition
class SDPAConfigAttr(_ConfigAttr):
    """How attention is divided over cores."""

    name = "ttnn.sdpa_program_config"
    FIELDS: ClassVar = {
        "compute_with_storage_grid_size": _attribute(CoreCoordAttr, is_named=False),
        "sub_core_grids": _attribute(CoreRangeSetAttr, is_named=False),
        "q_chunk_size": NUMBER,
        "k_chunk_size": NUMBER,
        "exp_approx_mode": FLAG,
        "max_cores_per_head_batch": NUMBER,
    }


@irdl_attr_definition
class Conv2dConfigAttr(_ConfigAttr):
    """How a convolution prepares, divides and stores what it computes."""

    name = "ttnn.conv2d_config"
    FIELDS: ClassVar = {
        "weights_dtype": _DATA_TYPE,
        "activation": _ACTIVATION,
        "deallocate_activation": FLAG,
        "reallocate_halo_output": FLAG,
        "act_block_h_override": NUMBER,
        "act_block_w_div": NUMBER,
        "reshard_if_not_optimal": FLAG,
        "override_sharding_config": FLAG,
        "shard_layout": _MEMORY_LAYOUT,
        "core_grid": _attribute(CoreRangeSetAttr, is_named=False),
        "transpose_shards": FLAG,
        "output_layout": _WORD,
        "enable_act_double_buffer": FLAG,
        "enable_weights_double_buffer": FLAG,
        "in_place": FLAG,
        "enable_kernel_stride_folding": FLAG,
        "config_tensors_in_dram": FLAG,
    }


@irdl_attr_definition
class Conv3dConfigAttr(_ConfigAttr):
    """How a convolution along three dimensions divides what it computes."""

    name = "ttnn.conv3d_config"
    FIELDS: ClassVar = {
        "weights_dtype": _DATA_TYPE,
        "t_out_block": NUMBER,
        "w_out_block": NUMBER,
        "h_out_block": NUMBER,
        "c_out_block": NUMBER,
        "c_in_block": NUMBER,
        "compute_with_storage_grid_size": _attribute(GridAttr, is_named=True),
    }


@irdl_attr_definition
class Conv2dSliceConfigAttr(_ConfigAttr):
    """How a convolution is cut into slices: `#ttnn.conv2d_slice_config<l1_full, 0>`."""

    name = "ttnn.conv2d_slice_config"
    FIELDS: ClassVar = {"slice_type": _WORD, "num_slices": NUMBER}

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Fields:
        """Read `<word, number>`."""
        expect(parser, "<")
        kind = cls.FIELDS["slice_type"].read(parser)
        expect(parser, ",")
        count = cls.FIELDS["num_slices"].read(parser)
        expect(parser, ">")
        return (("slice_type", kind), ("num_slices", count))

    def print_parameter(self, printer: Printer) -> None:
        """Write `<word, number>`."""
        (_, kind), (_, count) = self.data
        printer.print_string(f"<{kind}, {count}>")


@irdl_attr_definition
class LayerNormConfigAttr(_ConfigAttr):
    """How a norm of a sharded tensor is divided over cores."""

    name = "ttnn.layernorm_sharded_multicore_program_config"
    FIELDS: ClassVar = {
        "compute_with_storage_grid_size": _GRID,
        "subblock_w": NUMBER,
        "block_h": NUMBER,
        "block_w": NUMBER,
        "inplace": FLAG,
    }


@irdl_attr_definition
class PlacementAttr(Data[tuple[str, Attribute | None]]):
    """What an axis of a mesh does to a tensor: `#ttnn.placement<shard, 1 : i32>`."""

    name = "ttnn.placement"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, Attribute | None]:
        """Read `<replicate>` or `<shard, dim>`."""
        expect(parser, "<")
        position = parser.pos
        kind = parser.parse_optional_identifier()
        if kind not in ("replicate", "shard"):
            parser.raise_error("expected 'replicate' or 'shard'", position)
        dim = None
        if parser.parse_optional_punctuation(",") is not None:
            position = parser.pos
            dim = parser.parse_attribute()
            if not isinstance(dim, IntegerAttr):
                parser.raise_error("expected the number of a dimension", position)
        expect(parser, ">")
        return kind, cast("Attribute | None", dim)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        kind, dim = self.data
        printer.print_string(f"<{kind}")
        if dim is not None:
            printer.print_string(", ")
            printer.print_attribute(dim)
        printer.print_string(">")


@irdl_attr_definition
class MeshMapperConfigAttr(_ConfigAttr):
    """How a tensor is divided over a mesh."""

    name = "ttnn.mesh_mapper_config"
    FIELDS: ClassVar = {
        "placements": items(_attribute(PlacementAttr, is_named=False)),
        "mesh_shape_override": _NUMBERS,
    }


@irdl_attr_definition
class MeshComposerConfigAttr(_ConfigAttr):
    """How a tensor is put together from a mesh."""

    name = "ttnn.mesh_composer_config"
    FIELDS: ClassVar = {"dims": _NUMBERS, "mesh_shape_override": _NUMBERS}


class _EmptyAttr(Data[None]):
    """An attribute that says nothing but its name."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> None:
        """Read nothing."""

    def print_parameter(self, printer: Printer) -> None:
        """Write nothing."""


@irdl_attr_definition
class TraceIdAttr(_EmptyAttr):
    """On a tensor of one number: it names a recording, `tensor<ui32, #ttnn.trace_id>`."""

    name = "ttnn.trace_id"


@irdl_attr_definition
class GlobalSemaphoreType(ParametrizedAttribute, TypeAttribute):
    """A number that cores of all devices count with: `!ttnn.global_semaphore`."""

    name = "ttnn.global_semaphore"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read nothing."""
        note_ttcore()
        return []


CONFIG_ATTRIBUTES = classes_in(globals(), Attribute)
"""Every attribute of this module."""
