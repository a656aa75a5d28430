"""Records what a function calls as a module of the ttnn dialect.

The function is called with tensors that have a specification but no memory; ttnn makes every call,
and the recorder sees it. So Python's `if`, `for` and functions of functions are free, and results
have the shapes, types and layouts that ttnn gives them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    TensorType,
    UnitAttr,
    f32,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.arrays.array import Array, Number, Scalar
from ttmlir.arrays.namespace import ARRAYS
from ttmlir.dialects import tt, ttnn
from ttmlir.dialects.definition.table_ops import ParameterValue
from ttmlir.dialects.ttnn.structure import BinaryOp, ElementwiseOp
from ttmlir.errors import ArgumentError
from ttmlir.layout.affine import AffineMap, constant, dims
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, Element, ScalarType, TileFormat
from ttmlir.layout.enums import MemorySpace, TTNNLayout
from ttmlir.layout.enums import TensorMemoryLayout as Spread
from ttmlir.layout.tensor_layout import Grid, TensorLayout
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttmlir.mlir.attributes import float_attr
from ttmlir.mlir.reporting import UNKNOWN_LOC, file_location
from ttmlir.optable import DEFINITIONS, special
from ttmlir.optable.op_definition import Family, OpDefinition, broadcast_shape
from ttmlir.optable.rearrangement import Rearrangement
from ttmlir.passes.ttnn.conversion.convert_ttnn_to_ttir import HOIST
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.machine.device import Allocator
from ttmlir.ttnn.device.mesh import MeshDevice
from ttmlir.ttnn.errors import find_call, locate_traceback
from ttmlir.ttnn.operations.elementwise.tables import Elementwise, as_number
from ttmlir.ttnn.operations.movement import full_index, slice_places
from ttmlir.ttnn.operations.operation import Call, Observer, observe, tensors_of
from ttmlir.ttnn.operations.operation import Operation as TTNNFunction
from ttmlir.ttnn.operations.operation import Operation as TTNNOperation
from ttmlir.ttnn.registry import operations
from ttmlir.ttnn.tensor.tensor import Tensor, compute_type
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig, ShardSpec
from ttmlir.ttnn.types.spec import TensorSpec
from ttmlir.ttnn_jit.errors import JitError, UnsupportedFunctionError

# --- Layouts --------------------------------------------------------------------------------------
# Types of the IR for tensors of ttnn, and back.

_ELEMENTS = {
    DataType.BFLOAT16: "bf16",
    DataType.FLOAT32: "f32",
    DataType.BFLOAT8_B: "bf16",
    DataType.BFLOAT4_B: "bf16",
    DataType.INT32: "i32",
    DataType.UINT32: "ui32",
    DataType.UINT16: "ui16",
    DataType.UINT8: "ui8",
}
"""The element types of tensors; block floats are formats of tiles."""

_DATA_TYPES = {each.facts.storage: each for each in _ELEMENTS if each != DataType.INT32}
"""Data types by what memory holds; integers with and without sign are the same there."""

_SPREADS = {
    TensorMemoryLayout.INTERLEAVED: Spread.INTERLEAVED,
    TensorMemoryLayout.HEIGHT_SHARDED: Spread.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: Spread.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: Spread.BLOCK_SHARDED,
}
_SPREADS_OF_TTNN = {spread: layout for layout, spread in _SPREADS.items()}


def tensor_type(spec: TensorSpec) -> Attribute:
    """The type of tensors with this specification on a device.

    JitError for those that kernels cannot take.
    """
    element = tt.element_type_of(ScalarType(_ELEMENTS[spec.dtype]))
    return TensorType(element, tuple(spec.shape), ttnn.TTNNLayoutAttr.of(_layout(spec)))


def _layout(spec: TensorSpec) -> TensorLayout:
    config = spec.memory_config
    stored: Element = ScalarType(_ELEMENTS[spec.dtype])
    if spec.is_tiled:
        if spec.tile.tile_shape != DEFAULT_TILE_SHAPE:
            raise JitError(
                f"tiles of {spec.tile.tile_shape} are not supported; tiles have 32x32 elements"
            )
        stored = TileFormat(*DEFAULT_TILE_SHAPE, spec.dtype.facts.storage)
    if not config.is_sharded():
        is_dram = config.buffer_type == BufferType.DRAM
        return TensorLayout.of(
            tuple(spec.shape),
            stored,
            MemorySpace.DEVICE_DRAM if is_dram else MemorySpace.DEVICE_L1,
            (1, 1),
            memory_layout=Spread.INTERLEAVED,
        )
    return _sharded_layout(spec, stored)


def _sharded_layout(spec: TensorSpec, stored: Element) -> TensorLayout:
    config = spec.memory_config
    shards = config.shard_spec
    move = "move it with ttnn.to_memory_config first"
    if config.buffer_type != BufferType.L1:
        raise JitError(f"sharded DRAM tensors are not supported; {move}")
    if shards is None:
        raise JitError(f"shards of more than two dimensions are not supported; {move}")
    if shards.orientation != ShardOrientation.ROW_MAJOR:
        raise JitError(f"column-major sharding is not supported; {move}")
    if len(shards.grid.ranges()) != 1:
        raise JitError(f"grids with more than one core range are not supported; {move}")
    box = shards.grid.bounding_box()
    rows, columns = (-(-extent // by) for extent, by in zip(spec.rows, shards.shape, strict=True))
    whole = TensorLayout.of(tuple(spec.shape), stored, MemorySpace.DEVICE_L1, (1, 1))
    shard = shards.shape
    if isinstance(stored, TileFormat):
        shard = stored.tiled_shape(shard)
    return TensorLayout(
        linear=whole.linear,
        grid=Grid((rows, columns), _core_map(box, config.memory_layout)),
        shard=shard,
        element=stored,
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=_SPREADS[config.memory_layout],
    )


def _core_map(box: CoreRange, layout: TensorMemoryLayout) -> AffineMap:
    """Where the shards of a grid are: chip, row and column of cores, which are filled row by row.

    The chip's own map, which goes without saying, where that is the same.
    """
    y, x = dims(2)
    width, height = box.end.x - box.start.x + 1, box.end.y - box.start.y + 1
    if layout == TensorMemoryLayout.HEIGHT_SHARDED and width > 1:
        y, x = (y // width, y % width) if height > 1 else (constant(0), y)
    elif layout == TensorMemoryLayout.WIDTH_SHARDED and height > 1:
        y, x = (x // width, x % width) if width > 1 else (x, constant(0))
    return AffineMap(2, 0, (constant(0), y + box.start.y, x + box.start.x))


def get_maximal_block_sharding_grid(
    shape: Sequence[int], core_grid: tuple[int, int]
) -> tuple[int, int]:
    """The largest grid of cores that deals the tiles of a tensor out evenly, in blocks.

    `core_grid` is the columns and rows of cores that there are. The result is the core at the end
    of the grid, so its columns and rows are both less by one, as in `max_grid` of `jit`. ValueError
    for a shape that is no whole number of tiles of 32x32.
    """
    *outer, width = shape
    height = math.prod(outer)
    if width < 1 or height < 1 or width % 32 or height % 32:
        raise ArgumentError(f"a tensor of {list(shape)} is no whole number of tiles of 32x32")
    columns, rows = (
        max(each for each in range(1, limit + 1) if extent // 32 % each == 0)
        for extent, limit in zip((width, height), core_grid, strict=True)
    )
    return columns - 1, rows - 1


def maximal_block_sharding(spec: TensorSpec, device: MeshDevice) -> MemoryConfig | None:
    """Blocks in L1 on the largest grid that `get_maximal_block_sharding_grid` finds.

    None for a tensor that has no such blocks: rows, what is no whole number of tiles, and blocks
    that leave less than half of a core's L1 for circular buffers.
    """
    shape = spec.shape
    if (
        not spec.is_tiled
        or len(shape) < 2
        or any(extent % 32 or not extent for extent in shape[-2:])
    ):
        return None
    if not math.prod(shape):
        return None
    chip = device.chip
    cores = device.core_coord
    end = get_maximal_block_sharding_grid(tuple(shape), (cores.x, cores.y))
    columns, rows = (last + 1 for last in end)
    shard = (math.prod(shape[:-1]) // rows, shape[-1] // columns)
    tile_size = TileFormat(*DEFAULT_TILE_SHAPE, spec.dtype.facts.storage).size_bytes
    if (
        shard[0] // 32 * (shard[1] // 32) * tile_size
        > (chip.l1_size - chip.l1_unreserved_base) // 2
    ):
        return None
    grid = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(*end))])
    return MemoryConfig(
        TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1, ShardSpec(grid, list(shard))
    )


def spec_of(desc: TensorDesc) -> TensorSpec:
    """The specification of a tensor that a file describes."""
    dtype = _DATA_TYPES[desc.data_type]
    if dtype == DataType.UINT32 and desc.element.keyword == "i32":
        dtype = DataType.INT32
    is_dram = desc.memory_space is MemorySpace.DEVICE_DRAM
    shards = None
    if desc.memory_layout.is_sharded:
        by = desc.tile if desc.is_tiled else (1, 1)
        cores = CoreRangeSet(
            CoreRange(CoreCoord(x, y), CoreCoord(x + width - 1, y + height - 1))
            for y, x, height, width in desc.core_ranges
        )
        extents = [extent * unit for extent, unit in zip(desc.shard, by, strict=True)]
        shards = ShardSpec(cores, extents)
    config = MemoryConfig(
        _SPREADS_OF_TTNN[desc.memory_layout],
        BufferType.DRAM if is_dram else BufferType.L1,
        shards,
    )
    layout = Layout.TILE if desc.is_tiled else Layout.ROW_MAJOR
    return TensorSpec(desc.shape, dtype, layout, config)


def data_type_attr(dtype: DataType) -> Attribute:
    """The attribute `#ttcore.supportedDataTypes<...>`."""
    return tt.DataTypeAttr(dtype.facts.storage)


# --- Recording ------------------------------------------------------------------------------------

# --- Operations -----------------------------------------------------------------------------------
# Calls of ttnn as operations of the IR.
#
# A rule takes the recorder, the arguments by name and the result, and returns the value of the
# result. What ttnn itself refuses never comes here: every call is made, too.

Rule = Callable[["Recorder", Mapping[str, Any], Tensor], SSAValue]
"""Records a call; JitError for arguments that kernels do not have."""

_OTHER_NAMES = {
    "divide": "div",
    "bitwise_left_shift": "logical_left_shift",
    "bitwise_right_shift": "right_shift",
    "fmod": "remainder",
}
"""Mnemonics of functions that have another name in ttnn."""

_RESHAPES = ("reshape", "reshape_on_device", "squeeze", "unsqueeze", "unsqueeze_to_4D", "view")

_MEANINGFUL = (
    *("activation", "activations", "output_tensor", "optional_output_tensor", "rounding_mode"),
    *("input_tensor_a_activations", "input_tensor_b_activations"),
)
"""Arguments that ask for more than the operation."""


def refuse_arguments(name: str, values: Mapping[str, Any]) -> None:
    """JitError for arguments that ask for more than the operation."""
    for each in _MEANINGFUL:
        if values.get(each):
            raise JitError(
                f"ttnn.{name}: {each} is not supported in a function that is compiled; call what "
                "it stands for by itself"
            )


def _unary(mnemonic: str) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        return recorder.create(mnemonic, (values["input_tensor"],), result)

    return record


def _binary(mnemonic: str) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        operands = values["input_tensor_a"], values["input_tensor_b"]
        return recorder.create(mnemonic, operands, result)

    return record


def _power(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    return recorder.create("pow", (values["input_tensor"], values["exponent"]), result)


def _where(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    operands = values["predicate"], values["true_value"], values["false_value"]
    return recorder.create("where", operands, result)


def _clamp(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    low, high = values["min"], values["max"]
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        limits = [each for each in (low, high) if each is not None]
        steps = recorder.elements(result, values["input_tensor"], *limits)
        value, *bounds = steps.operands
        if low is not None:
            value = steps("maximum", value, bounds.pop(0))
        if high is not None:
            value = steps("minimum", value, bounds.pop(0))
        return steps.finish(value, result.dtype)
    low, high = (float("-inf") if low is None else low), (float("inf") if high is None else high)
    operands = (values["input_tensor"],)
    return recorder.create("clamp", operands, result, min=float(low), max=float(high))


def _leaky_relu(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    slope = float(values["negative_slope"])
    return recorder.create("leaky_relu", (values["input_tensor"],), result, parameter=slope)


def _round(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    if values["decimals"]:
        raise JitError("ttnn.round: decimals is 0 in a function that is compiled")
    return recorder.create("round", (values["input_tensor"],), result)


def _composite(
    *names: str, parameters: Sequence[str] = ()
) -> Callable[[Callable[..., SSAValue]], Rule]:
    """Make a rule of a function of `Elements`, and of its operands and parameters by name.

    Operands may be numbers, too.
    """

    def decorate(build: Callable[..., SSAValue]) -> Rule:
        def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
            steps = recorder.elements(result, *(values[name] for name in names))
            rest = [values[name] for name in parameters]
            return steps.finish(build(steps, *steps.operands, *rest), result.dtype)

        return record

    return decorate


def _on_arrays(function: Callable[..., Array], *names: str, parameters: Sequence[str] = ()) -> Rule:
    """Make a rule of a function that is written against an array namespace."""

    def build(steps: Elements, *given: Any) -> SSAValue:
        arrays = [steps.array(value) for value in given[: len(names)]]
        numbers = dict(zip(parameters, given[len(names) :], strict=True))
        return cast("SSAValue", function(ARRAYS, *arrays, **numbers).value)

    return _composite(*names, parameters=parameters)(build)


def _logarithm(base: int) -> Rule:
    """The natural logarithm, divided by that of the base."""

    def build(steps: Elements, x: SSAValue) -> SSAValue:
        return steps("multiply", steps("log", x), 1 / math.log(base))

    return _composite("input_tensor")(build)


@_composite("input_tensor")
def _hardswish(steps: Elements, x: SSAValue) -> SSAValue:
    return steps("multiply", x, steps("hardsigmoid", x))


def _compare_with_zero(mnemonic: str) -> Rule:
    def build(steps: Elements, x: SSAValue) -> SSAValue:
        return steps(mnemonic, x, 0.0)

    return _composite("input_tensor")(build)


def _clip(low: float | str, high: float | str) -> Rule:
    """A clamp between numbers, or parameters of the call by name."""

    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        least, most = (
            float(values[each] if isinstance(each, str) else each) for each in (low, high)
        )
        return recorder.create("clamp", (values["input_tensor"],), result, min=least, max=most)

    return record


@_composite("input_tensor_a", "input_tensor_b")
def _rsub(steps: Elements, a: SSAValue, b: SSAValue) -> SSAValue:
    return steps("subtract", b, a)


@_composite("input_tensor_a", "input_tensor_b")
def _squared_difference(steps: Elements, a: SSAValue, b: SSAValue) -> SSAValue:
    return steps("square", steps("subtract", a, b))


@_composite("value", "input_tensor")
def _rdiv(steps: Elements, number: SSAValue, x: SSAValue) -> SSAValue:
    return steps("div", number, x)


_THREE = ("input_tensor_a", "input_tensor_b", "input_tensor_c")


def _add_scaled(mnemonic: str) -> Rule:
    """The first operand plus `value` times what the operation makes of the others."""

    def build(steps: Elements, a: SSAValue, b: SSAValue, c: SSAValue, value: float) -> SSAValue:
        term = steps(mnemonic, b, c)
        return steps("add", a, term if value == 1 else steps("multiply", term, float(value)))

    return _composite(*_THREE, parameters=("value",))(build)


@_composite(*_THREE)
def _mac(steps: Elements, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    return steps("add", steps("multiply", a, b), c)


@_composite("input_tensor", "end", "weight")
def _lerp(steps: Elements, x: SSAValue, end: SSAValue, weight: SSAValue) -> SSAValue:
    return steps("add", x, steps("multiply", weight, steps("subtract", end, x)))


@_composite("input_tensor_a", "input_tensor_b")
def _remainder(steps: Elements, a: SSAValue, b: SSAValue) -> SSAValue:
    """With the sign of the divisor, which the operation definition `remainder` does not have."""
    rest = steps("remainder", a, b)
    differs = steps("ne", steps("lt", rest, 0.0), steps("lt", b, 0.0))
    moved = steps("logical_and", differs, steps("ne", rest, 0.0))
    return steps("where", moved, steps("add", rest, b), rest)


def _reduction(mnemonic: str) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        tensor, dim = values["input_tensor"], values["dim"]
        if values.get("scalar", 1.0) != 1.0:
            raise JitError(f"ttnn.{mnemonic}: scalar is 1 in a function that is compiled")
        rank = len(tensor.shape)
        listed: Sequence[int] = range(rank) if dim is None else (dim,) if _is_int(dim) else dim
        dims = tuple(sorted(int(each) % rank for each in listed))
        keep = bool(values["keepdim"])
        return recorder.create(mnemonic, (tensor,), result, dim_arg=dims, keep_dim=keep)

    return record


def _is_int(value: object) -> bool:
    return isinstance(value, int)


def _matmul(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    operands = [
        recorder.transpose(values[name]) if values[flag] else values[name]
        for name, flag in (("input_tensor_a", "transpose_a"), ("input_tensor_b", "transpose_b"))
    ]
    return recorder.create("matmul", operands, result)


def _permute(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    order = tuple(int(dim) % len(tensor.shape) for dim in values["dims"])
    return recorder.create("permute", (tensor,), result, permutation=order)


def _transpose(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    rank = len(tensor.shape)
    dim0, dim1 = int(values["dim1"]) % rank, int(values["dim2"]) % rank
    return recorder.create("transpose", (tensor,), result, dim0=dim0, dim1=dim1)


def _reshape(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor" if "input_tensor" in values else "tensor"]
    return recorder.create("reshape", (tensor,), result, shape=tuple(result.shape))


def _rearrange(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    plan = Rearrangement.of(values["pattern"], tuple(tensor.shape), values["axes_lengths"])
    turned = tuple(plan.axes[axis] for axis in plan.order)
    return recorder.chain(
        tensor,
        ("reshape", plan.axes, {"shape": plan.axes}),
        ("permute", turned, {"permutation": plan.order}),
        ("reshape", plan.shape, {"shape": plan.shape}),
        result=result,
    )


def _slice(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    if any(isinstance(values[name], Tensor) for name in ("starts", "ends")):
        raise JitError("ttnn.slice: indices are numbers in a function that is compiled")
    tensor = values["input_tensor"]
    starts, ends, steps = slice_places(tensor.shape, values)
    return recorder.create("slice", (tensor,), result, begins=starts, ends=ends, step=steps)


def _get_item(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    """A slice, and without the dimensions that have integers."""
    tensor = values["tensor"]
    places = [
        range(extent)[place] if isinstance(place, slice) else range(extent)[place:][:1]
        for extent, place in zip(tensor.shape, full_index(tensor, values["index"]), strict=True)
    ]
    shape = tuple(map(len, places))
    if 0 in shape:
        raise JitError(f"a part of a tensor has no elements: {list(shape)}")
    parameters = {
        "begins": tuple(each.start for each in places),
        "ends": tuple(each[-1] + 1 for each in places),
        "step": tuple(each.step for each in places),
    }
    whole = tuple(result.shape)
    return recorder.chain(
        tensor, ("slice", shape, parameters), ("reshape", whole, {"shape": whole}), result=result
    )


def _pad(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    if values["args"]:
        raise JitError("ttnn.pad: give pairs for each dimension in a function that is compiled")
    tensor, fill = values["input_tensor"], values["value"]
    pairs = [(int(low), int(high)) for low, high in values["padding"]]
    pairs = [(0, 0)] * (len(tensor.shape) - len(pairs)) + pairs
    padding = tuple(each for pair in pairs for each in pair)
    return recorder.create("pad", (tensor,), result, padding=padding, value=float(fill or 0))


def _stack(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    dim = int(values["dim"]) % len(result.shape)
    tensors = list(values["tensors"])
    shape = list(result.shape)
    shape[dim] = 1
    parts = [
        recorder.chain(each, ("reshape", tuple(shape), {"shape": tuple(shape)})) for each in tensors
    ]
    return recorder.create("concat", parts, result, dim=dim)


def _repeat_interleave(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor, count = values["input_tensor"], int(values["repeats"])
    dim, shape = int(values["dim"]) % len(tensor.shape), tuple(tensor.shape)
    before, behind = shape[: dim + 1], shape[dim + 1 :]
    times = (*(1 for _ in before), count, *(1 for _ in behind))
    whole = tuple(result.shape)
    return recorder.chain(
        tensor,
        ("reshape", (*before, 1, *behind), {"shape": (*before, 1, *behind)}),
        ("repeat", (*before, count, *behind), {"repeat_dimensions": times}),
        ("reshape", whole, {"shape": whole}),
        result=result,
    )


def _expand(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor, whole = values["input_tensor"], tuple(result.shape)
    own = (1,) * (len(whole) - len(tensor.shape)) + tuple(tensor.shape)
    times = tuple(extent // mine for extent, mine in zip(whole, own, strict=True))
    return recorder.chain(
        tensor,
        ("reshape", own, {"shape": own}),
        ("repeat", whole, {"repeat_dimensions": times}),
        result=result,
    )


def _linear(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    product = _matmul(recorder, values, result)
    bias = values["bias"]
    if bias is None:
        return product
    if bias.dtype != result.dtype:
        raise JitError("ttnn.linear: the bias has the data type of the result")
    return recorder.create("add", (product, bias), result)


def _cumsum(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    if values["reverse_order"] or tensor.dtype != result.dtype:
        raise JitError(
            "ttnn.cumsum: reverse_order and dtype are not supported in a function that is compiled"
        )
    dim = int(values["dim"]) % len(tensor.shape)
    return recorder.create("cumsum", (tensor,), result, dim=dim)


def _concat(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensors = values["tensors"]
    dim = int(values["dim"]) % len(result.shape)
    return recorder.create("concat", tensors, result, dim=dim)


def _repeat(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    times = tuple(int(each) for each in values["repetition_vector"])
    return recorder.create("repeat", (values["input_tensor"],), result, repeat_dimensions=times)


def _embedding(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    if values["padding_idx"] is not None:
        raise JitError(
            "ttnn.embedding: padding_idx is not supported in a function that is compiled"
        )
    return recorder.create("embedding", (values["input_tensor"], values["weight"]), result)


def _softmax(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    dim = int(values["dim"]) % len(tensor.shape)
    return recorder.create("softmax", (tensor,), result, dimension=dim)


def _collect(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    """A collective operation among one device; JitError for several."""
    if recorder.count > 1:
        raise JitError(
            f"a function that is compiled exchanges nothing between the {recorder.count} devices "
            "of the mesh; call ttnn.all_gather, all_reduce and reduce_scatter outside of it"
        )
    return recorder.move(values["input_tensor"], result)


def _move(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    """A change of memory, of rows and tiles or of the data type."""
    return recorder.move(values["input_tensor" if "input_tensor" in values else "tensor"], result)


def _typecast(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    return recorder.create("typecast", (values["input_tensor"],), result)


def _fill(number: float | None = None) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        return recorder.fill(values["fill_value"] if number is None else number, result)

    return record


def _of_family(family: Family, rule: Callable[[str], Rule]) -> dict[str, Rule]:
    return {
        definition.mnemonic: rule(definition.mnemonic)
        for definition in DEFINITIONS.values()
        if definition.family is family and definition.in_ttnn and definition.in_ttir
    }


RULES: Mapping[str, Rule] = {
    **_of_family(Family.UNARY, _unary),
    **_of_family(Family.BINARY, _binary),
    **{name: _binary(mnemonic) for name, mnemonic in _OTHER_NAMES.items()},
    **{name: _reduction(name) for name in ("sum", "mean", "max", "min", "prod")},
    **dict.fromkeys(("all_gather", "all_reduce", "reduce_scatter"), _collect),
    **dict.fromkeys(("to_memory_config", "to_layout"), _move),
    "addcdiv": _add_scaled("div"),
    "addcmul": _add_scaled("multiply"),
    "clamp": _clamp,
    **{f"{name}z": _compare_with_zero(name) for name in ("eq", "ne", "gt", "ge", "lt", "le")},
    "elu": _on_arrays(special.elu, "input_tensor", parameters=("alpha",)),
    "hardswish": _hardswish,
    "hardtanh": _clip("min_val", "max_val"),
    "hypot": _on_arrays(special.hypot, "input_tensor_a", "input_tensor_b"),
    "leaky_relu": _leaky_relu,
    "lerp": _lerp,
    "log10": _logarithm(10),
    "log2": _logarithm(2),
    "log_sigmoid": _on_arrays(special.log_sigmoid, "input_tensor"),
    "mac": _mac,
    "mish": _on_arrays(special.mish, "input_tensor"),
    "rdiv": _rdiv,
    "relu6": _clip(0, 6),
    "remainder": _remainder,
    "round": _round,
    "rsub": _rsub,
    "softplus": _on_arrays(special.softplus, "input_tensor", parameters=("beta", "threshold")),
    "softsign": _on_arrays(special.softsign, "input_tensor"),
    "squared_difference": _squared_difference,
    "concat": _concat,
    "embedding": _embedding,
    "cumsum": _cumsum,
    "expand": _expand,
    "full": _fill(),
    "full_like": _fill(),
    "get_item": _get_item,
    "linear": _linear,
    "matmul": _matmul,
    "ones": _fill(1.0),
    "ones_like": _fill(1.0),
    "pad": _pad,
    "permute": _permute,
    **dict.fromkeys(("pow", "pow_tensor"), _power),
    "rearrange": _rearrange,
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    **dict.fromkeys(_RESHAPES, _reshape),
    "slice": _slice,
    "softmax": _softmax,
    "stack": _stack,
    "transpose": _transpose,
    "typecast": _typecast,
    "where": _where,
    "zeros": _fill(0.0),
    "zeros_like": _fill(0.0),
}
"""Rules by the names of functions, without `ttnn.`."""


def nearest_functions(name: str) -> str:
    """What to call instead of a function that has no rule.

    "use" is said of functions that compute the same, such as `multiply` for `mul`; names that are
    only spelled alike are called the nearest ones.
    """
    from difflib import get_close_matches

    same = [each for each in RULES if _computes_the_same(name, each)]
    if same:
        return f"use ttnn.{same[0]}"
    names = get_close_matches(name, RULES, 3, 0.8)
    if names:
        return (
            f"nearest names: {', '.join(f'ttnn.{each}' for each in names)}; call ttnn.{name} "
            "outside of the function that is compiled"
        )
    return "call it outside of the function that is compiled"


def _computes_the_same(name: str, other: str) -> bool:
    """Whether two functions of ttnn are one operation on elements under two names."""
    first, second = (operations().get(each) for each in (name, other))
    if not isinstance(first, TTNNOperation) or not isinstance(second, TTNNOperation):
        return False
    a, b = first.entry, second.entry
    return (
        isinstance(a, Elementwise)
        and isinstance(b, Elementwise)
        and a.reference is b.reference
        and a.operands == b.operands
        and a.parameters == b.parameters
    )


# --- Recording ------------------------------------------------------------------------------------

Operand = Tensor | float | SSAValue


@dataclass(frozen=True)
class Recording:
    """What a function calls, and what it returns."""

    module: ModuleOp
    """One function, of the tensors among the arguments."""
    returns: type[Any]
    """`Tensor`, or the kind of sequence of them that the function returns."""
    results: tuple[TensorSpec, ...]

    def shard_results(self, device: MeshDevice) -> None:
        """Move results to the largest block sharding in L1 that they have; others stay."""
        func = next(op for op in self.module.ops if isinstance(op, FuncOp))
        block = func.body.block
        end = block.last_op
        assert end is not None, "the function returns"
        for number, spec in enumerate(self.results):
            config = maximal_block_sharding(spec, device)
            if config is None or config == spec.memory_config:
                continue
            wanted = tensor_type(spec.replace(memory_config=config))
            move = ttnn.ToMemoryConfigOp.create(
                operands=[end.operands[number]], result_types=[wanted]
            )
            move.location = end.location
            block.insert_op_before(move, end)
            end.operands[number] = move.results[0]
        func.function_type = FunctionType.from_lists(
            [argument.type for argument in block.args], [value.type for value in end.operands]
        )


def record(
    function: Callable[..., Any],
    inputs: Sequence[TensorSpec],
    device: MeshDevice,
    call: Callable[[Sequence[Tensor]], Any],
    memory_config: MemoryConfig | None = None,
    count: int = 1,
) -> Recording:
    """The calls that a function makes of tensors with these specifications.

    `call` calls it with tensors, of which `count` devices have one each. With `memory_config`,
    results are in that memory.
    UnsupportedFunctionError and JitError, at the user's line, for what is not compiled.
    """
    location = _location_of(function)
    with _without_memory(device):
        recorder = Recorder(device, location, count)
        arguments = [recorder.add_argument(spec) for spec in inputs]
        with observe(recorder):
            try:
                returned = call(arguments)
            except AttributeError as error:
                raise _explain_missing(error) from error
        results, kind = _results_of(returned)
        values = [recorder.result(each, memory_config) for each in results]
        specs = tuple(each.spec for each in results)
    name = function.__name__
    block = recorder.block
    block.add_op(ReturnOp(*values))
    types = FunctionType.from_lists(
        [argument.type for argument in block.args], [value.type for value in values]
    )
    func = FuncOp(name, types, Region(block))
    func.location = location
    assert block.last_op is not None, "the function returns"
    block.last_op.location = location
    module = ModuleOp([func])
    module.location = location
    return Recording(module, kind, specs)


def _results_of(returned: Any) -> tuple[list[Any], type[Any]]:
    """What a function returned, one by one, and the kind of sequence that they were in."""
    if isinstance(returned, list):
        return cast("list[Any]", returned), list
    if isinstance(returned, tuple):
        return list(cast("tuple[Any, ...]", returned)), tuple
    return [returned], Tensor


def _location_of(function: Callable[..., Any]) -> LocationAttr:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return UNKNOWN_LOC if code is None else file_location(code.co_filename, code.co_firstlineno, 1)


def _explain_missing(error: AttributeError) -> Exception:
    """What to say about a name that ttnn does not have; other errors stay what they are."""
    text = str(error)
    name, _, rest = text.removeprefix("ttnn.").partition(" is not here yet")
    if not text.startswith("ttnn.") or not name.isidentifier():
        return error
    remedy = rest.removeprefix("; ") or nearest_functions(name)
    return UnsupportedFunctionError(name, remedy, locate_traceback(error))


class _Boundless(Allocator):
    """Gives addresses to tensors that have no memory."""

    def allocate(self, size: int, *, bottom_up: bool | None = None) -> int:
        """The first address, for everyone."""
        return self.start

    def free(self, address: int) -> None:
        """Nothing was taken."""


@contextmanager
def _without_memory(device: MeshDevice) -> Generator[None]:
    """Let new tensors on a device take no memory, and operations count as no programs."""
    allocators, caches = device.allocators, device.caches_programs
    device.allocators = {
        space: _Boundless(each.name, each.start, each.end, each.alignment, top_down=each.top_down)
        for space, each in allocators.items()
    }
    device.caches_programs = False
    try:
        yield
    finally:
        device.allocators, device.caches_programs = allocators, caches


class Recorder(Observer):
    """Adds an operation for each call that it sees."""

    def __init__(self, device: MeshDevice, location: LocationAttr, count: int = 1) -> None:
        """Begin without calls."""
        self.block = Block()
        self._device = device
        self.count = count
        self._location = location
        self._values: dict[int, SSAValue] = {}
        self._device_value: SSAValue | None = None

    # -- tensors ---------------------------------------------------------------------------------

    def add_argument(self, spec: TensorSpec) -> Tensor:
        """A tensor that stands for an argument."""
        dtype = compute_type(spec.dtype)
        # Ones: nothing that is computed of them is infinite; rows of a table are numbered from 0.
        number = np.ones((), dtype) if spec.dtype.facts.is_float else np.zeros((), dtype)
        tensor = Tensor.on(self._device, spec, np.broadcast_to(number, tuple(spec.shape)))
        argument = self.block.insert_arg(self._type_of(spec), len(self.block.args))
        argument.location = self._location
        self._values[tensor.tensor_id] = argument
        return tensor

    def value(self, tensor: Tensor) -> SSAValue:
        """The value of a tensor that was recorded."""
        value = self._values.get(tensor.tensor_id)
        if value is None:
            raise JitError(
                f"a tensor of {tensor.shape} is no argument of the function that is compiled; give "
                "it as one"
            )
        return value

    def result(self, returned: Any, config: MemoryConfig | None) -> SSAValue:
        """The value of what the function returns, in a memory if one is given."""
        if not isinstance(returned, Tensor):
            kind = type(returned).__name__
            raise JitError(
                f"a function that is compiled returns tensors of ttnn, or a tuple of them, not "
                f"{kind}"
            )
        value, spec = self.value(returned), returned.spec
        if config is not None and config != spec.memory_config:
            wanted = spec.replace(memory_config=config).complete(self._device.core_coord)
            value = self._add_move(value, spec, wanted)
        return value

    def _type_of(self, spec: TensorSpec) -> Attribute:
        return tensor_type(spec)

    # -- calls -----------------------------------------------------------------------------------

    def begin(self, operation: TTNNFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuse calls that have no rule, before they are made."""
        if operation.name not in RULES:
            raise UnsupportedFunctionError(operation.name, nearest_functions(operation.name))
        for argument in (*args, *kwargs.values()):
            for tensor in tensors_of(argument):
                self.value(tensor)

    def end(self, call: Call) -> None:
        """Add the operations of a call."""
        values = _bind(call)
        name = call.operation.name
        refuse_arguments(name, values)
        if call.result.device() is None:
            raise JitError(
                f"ttnn.{name}: its result is on the host; give it the device of a tensor"
            )
        self._values[call.result.tensor_id] = RULES[name](self, values, call.result)

    def create(
        self,
        mnemonic: str,
        operands: Sequence[Operand],
        result: Tensor,
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An operation that is to become a kernel; numbers among its operands are filled tensors.

        Operands of several data types are computed in one of them.
        """
        cls = _table_op(mnemonic)
        spec = result.spec
        values = [each if isinstance(each, SSAValue) else None for each in operands]
        if issubclass(cls, ElementwiseOp) and mnemonic != "typecast":
            tensors = tensors_of(list(operands))
            computed = _common_type([each.dtype for each in tensors], spec.dtype)
            first = tensors[0].spec.replace(dtype=computed)
            for number, operand in enumerate(operands):
                if isinstance(operand, Tensor):
                    values[number] = self.cast(self.value(operand), operand.spec, computed)
                elif not isinstance(operand, SSAValue):
                    values[number] = self.fill_like(operand, first)
            value = self.add(cls, values, spec.replace(dtype=computed), parameters)
            return self.cast(value, spec.replace(dtype=computed), spec.dtype)
        for number, operand in enumerate(operands):
            if isinstance(operand, Tensor):
                values[number] = self.value(operand)
        return self.add(cls, values, spec, parameters)

    def transpose(self, tensor: Tensor) -> SSAValue:
        """The tensor with rows and columns exchanged."""
        *outer, rows, columns = tensor.shape
        config = tensor.spec.memory_config
        if config.is_sharded():
            config = MemoryConfig()
        spec = tensor.spec.replace(shape=(*outer, columns, rows), memory_config=config)
        cls = _table_op("transpose")
        rank = len(tensor.shape)
        return self.add(cls, [self.value(tensor)], spec, {"dim0": rank - 2, "dim1": rank - 1})

    def chain(
        self,
        tensor: Tensor,
        *steps: tuple[str, tuple[int, ...], Mapping[str, ParameterValue]],
        result: Tensor | None = None,
    ) -> SSAValue:
        """Operations one after another, by mnemonic, shape of the result and parameters.

        The last one makes `result` if that is given.
        """
        spec = tensor.spec
        if spec.memory_config.is_sharded():
            spec = spec.replace(memory_config=MemoryConfig())
        value = self.value(tensor)
        specs = [spec.replace(shape=shape) for _, shape, _ in steps]
        if result is not None:
            specs[-1] = result.spec
        for (mnemonic, _, parameters), new in zip(steps, specs, strict=True):
            value = self.add(_table_op(mnemonic), [value], new, parameters)
        return value

    def elements(self, result: Tensor, *operands: Tensor | float) -> Elements:
        """Operations on elements one after another that make a result of these operands.

        They are computed in one data type, as those of `create`.
        """
        tensors = tensors_of(list(operands))
        computed = _common_type([each.dtype for each in tensors], result.dtype)
        first = tensors[0].spec.replace(dtype=computed)
        steps = Elements(self, result.spec.replace(dtype=computed))
        for operand in operands:
            if isinstance(operand, Tensor):
                value = self.cast(self.value(operand), operand.spec, computed)
                steps.add_operand(value, operand.spec.replace(dtype=computed))
            else:
                steps.add_operand(self.fill_like(operand, first), first)
        return steps

    def fill(self, number: float, result: Tensor) -> SSAValue:
        """A tensor of one number."""
        return self.fill_like(number, result.spec)

    def move(self, tensor: Tensor, result: Tensor) -> SSAValue:
        """The tensor in another memory, as rows or as tiles, or of another data type."""
        value = self.cast(self.value(tensor), tensor.spec, result.dtype)
        return self._add_move(value, tensor.spec.replace(dtype=result.dtype), result.spec)

    # -- operations ------------------------------------------------------------------------------

    def add(
        self,
        cls: type[ttnn.TTNNTableOp],
        operands: Sequence[SSAValue | None],
        spec: TensorSpec,
        parameters: Mapping[str, ParameterValue],
    ) -> SSAValue:
        """An operation that is to become a kernel, with a result of this specification."""
        given = [operand for operand in operands if operand is not None]
        properties = cls.parameter_properties(parameters)
        if issubclass(cls, BinaryOp):
            properties["dtype"] = data_type_attr(spec.dtype)
        return self._insert(
            cls.create(
                operands=given,
                result_types=[self._type_of(spec)],
                properties=properties,
                attributes={HOIST: UnitAttr()},
            )
        )

    def cast(self, value: SSAValue, spec: TensorSpec, dtype: DataType) -> SSAValue:
        """A value of this specification in another data type."""
        if spec.dtype == dtype:
            return value
        cls = _table_op("typecast")
        return self.add(cls, [value], spec.replace(dtype=dtype), {})

    def _add_move(self, value: SSAValue, old: TensorSpec, new: TensorSpec) -> SSAValue:
        if old == new:
            return value
        if old.memory_config != new.memory_config:
            spec = old.replace(memory_config=new.memory_config)
            value = self._insert(
                ttnn.ToMemoryConfigOp.create(operands=[value], result_types=[self._type_of(spec)])
            )
        if old.layout == new.layout:
            return value
        form = TTNNLayout.TILE if new.is_tiled else TTNNLayout.ROW_MAJOR
        return self._insert(
            ttnn.ToLayoutOp.create(
                operands=[value],
                result_types=[self._type_of(new)],
                properties={"layout": ttnn.LayoutAttr(form)},
            )
        )

    def fill_like(self, number: float, spec: TensorSpec) -> SSAValue:
        """A tensor of one number, with this specification."""
        if spec.dtype.facts.is_float:
            fill: Attribute = float_attr(float(number), f32)
        else:
            fill = IntegerAttr(int(as_number(number, spec.dtype, "the number")), i32)
        form = TTNNLayout.TILE if spec.layout == Layout.TILE else TTNNLayout.ROW_MAJOR
        properties = {
            "dtype": data_type_attr(spec.dtype),
            "fill_value": fill,
            "layout": ttnn.LayoutAttr(form),
            "shape": ttnn.ShapeAttr.of(spec.shape),
        }
        return self._insert(
            ttnn.FullOp.create(
                operands=[self._get_device()],
                result_types=[self._type_of(spec)],
                properties=properties,
            )
        )

    def _get_device(self) -> SSAValue:
        """The device, which the function asks for first of all."""
        if self._device_value is None:
            op = ttnn.GetDeviceOp.create(
                result_types=[ttnn.TTNNDeviceType()],
                properties={
                    "mesh_offset": ttnn.MeshOffsetAttr((0, 0)),
                    "mesh_shape": ttnn.MeshShapeAttr((1, 1)),
                },
            )
            op.location = self._location
            first = self.block.first_op
            if first is None:
                self.block.add_op(op)
            else:
                self.block.insert_op_before(op, first)
            self._device_value = op.results[0]
        return self._device_value

    def _insert(self, op: Operation) -> SSAValue:
        call = find_call()
        op.location = self._location
        if call is not None:
            op.location = file_location(call.file, call.line, call.column + 1)
        self.block.add_op(op)
        return op.results[0]


class Elements:
    """A chain of operations on elements; each call of it adds one, by mnemonic."""

    def __init__(self, recorder: Recorder, result: TensorSpec) -> None:
        """Begin without operands; `result` is what the chain makes, in its own data type."""
        self.operands: list[SSAValue] = []
        self._recorder = recorder
        self._result = result
        self._specs: dict[SSAValue, TensorSpec] = {}

    def add_operand(self, value: SSAValue, spec: TensorSpec) -> None:
        """Add an operand, of the data type of the chain."""
        self.operands.append(value)
        self._specs[value] = spec

    def __call__(self, mnemonic: str, *operands: SSAValue | float) -> SSAValue:
        """Add an operation; its numbers become filled tensors."""
        specs = [self._specs[each] for each in operands if isinstance(each, SSAValue)]
        values = [
            each if isinstance(each, SSAValue) else self._recorder.fill_like(each, specs[0])
            for each in operands
        ]
        shape = broadcast_shape(*(tuple(each.shape) for each in specs))
        same = (each for each in specs if tuple(each.shape) == shape)
        spec = self._result if tuple(self._result.shape) == shape else next(same, None)
        if spec is None:
            spec = self._result.replace(shape=shape, memory_config=MemoryConfig())
        value = self._recorder.add(_table_op(mnemonic), values, spec, {})
        self._specs[value] = spec
        return value

    def array(self, value: SSAValue) -> Array:
        """An operand, or what the chain has made of it, as an array whose operations it adds."""
        spec = self._specs[value]
        return Array(_ElementsCarrier(self), value, tuple(spec.shape), _ELEMENTS[spec.dtype])

    def finish(self, value: SSAValue, dtype: DataType) -> SSAValue:
        """The last value of the chain, in the data type of the call's result."""
        return self._recorder.cast(value, self._result, dtype)


class _ElementsCarrier:
    """Adds elementwise operations to a chain, in the data type that all of it has."""

    holds_numbers = False

    def __init__(self, steps: Elements) -> None:
        self._steps = steps

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: tuple[int, ...],
        dtype: str,
        parameters: dict[str, Any],
    ) -> SSAValue:
        """The operation of a definition without parameters."""
        assert not parameters, f"'{definition.mnemonic}' has parameters that a chain cannot have"
        values = (each.number if isinstance(each, Scalar) else each.value for each in operands)
        return self._steps(definition.mnemonic, *values)

    def fill(self, number: Number, shape: tuple[int, ...], dtype: str) -> NoReturn:
        """Not there: numbers of a chain are operands."""
        raise AssertionError("a chain has no arrays of a number")

    def constant(self, numbers: Any, dtype: str) -> NoReturn:
        """Not there."""
        raise AssertionError("a chain has no constants")


def _table_op(mnemonic: str) -> type[ttnn.TTNNTableOp]:
    return cast("type[ttnn.TTNNTableOp]", ttnn.op_class(mnemonic))


def _common_type(dtypes: Sequence[DataType], result: DataType) -> DataType:
    """The data type that an operation on elements computes in."""
    if len(set(dtypes)) == 1 and dtypes[0].facts.is_float == result.facts.is_float:
        return dtypes[0]
    if all(each.facts.is_float for each in (*dtypes, result)):
        return DataType.FLOAT32
    return result


def _bind(call: Call) -> dict[str, Any]:
    """The arguments of a call by name."""
    if call.operation.has_signature:
        return call.operation.signature.bind(call.args, call.kwargs)
    bound = inspect.signature(call.operation.function).bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
