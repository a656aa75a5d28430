"""Functions of arrays by NumPy's names, for what is written against an array namespace.

special.mish(ARRAYS, x)     # the operations of a carrier
special.mish(np, numbers)   # NumPy's
"""

from __future__ import annotations

from collections.abc import Callable

from ttmlir.arrays.array import Array, Number
from ttmlir.errors import MissingNameError
from ttmlir.optable import DEFINITIONS

_OTHER_NAMES = {"equal": "eq"}
"""Mnemonics of functions that NumPy calls something else."""


class ArrayNamespace:
    """What a reference function takes for NumPy to compute with arrays of any carrier."""

    def where(self, condition: Array, yes: Array | Number, no: Array | Number) -> Array:
        """Elements of `yes` where the condition is true, else of `no`."""
        return condition.where(yes, no)

    def clip(self, x: Array, low: Number, high: Number) -> Array:
        """Elements that are not below one number, and not above another one."""
        return x.limit(low, high)

    def __getattr__(self, name: str) -> Callable[..., Array]:
        """The elementwise definition of that name, of an array and others."""
        mnemonic = _OTHER_NAMES.get(name, name)
        definition = DEFINITIONS.get(mnemonic)
        if definition is None or not definition.family.is_elementwise:
            raise MissingNameError(f"there is no elementwise operation '{name}'")

        def function(x: Array, *others: Array | Number) -> Array:
            return x.apply(mnemonic, *others)

        return function


ARRAYS = ArrayNamespace()
