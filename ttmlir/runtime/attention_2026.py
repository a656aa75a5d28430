"""Records of `.ttnn` files of 2026 for attention: heads, their products, and heads side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ttmlir.errors import plural
from ttmlir.optable.op_definition import Shape
from ttmlir.runtime.binary import Operation, TensorRef
from ttmlir.runtime.errors import BinaryError, UnsupportedError


class Translator(Protocol):
    """Takes the operations of a program as the executor knows them."""

    def call(
        self,
        mnemonic: str,
        operands: Sequence[TensorRef | None],
        outputs: TensorRef,
        parameters: Mapping[str, Any] | None = None,
        *,
        is_free: bool = False,
    ) -> None:
        """A call of a definition."""
        ...

    def apply(
        self,
        mnemonic: str,
        *operands: TensorRef,
        shape: Shape | None = None,
        is_free: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> TensorRef:
        """The result of a call, for the next operation of the record."""
        ...

    def number(self, value: float, like: TensorRef) -> TensorRef:
        """A tensor of one number, of the rank of another one."""
        ...

    def between(
        self, like: TensorRef, shape: Shape | None = None, element: str | None = None
    ) -> TensorRef:
        """A tensor for the next operation of the record, kept as another one."""
        ...

    def widened(self, ref: TensorRef) -> TensorRef:
        """The numbers as floats of 32 bits, or of 64 if they have these."""
        ...

    def reshape(self, ref: TensorRef, shape: Shape) -> TensorRef:
        """The same elements in another shape."""
        ...

    def permute(self, ref: TensorRef, permutation: Shape) -> TensorRef:
        """The dimensions in another order."""
        ...


def _concatenate_heads(t: Translator, record: Operation) -> None:
    """Batches, heads, positions, sizes; the heads of a position stand side by side."""
    source, out = record.tensor("in"), record.tensor("out")
    extents, order = _shape_of(record, source, "heads"), (0, 2, 1, 3)
    shape = tuple(extents[dim] for dim in order)
    moved = t.apply("permute", source, shape=shape, parameters={"permutation": order})
    t.call("reshape", (moved,), out, {"shape": out.desc.shape}, is_free=True)


def _rotate(t: Translator, record: Operation) -> None:
    """x * cos + concat(-second half of x, first half) * sin, with rounding at the end alone."""
    if record.has("token_index"):
        raise UnsupportedError(f"{record.where}: the runtime has no 'token_index' of rotations")
    source, *tables = (record.tensor(name) for name in ("input", "cos_cache", "sin_cache"))
    out = record.tensor("out")
    shape = _shape_of(record, source, "numbers")
    size = shape[3]
    for table in tables:
        rows = _shape_of(record, table, "tables")
        if size % 2 or rows[:2] != (1, 1) or rows[3] != size or rows[2] < shape[2]:
            raise BinaryError(
                f"{record.where}: a table of {list(rows)} does not rotate {list(shape)}"
            )
    cosine, sine = (_columns(t, each, 0, size, rows=shape[2]) for each in tables)
    x = t.widened(source)
    halves = [_columns(t, x, begin, begin + size // 2) for begin in (size // 2, 0)]
    halves[0] = t.apply("neg", halves[0])
    turned = t.apply("concat", *halves, shape=shape, parameters={"dim": 3})
    plain, turned = t.apply("multiply", x, cosine), t.apply("multiply", turned, sine)
    t.call("typecast", (t.apply("add", plain, turned),), out, is_free=True)


def _columns(
    t: Translator, ref: TensorRef, begin: int, end: int, *, rows: int | None = None
) -> TensorRef:
    """Some columns of all, or of the first, rows."""
    shape = (*ref.desc.shape[:2], ref.desc.shape[2] if rows is None else rows, end - begin)
    parameters = {
        "begins": (0, 0, 0, begin),
        "ends": (*shape[:3], end),
        "step": (1, 1, 1, 1),
    }
    return t.apply("slice", ref, shape=shape, parameters=parameters)


def _attention(t: Translator, record: Operation) -> None:
    """Of all positions of a sequence."""
    query, key, value = (record.tensor(name) for name in ("query", "key", "value"))
    mask = record.tensor("attention_mask") if record.has("attention_mask") else None
    last = None
    if mask is None and record.scalar("is_causal"):
        last = _count(t, query, query.desc.shape[2], 2)
    result = _attend(t, record, (query, key, value), mask, last)
    t.call("typecast", (result,), record.tensor("out"), is_free=True)


def _decode(t: Translator, record: Operation) -> None:
    """Of one position of each sequence: the query is 1 x batch x heads x size.

    Positions are the last ones that count. With a table of pages, those of each sequence are
    looked up in the caches of keys and values: pages x heads x positions of a page x size.
    """
    query, key, value = (record.tensor(name) for name in ("query", "key", "value"))
    _, batch, heads, size = _shape_of(record, query, "queries")
    mask = record.tensor("attention_mask") if record.has("attention_mask") else None
    last = None
    if record.has("cur_pos_tensor"):
        last = t.widened(t.reshape(record.tensor("cur_pos_tensor"), (batch, 1, 1, 1)))
    elif mask is None and record.scalar("is_causal"):
        raise UnsupportedError(
            f"{record.where}: the runtime decodes attention with a mask or with positions"
        )
    if record.optional_field("page_table") is not None:
        pages = record.tensor("page_table")
        key, value = (_look_up_pages(t, record, each, pages) for each in (key, value))
    if mask is not None:
        users, _, given, positions = _shape_of(record, mask, "masks")
        mask = t.reshape(mask, (users, given, 1, positions))
    single = t.reshape(query, (batch, heads, 1, size))
    result = _attend(t, record, (single, key, value), mask, last)
    out = record.tensor("out")
    t.call("typecast", (t.reshape(result, out.desc.shape),), out, is_free=True)


def _look_up_pages(
    t: Translator, record: Operation, cache: TensorRef, pages: TensorRef
) -> TensorRef:
    """The positions of each sequence, one page after the other."""
    _, heads, rows, size = _shape_of(record, cache, "pages")
    users, count = pages.desc.shape
    whole = t.reshape(cache, (cache.desc.shape[0], heads * rows * size))
    found = t.between(cache, (users * count, heads * rows * size))
    t.call("embedding", (t.reshape(pages, (users * count,)), whole), found)
    parts = t.reshape(found, (users, count, heads, rows, size))
    return t.reshape(t.permute(parts, (0, 2, 1, 3, 4)), (users, heads, count * rows, size))


def _attend(
    t: Translator,
    record: Operation,
    operands: tuple[TensorRef, TensorRef, TensorRef],
    mask: TensorRef | None,
    last: TensorRef | None,
) -> TensorRef:
    """softmax(query * key^T * scale + mask) * value, of [batch, heads, positions, size].

    Numbers between are kept in 32 bits. Heads of queries share those of keys in groups. Keys after
    the `last` position, which queries or sequences have of their own, do not count.
    """
    for name in ("sliding_window_size", "attention_sink"):
        if record.has(name):
            raise UnsupportedError(f"{record.where}: the runtime has no '{name}' of attention")
    query, key, value = operands
    batch, heads, rows, size = _shape_of(record, query, "queries")
    _, groups, positions, _ = _shape_of(record, key, "keys")
    if not groups or heads % groups:
        raise BinaryError(f"{record.where}: {heads} heads cannot share {groups} of keys in groups")
    query, key, value = (t.widened(each) for each in (query, key, value))
    # Heads of a group follow each other, as rows of one matrix.
    grouped = t.reshape(query, (batch, groups, heads // groups * rows, size))
    scores = t.apply(
        "matmul",
        grouped,
        t.permute(key, (0, 1, 3, 2)),
        shape=(batch, groups, heads // groups * rows, positions),
    )
    scores = t.reshape(scores, (batch, heads, rows, positions))
    given = record.scalar("scale")
    scale = 1 / math.sqrt(size) if given is None else float(given)
    scores = t.apply("multiply", scores, t.number(scale, scores))
    if mask is not None:
        scores = t.apply("add", scores, mask)
    if last is not None:
        shape, here = (batch, heads, rows, positions), _count(t, scores, positions, 3)
        seen = tuple(max(pair) for pair in zip(last.desc.shape, here.desc.shape, strict=True))
        later = t.apply("gt", here, last, shape=seen)
        scores = t.apply("where", later, t.number(-math.inf, scores), scores, shape=shape)
    weights = t.apply("softmax", scores, parameters={"dimension": 3})
    weights = t.reshape(weights, (batch, groups, heads // groups * rows, positions))
    shape = (batch, groups, heads // groups * rows, value.desc.shape[-1])
    result = t.apply("matmul", weights, value, shape=shape)
    return t.reshape(result, (*(batch, heads, rows), value.desc.shape[-1]))


def _count(t: Translator, like: TensorRef, count: int, dim: int) -> TensorRef:
    """The numbers of positions along a dimension of four."""
    shape = tuple(count if each == dim else 1 for each in range(4))
    line = t.between(like, shape, element="Float32")
    t.call("arange", (), line, {"start": 0, "end": count, "step": 1, "arange_dimension": dim})
    return line


def _shape_of(record: Operation, ref: TensorRef, what: str) -> Shape:
    shape = ref.desc.shape
    if len(shape) != 4:
        raise BinaryError(
            f"{record.where}: its {what} have {plural(len(shape), 'dimension')}, not 4"
        )
    return shape


CONVERTERS: dict[str, Callable[[Any, Operation], None]] = {
    "ConcatenateHeadsOp": _concatenate_heads,
    "NLPConcatHeadsOp": _concatenate_heads,
    "PagedScaledDotProductAttentionDecodeOp": _decode,
    "RotaryEmbeddingOp": _rotate,
    "ScaledDotProductAttentionDecodeOp": _decode,
    "ScaledDotProductAttentionOp": _attention,
}
"""By table."""
