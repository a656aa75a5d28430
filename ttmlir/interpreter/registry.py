"""Where the functions of each dialect are: `module:attribute`, imported when first used.

The attribute is a mapping from full names of operations, such as `ttir.add`, to functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from ttmlir.interpreter.values import Function

FUNCTIONS_OF_DIALECT: dict[str, str] = {
    "affine": "ttmlir.interpreter.structure:AFFINE",
    "arith": "ttmlir.interpreter.arithmetic:ARITH_AND_MATH",
    "chlo": "ttmlir.interpreter.stablehlo:FUNCTIONS",
    "d2m": "ttmlir.interpreter.d2m:FUNCTIONS",
    "func": "ttmlir.interpreter.structure:FUNCTIONS",
    "linalg": "ttmlir.interpreter.linalg:FUNCTIONS",
    "math": "ttmlir.interpreter.arithmetic:ARITH_AND_MATH",
    "scf": "ttmlir.interpreter.structure:SCF",
    "sdy": "ttmlir.interpreter.stablehlo:FUNCTIONS",
    "stablehlo": "ttmlir.interpreter.stablehlo:FUNCTIONS",
    "tensor": "ttmlir.interpreter.tensors:FUNCTIONS",
    "tosa": "ttmlir.interpreter.tosa:FUNCTIONS",
    "ttir": "ttmlir.interpreter.ttir:FUNCTIONS",
}
"""One line for each dialect, sorted by name."""


@cache
def functions_of(dialect: str) -> Mapping[str, Function]:
    """The functions of a dialect; none for a dialect that cannot be interpreted."""
    place = FUNCTIONS_OF_DIALECT.get(dialect)
    if place is None:
        return {}
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def function_of(name: str) -> Function | None:
    """The function of an operation by its full name; None if there is none."""
    return functions_of(name.partition(".")[0]).get(name)


def interpreted_operations() -> tuple[str, ...]:
    """Names of all operations that can be interpreted."""
    return tuple(
        sorted({name for dialect in FUNCTIONS_OF_DIALECT for name in functions_of(dialect)})
    )
