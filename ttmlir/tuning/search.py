"""In which order candidates are tried: greedily, from the operation that takes longest.

The search goes in rounds of several candidates, which may be tried at once. What a round tries
depends on the results of the rounds before alone, so the number of processes changes nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ttmlir.compiler import complete_options
from ttmlir.cost import estimate_program
from ttmlir.errors import CompilationError, InputError
from ttmlir.explorer.documents import ModuleDocument, open_documents
from ttmlir.explorer.overrides import MAX_OVERRIDES, Overrides, computing_by_name
from ttmlir.layout.data_format import is_block_float
from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.optable import DEFINITIONS
from ttmlir.passes.placement.layout_overrides import WEIGHT_DTYPES, LayoutOverride
from ttmlir.runtime.binary import BinaryProgram, Operation
from ttmlir.runtime.execution.operations import OperationCall, find_definition, read_call
from ttmlir.runtime.golden import least_correlation
from ttmlir.runtime.residency import results_of
from ttmlir.runtime.session import submit
from ttmlir.runtime.tensor import Array, Numerics, open_device
from ttmlir.runtime.ttrt.commands import Command
from ttmlir.runtime.ttrt.options import BINARY, COMMON_OPTIONS, Option, result_file
from ttmlir.runtime.ttrt.reports import Outcome
from ttmlir.runtime.ttrt.running import fit_inputs, generate_inputs, load_inputs

# --- Candidate ------------------------------------------------------------------------------------
# Compiles a model with some overrides, estimates it, and runs it where it may be better.
#
# A candidate is a command of the engine of sweeps, so that it runs in any of its processes, and its
# result is one of the results file.


class Model(NamedTuple):
    """What is compiled."""

    path: str
    board: str
    options: str = ""
    """Of the pipeline, besides the board."""


class Candidate(Command):
    """One choice of overrides: its estimated time, its memory and its accuracy."""

    name = "tune"
    summary = "Try overrides."
    options = (
        BINARY,
        *COMMON_OPTIONS,
        Option(name="--board", type=str, help="What to compile and estimate for."),
        Option(name="--pipeline-options", type=str, default="", help="Besides the board."),
        Option(name="--overrides", type=str, default="", help="As options of a pipeline."),
        Option(name="--time-limit", type=float, help="Nanoseconds from which on nothing is run."),
        Option(name="--seed", type=int, default=0, help="Of random inputs."),
        Option(name="--given", type=str, default=(), multiple=True, help="Files with inputs."),
        result_file(name),
    )

    def execute(self) -> None:
        """Note what the overrides bring."""
        [path] = self["binary"]
        overrides = Overrides.parse(self["overrides"])
        details: dict[str, Any] = {"overrides": self["overrides"]}
        model = Model(path, self["board"], self["pipeline_options"])
        document = open_model(model)
        try:
            program = document.compile_with_overrides(overrides).program(0)
        except CompilationError as error:
            reason = error.diagnostics[0].message
            self.note(path, outcome=Outcome.SKIP, exception=reason, details=details)
            return
        estimate = estimate_program(program, self["board"])
        memory = estimate.memory
        if memory is not None and not memory.fits:
            reason = str(memory.first_overflow)
            self.note(path, outcome=Outcome.SKIP, exception=reason, details=details)
            return
        by_index = {each.index: each.mid for each in estimate.operations}
        details |= {
            "time": estimate.total.mid,
            "low": estimate.total.low,
            "high": estimate.total.high,
            "times": {
                name: sum(by_index.get(operation.index, 0.0) for operation in operations)
                for name, operations in computing_by_name(program).items()
            },
        }
        limit = self["time_limit"]
        if limit is None or estimate.total.mid < limit:
            run = document.compile_with_overrides(_with_low_fidelity(overrides, program))
            given = tuple(self["given"])
            details["pcc"] = _measure_pcc(run.program(0), model, self["seed"], given)
        self.note(path, details=details)


def forget_models() -> None:
    """Read files again, which may have changed since an earlier search."""
    open_model.cache_clear()
    _golden.cache_clear()


@cache
def open_model(model: Model) -> ModuleDocument:
    """The module of a file, for a board; InputError for what has no overrides.

    DiagnosticError if it cannot be compiled.
    """
    path = model.path
    if path == "-":
        raise InputError("standard input cannot be read by several processes; give a file")
    if path.endswith((".ttnn", ".ttm", ".ttsys")):
        raise InputError(
            f"{path} is no model: give the .mlir file that the program was compiled from"
        )
    [document] = open_documents([path])
    if not isinstance(document, ModuleDocument):
        raise InputError(f"{path} is a folder; give one .mlir file")
    if document.pipeline is None:
        raise InputError(
            f"{path} is {document.stage} already; layouts are chosen on the way from ttir, "
            "stablehlo, tosa or linalg to ttnn: give the module from before"
        )
    document.settings = replace(document.settings, board=model.board)
    document.options = complete_options("ttnn", model.options)
    program = document.compile_with_overrides(Overrides())
    if not program.programs:
        raise InputError(f"{path} has no function; give a module with one")
    return document


def _with_low_fidelity(overrides: Overrides, program: BinaryProgram) -> Overrides:
    """The overrides, with LoFi for products of block floats without a fidelity.

    So the library multiplies them, and so they are estimated.
    """
    for name, operations in computing_by_name(program).items():
        for call in map(read_call, operations) if name not in overrides.fidelities else ():
            pair = [ref.desc.data_type for ref in call.operands[:2] if ref is not None]
            if call.definition.multiplies and all(map(is_block_float, pair)):
                overrides = overrides.with_fidelity(name, MathFidelity.LOFI)
                break
    return overrides


def _measure_pcc(program: BinaryProgram, model: Model, seed: int, given: tuple[str, ...]) -> float:
    """The least correlation of a result, in device numerics, with that of the model without
    overrides in exact ones; 1 for results that are equal."""
    inputs, expected = _golden(model, seed, given)
    return least_correlation(run_program(program, inputs, Numerics.DEVICE), expected)


@cache
def _golden(model: Model, seed: int, given: tuple[str, ...]) -> tuple[list[Array], list[Array]]:
    """Inputs, and the results of the model without overrides."""
    program = open_model(model).compile_with_overrides(Overrides()).program(0)
    if given:
        inputs = fit_inputs(program, load_inputs(given))
    else:
        inputs = generate_inputs(program, "randn", np.random.default_rng(seed))
    return inputs, run_program(program, inputs, Numerics.EXACT)


def run_program(program: BinaryProgram, inputs: list[Array], numerics: Numerics) -> list[Array]:
    """The results of a program with NumPy."""
    device = open_device(numerics=numerics)
    return [each.to_numpy() for each in submit(device, program.binary, program.index, inputs)]


# --- Search ---------------------------------------------------------------------------------------

# --- Moves ----------------------------------------------------------------------------------------
# What may be different about one operation: the layout of its result, and, of a product, the format
# of its weight and its fidelity.
#
# A move is written in keywords: those of a layout, or `weight=bfp_bf8`, `fidelity=lofi`.

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
    definition.flatbuffer.table
    for definition in DEFINITIONS.values()
    if definition.multiplies and definition.flatbuffer is not None
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
    except InputError:
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
    if call.definition.mnemonic != "matmul":
        return False
    ref = call.operands[1]
    assert ref is not None, "a product has two operands"
    number = ref.global_id
    while (maker := makers.get(number)) is not None:
        if maker.table in ("ConstantOp", "FullOp"):
            return True
        if maker.table == "CallOp":
            return bool(maker.scalar("cached"))
        if maker.table in ("WhileOp", "CaseOp"):
            return False
        read = [ref for refs in maker.tensor_fields.values() for ref in refs]
        sources = {each.global_id for each in read} - {each.global_id for each in results_of(maker)}
        is_move = maker.table in _MOVES or find_definition(maker).moves
        if not is_move or len(sources) != 1:
            return False
        [number] = sources
    return True


def merge(overrides: Overrides, changes: Mapping[str, str]) -> Overrides:
    """The overrides with some operations moved: what the keywords do not say stays.

    No keywords take the overrides of an operation back.
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
    """The keywords for all operations that may have them."""
    moves = {
        place.name: " ".join(word for word in words if _takes(place, word)) for place in places
    }
    return {name: taken for name, taken in moves.items() if taken}


def _takes(place: Place, word: str) -> bool:
    """True if an operation takes a keyword for all: of a layout, if its numbers may be such."""
    if "=" in word:
        return word in place.words
    data_type = LayoutOverride.parse(word).data_type
    return data_type is None or data_type.keyword in place.words


def has_format(words: str) -> bool:
    """True for keywords that name a type of numbers, or how exact products are."""
    return "=" in words or LayoutOverride.parse(words).data_type is not None


# --- Search ---------------------------------------------------------------------------------------

ROUND = 16
"""Candidates of a round."""
_LEAST_GAIN = 1e-6
"""Part of the time by which a candidate has to be better, so that rounding decides nothing."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What became of a candidate."""

    overrides: Overrides
    time: float | None = None
    """Nanoseconds; None if it cannot be compiled, or does not fit into memory."""
    low: float = 0.0
    high: float = 0.0
    pcc: float | None = None
    """None for candidates that were not run, as they are no faster than the best one."""
    times: Mapping[str, float] = field(default_factory=dict[str, float])
    """Nanoseconds of the operations of each name."""
    problem: str = ""


Measure = Callable[[Sequence[Overrides], float | None], Sequence[Trial]]
"""Tries candidates, and runs those that take less than the time, in nanoseconds."""


class Search:
    """A search with a budget of candidates, the one without overrides included."""

    def __init__(self, measure: Measure, budget: int, least_pcc: float, seed: int) -> None:
        """Try the program without overrides."""
        self._measure = measure
        self._left = budget
        self._least_pcc = least_pcc
        self._random = np.random.default_rng(seed)
        self._seen: set[str] = set()
        self.trials: list[Trial] = []
        [self.default] = self._try([Overrides()], None)
        self.best = self.default

    def run(self, places: Sequence[Place], formats: bool) -> None:
        """Search until the budget is used up, or nothing is left to try."""
        if self.default.time is None:
            return
        self._round(list_common_moves(places, formats))
        while self._left > 0:
            tried = len(self.trials)
            self._search_singly(places)
            self._search_pairs(places)
            if len(self.trials) == tried:
                return

    def _search_singly(self, places: Sequence[Place]) -> None:
        """Every move of every operation, those that take longest first."""
        moves = (
            {place.name: words} for place in self._longest(places) for words in (*place.words, "")
        )
        for some in self._rounds(moves):
            self._round(some)

    def _search_pairs(self, places: Sequence[Place]) -> None:
        """Two operations that follow each other, the same for both."""
        order = {place.name: number for number, place in enumerate(self._longest(places))}
        pairs = sorted(itertools.pairwise(places), key=lambda pair: order[pair[0].name])
        moves = (
            {one.name: words, other.name: _other_words(other, words)}
            for one, other in pairs
            for words in one.words
            if _other_words(other, words)
        )
        for some in self._rounds(moves):
            self._round(some)

    def _rounds(self, moves: Iterator[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
        """New candidates of one round after the other, until the budget is used up."""
        while self._left > 0:
            some: list[dict[str, str]] = []
            for move in moves:
                if merge(self.best.overrides, move).options not in self._seen:
                    some.append(move)
                if len(some) == ROUND:
                    break
            if not some:
                return
            yield some

    def _round(self, moves: Sequence[dict[str, str]]) -> None:
        """Try each move alone, then the best one of each operation together."""
        start = self.best
        trials = self._try([merge(start.overrides, move) for move in moves], start.time)
        by_options = {trial.overrides.options: trial for trial in trials}
        better = [
            (trial, move)
            for move in moves
            if (trial := by_options.get(merge(start.overrides, move).options)) is not None
            and self._is_better(trial, start)
        ]
        better.sort(key=lambda each: each[0].time or 0.0)
        together: dict[str, str] = {}
        for _, move in better:
            if not together.keys() & move.keys():
                together |= move
        if len(better) > 1:
            self._try([merge(start.overrides, together)], self.best.time)

    def _try(self, candidates: Sequence[Overrides], limit: float | None) -> Sequence[Trial]:
        """The trials of new candidates, as many as the budget allows; keeps the best one."""
        new = {each.options: each for each in candidates if each.options not in self._seen}
        chosen = list(new.values())[: self._left]
        if not chosen:
            return []
        self._left -= len(chosen)
        self._seen |= {each.options for each in chosen}
        trials = self._measure(chosen, limit)
        self.trials += trials
        for trial in trials:
            if len(self.trials) > 1 and self._is_better(trial, self.best):
                self.best = trial
        return trials

    def _is_better(self, trial: Trial, other: Trial) -> bool:
        if trial.time is None or other.time is None or trial.pcc is None:
            return False
        return trial.pcc >= self._least_pcc and trial.time < other.time * (1 - _LEAST_GAIN)

    def _longest(self, places: Sequence[Place]) -> list[Place]:
        """The operations by their times in the best candidate; chance orders those of one time."""
        chance = self._random.permutation(len(places))
        times = self.best.times
        ranked = sorted(
            zip(places, chance, strict=True),
            key=lambda each: (-round(times.get(each[0].name, 0.0)), each[1]),
        )
        return [place for place, _ in ranked]


def _other_words(place: Place, words: str) -> str:
    """The same keywords for another operation, with a grid of its own; empty if it has none."""
    _, _, spread = words.rpartition(":")
    return next((each for each in place.words if each.rpartition(":")[2] == spread), "")
