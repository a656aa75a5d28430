"""What may be different about the layout of one operation's result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from ttmlir.explorer.overrides import MAX_OVERRIDES, OverrideError, Overrides, computing_by_name
from ttmlir.passes.placement.layout_overrides import LayoutOverride
from ttmlir.runtime.binary import BinaryProgram, Operation
from ttmlir.runtime.memory import results_of

EVERYWHERE = ("l1:interleaved", "bf16", "l1:interleaved:bf16", "l1:interleaved:bfp_bf8", "bfp_bf8")
"""What is tried for all operations together."""

_TILE = 32


@dataclass(frozen=True)
class Place:
    """An operation, or several of one name."""

    name: str
    """As overrides call it."""
    words: tuple[str, ...]
    """What may be asked of it."""


def list_places(program: BinaryProgram, workers: tuple[int, int], formats: bool) -> list[Place]:
    """The operations of a program that overrides can name, in its order.

    `workers` is the grid of cores; `formats` allows narrower numbers. Of very many operations the
    first ones are listed, as overrides take no more.
    """
    found = [
        Place(name, tuple(_words(operations, workers, formats)))
        for name, operations in computing_by_name(program).items()
        if _is_nameable(name)
    ]
    return found[:MAX_OVERRIDES]


def _is_nameable(name: str) -> bool:
    try:
        Overrides().with_layout(name, "dram")
    except OverrideError:
        return False
    return True


def _words(
    operations: Sequence[Operation], workers: tuple[int, int], formats: bool
) -> Iterator[str]:
    descs = [results_of(operation)[0].desc for operation in operations]
    shape = descs[0].shape
    rows = max(1, math.ceil(math.prod(shape[:-1]) / _TILE))
    columns = max(1, math.ceil((shape[-1] if shape else 1) / _TILE))
    cores = math.prod(workers)
    yield "l1:interleaved"
    yield f"{min(rows, cores)}x1:l1:height_sharded"
    yield f"{min(rows, workers[0])}x{min(columns, workers[1])}:l1:block_sharded"
    yield f"1x{min(columns, cores)}:l1:width_sharded"
    if formats and all(desc.element.is_float for desc in descs):
        yield "bf16"
        yield "bfp_bf8"
    yield "dram:interleaved"


def merge(overrides: Overrides, changes: Mapping[str, str]) -> Overrides:
    """The overrides with some operations moved: what the words do not say stays.

    No words take the overrides of an operation back.
    """
    for name, words in changes.items():
        if not words:
            overrides = overrides.without(name) if name in overrides.layouts else overrides
            continue
        asked = LayoutOverride.parse(words)
        old = overrides.layouts.get(name, LayoutOverride())
        given = {field.name: getattr(asked, field.name) for field in fields(asked)}
        if asked.memory_layout is not None:
            # A grid belongs to the way in which the parts are spread.
            old = replace(old, grid=None)
        merged = replace(old, **{key: value for key, value in given.items() if value is not None})
        overrides = overrides.with_layout(name, str(merged))
    return overrides


def list_common_moves(places: Sequence[Place], formats: bool) -> list[dict[str, str]]:
    """Moves of all operations together."""
    return [_move_all(places, words) for words in EVERYWHERE if formats or not has_format(words)]


def _move_all(places: Sequence[Place], words: str) -> dict[str, str]:
    """The words for all operations that may have these numbers."""
    data_type = LayoutOverride.parse(words).data_type
    return {
        place.name: words
        for place in places
        if data_type is None or data_type.keyword in place.words
    }


def has_format(words: str) -> bool:
    """True for words that name a type of numbers."""
    return LayoutOverride.parse(words).data_type is not None
