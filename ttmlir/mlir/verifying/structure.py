"""MLIR's words for the faults that an operation's IRDL definition finds.

Asked only when a check has failed, so that valid operations cost nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    OpDef,
    OperandDef,
    OptAttributeDef,
    OptionalDef,
    OptPropertyDef,
    ResultDef,
    SingleBlockRegionDef,
    VariadicDef,
    VerificationContext,
)
from xdsl.utils.exceptions import VerifyException

from ttmlir.mlir.printing.printer import show_attribute

_NUMERALS = {0: "zero", 1: "one"}


def structure_fault(op: IRDLOperation) -> str | None:
    """What is wrong with counts, attributes and types, in MLIR's words and order; or None."""
    definition = op.get_irdl_definition()
    return (
        _region_count_fault(op, definition)
        or _result_count_fault(op, definition)
        or _operand_count_fault(op, definition)
        or _segments_fault(op, definition)
        or _attribute_fault(op, definition)
        or _type_fault("operand", definition.operands, op.operand_types)
        or _type_fault("result", definition.results, op.result_types)
        or _block_count_fault(op, definition)
    )


def _fixed_and_variadic(definitions: Sequence[tuple[str, object]]) -> tuple[int, bool]:
    """How many single entries there are, and whether any is optional or variadic."""
    fixed = sum(1 for _, entry in definitions if not isinstance(entry, VariadicDef))
    return fixed, fixed != len(definitions)


def _region_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    expected, found = len(definition.regions), len(op.regions)
    _, variadic = _fixed_and_variadic(definition.regions)
    if variadic or expected == found:
        return None
    if expected > 1:
        return f"expected {expected} regions"
    return f"requires {_NUMERALS[expected]} region{'' if expected else 's'}"


def _block_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    for index, ((name, entry), region) in enumerate(
        zip(definition.regions, op.regions, strict=False)
    ):
        if isinstance(entry, SingleBlockRegionDef) and len(region.blocks) != 1:
            return f"region #{index} ('{name}') failed to verify constraint: region with 1 blocks"
    return None


def _result_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    expected, variadic = _fixed_and_variadic(definition.results)
    found = len(op.results)
    if variadic:
        return None if found >= expected else f"expected {expected} or more results"
    if expected == found:
        return None
    if expected > 1:
        return f"expected {expected} results"
    return f"requires {_NUMERALS[expected]} result{'' if expected else 's'}"


def _operand_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    expected, variadic = _fixed_and_variadic(definition.operands)
    found = len(op.operands)
    if variadic:
        if found >= expected:
            return None
        return f"expected {expected} or more operands, but found {found}"
    if expected == found:
        return None
    if expected > 1:
        return f"expected {expected} operands, but found {found}"
    return "requires a single operand" if expected else "requires zero operands"


def _segments_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    for option in definition.options:
        if isinstance(option, AttrSizedOperandSegments):
            fault = _sizes_fault(
                option.attribute_name,
                option.container(op),
                "operand",
                definition.operands,
                len(op.operands),
            )
        elif isinstance(option, AttrSizedResultSegments):
            fault = _sizes_fault(
                option.attribute_name,
                option.container(op),
                "result",
                definition.results,
                len(op.results),
            )
        else:
            continue
        if fault is not None:
            return fault
    return None


def _sizes_fault(
    name: str,
    container: dict[str, Attribute],
    what: str,
    definitions: Sequence[tuple[str, object]],
    found: int,
) -> str | None:
    attribute = container.get(name)
    if not isinstance(attribute, DenseArrayBase) or attribute.get_element_type() != i32:
        return f"requires dense i32 array attribute '{name}'"
    sizes = [int(size) for size in attribute.iter_values()]
    if any(size < 0 for size in sizes):
        return f"'{name}' attribute cannot have negative elements"
    if sum(sizes) != found:
        return (
            f"{what} count ({found}) does not match with the total size ({sum(sizes)}) specified "
            f"in attribute '{name}'"
        )
    if len(sizes) != len(definitions):
        return f"'{name}' attribute for specifying {what} segments must have " + (
            f"{len(definitions)} elements, but got {len(sizes)}"
        )
    start = 0
    for size, (_, entry) in zip(sizes, definitions, strict=True):
        if isinstance(entry, OptionalDef) and size > 1:
            return f"{what} group starting at #{start} requires 0 or 1 element, but found {size}"
        if not isinstance(entry, VariadicDef) and size != 1:
            return f"{what} group starting at #{start} requires 1 element, but found {size}"
        start += size
    return None


def _attribute_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    required = [
        *((name, op.properties, entry) for name, entry in definition.properties.items()),
        *((name, op.attributes, entry) for name, entry in definition.attributes.items()),
    ]
    for name, container, entry in required:
        if name not in container and not isinstance(entry, OptPropertyDef | OptAttributeDef):
            return f"requires attribute '{name}'"
    for name, container, entry in required:
        reason = _failure(entry.constr, container[name]) if name in container else None
        if reason is not None:
            return f"attribute '{name}' failed to satisfy constraint: {reason}"
    return None


def _type_fault(
    what: str,
    definitions: Sequence[tuple[str, OperandDef | ResultDef]],
    types: Sequence[Attribute],
) -> str | None:
    """The first operand or result of a wrong type, if it is plain which definition it has."""
    if any(isinstance(entry, VariadicDef) for _, entry in definitions):
        if len(definitions) > 1:
            return None
        definitions = [definitions[0]] * len(types)
    for index, (type, (_, entry)) in enumerate(zip(types, definitions, strict=True)):
        try:
            entry.constr.verify((type,), VerificationContext())
        except VerifyException as error:
            return f"{what} #{index} has the wrong type '{show_attribute(type)}': {_line(error)}"
    return None


def _failure(constraint: AttrConstraint, attribute: Attribute) -> str | None:
    try:
        constraint.verify(attribute, VerificationContext())
    except VerifyException as error:
        return _line(error)
    return None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
