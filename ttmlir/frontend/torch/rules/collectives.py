"""What devices exchange, as StableHLO: it is lowered with the programs of JAX."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects.sdy import ALL_SLICE
from ttmlir.dialects.stablehlo import OPERATIONS
from ttmlir.dialects.stablehlo.attrs import ChannelHandleAttr
from ttmlir.dialects.stablehlo.control import CustomCallOp
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.distributed import operations
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import elements_attr
from ttmlir.passes.stablehlo.mesh_borders import (
    ANNOTATION,
    GSPMD,
    MANUAL,
    TO_PARTS,
    TO_WHOLE,
    Spread,
)

# --- Borders --------------------------------------------------------------------------------------


def _divide(call: TorchCall) -> SSAValue:
    """What each device has of a whole tensor."""
    value, spread = call.tensor("x"), _spread(call)
    whole, part, division = spread.split(call.shape)
    value = call.build.reshape(value, whole)
    text = _sharding(division.shape, division.dims, spread.mesh)
    annotated = _call(call, ANNOTATION, value, whole, text)
    return call.build.reshape(_call(call, TO_PARTS, annotated, part, MANUAL), call.shape)


def _join(call: TorchCall) -> SSAValue:
    """The whole tensor of what devices have."""
    value, spread = call.tensor("x"), _spread(call)
    copies, whole, part, division = spread.split_with_copies(value_shape(value))
    value = _call(call, ANNOTATION, call.build.reshape(value, part), part, MANUAL)
    text = _sharding(division.shape, division.dims, spread.mesh)
    value = _call(call, TO_WHOLE, value, whole, text)
    for axis in range(copies):
        value = call.build.slice_along(value, axis, 0, 1)
    return call.build.reshape(value, call.shape)


def _spread(call: TorchCall) -> Spread:
    dims = call["dims"]
    axes = [
        tuple(axis for axis, each in enumerate(dims) if each == dim)
        for dim in range(len(call.shape))
    ]
    return Spread(tuple(axes), tuple(call["mesh"])).joined()


def _sharding(parts: Sequence[int], dims: Sequence[int], mesh: Sequence[int]) -> str:
    """The text of GSPMD for parts along each dimension, each over the axis that divides it."""
    if all(dim < 0 for dim in dims):
        parts = (1,) * len(parts)
    divided = sorted((dim, axis) for axis, dim in enumerate(dims) if dim >= 0)
    order = [axis for _, axis in divided]
    order += [axis for axis in range(len(mesh)) if axis not in order]
    copies = math.prod(mesh) // math.prod(parts)
    tiles = ",".join(map(str, [*parts, copies]))
    extents, turned = ",".join(map(str, mesh)), ",".join(map(str, order))
    return f"{{devices=[{tiles}]<=[{extents}]T({turned}) last_tile_dim_replicate}}"


def _call(
    call: TorchCall, target: str, value: SSAValue, shape: Sequence[int], sharding: str
) -> SSAValue:
    new = CustomCallOp.create(
        operands=[value],
        result_types=[TensorType(element_type(value), shape)],
        properties={"call_target_name": StringAttr(target)},
        attributes={GSPMD: StringAttr(sharding)},
        location=call.build.location,
    )
    return call.build.insert(new).results[0]


# --- Exchanges ------------------------------------------------------------------------------------


def _part(call: TorchCall) -> SSAValue:
    """The part of a tensor that the place along an axis says."""
    said = {
        "dim": IntegerAttr(call["dim"], i64),
        "cluster_axis": IntegerAttr(call["axis"], i64),
    }
    properties = {"call_target_name": StringAttr(ALL_SLICE), "backend_config": DictionaryAttr(said)}
    return _exchange(call, "custom_call", properties)


def _all_gather(call: TorchCall) -> SSAValue:
    return _exchange(call, "all_gather", {"all_gather_dim": _dim(call), **_groups(call)})


def _all_to_all(call: TorchCall) -> SSAValue:
    groups = _groups(call)
    properties = {
        "split_dimension": IntegerAttr(call["split"], i64),
        "concat_dimension": IntegerAttr(call["concat"], i64),
        "split_count": IntegerAttr(operations.size_of(call["axes"], call["mesh"]), i64),
        **groups,
    }
    return _exchange(call, "all_to_all", properties)


def _broadcast(call: TorchCall) -> SSAValue:
    """What one device of each group has."""
    rows, source = _rows(call), int(call["source"])
    turned = [[row[source], *row[:source], *row[source + 1 :]] for row in rows]
    return _exchange(call, "collective_broadcast", _properties(turned))


def _permute(call: TorchCall) -> SSAValue:
    """What one device sends to another one."""
    targets = [*map(int, call["targets"])]
    pairs = [(row[n], row[target]) for row in _rows(call) for n, target in enumerate(targets)]
    table = np.array(sorted(pairs), "<i8")
    said: dict[str, Attribute] = {
        "channel_handle": ChannelHandleAttr((1, 1)),
        "source_target_pairs": elements_attr(TensorType(i64, table.shape), table.tobytes()),
    }
    return _exchange(call, "collective_permute", said)


def _all_reduce(call: TorchCall) -> SSAValue:
    return _reduce(call, "all_reduce", {})


def _reduce_scatter(call: TorchCall) -> SSAValue:
    return _reduce(call, "reduce_scatter", {"scatter_dimension": _dim(call)})


def _dim(call: TorchCall) -> IntegerAttr:
    return IntegerAttr(int(call["dim"]), i64)


_COMBINED = {
    "sum": "add",
    "avg": "add",
    "product": "multiply",
    "min": "minimum",
    "max": "maximum",
    "band": "and",
    "bor": "or",
    "bxor": "xor",
}
"""Functions by the names that torch has for what reductions combine with."""


def _reduce(call: TorchCall, mnemonic: str, properties: Mapping[str, Attribute]) -> SSAValue:
    kind = call["kind"].lower()
    if kind not in _COMBINED:
        call.refuse(f"devices combine their numbers by {', '.join(_COMBINED)}, not by '{kind}'")
    scalar = TensorType(call.element, ())
    block = Block(arg_types=[scalar, scalar])
    combined = _class(_COMBINED[kind]).create(operands=[*block.args], result_types=[scalar])
    block.add_ops([combined, _class("return").create(operands=[*combined.results])])
    found = _exchange(call, mnemonic, {**properties, **_groups(call)}, [Region(block)])
    if kind != "avg":
        return found
    count = operations.size_of(call["axes"], call["mesh"])
    return call.build.compute("div", found, call.build.create_number(count, found))


def _exchange(
    call: TorchCall,
    mnemonic: str,
    properties: Mapping[str, Attribute],
    regions: Sequence[Region] = (),
) -> SSAValue:
    new = _class(mnemonic).create(
        operands=[call.tensor("x")],
        result_types=[call.result_type()],
        properties=dict(properties),
        regions=regions,
        location=call.build.location,
    )
    return call.build.insert(new).results[0]


def _rows(call: TorchCall) -> list[list[int]]:
    """The devices of each group."""
    mesh, axes = [*map(int, call["mesh"])], [*map(int, call["axes"])]
    others = [axis for axis in range(len(mesh)) if axis not in axes]
    numbers = np.arange(math.prod(mesh)).reshape(mesh).transpose([*others, *axes])
    return numbers.reshape(-1, operations.size_of(axes, mesh)).tolist()


def _groups(call: TorchCall) -> dict[str, Attribute]:
    return _properties(_rows(call))


def _properties(rows: Sequence[Sequence[int]]) -> dict[str, Attribute]:
    table = np.array([*itertools.chain(*rows)], "<i8")
    type_ = TensorType(i64, (len(rows), len(rows[0])))
    return {
        "channel_handle": ChannelHandleAttr((1, 1)),
        "replica_groups": elements_attr(type_, table.tobytes()),
    }


def _class(mnemonic: str) -> type[Operation]:
    return next(cls for cls in OPERATIONS if cls.name == f"stablehlo.{mnemonic}")


RULES: dict[str, TorchRule] = {
    f"{operations.NAMESPACE}.{name}.default": rule
    for name, rule in (
        (operations.DIVIDE, _divide),
        (operations.JOIN, _join),
        (operations.PART, _part),
        (operations.ALL_REDUCE, _all_reduce),
        (operations.ALL_GATHER, _all_gather),
        (operations.REDUCE_SCATTER, _reduce_scatter),
        (operations.ALL_TO_ALL, _all_to_all),
        (operations.BROADCAST, _broadcast),
        (operations.PERMUTE, _permute),
    )
}
"""Rules by full names of overloads."""

JOINED = f"{operations.NAMESPACE}.{operations.JOIN}.default"
"""The operation by which a program of several devices returns its results."""
_BETWEEN = (
    *("stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all"),
    *("stablehlo.collective_broadcast", "stablehlo.collective_permute", "stablehlo.reduce_scatter"),
)
_CALLED = (ALL_SLICE, ANNOTATION, TO_PARTS, TO_WHOLE)


def is_between_devices(op: Operation) -> bool:
    """True for the operations that these rules make."""
    holder = op.parent_op()
    if holder is not None and holder.name in _BETWEEN:
        return True
    if isinstance(op, CustomCallOp):
        return cast("StringAttr", op.properties["call_target_name"]).data in _CALLED
    return op.name in _BETWEEN
