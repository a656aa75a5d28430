"""Give what is computed on one device the shapes of its part.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
        -> tensor<64x32xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {}]>]
          out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%b: tensor<64x32xf32>) {
        %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
            : tensor<64x32xf32>
        %2 = sdy.all_gather [{"y"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
        sdy.return %2 : tensor<64x32xf32>
      } : (tensor<64x32xf32>) -> tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }

After:

    module {
      sdy.mesh @mesh = <["x"=1, "y"=2]>
      func.func @main(%arg0: tensor<64x32xf32>) -> tensor<64x32xf32> {
        %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"y"}, {}]>]
            out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"} (%arg1: tensor<32x32xf32>) {
          %1 = stablehlo.negate %arg1 : tensor<32x32xf32>
          %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64,
              channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
              replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
              : (tensor<32x32xf32>) -> tensor<64x32xf32>
          sdy.return %2 : tensor<64x32xf32>
        } : (tensor<64x32xf32>) -> tensor<64x32xf32>
        return %0 : tensor<64x32xf32>
      }
    }

Requires: bodies in `sdy.manual_computation` (`wrap-under-manual-computation`), whose operations
have shardings where they are spread.
Ensures: regions are manual over all axes of the mesh; types in them are those of one device;
moves of sdy are those of StableHLO, one for each axis, or for all that are together the rows or the
columns of a machine; a slice is a call of `sdy.all_slice`, which says a dimension and an axis.
Arguments have no shardings any more: the region has them.
Options: none.
Not done here: moves along parts of axes are refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import ALL_SLICE, Mesh, meshes_in
from ttmlir.dialects.stablehlo import OPERATIONS
from ttmlir.dialects.stablehlo.attrs import (
    ChannelHandleAttr,
    ConvDimensionNumbersAttr,
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
)
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.ir.rewriting import erase, insert_before, refuse, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import set_type
from ttmlir.mlir.attributes import elements_attr, raw_bytes, splat_bytes
from ttmlir.optable.op_definition import Shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.insert_explicit_reshards import COMBINATION
from ttmlir.passes.shardy.spreading.flow import edges_of
from ttmlir.passes.shardy.spreading.shardings import (
    SHARDING,
    Sharding,
    check_devices,
    set_argument,
    set_result,
    sharding_of,
)
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_indexing import FILL
from ttmlir.passes.stablehlo.mesh_borders import join_axes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.mlir.attributes import Elements, ElementsType


@dataclass(frozen=True)
class UpdateGlobalToLocalShapesPass(ModulePass):
    """Give what is computed on one device the shapes of its part."""

    name = "update-global-to-local-shapes"
    title = "UpdateGlobalToLocalShapesPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Change every region that is not manual over all axes yet."""
        meshes = meshes_in(module)
        for op in module.body.block.ops:
            if isinstance(op, sdy.MeshOp):
                check_devices(op, op.axes)
        for function in [op for op in module.body.block.ops if isinstance(op, FuncOp)]:
            blocks = function.body.blocks
            found = [op for block in blocks for op in block.ops]
            regions = [op for op in found if isinstance(op, sdy.ManualComputationOp)]
            for op in regions:
                _localize(op, meshes)
            if regions:
                for index in range(len(function.function_type.inputs)):
                    set_argument(function, index, sdy__sharding=None)
                for index in range(len(function.function_type.outputs)):
                    set_result(function, index, sdy__sharding=None)


def _localize(whole: sdy.ManualComputationOp, meshes: Mapping[str, Mesh]) -> None:
    if cast("sdy.ManualAxesAttr", whole.properties["manual_axes"]).data != "{}":
        return
    block = whole.regions[0].block
    for op in whole.walk():
        if op.name in (sdy.CollectivePermuteOp.name, *_INDEXED) and (
            given := sharding_of(op.operands[0])
        ):
            op.attributes[_GIVEN] = sdy.TensorShardingAttr(str(given))
    _localize_block(whole, block, meshes)
    axes = ", ".join(f'"{name}"' for mesh in meshes.values() for name in mesh)
    whole.properties["manual_axes"] = sdy.ManualAxesAttr(f"{{{axes}}}")


def _localize_block(parent: Operation, block: Block, meshes: Mapping[str, Mesh]) -> None:
    """Give the arguments of a block, and what it computes, the types of parts."""
    for argument in tuple(block.args):
        _cut(parent, argument, meshes)
    for op in tuple(block.ops):
        if isinstance(op, sdy.ManualComputationOp):
            _open(op, meshes)
            continue
        for region in op.regions if edges_of(op) is not None else ():
            _localize_block(op, region.block, meshes)
        _localize_op(op, meshes)


def _open(op: sdy.ManualComputationOp, meshes: Mapping[str, Mesh]) -> None:
    """Put a region that tells some axes apart in its place: all around it is parts, too."""
    block = op.regions[0].block
    _localize_block(op, block, meshes)
    for value, argument in zip(op.operands, tuple(block.args), strict=True):
        if value.type != argument.type:
            refuse(op, f"takes {argument.type} of a tensor of which a device has {value.type}")
        argument.replace_all_uses_with(value)
    end = block.last_op
    assert end is not None, "regions have ends"
    results = [*end.operands]
    erase(end)
    for inner in tuple(block.ops):
        inner.detach()
        insert_before(op, inner)
    replace(op, *results)


_UNFIT = "Could not apply propagated tensor shardings to tensor dimensions"


def _cut(op: Operation, value: SSAValue, meshes: Mapping[str, Mesh]) -> None:
    """Give a value the type of its part."""
    sharding = sharding_of(value)
    if sharding is None:
        return
    type_ = cast("TensorType[Attribute]", value.type)
    mesh = meshes.get(sharding.mesh, {})
    shape = sharding.local_shape(type_.get_shape(), mesh)
    if shape is None:
        refuse(op, f"{_UNFIT}.{sharding.describe_uneven(type_.get_shape(), mesh)}")
    _ = set_type(value, TensorType(type_.element_type, shape))


def _localize_op(op: Operation, meshes: Mapping[str, Mesh]) -> None:
    if op.name in _COLLECTIVES:
        _convert_collective(op, meshes)
        return
    if op.name.startswith("sdy.") and op.results:
        known = ", ".join(name.removeprefix("sdy.") for name in _COLLECTIVES)
        refuse(op, f"is not done here; of moves between devices, {known} are")
    old = [value_shape(value) for value in op.results if isinstance(value.type, TensorType)]
    for value in tuple(op.results):
        _cut(op, value, meshes)
    op.attributes.pop(SHARDING, None)
    if op.name in _INDEXED and _GIVEN in op.attributes:
        _count_from_part(op, meshes)
    if op.name in _PARAMETERS:
        _PARAMETERS[op.name](op, old[0])


def _cut_constant(op: Operation, _: Shape) -> None:
    """Keep the first part: all are alike (`replicate-non-splittable-values`)."""
    import numpy as np

    elements = cast("Elements", op.properties["value"])
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    if elements.type == type_:
        return
    splat = splat_bytes(elements)
    if splat is None:
        raw, shape = bytes(raw_bytes(elements)), elements.get_shape()
        size = len(raw) // math.prod(shape)
        array = np.frombuffer(raw, np.dtype((np.void, size))).reshape(shape)
        splat = array[tuple(slice(extent) for extent in type_.get_shape())].tobytes()
    op.properties["value"] = elements_attr(cast("ElementsType", type_), splat)


def _cut_sizes(op: Operation, _: Shape) -> None:
    """Of a dimension that is spread, and taken as a whole, the part is taken."""
    shape, sizes = value_shape(op.operands[0]), integers(op, "slice_sizes")
    cut = [min(size, extent) for size, extent in zip(sizes, shape, strict=True)]
    op.properties["slice_sizes"] = DenseArrayBase.from_list(i64, cut)


def _count_from_part(op: Operation, meshes: Mapping[str, Mesh]) -> None:
    """Let indices of a dimension in parts count from the beginning of the part.

    What is looked up outside of it is 0, to which that of other devices is added after; what is
    written outside is dropped.
    """
    given = Sharding.parse(cast("sdy.TensorShardingAttr", op.attributes.pop(_GIVEN)).data, op)
    is_gather = op.name == "stablehlo.gather"
    if is_gather:
        dims = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
        indexed = dims.start_index_map
    else:
        dims = cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"])
        indexed = dims.scatter_dims_to_operand_dims
    mesh = meshes.get(given.mesh, {})
    axes = [_axes_in(op, ", ".join(given.dimensions[dim].axes)) for dim in indexed]
    if not any(axes):
        return
    place = 1 if is_gather else len(op.results)
    build, indices = StableHLOCarrier.before(op), op.operands[place]
    if cast("IntegerType", element_type(indices)).bitwidth < i32.bitwidth:
        # The whole may have more elements than they can count.
        indices = build.make_one("convert", [indices], TensorType(i32, value_shape(indices)))
    scalar = TensorType(element_type(indices), ())
    sizes = [value_shape(op.operands[0])[dim] for dim in indexed]

    def spread(numbers: Sequence[SSAValue]) -> SSAValue:
        """A number for each part of an index, as all indices."""
        if len(numbers) == 1:
            return build.broadcast(numbers[0], value_shape(indices), ())
        single = [build.broadcast(each, (1,), ()) for each in numbers]
        type_ = TensorType(scalar.element_type, (len(single),))
        line = build.make_one("concatenate", single, type_, dimension=IntegerAttr(0, i64))
        return build.broadcast(line, value_shape(indices), (dims.index_vector_dim,))

    first = spread(
        [
            _begin_of_part(build, scalar, each, mesh, size)
            if each
            else build.make_constant(scalar, [0])
            for each, size in zip(axes, sizes, strict=True)
        ]
    )
    if is_gather:
        wholes = [
            math.prod(mesh[axis] for axis in each) * size
            for each, size in zip(axes, sizes, strict=True)
        ]
        bounds = [
            [build.make_constant(scalar, [number]) for number in numbers]
            for numbers in ([whole - 1 for whole in wholes], [0] * len(wholes))
        ]
        last, zero = (each[0] if len(each) == 1 else spread(each) for each in bounds)
        indices = build.make_one("clamp", [zero, indices, last], indices.type)
        op.attributes[FILL] = UnitAttr()
    op.operands[place] = build.make_one("subtract", [indices, first], indices.type)


def _begin_of_part(
    build: StableHLOCarrier,
    scalar: TensorType[Attribute],
    axes: Sequence[str],
    mesh: Mesh,
    size: int,
) -> SSAValue:
    """Where the part of a device, of so many elements, begins in a dimension over axes."""

    def compute(name: str, *operands: SSAValue) -> SSAValue:
        return build.make_one(name, operands, scalar)

    number = compute("convert", build.make_one("partition_id", [], TensorType(_UI32, ())))
    places = list[SSAValue]()
    for axis in axes:
        stride = math.prod([*mesh.values()][[*mesh].index(axis) + 1 :])
        extent, step = (build.make_constant(scalar, [each]) for each in (mesh[axis], stride))
        place = compute("remainder", compute("divide", number, step), extent)
        if places:
            place = compute("add", compute("multiply", places[-1], extent), place)
        places.append(place)
    return compute("multiply", places[-1], build.make_constant(scalar, [size]))


def _cut_groups(op: Operation, _: Shape) -> None:
    """Each device has its groups of features."""
    numbers = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    given, kernel = (value_shape(each) for each in op.operands)
    count = given[numbers.input_feature_dimension] // kernel[numbers.kernel_input_feature_dimension]
    if count != integer(op, "feature_group_count"):
        op.properties["feature_group_count"] = IntegerAttr(count, i64)


def _cut_slice(op: Operation, old: Shape) -> None:
    """A dimension that is spread is taken as a whole."""
    given, new = value_shape(op.operands[0]), value_shape(op.results[0])
    starts, limits = [*integers(op, "start_indices")], [*integers(op, "limit_indices")]
    for axis, (before, after) in enumerate(zip(old, new, strict=True)):
        if before != after:
            starts[axis], limits[axis] = 0, given[axis]
    op.properties["start_indices"] = DenseArrayBase.from_list(i64, starts)
    op.properties["limit_indices"] = DenseArrayBase.from_list(i64, limits)


def _check_counted(op: Operation, old: Shape) -> None:
    """A dimension whose elements are counted is whole."""
    place = integer(op, "iota_dimension")
    if old[place] != value_shape(op.results[0])[place]:
        refuse(op, "counts elements of a dimension that is spread over devices")


_PARAMETERS = {
    "stablehlo.constant": _cut_constant,
    "stablehlo.convolution": _cut_groups,
    "stablehlo.dynamic_slice": _cut_sizes,
    "stablehlo.gather": _cut_sizes,
    "stablehlo.iota": _check_counted,
    "stablehlo.slice": _cut_slice,
}
"""What changes beside the types of operations whose parameters say extents."""


# --- Collectives ----------------------------------------------------------------------------------

_COLLECTIVES = (
    *("sdy.all_gather", "sdy.all_reduce", "sdy.all_slice", "sdy.all_to_all"),
    *("sdy.collective_permute", "sdy.reduce_scatter"),
)
_GIVEN = "given"
"""How the operand of a permutation, a gather or a scatter lay, which its type says no more."""
_INDEXED = ("stablehlo.gather", "stablehlo.scatter")
_UI32 = IntegerType(32, Signedness.UNSIGNED)
_AXIS = re.compile(r'"([^"]*)"(:)?')
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_EXCHANGE = re.compile(r"\{([^{}]*)\}:\s*(\d+)->(\d+)")


def _convert_collective(op: Operation, meshes: Mapping[str, Mesh]) -> None:
    text = cast("sdy.TensorShardingAttr", op.properties["out_sharding"]).data
    mesh = meshes.get(Sharding.parse(text, op).mesh, {})
    value = op.operands[0]

    def said(name: str) -> str:
        return cast("sdy.AxesAttr", op.properties[name]).data

    if op.name == "sdy.all_reduce":
        axes = _axes_in(op, said("reduction_axes"))
        for line in _lines(mesh, sorted(axes, key=[*mesh].index) if len(mesh) > 2 else axes):
            value = _reduce(op, value, _groups(mesh, line))
    elif op.name == "sdy.all_to_all":
        for axes, source, target in _EXCHANGE.findall(said("params")):
            groups = _groups(mesh, _axes_in(op, axes))
            value = _exchange(op, value, int(source), int(target), groups)
    elif op.name == sdy.CollectivePermuteOp.name:
        value = _permute(op, value, mesh)
    else:
        value = _move_by_axes(op, mesh, said(_AXES_BY_DIMENSION[op.name]))
    replace(op, value)


def _permute(op: Operation, value: SSAValue, mesh: Mesh) -> SSAValue:
    """Let each device get the part that it shall have from one that has it."""
    given, wanted = (
        Sharding.parse(cast("sdy.TensorShardingAttr", each).data, op)
        for each in (op.attributes[_GIVEN], op.properties["out_sharding"])
    )
    old, new = (_blocks(op, each, mesh) for each in (given, wanted))
    # A device that has its part already keeps it.
    pairs = [(device, device) for device in range(len(old)) if old[device] == new[device]]
    kept = {device for device, _ in pairs}
    left: dict[tuple[int, ...], list[int]] = {}
    for device, block in enumerate(old):
        if device not in kept:
            left.setdefault(block, []).append(device)
    pairs += [
        (left[block].pop(0), device) for device, block in enumerate(new) if device not in kept
    ]
    type_ = TensorType(i64, (len(pairs), 2))
    flat = [device for pair in sorted(pairs) for device in pair]
    said: dict[str, Attribute] = {
        "channel_handle": ChannelHandleAttr((1, 1)),
        "source_target_pairs": DenseIntOrFPElementsAttr.from_list(type_, flat),
    }
    return _create(op, value, "collective_permute", {}, said)


def _blocks(op: Operation, sharding: Sharding, mesh: Mesh) -> list[tuple[int, ...]]:
    """The place of the part of each device along each dimension."""
    import numpy as np

    places = np.unravel_index(np.arange(math.prod(mesh.values())), [*mesh.values()])
    names, found = [*mesh], list[list[int]]()
    for dimension in sharding.dimensions:
        place = np.zeros_like(places[0])
        for name in _axes_in(op, ", ".join(dimension.axes)):
            place = place * mesh[name] + places[names.index(name)]
        found.append(place.tolist())
    return [*zip(*found, strict=True)]


_AXES_BY_DIMENSION = {
    "sdy.all_gather": "gathering_axes",
    "sdy.all_slice": "slicing_axes",
    "sdy.reduce_scatter": "reduce_scatter_axes",
}
"""Operations with axes for each dimension, and the property that lists them."""


def _move_by_axes(op: Operation, mesh: Mesh, text: str) -> SSAValue:
    """One move after the other: slices and sums by the axis that varies slowest first, gathers by
    the one that varies fastest."""
    value = op.operands[0]
    lists = enumerate(_DIMENSION.findall(text))
    is_slice = op.name == sdy.AllSliceOp.name
    named = [(dim, _axes_in(op, axes)) for dim, axes in lists]
    pairs = [
        (dim, line)
        for dim, axes in named
        for line in ([[axis] for axis in axes] if is_slice else _lines(mesh, axes))
    ]
    for dim, line in reversed(pairs) if op.name == "sdy.all_gather" else pairs:
        groups = _groups(mesh, line)
        match op.name:
            case "sdy.all_gather":
                value = _gather(op, value, dim, groups)
            case "sdy.reduce_scatter":
                value = _reduce(op, value, groups, dim)
            case _:
                value = _slice(op, value, dim, [*mesh].index(line[0]), mesh[line[0]])
    return value


def _lines(mesh: Mesh, axes: list[str]) -> list[list[str]]:
    """Axes one by one; those that are together the rows or the columns of a machine, at once."""
    names = [*mesh]
    count = join_axes([*mesh.values()]) if len(mesh) > 2 else 1
    found: list[list[str]] = []
    place = 0
    while place < len(axes):
        wholes = (line for line in (names[:count], names[count:]) if len(line) > 1)
        whole = next((each for each in wholes if axes[place : place + len(each)] == each), None)
        found.append(whole or [axes[place]])
        place += len(found[-1])
    return found


def _axes_in(op: Operation, text: str) -> list[str]:
    found = _AXIS.findall(text)
    if any(part for _, part in found):
        refuse(op, "Sharding with subaxis partitioning is currently not supported.")
    return [name for name, _ in found]


def _groups(mesh: Mesh, axes: list[str]) -> list[list[int]]:
    """The devices that differ along some axes alone, the first of which varies slowest."""
    import numpy as np

    names, shape = [*mesh], [*mesh.values()]
    inner = [names.index(axis) for axis in axes]
    outer = [place for place in range(len(names)) if place not in inner]
    numbers = np.arange(math.prod(shape)).reshape(shape).transpose([*outer, *inner])
    return numbers.reshape(-1, math.prod(shape[place] for place in inner)).tolist()


def _parameters(groups: list[list[int]]) -> dict[str, Attribute]:
    type_ = TensorType(i64, (len(groups), len(groups[0])))
    flat = [device for group in groups for device in group]
    return {
        "channel_handle": ChannelHandleAttr((1, 1)),
        "replica_groups": DenseIntOrFPElementsAttr.from_list(type_, flat),
    }


def _create(
    op: Operation,
    value: SSAValue,
    mnemonic: str,
    changes: Mapping[int, tuple[int, int]],
    properties: Mapping[str, Attribute],
    regions: Sequence[Region] = (),
) -> SSAValue:
    """A move that makes some dimensions so many times as long, of which there are parts."""
    type_ = cast("TensorType[Attribute]", value.type)
    shape = [*type_.get_shape()]
    for dim, (times, parts) in changes.items():
        if shape[dim] % parts:
            refuse(
                op,
                f"{_UNFIT}. Dimension {dim} of {shape[dim]} is divided by {parts}; pad it to a "
                "multiple, or divide another one.",
            )
        shape[dim] = shape[dim] // parts * times
    new = _class(mnemonic).create(
        operands=[value],
        result_types=[TensorType(type_.element_type, shape)],
        properties=dict(properties),
        regions=regions,
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]


def _gather(op: Operation, value: SSAValue, dim: int, groups: list[list[int]]) -> SSAValue:
    said = {"all_gather_dim": IntegerAttr(dim, i64), **_parameters(groups)}
    return _create(op, value, "all_gather", {dim: (len(groups[0]), 1)}, said)


def _slice(op: Operation, value: SSAValue, dim: int, axis: int, extent: int) -> SSAValue:
    said = DictionaryAttr({"dim": IntegerAttr(dim, i64), "cluster_axis": IntegerAttr(axis, i64)})
    properties = {"call_target_name": StringAttr(ALL_SLICE), "backend_config": said}
    return _create(op, value, "custom_call", {dim: (1, extent)}, properties)


def _exchange(
    op: Operation, value: SSAValue, source: int, target: int, groups: list[list[int]]
) -> SSAValue:
    count = len(groups[0])
    said = {
        "split_dimension": IntegerAttr(target, i64),
        "concat_dimension": IntegerAttr(source, i64),
        "split_count": IntegerAttr(count, i64),
        **_parameters(groups),
    }
    return _create(op, value, "all_to_all", {source: (count, 1), target: (1, count)}, said)


def _reduce(
    op: Operation, value: SSAValue, groups: list[list[int]], dim: int | None = None
) -> SSAValue:
    """Combine what devices have; of a dimension that is given, each keeps its part."""
    scalar = TensorType(cast("TensorType[Attribute]", value.type).element_type, ())
    block = Block(arg_types=[scalar, scalar])
    name = op.attributes.get(COMBINATION)
    combination = name.data if isinstance(name, StringAttr) else "add"
    total = _class(combination).create(
        operands=[*block.args], result_types=[scalar], location=op.location
    )
    end = _class("return").create(operands=[*total.results], location=op.location)
    block.add_ops([total, end])
    regions = [Region(block)]
    if dim is None:
        return _create(op, value, "all_reduce", {}, _parameters(groups), regions)
    said = {"scatter_dimension": IntegerAttr(dim, i64), **_parameters(groups)}
    return _create(op, value, "reduce_scatter", {dim: (1, len(groups[0]))}, said, regions)


def _class(mnemonic: str) -> type[Operation]:
    return next(cls for cls in OPERATIONS if cls.name == f"stablehlo.{mnemonic}")
