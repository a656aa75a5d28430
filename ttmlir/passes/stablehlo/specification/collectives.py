"""Operations between devices, as they are where there is one.

A group of one device has nobody to exchange anything with: sums, gathers and exchanges give what
the device has.
"""

from __future__ import annotations

import math
from typing import NoReturn, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.mlir.attributes.elements import ElementsType
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification.structure import module_of
from ttmlir.passes.stablehlo.specification.writer import Writer

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
        replace(op, Writer(op).constant(type_, [0]))

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
    replace(op, Writer(op).constant(cast("ElementsType", op.results[0].type), [0]))


def _refuse_several(op: Operation) -> None:
    """Refuse an operation of a group of several devices."""
    groups = op.properties.get("replica_groups")
    count = math.prod(count_of_devices(op, attribute) for attribute in _COUNTS)
    if _size_of(groups) == 0 and count > 1:
        _refuse(op, f"the module is for {count} devices")
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


RULES: dict[str, ConversionRule] = {
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
"""Rules by the full name of the operation."""
