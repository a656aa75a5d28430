"""Records of `.ttnn` files of 2026 that write caches of keys and values in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ttmlir.optable.library import DEFINITIONS
from ttmlir.runtime.binary import Operation, TensorRef

_MNEMONICS = {
    "FillCacheOp": "fill_cache",
    "UpdateCacheOp": "update_cache",
    "PagedFillCacheOp": "paged_fill_cache",
    "PagedUpdateCacheOp": "paged_update_cache",
}
"""Operations by their tables."""


class Translator(Protocol):
    """Takes the operations of a program as the executor knows them."""

    def call(
        self,
        mnemonic: str,
        operands: Sequence[TensorRef | None],
        outputs: TensorRef,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """A call of a definition."""
        ...


def _write(t: Translator, record: Operation) -> None:
    """Let the cache be what the operation makes of it, from here on."""
    mnemonic = _MNEMONICS[record.table]
    definition = DEFINITIONS[mnemonic]
    operands = [
        record.tensor(each.name) if record.has(each.name) or not each.optional else None
        for each in definition.operands
    ]
    parameters = {each.name: record.scalar(each.name) for each in definition.parameters}
    t.call(mnemonic, operands, record.tensor("cache"), parameters)


CONVERTERS: dict[str, Callable[[Any, Operation], None]] = dict.fromkeys(_MNEMONICS, _write)
"""By table."""
