"""Operations between devices, as they are where there is one.

A group of one device has nobody to exchange anything with: sums, gathers and exchanges give what
the device has.
"""

from __future__ import annotations

import math
from typing import NoReturn, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation

from ttmlir.composites.linear_algebra import multiply_in_groups
from ttmlir.dialects.chlo import OPERATIONS
from ttmlir.dialects.stablehlo.attrs import RaggedDotDimensionNumbersAttr
from ttmlir.dialects.ttcore import MeshesAttr
from ttmlir.errors import plural
from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import dtype_of, element_type, value_shape
from ttmlir.mlir.attributes import ElementsType
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification.broadcasting import module_of

_COUNTS = ("mhlo.num_partitions", "mhlo.num_replicas")
"""Attributes of modules that say for how many devices they are."""


def count_of_devices(op: Operation, attribute: str) -> int:
    """How many partitions or replicas the module of an operation is for."""
    count = module_of(op).attributes.get(attribute)
    return cast("IntegerAttr", count).value.data if isinstance(count, IntegerAttr) else 1


def _number_of_device(attribute: str) -> ConversionRule:
    """The rule of the number among so many as an attribute of the module says: 0 of one."""

    def rule(op: Operation) -> None:
        number = count_of_devices(op, attribute)
        if number > 1:
            refuse_to_legalize(
                op, f"the module is for {number} devices ({attribute}); supported is one"
            )
        type_ = cast("ElementsType", op.results[0].type)
        replace(op, StableHLOCarrier.before(op).make_constant(type_, [0]))

    return rule


def _keep(op: Operation) -> None:
    """Give what the device has."""
    _refuse_several(op)
    replace(op, *op.operands)


def _permute(op: Operation) -> None:
    """Give what the device sends to itself; zeros if it gets nothing."""
    _refuse_several(op)
    pairs = [int(number) for number in attr_numbers(op.properties["source_target_pairs"]) or ()]
    if any(pairs):
        _refuse(op, f"the pairs {pairs} name more than device 0")
    if pairs:
        replace(op, *op.operands)
        return
    replace(op, StableHLOCarrier.before(op).make_constant(op.results[0].type, [0]))


def _refuse_several(op: Operation) -> None:
    """Refuse an operation of a group of several devices."""
    groups = op.properties.get("replica_groups")
    count = math.prod(count_of_devices(op, attribute) for attribute in _COUNTS)
    if _size_of(groups) == 0 and count > 1:
        _refuse(op, f"the module is for {plural(count, 'device')}")
    if _size_of(groups) > 1:
        _refuse(op, f"its groups have {_size_of(groups)} devices")
    for value, result in zip(op.operands, op.results, strict=True):
        if value.type != result.type:
            _refuse(op, f"{value.type} becomes {result.type}")


def _size_of(groups: Attribute | None) -> int:
    """How many devices a group has; 0 for all that there are."""
    if not isinstance(groups, DenseIntOrFPElementsAttr):
        return 0
    extents = groups.get_shape() or ()
    return extents[-1] if extents and math.prod(extents) else 0


def _refuse(op: Operation, why: str) -> NoReturn:
    refuse_to_legalize(
        op,
        f"{why}, and programs run on one; compile the function for a mesh of one device, and "
        "divide and join the tensors on the host",
    )


# -- ragged products ---------------------------------------------------------------------------


def _ragged_dot(op: Operation) -> None:
    """Multiply with zeros for what is of other groups."""
    numbers = cast("RaggedDotDimensionNumbersAttr", op.properties["ragged_dot_dimension_numbers"])
    if len(numbers.lhs_ragged_dimensions) != 1:
        refuse_to_legalize(op, "one dimension of the left side has to be in groups")
    lhs, rhs, sizes = map(StableHLOCarrier.before(op).wrap, op.operands)
    dims = {
        "batch_dims_lhs": numbers.lhs_batching_dimensions,
        "contract_dims_lhs": numbers.lhs_contracting_dimensions,
        "batch_dims_rhs": numbers.rhs_batching_dimensions,
        "contract_dims_rhs": numbers.rhs_contracting_dimensions,
    }
    [result], [ragged] = op.results, numbers.lhs_ragged_dimensions
    found = multiply_in_groups(
        lhs,
        rhs,
        sizes.cast("i32"),
        dims,
        ragged=ragged,
        group=next(iter(numbers.rhs_group_dimensions), None),
        shape=value_shape(result),
        dtype=dtype_of(element_type(result)),
    )
    replace(op, found.value)


# -- custom calls that spell operations of CHLO ------------------------------------------------


_PREFIXES = ("mhlo.", "chlo.")
_SPELLED = {
    prefix + cls.name.removeprefix("chlo."): cls
    for cls in OPERATIONS
    if not cls.name.startswith("chlo.broadcast_")
    for prefix in _PREFIXES
}


def _class_of(op: Operation) -> type[Operation] | None:
    found = _SPELLED.get(cast("StringAttr", op.properties["call_target_name"]).data)
    signature = getattr(found, "SIGNATURE", None)
    if found is None or signature is None or signature.properties or signature.regions:
        return None
    fits = (len(op.operands), len(op.results)) == (len(signature.operands), len(signature.results))
    return found if fits else None


def is_spelled(op: Operation) -> bool:
    """True for a call that means an operation on each element."""
    return _class_of(op) is not None


def _call(op: Operation) -> None:
    cls = _class_of(op)
    assert cls is not None, "is_spelled has said so"
    new = cls.create(
        operands=op.operands,
        result_types=[result.type for result in op.results],
        location=op.location,
    )
    insert_before(op, new)
    replace(op, *new.results)


def is_for_one_device(op: Operation) -> bool:
    """False where the module has a mesh of several devices (`stablehlo-mesh-borders`)."""
    meshes = module_of(op).attributes.get("ttcore.meshes")
    return not isinstance(meshes, MeshesAttr) or all(
        math.prod(shape) == 1 for _, shape in meshes.data
    )


BETWEEN_DEVICES: dict[str, ConversionRule] = {
    **{
        f"stablehlo.{name}": _keep
        for name in (
            *("all_gather", "all_reduce", "all_to_all", "collective_broadcast"),
            *("cross-replica-sum", "reduce_scatter"),
        )
    },
    "stablehlo.collective_permute": _permute,
    "stablehlo.partition_id": _number_of_device("mhlo.num_partitions"),
    "stablehlo.replica_id": _number_of_device("mhlo.num_replicas"),
}
"""Rules of what devices exchange, where there is one."""
RULES: dict[str, ConversionRule] = {
    **BETWEEN_DEVICES,
    "chlo.ragged_dot": _ragged_dot,
    "stablehlo.custom_call": _call,
}
"""Rules by the full name of the operation."""
