"""One node of an exported graph: an ATen overload, applied to values of the ttir function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.elements import element_of, is_tensor, tensor_type, torch_package
from ttmlir.frontend.torch.locations import refuse_node
from ttmlir.ir.tensor_types import value_shape

FOLDED = 1 << 16
"""Most real elements of known tensors that composites compute with while the program is read."""
Later = Callable[[], SSAValue]
"""Builds a result when somebody uses it."""
Result = SSAValue | tuple[SSAValue | Later | None, ...]
"""What a rule returns: the result, or the results; None for one that cannot be built."""


@dataclass
class Known:
    """A tensor whose numbers are known to the compiler; it becomes a constant where it is used."""

    tensor: Any
    value: SSAValue | None = None

    @property
    def is_folded(self) -> bool:
        """Whether composites compute with the numbers while the program is read."""
        return self.tensor.numel() <= FOLDED or not self.tensor.is_floating_point()

    def create(self, build: BodyBuilder) -> SSAValue:
        """The constant, made once."""
        if self.value is None:
            self.value = build.create_tensor(self.tensor)
        return self.value


@dataclass
class Number:
    """A whole number that is computed by the program: a tensor of no dimension, made when used."""

    make: Callable[[BodyBuilder], SSAValue]
    value: SSAValue | None = None

    def create(self, build: BodyBuilder) -> SSAValue:
        """The tensor, made once."""
        if self.value is None:
            self.value = self.make(build)
        return self.value


@dataclass
class TorchCall:
    """An ATen overload with its arguments by the names of its schema, defaults filled in.

    Tensors are SSA values, or `Known`; numbers, lists and strings are Python's.
    """

    node: Any
    arguments: dict[str, Any]
    build: BodyBuilder

    @property
    def name(self) -> str:
        """Name of the overload, such as `aten.add.Tensor`."""
        return str(self.node.target)

    def __getitem__(self, name: str) -> Any:
        """An argument that is no tensor."""
        return self.arguments[name]

    def has(self, name: str) -> bool:
        """True if the argument exists and is not None."""
        return self.arguments.get(name) is not None

    # -- operands ------------------------------------------------------------------------------

    def tensor(self, name: str = "self") -> SSAValue:
        """A tensor argument."""
        return self.value(self.arguments[name])

    def tensors(self, name: str) -> list[SSAValue]:
        """An argument that is a list of tensors."""
        return [self.value(item) for item in self.arguments[name]]

    def optional(self, name: str) -> SSAValue | None:
        """A tensor argument that may be absent."""
        return self.tensor(name) if self.has(name) else None

    def value(self, argument: Any) -> SSAValue:
        """The SSA value of one tensor."""
        return argument.create(self.build) if isinstance(argument, (Known, Number)) else argument

    def known(self, name: str) -> Any:
        """The torch tensor of an argument if its numbers are known, else None."""
        argument = self.arguments[name]
        return argument.tensor if isinstance(argument, Known) else None

    def operand(self, name: str, element: Attribute, rank: int | None = None) -> SSAValue:
        """A tensor or a number, in an element type."""
        argument = self.arguments[name]
        if isinstance(argument, (int, float, complex)):
            return self.build.create_number_of_rank(
                argument, element, len(self.shape) if rank is None else rank
            )
        return self.build.cast(self.value(argument), element)

    def array(self, name: str = "self", *, cast: bool = True) -> Array:
        """A tensor or a number as an array, in the element type of the result or in its own."""
        value = self.operand(name, self.element) if cast else self.tensor(name)
        return self.build.array(value)

    def argument(self, name: str, element: Attribute | None = None) -> Any:
        """An argument as composites take it; tensors are arrays, of this element type if given.

        Small tensors that are known, and numbers for which there is an element type, are arrays of
        numbers: what depends on them alone is computed while the program is read.
        """
        return self._as_array(self.arguments[name], element)

    def _as_array(self, argument: Any, element: Attribute | None) -> Any:
        if isinstance(argument, list):
            return [self._as_array(each, element) for each in cast("list[Any]", argument)]
        dtype = None if element is None else str(element)
        if isinstance(argument, Known) and argument.is_folded:
            found = self.build.array_of_known(argument.tensor, argument.create(self.build))
        elif isinstance(argument, (Known, Number, SSAValue)):
            found = self.build.array(self.value(argument))
        elif dtype is not None and isinstance(argument, (int, float)):
            return array_of(argument, dtype)
        else:
            return argument
        return found if dtype is None else found.cast(dtype)

    def results(self, found: Array | Sequence[Array | None]) -> Result:
        """Arrays as the results, in the types and shapes that torch says; None for one less."""
        if isinstance(found, Array):
            return self.result(found, 0)
        return tuple(
            self._nothing(number) if each is None else partial(self.result, each, number)
            for number, each in enumerate(found)
        )

    def _nothing(self, number: int) -> Callable[[], SSAValue] | None:
        """A result that has no elements; None for one that has some."""
        metas = self.node.meta["val"]
        if not is_tensor(metas[number]) or 0 not in metas[number].shape:
            return None
        return partial(self.build.create_splat, 0, self.result_type(number))

    def result(self, array: Array, number: int) -> SSAValue:
        """An array as one of the results."""
        type_ = self.result_type(number)
        array = array.cast(str(type_.element_type))
        # For what only a gradient takes, torch may expect nothing, as the bags of `embedding_bag`.
        if math.prod(type_.get_shape()) == math.prod(array.shape):
            array = array.reshape(type_.get_shape())
        return self.build.value_of(array)

    def common_element(self, *names: str) -> Attribute:
        """The element type that torch computes in: what these arguments promote to."""
        torch = torch_package()
        metas = [_meta(self._raw(name)) for name in names]
        dtype = torch.result_type(metas[0], metas[-1])
        return cast("Attribute", element_of(dtype))

    def _raw(self, name: str) -> Any:
        for position, argument in enumerate(self.node.target._schema.arguments):
            if argument.name == name:
                if position < len(self.node.args):
                    return self.node.args[position]
                return self.node.kwargs[name]
        raise KeyError(name)

    # -- results -------------------------------------------------------------------------------

    def result_type(self, number: int = 0) -> TensorType[Attribute]:
        """The type of a result, which torch has computed."""
        meta = self.node.meta["val"]
        tensor: Any = (
            cast("Sequence[Any]", meta)[number] if isinstance(meta, (tuple, list)) else meta
        )
        return tensor_type(tensor)

    @property
    def element(self) -> Attribute:
        """The element type of the (first) result."""
        return self.result_type().element_type

    @property
    def shape(self) -> Shape:
        """The shape of the (first) result."""
        return self.result_type().get_shape()

    # -- dimensions ----------------------------------------------------------------------------

    def dims(self, name: str, rank: int) -> Shape:
        """A dimension or a list of them, counted from 0; all if absent or empty."""
        given = self.arguments.get(name)
        if given is None or (isinstance(given, Sequence) and not given):
            return tuple(range(rank))
        numbers = cast("Sequence[int]", given) if isinstance(given, Sequence) else (given,)
        return tuple(sorted(number % rank for number in numbers)) if rank else ()

    def dim(self, value: SSAValue, name: str = "dim") -> int:
        """A dimension of a tensor, counted from 0."""
        return self.arguments[name] % max(1, len(value_shape(value)))

    # -- refusals ------------------------------------------------------------------------------

    def refuse(self, reason: str) -> NoReturn:
        """Fail at the user's own line; the reason says what is supported."""
        refuse_node(self.node, reason)


TorchRule = Callable[[TorchCall], Result]
"""Builds what one ATen overload computes."""


def cast_input(call: TorchCall, name: str = "self") -> SSAValue:
    """A tensor argument in the element type of the result."""
    return call.build.cast(call.tensor(name), call.element)


def on_arrays(function: Callable[..., Array], *names: str) -> TorchRule:
    """The rule of a function of arguments as arrays, in the element type of the result."""
    return lambda call: function(*map(call.array, names or ("self",))).value


def composite(
    function: Callable[..., Array | Sequence[Array | None]], *names: str, cast: bool = False
) -> TorchRule:
    """The rule of a function of arguments, all of them unless names are given.

    With `cast`, tensors and numbers are in the element type of the result.
    """

    def rule(call: TorchCall) -> Result:
        element = call.element if cast else None
        return call.results(
            function(*(call.argument(name, element) for name in names or call.arguments))
        )

    return rule


def _meta(argument: Any) -> Any:
    return argument.meta["val"] if hasattr(argument, "meta") else argument
