"""Torch's tensors: their element types and numbers in the IR, and containers of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute

from ttmlir.mlir.attributes import LARGE, Elements, elements_attr, large_elements_attr
from ttmlir.mlir.large_bytes import LargeBytes
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.session import array_of_torch, has_numbers
from ttmlir.runtime.tensor import Array

_ELEMENTS: dict[str, Attribute] = {
    "float32": Float32Type(),
    "bfloat16": BFloat16Type(),
    "float16": Float16Type(),
    "float64": Float64Type(),
    "complex64": ComplexType(Float32Type()),
    "complex128": ComplexType(Float64Type()),
    "bool": IntegerType(1),
    "int8": IntegerType(8),
    "int16": IntegerType(16),
    "int32": IntegerType(32),
    "int64": IntegerType(64),
    "uint8": IntegerType(8, Signedness.UNSIGNED),
    "uint16": IntegerType(16, Signedness.UNSIGNED),
    "uint32": IntegerType(32, Signedness.UNSIGNED),
    "uint64": IntegerType(64, Signedness.UNSIGNED),
}
SMALL_FLOATS = {
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
}
"""Dtypes that tensors of bf16 stand for, which hold their numbers, and the names of the formats."""
_ELEMENTS.update(dict.fromkeys(SMALL_FLOATS, BFloat16Type()))
SUPPORTED_DTYPES = ", ".join(_ELEMENTS)
"""Names of the dtypes that tensors can have."""

_BITS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}


def torch_package() -> Any:
    """The package `torch`, which is imported by whoever has something for this front end."""
    # Thousands of calls for a model notice what `import_module` takes.
    return sys.modules.get("torch") or import_module("torch")


def dtype_name(dtype: Any) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def element_of(dtype: Any) -> Attribute | None:
    """The element type of a dtype; None if tensors cannot have it."""
    return _ELEMENTS.get(dtype_name(dtype))


def static_shape(tensor: Any) -> tuple[int, ...] | None:
    """The extents of a tensor, or of torch's fake of one; None if one of them is not known."""
    extents = [e if isinstance(e, int) else e.node.maybe_as_int() for e in tensor.shape]
    return None if None in extents else tuple(extents)


def tensor_type(tensor: Any) -> TensorType[Attribute]:
    """The type of a tensor, or of torch's fake of one, that has been checked to have one."""
    element, shape = element_of(tensor.dtype), static_shape(tensor)
    assert element is not None, "checked when the program was read"
    assert shape is not None, "checked when the program was read"
    return TensorType(element, shape)


def is_floating(element: Attribute) -> bool:
    """True for the types of real numbers."""
    return not isinstance(element, IntegerType)


def is_boolean(element: Attribute) -> bool:
    """True for i1."""
    return element == IntegerType(1)


def is_integer(element: Attribute) -> bool:
    """True for integers other than i1."""
    return not is_floating(element) and not is_boolean(element)


def elements_of_tensor(tensor: Any) -> Elements:
    """The numbers of a torch tensor as a constant.

    Many of them stay where they are until the model has been compiled (`own_constants`).
    InputError for a tensor that is only a shape.
    """
    if not has_numbers(tensor):
        raise InputError(
            "a weight is a shape without numbers (device 'meta', FakeTensor), which is no "
            "constant: compile with weights='arguments'"
        )
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    element = element_of(tensor.dtype)
    assert element is not None, "checked when the program was read"
    type_: Any = TensorType(element, tuple(tensor.shape))
    if dtype_name(tensor.dtype) in SMALL_FLOATS:
        tensor = tensor.to(torch_package().bfloat16)
    if tensor.element_size() not in _BITS:
        return elements_attr(type_, tensor.numpy().tobytes())
    # NumPy has no bfloat16: the bits travel as integers.
    bits = tensor.view(getattr(torch_package(), _BITS[tensor.element_size()]))
    array = bits.numpy()
    if array.nbytes < LARGE or (array == array.flat[0]).all():
        return elements_attr(type_, array.tobytes())
    return large_elements_attr(type_, LargeBytes.borrow(array))


def numbers_of_tensor(tensor: Any) -> Array:
    """The numbers of a real torch tensor, in the type that they have in the IR."""
    if dtype_name(tensor.dtype) in SMALL_FLOATS:
        tensor = tensor.to(torch_package().bfloat16)
    return array_of_torch(torch_package(), tensor)


# -- containers of tensors and of numbers that are not known ------------------------------------


def without_modes() -> Any:
    """A context in which tensors are made that exist, although torch is tracing."""
    return torch_package().utils._python_dispatch._disable_current_modes()


def is_tensor(meta: Any) -> bool:
    """True for tensors, fake ones included."""
    return isinstance(meta, torch_package().Tensor)


def is_symbolic(meta: Any) -> bool:
    """True for a number or truth value that torch does not know."""
    torch = torch_package()
    return isinstance(meta, (torch.SymInt, torch.SymBool, torch.SymFloat))


def leaves(value: Any) -> list[Any]:
    """The items of nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in cast("list[Any]", value) for leaf in leaves(item)]
    return [value]


def replace_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """The same containers, with the results of a function for what they hold; ranges, too."""
    if isinstance(value, slice):
        return slice(*(replace_leaves(each, function) for each in _bounds(value)))
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {key: replace_leaves(each, function) for key, each in items}
    if isinstance(value, list | tuple):
        items = [replace_leaves(each, function) for each in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    return function(value)


def _bounds(value: Any) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step
