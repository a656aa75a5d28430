"""What may be different about one operation: the layout of its result, and, of a product, the
format of its weight and its fidelity.

A move is written in words: those of a layout, or `weight=bfp_bf8`, `fidelity=lofi`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from ttmlir.explorer.overrides import MAX_OVERRIDES, OverrideError, Overrides, computing_by_name
from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.optable import ROWS
from ttmlir.passes.placement.layout_overrides import LayoutOverride
from ttmlir.passes.ttnn.product_options import WEIGHT_DTYPES
from ttmlir.runtime.binary import BinaryProgram, Operation
from ttmlir.runtime.execution.operations import OperationCall, find_row, read_call
from ttmlir.runtime.memory import results_of

_WEIGHTS = tuple(f"weight={each.keyword}" for each in WEIGHT_DTYPES)
_FIDELITIES = ("fidelity=lofi", "fidelity=hifi2", "fidelity=hifi4")
EVERYWHERE: tuple[tuple[str, ...], ...] = (
    ("l1:interleaved",),
    ("bf16",),
    ("weight=bfp_bf8",),
    ("fidelity=lofi",),
    ("weight=bfp_bf8", "fidelity=lofi"),
    ("bf16", "weight=bfp_bf8", "fidelity=lofi"),
    ("l1:interleaved:bf16",),
    ("l1:interleaved:bfp_bf8",),
    ("bfp_bf8",),
    ("l1:interleaved:bf16", "weight=bfp_bf8", "fidelity=lofi"),
    ("l1:interleaved:bfp_bf8", "weight=bfp_bf8", "fidelity=lofi"),
)
"""What is tried for all operations together, as far as they take it."""

_TILE = 32
_PRODUCTS = frozenset(
    row.flatbuffer.table for row in ROWS.values() if row.multiplies and row.flatbuffer is not None
)
_WITHOUT_NUMBERS = frozenset({"GetDeviceOp", "EmptyOp", "DeallocOp"})
_MOVES = frozenset({"ToLayoutOp", "ToDeviceOp", "ToMemoryConfigOp"})

Makers = Mapping[int, Operation]
"""What writes each tensor, by its number."""


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
    makers = _find_makers(program)
    found = [
        Place(name, tuple(_words(makers, operations, workers, formats)))
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


def _find_makers(program: BinaryProgram) -> Makers:
    return {
        result.global_id: operation
        for operation in program.operations
        if operation.table not in _WITHOUT_NUMBERS
        for result in results_of(operation)
    }


def _words(
    makers: Makers, operations: Sequence[Operation], workers: tuple[int, int], formats: bool
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
    if not formats:
        return
    calls = [read_call(operation) for operation in operations if _multiplies(operation)]
    if any(_has_weight(makers, call) for call in calls):
        yield from _WEIGHTS
    if calls:
        yield from _FIDELITIES


def _multiplies(operation: Operation) -> bool:
    return operation.table in _PRODUCTS


def _has_weight(makers: Makers, call: OperationCall) -> bool:
    """True for a product whose second operand nothing computes, as the compiler sees it."""
    if call.row.mnemonic != "matmul":
        return False
    ref = call.operands[1]
    assert ref is not None, "a product has two operands"
    number = ref.global_id
    while (maker := makers.get(number)) is not None:
        if maker.table in ("ConstantOp", "FullOp"):
            return True
        read = [ref for refs in maker.tensor_fields.values() for ref in refs]
        sources = {each.global_id for each in read} - {each.global_id for each in results_of(maker)}
        is_move = maker.table in _MOVES or find_row(maker).moves
        if not is_move or len(sources) != 1:
            return False
        [number] = sources
    return True


def merge(overrides: Overrides, changes: Mapping[str, str]) -> Overrides:
    """The overrides with some operations moved: what the words do not say stays.

    No words take the overrides of an operation back.
    """
    for name, words in changes.items():
        if not words and name in overrides.names:
            overrides = overrides.without(name)
        for one in filter(None, words.split(" ")):
            overrides = _with_words(overrides, name, one)
    return overrides


def _with_words(overrides: Overrides, name: str, words: str) -> Overrides:
    kind, _, value = words.rpartition("=")
    if kind == "weight":
        return overrides.with_weight(name, DataType.from_keyword(value))
    if kind == "fidelity":
        return overrides.with_fidelity(name, MathFidelity.from_keyword(value))
    asked = LayoutOverride.parse(words)
    old = overrides.layouts.get(name, LayoutOverride())
    given = {field.name: getattr(asked, field.name) for field in fields(asked)}
    if asked.memory_layout is not None:
        # A grid belongs to the way in which the parts are spread.
        old = replace(old, grid=None)
    merged = replace(old, **{key: value for key, value in given.items() if value is not None})
    return overrides.with_layout(name, str(merged))


def list_common_moves(places: Sequence[Place], formats: bool) -> list[dict[str, str]]:
    """Moves of all operations together."""
    moves = [
        _move_all(places, words)
        for words in EVERYWHERE
        if formats or not any(map(has_format, words))
    ]
    return [move for move in moves if move]


def _move_all(places: Sequence[Place], words: Sequence[str]) -> dict[str, str]:
    """The words for all operations that may have them."""
    moves = {
        place.name: " ".join(word for word in words if _takes(place, word)) for place in places
    }
    return {name: taken for name, taken in moves.items() if taken}


def _takes(place: Place, word: str) -> bool:
    """True if an operation takes a word for all: of a layout, if its numbers may be such."""
    if "=" in word:
        return word in place.words
    data_type = LayoutOverride.parse(word).data_type
    return data_type is None or data_type.keyword in place.words


def has_format(words: str) -> bool:
    """True for words that name a type of numbers, or how exact products are."""
    return "=" in words or LayoutOverride.parse(words).data_type is not None
