"""Rules of `ttir-shape-layers` for one position of each of several sequences.

[sequences, heads, 1, size] takes a tile for each head; [1, sequences, heads, size] has the same
numbers in the same order, and the heads of a sequence share tiles. Attention of one position takes
that form, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.dialects import ttir
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.ttir.fusing.ttir_fusing_rotation import create_rotation
from ttmlir.passes.ttir.value_rewriting import (
    inputs_of,
    made_by,
    mnemonic_of,
    parameters_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import StringAttr
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule
    from ttmlir.passes.ttir.value_rewriting import ValueRule

Shape = tuple[int, ...]

_ROWS = (1, 1, 1)
"""Steps of a slice along sequences, heads and positions."""


def _form_of(shape: Sequence[int]) -> Shape | None:
    """The shape in which heads share tiles; None for others than several heads of one position."""
    if len(shape) != 4 or shape[1] == 1 or shape[2] != 1:
        return None
    return (1, shape[0], shape[1], shape[3])


def _compute(op: Operation, builder: Builder) -> SSAValue | None:
    """An operation on each number."""
    shape = value_shape(op.results[0])
    form = _form_of(shape)
    if form is None:
        return None
    large = [each for each in op.operands if value_shape(each) == shape]
    if not large or not all(made_by(each, *_SOURCES) for each in large):
        return None
    others = [_repeated(each, shape) for each in op.operands if each not in large]
    if None in others:
        return None
    new = type(op).create(
        operands=[
            builder.reshape(each, form if each in large else _repeated(each, shape) or ())
            for each in op.operands
        ],
        result_types=[tensor_like(op.results[0], form)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        location=op.location,
    )
    return builder.reshape(builder.insert(new).results[0], shape)


_SOURCES = ("reshape", "scaled_dot_product_attention")
"""What makes tensors that are moved to the form, or made in it."""


def _repeated(value: SSAValue, shape: Shape) -> Shape | None:
    """The shape in which a smaller operand is repeated as before; None if there is none."""
    own = value_shape(value)
    if len(own) < 2:
        return own
    sequences, heads, _, size = (1,) * (4 - len(own)) + own
    fits = sequences in (1, shape[0]) and heads in (1, shape[1]) and size in (1, shape[3])
    return (1, sequences, heads, size) if fits else None


def _slice(op: Operation, builder: Builder) -> SSAValue | None:
    """Some numbers of each head."""
    source, said = inputs_of(op)[0], parameters_of(op)
    form = _form_of(value_shape(source))
    if form is None or made_by(source, "reshape") is None:
        return None
    begins, ends, steps = (tuple(said[name]) for name in ("begins", "ends", "step"))
    if begins[:3] != (0, 0, 0) or ends[:3] != value_shape(source)[:3] or steps[:3] != _ROWS:
        return None
    shape = value_shape(op.results[0])
    part = builder.create(
        mnemonic_of(op),
        (builder.reshape(source, form),),
        tensor_like(op.results[0], (*form[:3], shape[3])),
        begins=(0, 0, 0, begins[3]),
        ends=(*form[:3], ends[3]),
        step=steps,
    )
    return builder.reshape(part, shape)


def _concat(op: Operation, builder: Builder) -> SSAValue | None:
    """Parts of each head side by side."""
    shape = value_shape(op.results[0])
    form = _form_of(shape)
    parts = inputs_of(op)
    if form is None or parameters_of(op)["dim"] not in (3, -1):
        return None
    if any(made_by(each, "reshape") is None for each in parts):
        return None
    whole = builder.create(
        "concat",
        [builder.reshape(each, (*form[:3], value_shape(each)[3])) for each in parts],
        tensor_like(op.results[0], form),
        dim=3,
    )
    return builder.reshape(whole, shape)


def _rotate(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Positions of sequences are rotated as those of one, which the library does at once."""
    shape = value_shape(op.results[0])
    form = _form_of(shape)
    name = cast("StringAttr", op.properties["composite_name"]).data
    if form is None or shape[0] == 1 or name != "rotary_embedding":
        return False
    x, *tables = op.operands
    if made_by(x, "reshape") is None or any(
        value_shape(each) != (shape[0], 1, 1, shape[3]) for each in tables
    ):
        return False
    builder = rewriter.builder(op)
    heads = builder.permute(builder.reshape(x, form), _HEADS_FIRST)
    table = (1, 1, shape[0], shape[3])
    rotated = create_rotation(op, [heads, *(builder.reshape(each, table) for each in tables)])
    rewriter.replace(op, builder.reshape(builder.permute(rotated, _HEADS_FIRST), shape))
    return True


_HEADS_FIRST = (0, 2, 1, 3)

RULES: Mapping[str, Sequence[ValueRule]] = {
    **{
        cls.name.removeprefix("ttir."): (_compute,)
        for cls in ttir.TTIR.operations
        if issubclass(cls, ttir.ElementwiseOp)
    },
    **dict.fromkeys(("slice", "slice_static"), (_slice,)),
    "concat": (_concat,),
}
"""Rules by the mnemonic of the operation."""
COMPOSITES: Mapping[str, Sequence[Rule]] = {"ttcore.composite": (_rotate,)}
"""Those of composites."""
