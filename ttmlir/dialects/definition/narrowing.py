"""Warnings about numbers that devices keep in other bits than the program asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, IntegerType, TensorType, f64

from ttmlir.mlir.reporting.diagnostics import Diagnostic, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import Attribute, Operation, SSAValue

F64_IS_NARROWED = (
    "tensors of f64 are kept as f32 on the device; the numerics 'exact' compute them in 64 bits"
)


def narrow(root: Operation) -> Diagnostic | None:
    """The warning about tensors of f64 inside `root`, at the first one; None without any."""
    for op in root.walk():
        for value in _values(op):
            type_ = value.type
            if isinstance(type_, TensorType) and _is_f64(
                cast("TensorType[Attribute]", type_).element_type
            ):
                return Diagnostic("warning", op.location, F64_IS_NARROWED)
    return None


def _is_f64(element: Attribute) -> bool:
    return element in (f64, ComplexType(f64))


def warn_of_narrowing(root: Operation) -> None:
    """Give the warning about tensors of f64 if there are any inside `root`."""
    if (warning := narrow(root)) is not None:
        warn(warning)


def widen(root: Operation) -> Diagnostic | None:
    """The warning about tensors of few bits inside `root`, at the first one; None without any."""
    for op in root.walk():
        for value in _values(op):
            type_ = value.type
            if isinstance(type_, TensorType):
                element = cast("TensorType[Attribute]", type_).element_type
                if (wide := _wide_type(element)) is not None:
                    message = f"tensors of {element} are kept as {wide} on the device"
                    return Diagnostic("warning", op.location, message)
    return None


def _wide_type(element: Attribute) -> str | None:
    """The type that a device keeps elements of fewer bits in; None for other types."""
    if isinstance(element, IntegerType):
        integer = cast("IntegerType", element)
        if 1 < integer.width.data < _BYTE_BITS:
            return str(IntegerType(_BYTE_BITS, integer.signedness.data))
    is_small = isinstance(element, AnyFloat) and element.name.startswith(("f8E", "f6E", "f4E"))
    return "bf16" if is_small else None


_BYTE_BITS = 8


def warn_of_widening(root: Operation) -> None:
    """Give the warning about tensors of few bits if there are any inside `root`."""
    if (warning := widen(root)) is not None:
        warn(warning)


def _values(op: Operation) -> Iterator[SSAValue]:
    """The results of an operation and the arguments of its blocks."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args
