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


def _attention(t: Translator, record: Operation) -> None:
    """softmax(query * key^T * scale + mask) * value, of [batch, heads, positions, size].

    Numbers between are kept in 32 bits. Heads of queries share those of keys in groups.
    """
    for name in ("sliding_window_size", "attention_sink"):
        if record.has(name):
            raise UnsupportedError(f"{record.where}: the runtime has no '{name}' of attention")
    query, key, value = (record.tensor(name) for name in ("query", "key", "value"))
    out = record.tensor("out")
    batch, heads, rows, size = _shape_of(record, query, "queries")
    _, groups, positions, _ = _shape_of(record, key, "keys")
    if not groups or heads % groups:
        raise BinaryError(f"{record.where}: {heads} heads cannot share {groups} of keys in groups")
    query, key, value = (_widened(t, each) for each in (query, key, value))
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
    if record.has("attention_mask"):
        scores = t.apply("add", scores, record.tensor("attention_mask"))
    elif record.scalar("is_causal"):
        scores = _mask_later(t, scores, rows, positions)
    weights = t.apply("softmax", scores, parameters={"dimension": 3})
    weights = t.reshape(weights, (batch, groups, heads // groups * rows, positions))
    shape = (batch, groups, heads // groups * rows, value.desc.shape[-1])
    result = t.apply("matmul", weights, value, shape=shape)
    result = t.reshape(result, (*(batch, heads, rows), value.desc.shape[-1]))
    t.call("typecast", (result,), out, is_free=True)


def _widened(t: Translator, ref: TensorRef) -> TensorRef:
    wide = t.between(ref, element="Float32")
    t.call("typecast", (ref,), wide, is_free=True)
    return wide


def _mask_later(t: Translator, scores: TensorRef, rows: int, positions: int) -> TensorRef:
    """-infinity for keys that come after the query."""
    shape = (1, 1, rows, positions)
    lines: list[TensorRef] = []
    for dim, count in ((2, rows), (3, positions)):
        line = t.between(scores, shape)
        bounds = {"start": 0, "end": count, "step": 1, "arange_dimension": dim}
        t.call("arange", (), line, bounds)
        lines.append(line)
    later = t.apply("gt", lines[1], lines[0], shape=shape)
    return t.apply("where", later, t.number(-math.inf, scores), scores, shape=scores.desc.shape)


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
    "ScaledDotProductAttentionOp": _attention,
}
"""By table."""
