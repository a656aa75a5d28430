"""What operations of ttnn take and make, where that differs from tiles of the tensors' elements.

A family of operations is a file `ttnn_workarounds_*.py`, named in `_FAMILIES`, with functions that
say what an operation wants:

    def _sort(op: Operation) -> Wants:
        return Wants((Want(element=bf16),), (Want(element=bf16), Want(element=ui16)))

    WANTS: Mapping[str, Callable[[Operation], Wants]] = {"ttnn.sort": _sort}

An operand that is something else is converted right before the operation, a result right after it,
back to what it has been. `Want()` leaves a tensor as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.ttnn_types import layout_in, location_of, memory_of, set_type, stored_in
from ttmlir.layout.enums import BufferType

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_FAMILIES: tuple[str, ...] = (
    "ttnn_workarounds_elementwise",
    "ttnn_workarounds_movement",
    "ttnn_workarounds_window",
)
"""The files, by their names in this package."""


@dataclass(frozen=True, kw_only=True)
class Want:
    """What a tensor is to be; None leaves it as it is."""

    element: Attribute | None = None
    tiled: bool | None = None
    buffer: BufferType | None = None

    def type_for(self, type_: Attribute, *, keeps_elements: bool = False) -> Attribute:
        """The type that a tensor is to have.

        Its elements are those that are wanted, or memory holds these of the ones that it has.
        """
        memory = memory_of(type_)
        if memory is None:
            return type_
        tensor, held = cast("TensorType[Attribute]", type_), stored_in(type_)
        stored = self.element or held
        tiled = memory.is_tiled if self.tiled is None else self.tiled
        buffer = memory.buffer if self.buffer is None else self.buffer
        if (stored, tiled, buffer) == (held, memory.is_tiled, memory.buffer):
            return type_
        layout = layout_in(tensor.get_shape(), stored, tiled=tiled, buffer=buffer)
        keeps = keeps_elements or self.element is None
        return TensorType(tensor.element_type if keeps else stored, tensor.get_shape(), layout)


ANYTHING = Want()
"""A tensor that stays as it is."""


@dataclass(frozen=True)
class Wants:
    """What an operation wants of its operands and results; of those that are not named, nothing."""

    operands: tuple[Want, ...] = ()
    results: tuple[Want, ...] = ()
    in_order: bool = False
    """True for operands that are converted one after the other, wherever they are to be."""


Wanting = Callable[[Operation], Wants]


@cache
def _wanting() -> Mapping[str, Wanting]:
    found: dict[str, Wanting] = {}
    for family in _FAMILIES:
        found.update(import_module(f"ttmlir.passes.ttnn.workarounds.{family}").WANTS)
    return found


_CONVOLUTION = "ttnn.conv2d"


def apply_layouts(
    module: ModuleOp,
    *,
    without: Sequence[str] = (),
    images_by_rows: bool = True,
    keeps_elements: bool = False,
) -> None:
    """Convert the operands and results of operations to what they want, but for some.

    Images of convolutions become rows, unless the library is to do that. If elements are kept, it
    is memory that holds others.
    """
    table = _wanting()
    for op in tuple(module.walk()):
        wanting = table.get(op.name)
        if wanting is not None and op.name not in without:
            wants = wanting(op)
            if op.name == _CONVOLUTION and not images_by_rows:
                wants = replace(wants, operands=(ANYTHING, *wants.operands[1:]))
            _apply(op, wants, keeps_elements)


def _apply(op: Operation, wants: Wants, keeps_elements: bool) -> None:
    # What is prepared on the host leaves the device first.
    order = sorted(
        enumerate(wants.operands),
        key=lambda each: each[1].buffer is not BufferType.SYSTEM_MEMORY and not wants.in_order,
    )
    for index, want in order:
        type_ = want.type_for(op.operands[index].type, keeps_elements=keeps_elements)
        if type_ != op.operands[index].type:
            value = op.operands[index]
            op.operands[index] = convert(value, type_, op)
    for index, want in enumerate(wants.results):
        old = op.results[index]
        type_, given = want.type_for(old.type, keeps_elements=keeps_elements), old.type
        if type_ == given:
            continue
        new = set_type(old, type_)
        after = op.next_op
        assert after is not None, "no operation of ttnn is the last of a block"
        back = convert(new, given, after)
        new.replace_uses_with_if(back, lambda use, back=back: use.operation is not back.owner)


def convert(value: SSAValue, type_: Attribute, before: Operation) -> SSAValue:
    """A tensor as another type has it, by `ttnn.to_tensor_spec`, which is taken apart later."""
    from ttmlir.dialects import ttnn

    # What is computed once has no place in the program, other values keep theirs.
    is_loaded = isinstance(value.owner, Operation) and value.owner.name == "ttcore.load_cached"
    new = ttnn.op_class("to_tensor_spec").create(
        operands=[value],
        result_types=[type_],
        location=before.location if is_loaded else location_of(value),
    )
    insert_before(before, new)
    return new.results[0]
