"""New ttir operations that constants, movements and conversions of tensors become.

Each function takes the operation in hand, in front of which the new operations stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.layouts import value_shape
from ttmlir.ir.rewriting import erase
from ttmlir.ir.ttir_building import built, built_constant, element_type
from ttmlir.mlir.attributes.elements import (
    Elements,
    ElementsType,
    ElementType,
    elements_of,
    raw_bytes,
    splat_bytes,
    unpack_values,
)

if TYPE_CHECKING:
    from ttmlir.optable.row import Shape

_CONSTANTS = ("ttir.constant", "arith.constant", "tosa.const", "tosa.const_shape")


def tensor_of(element: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """A type of tensors."""
    return TensorType(element, shape)


def constant_of(value: SSAValue) -> Attribute | None:
    """The attribute that a constant holds; None for other values."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in _CONSTANTS:
        return None
    return owner.properties.get("value", owner.properties.get("values"))


_MOST_COPIES = 1 << 20
"""Most copies of one number that are made; a type may say any number of them."""


def constant_numbers(value: SSAValue) -> tuple[float, ...] | None:
    """The elements of a constant tensor, or the one number of a constant; None for other values.

    None also for one number that is repeated very often.
    """
    attr = constant_of(value)
    if isinstance(attr, DenseIntOrFPElementsAttr):
        elements = cast("Elements", attr)
        splat = splat_bytes(elements)
        count = 1
        for extent in elements.get_shape():
            count *= extent
        data = raw_bytes(elements) if splat is None else splat
        if splat is not None and count > _MOST_COPIES:
            return None
        found = _numbers(data, elements.get_element_type())
        return found if splat is None else found * count
    if isinstance(attr, (FloatAttr, IntegerAttr)):
        return (cast("float", attr.value.data),)
    return None


def _numbers(data: bytes, element: ElementType) -> tuple[float, ...]:
    """The numbers that bytes spell; true is 1."""
    numbers = cast("tuple[float, ...]", tuple(unpack_values(data, element)))
    return tuple(map(abs, numbers)) if is_boolean(element) else numbers


def is_all(value: SSAValue, number: float) -> bool:
    """True for a constant all of whose elements are a number."""
    attr = constant_of(value)
    if isinstance(attr, DenseIntOrFPElementsAttr):
        elements = cast("Elements", attr)
        splat = splat_bytes(elements)
        return splat is not None and _numbers(splat, elements.get_element_type()) == (number,)
    return False


def filled(op: Operation, number: float, type_: TensorType[Attribute]) -> SSAValue:
    """A constant all of whose elements are a number."""
    return listed(op, [number], type_)


def listed(op: Operation, numbers: Sequence[float], type_: TensorType[Attribute]) -> SSAValue:
    """A constant of these elements in row-major order, or of one for all."""
    is_float = isinstance(type_.element_type, AnyFloat)
    values = [float(number) if is_float else int(number) for number in numbers]
    return built_constant(op, elements_of(cast("ElementsType", type_), values), type_)


def broadcast(op: Operation, value: SSAValue, shape: Shape) -> SSAValue:
    """The tensor repeated along its dimensions of extent 1, for a shape of as many dimensions."""
    if value_shape(value) == shape:
        return value
    type_ = tensor_of(element_type(value), shape)
    return built(op, "broadcast", [value], type_, dimension=tuple(range(len(shape))))


def joined(op: Operation, parts: Sequence[SSAValue], dim: int) -> SSAValue:
    """Tensors one after the other along a dimension; those without elements are left out."""
    kept = [part for part in parts if value_shape(part)[dim]] or list(parts[:1])
    if len(kept) == 1:
        return kept[0]
    shape = list(value_shape(kept[0]))
    shape[dim] = sum(value_shape(part)[dim] for part in kept)
    return built(op, "concat", kept, tensor_of(element_type(kept[0]), shape), dim=dim)


def unsigned(element: Attribute) -> Attribute:
    """The type of integers without sign that takes as many bits as a type of integers."""
    return IntegerType(cast("IntegerType", element).width.data, Signedness.UNSIGNED)


def is_tensor(value: SSAValue) -> bool:
    """True for tensors, false for numbers."""
    return isinstance(value.type, TensorType)


def is_boolean(element: Attribute) -> bool:
    """True for integers of one bit."""
    return element == i1


def erase_unused(root: Operation, names: frozenset[str]) -> None:
    """Erase operations of these names whose results nobody uses, users before what they use."""
    for op in reversed([op for op in root.walk() if op.name in names]):
        if all(result.first_use is None for result in op.results):
            erase(op)
