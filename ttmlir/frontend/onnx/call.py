"""One node of a graph: an operator, applied to values of the ttir function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ttmlir.arrays.array import Array, Number
from ttmlir.arrays.carriers import array_of
from ttmlir.frontend.body import BodyBuilder
from ttmlir.frontend.onnx.elements import (
    DTYPES,
    Bounded,
    Tensor,
    Value,
    require_memory,
    why_not_supported,
)
from ttmlir.mlir.reporting import Diagnostic, DiagnosticError

FOLDED = 1 << 16
"""Most elements of known tensors that are computed with while the model is read."""

MAX_READ = 1 << 16
"""Most elements of an argument that a program is compiled for the numbers of."""


class RefusedError(Exception):
    """A reason why a node is not compiled; whoever walks the graph says where it is."""


class NumbersNeededError(Exception):
    """The numbers of arguments of the function are needed, since shapes depend on them."""

    def __init__(self, reason: str, names: Sequence[SSAValue]) -> None:
        """The block arguments, and what the message says if their numbers cannot be had."""
        super().__init__(reason)
        self.arguments = names
        self.diagnostic: Diagnostic | None = None
        """The message about the node that needs them."""

    @property
    def refusal(self) -> DiagnosticError:
        """The error where the numbers cannot be had."""
        assert self.diagnostic is not None, "whoever walks the graph adds it"
        return DiagnosticError(self.diagnostic)


@dataclass
class Call:
    """An operator with its inputs by the names of its schema, and its attributes with defaults.

    Results are cast to the types that the schema says, so that rules need not.
    """

    operator: str
    version: int
    """The version of the operator set since which the operator is what it is here."""
    inputs: Mapping[str, Value | list[Value]]
    attributes: Mapping[str, Any]
    build: BodyBuilder
    outputs: Sequence[str]
    """The names of the results that somebody uses; others are empty."""
    functions: list[FuncOp]
    """The private functions of the module."""
    new_body: Callable[[Block], BodyBuilder]
    """Begins the body of another one."""
    warnings: list[str]
    """What the caller of the model has to know."""

    # -- attributes ----------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:
        """An attribute; its default if it is not given, None if it has none."""
        return self.attributes.get(name)

    def required(self, name: str) -> Any:
        """An attribute that has to be given."""
        if name not in self.attributes:
            self.refuse(f"the attribute '{name}' is missing")
        return self.attributes[name]

    def with_defaults(self, **defaults: Any) -> Call:
        """The call with attributes that an operator of the standard has if they are not given."""
        return replace(self, attributes={**defaults, **self.attributes})

    def choose(self, name: str, choices: Sequence[str]) -> str:
        """An attribute that is one of several words."""
        word = str(self[name])
        if word not in choices:
            self.refuse(f"{name} is '{word}'; supported are {', '.join(choices)}")
        return word

    # -- inputs --------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """True for an input that is given."""
        return self.inputs.get(name) is not None

    def tensor(self, name: str) -> Tensor:
        """An input that is a tensor."""
        value = self.inputs.get(name)
        if isinstance(value, list):
            self.refuse(f"the input '{name}' is a sequence; it has to be a tensor")
        if value is None:
            self.refuse(f"the input '{name}' is missing")
        if isinstance(value, Bounded):
            self.refuse_bounded(name, value)
        return value

    def sequence(self, name: str) -> list[Value]:
        """An input that is a sequence."""
        value = self.inputs.get(name)
        if not isinstance(value, list):
            self.refuse(f"the input '{name}' is a tensor; it has to be a sequence")
        return value

    def array(self, name: str) -> Array:
        """A tensor as an array.

        Of few numbers that are known it is one of numbers: what depends on them alone is computed
        while the model is read.
        """
        return self.use(self.tensor(name).array)

    def use(self, array: Array) -> Array:
        """An array as rules compute with it: many numbers are a constant of the program."""
        if array.carrier.holds_numbers and array.value.size > FOLDED:
            return self.build.array(self.build.value_of(array))
        return array

    def optional(self, name: str) -> Array | None:
        """A tensor that may be missing."""
        return self.array(name) if self.has(name) else None

    def of_rank(self, name: str, *ranks: int) -> Array:
        """A tensor with one of several numbers of dimensions."""
        found = self.array(name)
        if found.rank not in ranks:
            self.refuse(
                f"the input '{name}' has {found.rank} dimensions; it has to have "
                f"{' or '.join(map(str, ranks))}"
            )
        return found

    def arrays(self, name: str) -> list[Array]:
        """The tensors of the last input, of which there may be many."""
        values = cast("list[Value]", self.inputs[name])
        found: list[Array] = []
        for value in values:
            if isinstance(value, Bounded):
                self.refuse_bounded(name, value)
            if not isinstance(value, Tensor):
                self.refuse(f"one of the inputs '{name}' is no tensor")
            found.append(self.use(value.array))
        return found

    def numbers(self, name: str) -> NDArray[Any]:
        """The numbers of a tensor on which shapes depend."""
        array = self.tensor(name).array
        if array.carrier.holds_numbers:
            return array.value
        reason = (
            f"the input '{name}' decides about shapes, and its numbers are not known while "
            "compiling; make it an initializer, or give the numbers as an example to "
            "ttmlir.compile, which compiles for them alone"
        )
        arguments = sources_of(array.value)
        if not arguments:
            self.refuse(reason)
        raise NumbersNeededError(reason, arguments)

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Whole numbers from an attribute of older operator sets or an input of later ones."""
        given = self.attributes.get(name)
        if given is not None:
            return (given,) if isinstance(given, int) else tuple(given)
        if not self.has(name):
            return None
        return tuple(map(int, self.numbers(name).reshape(-1).tolist()))

    def number(self, name: str, default: Any = None) -> Any:
        """One number from an attribute of older operator sets or an input of later ones."""
        given = self.attributes.get(name)
        if given is not None:
            return given
        if not self.has(name):
            return default
        numbers = self.numbers(name)
        if numbers.size != 1:
            self.refuse(f"the input '{name}' has {numbers.size} elements; it has to have one")
        return numbers.reshape(-1)[0].item()

    def dim(self, rank: int, name: str = "axis", default: int | None = None) -> int:
        """A dimension, counted from 0."""
        given = self[name]
        number = default if given is None else given
        if number is None:
            self.refuse(f"the attribute '{name}' is missing")
        return self.dims(rank, (int(number),), name)[0]

    def dims(self, rank: int, numbers: Sequence[int], name: str = "axes") -> tuple[int, ...]:
        """Dimensions, counted from 0, each of them once."""
        for number in numbers:
            if not -rank <= number < rank:
                self.refuse(f"{name} has {number}; the tensor has {rank} dimensions")
        found = tuple(number % rank for number in numbers)
        if len(set(found)) != len(found):
            self.refuse(f"{name} is {list(numbers)}, which has a dimension twice")
        return found

    # -- results -------------------------------------------------------------------------------

    def fill(self, number: Number, shape: Sequence[int], dtype: str) -> Array:
        """An array of one number; many of them are a constant that takes no memory."""
        if np.prod(shape, dtype=object) > FOLDED:
            self.check_size(shape, dtype)
            value = self.build.carrier.fill(number, tuple(shape), dtype)
            return Array(self.build.carrier, value, shape, dtype)
        return array_of(np.zeros(shape, np.int8), dtype).fill(number)

    def check_size(self, shape: Sequence[int], dtype: str) -> None:
        """Refuse a result that no run could hold."""
        if any(extent < 0 for extent in shape):
            self.refuse(f"its result would have the shape {list(shape)}")
        require_memory(shape, dtype, "its result")

    def is_used(self, number: int) -> bool:
        """Whether somebody uses the result with this number."""
        return number < len(self.outputs) and bool(self.outputs[number])

    def dtype_of(self, name: str) -> str:
        """The type that holds the elements of a type by ONNX's name."""
        if name not in DTYPES:
            self.refuse(why_not_supported(name))
        return DTYPES[name]

    def refuse_bounded(self, name: str, value: Bounded) -> NoReturn:
        """Fail as an input has a shape that the operator cannot take."""
        self.refuse(
            f"the input '{name}' is {value.describe()}: its size is known only when the model "
            "runs, and the operator needs it; Where keeps the shape"
        )

    def refuse(self, reason: str) -> NoReturn:
        """Fail; the reason says what is supported."""
        raise RefusedError(reason)


Rule = Callable[[Call], Any]
"""Builds what one operator computes: an array or a `Tensor`, a sequence, or a tuple of these."""


def sources_of(value: SSAValue) -> list[SSAValue]:
    """The arguments of the function that a value is computed from."""
    found: dict[SSAValue, None] = {}
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(each.owner, Block):
            found[each] = None
        else:
            pending += each.owner.operands
    return list(found)


def on_arrays(function: Callable[..., Any], *names: str) -> Rule:
    """The rule of a function of inputs as arrays; those that are missing are None."""
    return lambda call: function(*map(call.optional, names))
