"""Programs of a language model whose keys and values stay in the model from call to call.

Each takes as many tokens of each prompt as its name says, from a position of its own on, writes
their keys and values into the caches, and returns the scores of one token for each prompt, or of
all. Frontends make the models; the programs are in one file, with the weights once.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ttmlir.errors import ArgumentTypeError
from ttmlir.frontend.calls import NumericsName, as_array
from ttmlir.frontend.compiled import CompiledPrograms, ImportedModel, Program
from ttmlir.runtime.tensor import Array


@dataclass(frozen=True, order=True)
class Step:
    """A program: how many prompts and how many tokens of each it takes."""

    batch: int
    tokens: int
    scores_all: bool = False
    """Whether it returns the scores of all tokens, not those of one for each prompt."""

    @property
    def name(self) -> str:
        """That of the program in the file."""
        kind = "check" if self.scores_all else "decode" if self.tokens == 1 else "prefill"
        length = "" if kind == "decode" else f"_{self.tokens}"
        return f"{kind}{length}_batch_{self.batch}"


def check_call(name: str, function: Any, *arguments: str) -> None:
    """TypeError for what cannot be called with so many arguments."""
    with suppress(ValueError):  # Of a function whose parameters Python does not know.
        try:
            inspect.signature(function).bind(*arguments)
        except TypeError as error:
            raise ArgumentTypeError(
                f"a Generator calls {name}({', '.join(arguments)}), which is not possible: {error}"
            ) from error


class CacheSize(NamedTuple):
    """The tensors in which a model keeps what it has seen."""

    tensors: int
    bytes: int


@dataclass(frozen=True)
class Pages:
    """The parts of a cache that prompts take one by one as they grow."""

    count: int
    size: int
    """Positions of one."""

    def needed(self, tokens: int) -> int:
        """How many so many tokens take."""
        return -(-tokens // self.size)


@dataclass(frozen=True)
class SteppingModel:
    """A model as a frontend hands it over."""

    name: str
    steps: dict[Step, ImportedModel]
    caches: dict[int, CacheSize]
    """By the number of prompts."""


def run_step(
    program: Program,
    step: Step,
    rows: Sequence[tuple[Sequence[int], int]],
    numerics: NumericsName,
    table: Array | None = None,
) -> Array:
    """Scores after the last `step.tokens` tokens of each row, which ends before a place.

    A row is its tokens and that place; rows may be fewer than the program takes. What comes before
    these tokens is in the cache, whose pages a `table` may name. The result has the scores of one
    token, or of all, for each row.
    """
    tokens = np.zeros((step.batch, step.tokens), np.int32)
    starts, last = np.zeros((2, step.batch), np.int32)
    for row, (sequence, end) in enumerate(rows):
        # Tokens that are in the cache already are written again, with the same numbers.
        begin = max(0, end - step.tokens)
        tokens[row, : end - begin] = sequence[begin:end]
        starts[row], last[row] = begin, end - begin - 1
    arguments = (tokens, starts) if step.scores_all else (tokens, starts, last)
    if table is not None:
        arguments = (*arguments, table)
    scores: Array = np.asarray(as_array(program(*arguments, numerics=numerics), "scores"))
    return scores[: len(rows)].astype(np.float32)


def compile_steps(
    model: SteppingModel, *, numerics: NumericsName, options: str, board: str | None
) -> CompiledPrograms:
    """The programs of all steps, by their names."""
    if not any(word.startswith("spelling=") for word in options.split()):
        # Results of earlier programs go to the host, caches with them.
        options = f"{options} spelling=2026".lstrip()
    return CompiledPrograms(
        {step.name: imported for step, imported in model.steps.items()},
        numerics=numerics,
        options=options,
        board=board,
        examples={step.name: ((), {}) for step in model.steps},
    )
