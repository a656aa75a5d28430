"""Rules of `ttnn-decomposition` for attention: products, softmax, and a mask.

softmax(query * key^T * scale + mask) * value; a causal mask is made of positions, and heads of keys
and values that several heads of queries share are repeated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, Signedness, f32

from ttmlir.dialects.definition.ods import ODSOperation
from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import with_element, with_shape
from ttmlir.ir.ttnn_values import TTNNValueBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


_SI64 = IntegerType(64, Signedness.SIGNED)


def _attention(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Attention without sinks and windows."""
    assert isinstance(op, ODSOperation)
    if op.group("attention_sink") or "sliding_window_size" in op.properties:
        return False
    build = TTNNValueBuilder.within(rewriter, op)
    query, key, value = (op.group(name)[0] for name in ("query", "key", "value"))
    heads, size = value_shape(query)[1], value_shape(query)[3]
    key, value = (_repeat_heads(build, each, heads) for each in (key, value))
    batch, _, positions, _ = value_shape(key)
    turned = with_shape(key.type, (batch, heads, size, positions))
    key = build.create("transpose", (key,), turned, dim0=-2, dim1=-1)
    scores_type = with_shape(query.type, (*value_shape(query)[:3], positions))
    scores = _product(build, query, key, scores_type)
    scale = op.properties.get("scale", FloatAttr(1 / math.sqrt(size), f32))
    factor = build.full(scale, with_shape(query.type, (1, 1, 1, 1)))
    scores = build.create_binary("multiply", scores, factor, scores_type)
    mask = _mask(op, build, scores)
    if mask is not None:
        scores = build.create_binary("add", scores, mask, scores_type)
    parameters = {"dimension": -1, "numericStable": True}
    weights = build.create("softmax", (scores,), scores_type, **parameters)
    rewriter.replace(op, _product(build, weights, value, op.results[0].type))
    return True


def _product(build: TTNNValueBuilder, a: SSAValue, b: SSAValue, type_: Attribute) -> SSAValue:
    return build.create("matmul", (a, b), type_, transpose_a=False, transpose_b=False)


def _repeat_heads(build: TTNNValueBuilder, value: SSAValue, heads: int) -> SSAValue:
    shape = value_shape(value)
    if shape[1] == heads:
        return value
    type_ = with_shape(value.type, (shape[0], heads, *shape[2:]))
    repeats = heads // shape[1]
    return build.create("repeat_interleave", (value,), type_, repeats=repeats, dim=1)


def _mask(op: ODSOperation, build: TTNNValueBuilder, scores: SSAValue) -> SSAValue | None:
    given = op.group("attention_mask")
    if given:
        return _repeat_mask(build, given[0], value_shape(scores))
    if not cast("IntegerAttr", op.properties["is_causal"]).value.data:
        return None
    return _causal_mask(build, scores)


def _repeat_mask(build: TTNNValueBuilder, mask: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The mask for all heads."""
    own = value_shape(mask)
    factors = tuple(
        extent // given if dim == 1 else 1
        for dim, (extent, given) in enumerate(zip(shape, own, strict=True))
    )
    if all(factor == 1 for factor in factors):
        return mask
    repeated = tuple(extent * factor for extent, factor in zip(own, factors, strict=True))
    type_ = with_shape(mask.type, repeated)
    return build.create("repeat", (mask,), type_, repeat_dims=ShapeAttr.of(factors))


def _causal_mask(build: TTNNValueBuilder, scores: SSAValue) -> SSAValue:
    """-infinity where a key comes after the query, 0 elsewhere."""
    _, _, rows, columns = value_shape(scores)
    numbers = with_element(scores.type, f32)

    def positions(count: int, shape: tuple[int, ...]) -> SSAValue:
        line = build.create(
            "arange",
            (build.device(),),
            with_shape(numbers, (count,)),
            start=IntegerAttr(0, _SI64),
            end=IntegerAttr(count, _SI64),
            step=IntegerAttr(1, _SI64),
        )
        return build.create("reshape", (line,), with_shape(numbers, shape), shape=shape)

    query = positions(rows, (1, 1, rows, 1))
    key = positions(columns, (1, 1, 1, columns))
    type_ = with_shape(numbers, (1, 1, rows, columns))
    later = build.create_binary("gt", key, query, type_)
    zero = build.full(FloatAttr(0.0, f32), type_)
    hidden = build.full(FloatAttr(-math.inf, f32), type_)
    mask = build.create("where", (later, hidden, zero), type_)
    return build.typecast(mask, with_element(type_, element_type(scores)))


def _decode(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Attention of one position, to those of a cache that are not after it."""
    assert isinstance(op, ODSOperation)
    if op.group("attention_sink") or "sliding_window_size" in op.properties:
        return False
    build = TTNNValueBuilder.within(rewriter, op)
    query, key, value = (op.group(name)[0] for name in ("query", "key", "value"))
    _, batch, heads, size = value_shape(query)
    inside = with_shape(query.type, (batch, heads, 1, size))
    query = build.create("reshape", (query,), inside, shape=(batch, heads, 1, size))
    given = op.group("attention_mask")
    mask = given[0] if given else _mask_of_position(op, build, key)
    new = build.create_grouped(
        "scaled_dot_product_attention",
        (query, key, value, mask, None),
        (inside,),
        is_causal=False,
        **scale_of(op),
    )
    shape = value_shape(op.results[0])
    result = build.create("reshape", new.results, op.results[0].type, shape=shape)
    rewriter.replace(op, result)
    return True


def scale_of(op: Operation) -> dict[str, float]:
    """What scores are multiplied by, as a parameter, if an operation says it."""
    attr = op.properties.get("scale")
    return {"scale": attr.value.data} if isinstance(attr, FloatAttr) else {}


def _mask_of_position(op: ODSOperation, build: TTNNValueBuilder, key: SSAValue) -> SSAValue | None:
    """-infinity for keys that come after the position of their sequence."""
    positions = op.group("cur_pos_tensor")
    if not positions or not cast("IntegerAttr", op.properties["is_causal"]).value.data:
        return None
    element, count = element_type(op.group("query")[0]), value_shape(key)[2]
    numbers = with_element(key.type, element)
    line = build.create(
        "arange",
        (build.device(),),
        with_shape(numbers, (count,)),
        start=IntegerAttr(0, _SI64),
        end=IntegerAttr(count, _SI64),
        step=IntegerAttr(1, _SI64),
    )
    shape = (1, 1, 1, count)
    keys = build.create("reshape", (line,), with_shape(numbers, shape), shape=shape)
    users = (value_shape(positions[0])[0], 1, 1, 1)
    current = build.create("reshape", positions, with_shape(positions[0].type, users), shape=users)
    current = build.typecast(current, with_element(current.type, element))
    type_ = with_shape(numbers, (users[0], 1, 1, count))
    later = build.create_binary("gt", keys, current, type_)
    zero = build.full(FloatAttr(0.0, f32), type_)
    hidden = build.full(FloatAttr(-math.inf, f32), type_)
    return build.create("where", (later, hidden, zero), type_)


RULES: Mapping[str, Sequence[Rule]] = {
    "ttnn.scaled_dot_product_attention": (_attention,),
    "ttnn.scaled_dot_product_attention_decode": (_decode,),
}
"""Rules by the name of the operation."""
