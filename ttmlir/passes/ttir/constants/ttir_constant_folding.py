"""Operations of ttir on constants, computed while compiling.

Moves are exact for every element type, since they only copy bytes. Elementwise operations are
computed where all elements are f32, f64, integers or truth values, which the runtime computes in
those types too; narrower floating point types keep more digits at run time than a constant can
hold.
"""

from __future__ import annotations

import math
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes import (
    Elements,
    ElementsType,
    element_size,
    elements_attr,
    large_bytes,
    large_elements_attr,
    raw_bytes,
    splat_bytes,
)

LARGEST = 1024
"""Elements of a constant that is computed; moves of one value that repeats have no limit."""

RESHAPES = frozenset({"reshape", "squeeze", "unsqueeze"})
PERMUTATIONS = frozenset({"transpose", "permute"})

_DTYPES = {
    **{f"f{bits}": f"f{bits // 8}" for bits in (32, 64)},
    **{f"{sign}i{bits}": f"i{bits // 8}" for bits in (8, 16, 32, 64) for sign in ("", "s")},
    **{f"ui{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    "i1": "b1",
}


def fold_constants(op: TTIRTableOp) -> Elements | None:
    """The elements of the result, if all inputs are constants and it is worth computing."""
    inputs = [constant_elements(value) for value in op.inputs]
    known = [attr for attr in inputs if attr is not None]
    if not known or len(known) != len(inputs):
        return None
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    size = math.prod(type_.get_shape())
    is_move = op.DEFINITION.moves
    splats = {splat_bytes(attr) for attr in known}
    if is_move and len(splats) == 1 and None not in splats and size:
        return elements_attr(cast("ElementsType", type_), cast("bytes", splats.pop()))
    if not 0 < size <= LARGEST or any(math.prod(a.get_shape()) > LARGEST for a in known):
        return None
    # A constant may have another element type than the operation that holds it.
    for attr, value in zip(known, op.inputs, strict=True):
        if attr.get_element_type() != cast("TensorType[Attribute]", value.type).element_type:
            return None
    return evaluate(op, known) if is_move or op.DEFINITION.family.is_elementwise else None


def evaluate(op: TTIRTableOp, inputs: list[Elements]) -> Elements | None:
    """The elements of the result of an operation on constants of the types of its operands.

    None for element types in which the runtime computes otherwise than a constant can say.
    """
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    return _move(op, inputs, type_) if op.DEFINITION.moves else _compute(op, inputs, type_)


def fold_move(op: TTIRTableOp) -> Elements | None:
    """The elements of a constant of any size that is moved, if the operation alone uses it.

    Large ones are neither copied nor put in order before they are written.
    """
    [source] = op.inputs
    elements = constant_elements(source)
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    if elements is None or not source.has_one_use() or not math.prod(type_.get_shape()):
        return None
    if elements.get_element_type() != cast("TensorType[Attribute]", source.type).element_type:
        return None
    splat = splat_bytes(elements)
    if splat is not None:
        return elements_attr(cast("ElementsType", type_), splat)
    return _move(op, [elements], type_)


def _move(op: TTIRTableOp, inputs: list[Elements], type_: TensorType[Attribute]) -> Elements:
    import numpy as np

    large = large_bytes(inputs[0]) if len(inputs) == 1 else None
    if large is not None and op.DEFINITION.mnemonic in RESHAPES | PERMUTATIONS:
        if op.DEFINITION.mnemonic in PERMUTATIONS:
            large = large.permuted(inputs[0].get_shape(), permutation_of(op))
        return large_elements_attr(cast("ElementsType", type_), large)
    dtype = np.dtype(f"V{element_size(inputs[0].get_element_type())}")
    result = _evaluate(op, inputs, [dtype] * len(inputs), type_)
    return elements_attr(cast("ElementsType", type_), result.tobytes())


def permutation_of(op: TTIRTableOp) -> tuple[int, ...]:
    """The order in which a transpose or a permute puts the dimensions."""
    rank = len(value_shape(op.results[0]))
    parameters = op.parameters()
    if op.DEFINITION.mnemonic == "permute":
        return cast("tuple[int, ...]", parameters["permutation"])
    first, second = (cast("int", parameters[name]) % rank for name in ("dim0", "dim1"))
    order = list(range(rank))
    order[first], order[second] = second, first
    return tuple(order)


def _compute(
    op: TTIRTableOp, inputs: list[Elements], type_: TensorType[Attribute]
) -> Elements | None:
    import numpy as np

    keywords = [str(attr.get_element_type()) for attr in inputs] + [str(type_.element_type)]
    if not all(keyword in _DTYPES for keyword in keywords):
        return None
    *dtypes, target = (np.dtype(_DTYPES[keyword]) for keyword in keywords)
    result = _evaluate(op, inputs, dtypes, type_, target)
    # Numbers that are rounded to integers follow the rules of the runtime.
    if result.dtype.kind == "f" and target.kind != "f":
        return None
    with np.errstate(all="ignore"):
        values = np.broadcast_to(result, type_.get_shape()).astype(target)
    return elements_attr(cast("ElementsType", type_), values.tobytes())


def _evaluate(
    op: TTIRTableOp,
    inputs: list[Elements],
    dtypes: list[Any],
    type_: TensorType[Attribute],
    target: Any = None,
) -> Any:
    import numpy as np

    from ttmlir.arrays.carriers import compute_reference

    arrays = [
        np.frombuffer(raw_bytes(attr), dtype).reshape(attr.get_shape())
        for attr, dtype in zip(inputs, dtypes, strict=True)
    ]
    types = dtypes[0], target
    with np.errstate(all="ignore"):
        found = compute_reference(op.DEFINITION, arrays, type_.get_shape(), types, op.parameters())
        return np.asarray(found)
