"""Facts about operations, one definition each: data and reference functions; no xDSL, no NumPy
import."""

from collections.abc import Callable

from ttmlir.optable import (
    contraction,
    creation,
    elementwise,
    indexing,
    movement,
    normalization,
    ordering,
    reduction,
    window,
)
from ttmlir.optable.op_definition import Family, OpDefinition

DEFINITIONS: dict[str, OpDefinition] = {
    definition.mnemonic: definition
    for definition in (
        *elementwise.DEFINITIONS,
        *reduction.DEFINITIONS,
        *contraction.DEFINITIONS,
        *movement.DEFINITIONS,
        *indexing.DEFINITIONS,
        *window.DEFINITIONS,
        *normalization.DEFINITIONS,
        *ordering.DEFINITIONS,
        *creation.DEFINITIONS,
    )
}


COMPARISONS = {
    definition.direction: definition for definition in DEFINITIONS.values() if definition.direction
}
"""The comparisons by StableHLO's directions."""


def is_activation(name: str) -> bool:
    """True for what an operation may compute of its result at once: functions of it alone."""
    known = DEFINITIONS.get(name)
    return known is not None and known.family is Family.UNARY and not known.parameters


def definition(mnemonic: str) -> OpDefinition:
    """The definition of an operation; KeyError naming the operation if there is none."""
    return DEFINITIONS[mnemonic]


def named_in(*spaces: str) -> dict[str, OpDefinition]:
    """Definitions by the full names of the operations of some dialects that mean the same."""
    return _named(spaces, lambda definition: definition.aliases)


def named_on_truth(*spaces: str) -> dict[str, OpDefinition]:
    """Definitions by the names of operations that mean the same on truth values alone."""
    return _named(spaces, lambda definition: definition.truth_aliases)


def named_unsigned(*spaces: str) -> dict[str, OpDefinition]:
    """Definitions by the names of operations that mean the same on numbers without sign."""
    return _named(spaces, lambda definition: definition.unsigned_aliases)


def named_on_numbers(*spaces: str) -> dict[str, OpDefinition]:
    """Definitions by the names of operations that mean the same where no operand is NaN."""
    return _named(spaces, lambda definition: definition.number_aliases)


def _named(
    spaces: tuple[str, ...], names: Callable[[OpDefinition], tuple[str, ...]]
) -> dict[str, OpDefinition]:
    prefixes = tuple(f"{space}." for space in spaces)
    found = (
        (name, definition) for definition in DEFINITIONS.values() for name in names(definition)
    )
    return {name: definition for name, definition in found if name.startswith(prefixes)}
