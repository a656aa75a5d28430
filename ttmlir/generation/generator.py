"""`ttmlir.generate` and `ttmlir.Generator`: language models that write tokens.

    generator = ttmlir.Generator(model, max_length=256)
    print(generator.generate([5, 17, 3], max_new_tokens=20).tokens)
    for token in generator.stream([5, 17, 3], temperature=0.8, seed=1):
        print(token.id)

A prompt is read in a few calls, and then each token takes one. Keys and values of earlier tokens
are state of the programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, check_whole, plural
from ttmlir.frontend.calls import NumericsName, checked_numerics
from ttmlir.frontend.compiled import CompiledPrograms
from ttmlir.generation.beams import BeamLimits, BeamSearch
from ttmlir.generation.sampling import Sampling
from ttmlir.generation.stepping import (
    CacheSize,
    Pages,
    Step,
    SteppingModel,
    compile_steps,
    run_step,
)
from ttmlir.generation.text import Decode, TextReader
from ttmlir.runtime.tensor import Array

if TYPE_CHECKING:
    from ttmlir.frontend.weights.loading import Paths, WeightFiles
    from ttmlir.generation.summary import GenerationSummary

Reason = Literal["stop", "length", "full"]
"""Why a text ends: a stop token or string, `max_new_tokens`, or `max_length` of the generator."""

MAX_LENGTH = 256
MAX_NEW_TOKENS = 20
PROMPT_LENGTHS = (32, 128)
PAGE_SIZE = 32
MAX_STOPS = 64
"""Most strings to stop at."""


class Token(NamedTuple):
    """A token as it comes."""

    prompt: int
    """The number of the prompt that it follows."""
    id: int
    text: str | None
    """What it adds to the text, if there is a tokenizer."""
    reason: Reason | None
    """Why it is the last one; None if it is not."""


@dataclass(frozen=True)
class Generation:
    """What was written after a prompt."""

    tokens: list[int]
    """Without those of the prompt, with a stop token at the end if there was one."""
    reason: Reason
    text: str | None = None
    """Without stop strings and what follows; None without a tokenizer."""


@dataclass(frozen=True)
class _Limits:
    """When a text ends."""

    max_new_tokens: int
    stop_tokens: frozenset[int]
    stop_strings: tuple[str, ...]
    decode: Decode | None


@dataclass
class _Row:
    """A prompt, what was written after it, and how it goes on."""

    number: int
    tokens: list[int]
    choose: Callable[[Array, Sequence[int]], int]
    reader: TextReader | None
    written: int = 0
    reason: Reason | None = None

    def write(self, scores: Array, limits: _Limits, max_length: int) -> Token:
        """Choose the next token from its scores."""
        token = self.choose(scores, self.tokens)
        self.tokens.append(token)
        self.written += 1
        text = None
        is_stop = token in limits.stop_tokens
        if self.reader is not None:
            # The token that ends a text is no part of it.
            text = self.reader.finish() if is_stop else self.reader.add(token)
            is_stop = is_stop or self.reader.is_stopped
        if is_stop:
            self.reason = "stop"
        elif self.written == limits.max_new_tokens:
            self.reason = "length"
        elif len(self.tokens) == max_length:
            self.reason = "full"
        if self.reader is not None and text is not None and self.reason and not is_stop:
            text += self.reader.finish()
        return Token(self.number, token, text, self.reason)


class Generator:
    """A causal language model, compiled to write tokens after prompts.

    It is a model of transformers, a torch module that is called as `module(tokens, cache)` with a
    `KeyValueCache`, or a function of JAX (see `cache`).

    There is a program that reads so many tokens of each prompt for each of `prompt_lengths`, and
    one that takes a single token, for each of `batch_sizes`, the numbers of prompts that are
    written on with at a time. All are in one file, with the weights once; `programs` has them.
    `max_length` is the most tokens of a prompt and what follows. With `draft_length`, there is one
    that checks so many proposed tokens (see `generate`).

    With `pages`, caches of torch modules are so many pages of `page_size` tokens, which prompts
    take one by one as they grow: a table that is an argument says which. They may be fewer than all
    prompts at their longest would take; a text for which none is left ends with the reason `full`.

    `cache`, for functions of JAX: from a number of prompts to the empty cache, a tree of arrays;
    the function is called as `function(tokens, starts, cache)` and returns scores, prompts x tokens
    x vocabulary, and the next cache. Over several devices weights and caches have shardings.

    `mesh`, for torch modules whose attention is divided by a plan in a block of
    `ttmlir.virtual_devices`, is the axis along which it is, as `mesh["model"]`: each device keeps
    keys and values of its heads.

    `tokenizer` has `encode` and `decode`, for prompts that are
    text, for text in results and for stop strings. `board`, `numerics` and `options` are as in
    `ttmlir.compile`; programs are those of tt-mlir of 2026, whose results stay on the device.
    `weights` are paths of files for a torch module, or `ttmlir.WeightFiles`.

    Raises CompilationError for what is not supported in the model, InputError for models that keep
    something else than keys and values, and for sizes that do not fit.
    """

    def __init__(
        self,
        model: Any,
        *,
        max_length: int = MAX_LENGTH,
        prompt_lengths: Sequence[int] = PROMPT_LENGTHS,
        batch_sizes: Sequence[int] = (1,),
        draft_length: int = 0,
        pages: int | None = None,
        page_size: int = PAGE_SIZE,
        cache: Callable[[int], Any] | None = None,
        mesh: Any = None,
        tokenizer: Any = None,
        numerics: NumericsName = "exact",
        board: str | Path | None = None,
        options: str = "",
        weights: Paths | WeightFiles = (),
    ) -> None:
        """Compile the programs of a model."""
        if weights:
            from ttmlir.frontend.weights.loading import load_files

            model = load_files(model, weights)
        checked_numerics(numerics)
        check_whole("max_length", max_length, 2, 1 << 24)
        check_whole("draft_length", draft_length, 0, max_length - 1)
        lengths = _check_sizes("prompt_lengths", prompt_lengths)
        self.max_length = max_length
        self.batch_sizes = _check_sizes("batch_sizes", batch_sizes)
        self.draft_length = draft_length
        self.tokenizer = tokenizer
        self.numerics: NumericsName = numerics
        self._lengths = [1, *sorted({min(each, max_length) for each in lengths} - {1})]
        steps = [Step(batch, length) for batch in self.batch_sizes for length in self._lengths]
        if draft_length:
            steps += [Step(batch, draft_length + 1, True) for batch in self.batch_sizes]
        self.pages = _check_pages(pages, page_size, draft_length)
        """The pages of caches; None where each prompt has its own `max_length` positions."""
        read = _read_model(model, steps, max_length, self.pages, cache, mesh)
        self.name = read.name
        self.caches: dict[int, CacheSize] = read.caches
        """What the caches take, by the number of prompts."""
        place = None if board is None else str(board)
        self.programs: CompiledPrograms = compile_steps(
            read, numerics=numerics, options=options, board=place
        )
        """By names such as `prefill_32_batch_1` and `decode_batch_1`."""
        self.vocabulary = self.programs[steps[0].name].outputs[-1].shape[-1]
        """The number of tokens that there are."""
        self._stop_tokens = _stop_tokens_of(model)
        # Whose numbers are in the cache: another text may be begun before one ends.
        self.holders: dict[int, object] = {}

    def __repr__(self) -> str:
        """The model and its sizes."""
        return (
            f"Generator({self.name}, max_length={self.max_length}, "
            f"batch_sizes={list(self.batch_sizes)}, {len(self.programs.to_bytes()):,} bytes)"
        )

    def generate(
        self,
        prompts: Any,
        *,
        max_new_tokens: int = MAX_NEW_TOKENS,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        repetition_penalty: float = 1.0,
        seed: int = 0,
        stop_tokens: Iterable[int] | None = None,
        stop_strings: Sequence[str] = (),
        draft: Generator | None = None,
        num_beams: int = 1,
        length_penalty: float = 1.0,
        early_stopping: bool = False,
    ) -> Any:
        """What the model writes after a prompt, a `Generation`, or after each of several, a list.

        A prompt is a sequence of tokens or, with a tokenizer, a text; several are a list of them,
        or an array with a row for each. They may differ in length.

        `temperature=0` takes the token of the highest score; above, tokens are drawn, among the
        `top_k` most likely and the fewest whose probabilities add up to `top_p`, by `seed`.
        `repetition_penalty` divides the scores of tokens that are there already. Texts end at one
        of `stop_tokens` (by default what the model's `generation_config` says), at one of
        `stop_strings`, after `max_new_tokens`, or when `max_length` tokens are there.

        `draft` is the generator of a smaller model, which proposes `draft_length` tokens that this
        one checks in one call: fewer calls, and the same tokens as without it.

        `num_beams` texts are written at a time for each prompt, the most likely ones, and the best
        one is returned, as transformers has it: scores are divided by the number of new tokens to
        the power of `length_penalty`, and with `early_stopping` so many finished texts are enough.
        It takes one of `batch_sizes` that is as large, and `temperature=0`.

        InputError for prompts and numbers that do not fit, ExecutionError for scores that are NaN.
        """
        listed, is_single = self._read_prompts(prompts)
        beams = BeamLimits(num_beams, length_penalty, early_stopping, repetition_penalty)
        if num_beams > 1:
            self._check_beams(num_beams, temperature, stop_strings, draft)
            Sampling(repetition_penalty=repetition_penalty, top_k=top_k, top_p=top_p, seed=seed)
            limits = self._limits(max_new_tokens, stop_tokens, ())
            best = [self._search(prompt, beams, limits) for prompt in listed]
            return best[0] if is_single else best
        rows: list[_Row] = []
        stream = self._stream(
            listed,
            rows,
            self._limits(max_new_tokens, stop_tokens, stop_strings),
            Sampling(
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                repetition_penalty=repetition_penalty,
                seed=seed,
            ),
            draft,
        )
        for _ in stream:
            pass
        found = [
            Generation(
                row.tokens[len(row.tokens) - row.written :],
                cast("Reason", row.reason),
                None if row.reader is None else row.reader.text,
            )
            for row in rows
        ]
        return found[0] if is_single else found

    def stream(
        self,
        prompts: Any,
        *,
        max_new_tokens: int = MAX_NEW_TOKENS,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        repetition_penalty: float = 1.0,
        seed: int = 0,
        stop_tokens: Iterable[int] | None = None,
        stop_strings: Sequence[str] = (),
        draft: Generator | None = None,
    ) -> Iterator[Token]:
        """The tokens of `generate` as they come; arguments are checked at once.

        Several streams of a generator may be read in turns; each reads its prompt again then.
        """
        return self._stream(
            self._read_prompts(prompts)[0],
            [],
            self._limits(max_new_tokens, stop_tokens, stop_strings),
            Sampling(
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                repetition_penalty=repetition_penalty,
                seed=seed,
            ),
            draft,
        )

    def summary(self, boards: str | Path | Sequence[str] | None = None) -> GenerationSummary:
        """Expected time to the first token, tokens per second and memory, printed as a table.

        `boards` are as in `ttmlir.compile`, one or several; None: all cards with one chip.
        """
        from ttmlir.generation.summary import CARDS, summarize

        asked = CARDS if boards is None else boards
        listed = [str(asked)] if isinstance(asked, (str, Path)) else list(asked)
        lengths = [each for each in self._lengths if each > 1]
        return summarize(self.name, self.programs, self.caches, lengths or [1], listed)

    # -- arguments -----------------------------------------------------------------------------

    def _limits(
        self,
        max_new_tokens: int,
        stop_tokens: Iterable[int] | None,
        stop_strings: Sequence[str],
    ) -> _Limits:
        check_whole("max_new_tokens", max_new_tokens, 1, 1 << 31)
        tokens = self._stop_tokens if stop_tokens is None else _listed(stop_tokens, "stop_tokens")
        for token in tokens:
            check_whole("stop_tokens: a token", token, 0, 1 << 31)
        texts = tuple(
            [stop_strings]
            if isinstance(stop_strings, str)
            else _listed(stop_strings, "stop_strings")
        )
        if len(texts) > MAX_STOPS:
            raise ArgumentError(f"stop_strings are at most {MAX_STOPS}, not {len(texts)}")
        if any(not isinstance(cast("Any", text), str) or not text for text in texts):
            raise ArgumentError(f"stop_strings are texts that are not empty, not {texts!r}")
        if texts and self.tokenizer is None:
            raise ArgumentError(
                "stop_strings need a tokenizer: give Generator(model, tokenizer=...) an object "
                "with encode and decode"
            )
        decode = None if self.tokenizer is None else self._decode
        return _Limits(max_new_tokens, frozenset(map(int, tokens)), texts, decode)

    def _decode(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(tokens))

    def _read_prompts(self, prompts: Any) -> tuple[list[list[int]], bool]:
        """Prompts as lists of tokens, and whether there is but one that is not in a list."""
        if isinstance(prompts, str):
            return [self._read_prompt(prompts, 0)], True
        rows = list(_listed(prompts))
        if not rows:
            raise ArgumentError("a prompt has at least one token; there are none")
        is_single = not any(isinstance(row, str) or np.ndim(row) for row in rows)
        if is_single:
            return [self._read_prompt(rows, 0)], True
        return [self._read_prompt(row, number) for number, row in enumerate(rows)], False

    def _read_prompt(self, prompt: Any, number: int) -> list[int]:
        if isinstance(prompt, str):
            if self.tokenizer is None:
                raise ArgumentTypeError(
                    "a prompt that is text needs a tokenizer: give Generator(model, "
                    "tokenizer=...) an object with encode and decode, or give tokens"
                )
            prompt = self.tokenizer.encode(prompt)
        tokens: list[int] = []
        for token in _listed(prompt):
            if isinstance(token, bool) or not isinstance(token, (int, np.integer)):
                raise ArgumentTypeError(f"prompt {number}: tokens are whole numbers, not {token!r}")
            if not 0 <= token < self.vocabulary:
                raise ArgumentError(
                    f"prompt {number}: there is no token {token}; '{self.name}' has "
                    f"{self.vocabulary}, from 0 on"
                )
            tokens.append(int(cast("Any", token)))
        if not tokens:
            raise ArgumentError(f"prompt {number} is empty; a prompt has at least one token")
        if len(tokens) >= self.max_length:
            raise ArgumentError(
                f"prompt {number} has {plural(len(tokens), 'token')}, and max_length is "
                f"{self.max_length}, with at least one token to write; give "
                f"Generator(model, max_length=...) more"
            )
        return tokens

    # -- writing -------------------------------------------------------------------------------

    def _stream(
        self,
        prompts: list[list[int]],
        rows: list[_Row],
        limits: _Limits,
        sampling: Sampling,
        draft: Generator | None,
    ) -> Iterator[Token]:
        """Tokens after all prompts, as many at a time as there are programs for."""
        self._check_draft(draft)
        self._check_room(prompts)
        for number, prompt in enumerate(prompts):
            reader = None
            if limits.decode is not None:
                reader = TextReader(limits.decode, limits.stop_strings)
            rows.append(_Row(number, list(prompt), sampling.sampler(number).choose, reader))
        return self._write_all(rows, limits, draft)

    def _write_all(
        self, rows: list[_Row], limits: _Limits, draft: Generator | None
    ) -> Iterator[Token]:
        most = max(self.batch_sizes)
        for first in range(0, len(rows), most):
            yield from self._write(rows[first : first + most], limits, draft)

    def _check_draft(self, draft: Generator | None) -> None:
        if draft is None:
            return
        if not isinstance(cast("Any", draft), Generator):
            raise ArgumentTypeError(f"a draft is a Generator, not a {type(draft).__name__}")
        if not self.draft_length:
            raise ArgumentError(
                "a draft needs a program that checks its tokens: give the Generator that is to "
                "check draft_length=4, say"
            )
        if draft.pages is not None:
            raise ArgumentError("a draft has no pages: give its Generator none")
        for name in ("vocabulary", "max_length", "batch_sizes"):
            own, other = getattr(self, name), getattr(draft, name)
            if own != other:
                raise ArgumentError(
                    f"a draft has the same {name} as the model that checks its tokens, {own}; "
                    f"it has {other}"
                )

    def _check_beams(
        self, count: int, temperature: float, stop_strings: Sequence[str], draft: Any
    ) -> None:
        others = {
            "temperature": temperature,
            "stop_strings": stop_strings,
            "draft": draft,
            "pages": self.pages,
        }
        for name, value in others.items():
            if value:
                raise ArgumentError(f"num_beams and {name} do not go together: leave one out")
        if count > max(self.batch_sizes):
            raise ArgumentError(
                f"{count} beams need a program for as many texts, and there is one for "
                f"{max(self.batch_sizes)}; give Generator(model, batch_sizes=({count},))"
            )

    def _search(self, prompt: list[int], beams: BeamLimits, limits: _Limits) -> Generation:
        """The best text of a beam search after a prompt."""
        most = min(self.max_length, len(prompt) + limits.max_new_tokens)
        search = BeamSearch(beams, prompt, most, limits.stop_tokens)
        batch = next(each for each in self.batch_sizes if each >= beams.count)
        place = _Place(self, batch, [list(prompt) for _ in range(beams.count)])
        while not search.is_done:
            rows = place.go_on_with([beam.tokens for beam in search.running])
            scores = place.advance()
            search.advance([scores[row] for row in rows])
        tokens = search.finished[0].tokens[len(prompt) :]
        reason: Reason = "stop" if tokens[-1] in limits.stop_tokens else "length"
        if reason == "length" and len(tokens) < limits.max_new_tokens:
            reason = "full"
        text = None
        if limits.decode is not None:
            reader = TextReader(limits.decode, ())
            for token in tokens[:-1] if reason == "stop" else tokens:
                reader.add(token)
            reader.finish()
            text = reader.text
        return Generation(tokens, reason, text)

    def _check_room(self, prompts: list[list[int]]) -> None:
        if self.pages is None:
            return
        most = max(self.batch_sizes)
        for first in range(0, len(prompts), most):
            group = prompts[first : first + most]
            needed = sum(self.pages.needed(len(prompt)) for prompt in group)
            if needed > self.pages.count:
                raise ArgumentError(
                    f"prompts {first} to {first + len(group) - 1} take {needed} pages of "
                    f"{self.pages.size} tokens; there are {self.pages.count}"
                )

    def _write(self, rows: list[_Row], limits: _Limits, draft: Generator | None) -> Iterator[Token]:
        batch = next(each for each in self.batch_sizes if each >= len(rows))
        texts = [row.tokens for row in rows]
        place = _Place(self, batch, texts)
        proposing = None if draft is None else _Place(draft, batch, texts)
        yield from self._advance(rows, limits, place)
        while not all(row.reason for row in rows):
            if proposing is not None:
                yield from self._check(rows, limits, place, proposing)
                continue
            yield from self._advance(rows, limits, place)

    def _advance(self, rows: list[_Row], limits: _Limits, place: _Place) -> Iterator[Token]:
        """A token of each text that goes on."""
        for number, (row, found) in enumerate(zip(rows, place.advance(), strict=True)):
            if row.reason is None:
                token = row.write(found, limits, place.room_for_one(number))
                if row.reason is not None:
                    place.release(number)
                yield token

    def _check(
        self, rows: list[_Row], limits: _Limits, place: _Place, proposing: _Place
    ) -> Iterator[Token]:
        """The tokens that the model would write, as far as proposed ones are among them."""
        counts = [
            0
            if row.reason
            else min(
                self.draft_length,
                self.max_length - len(row.tokens),
                limits.max_new_tokens - row.written - 1,
            )
            for row in rows
        ]
        proposals = proposing.propose(counts)
        for row, proposed, scores in zip(rows, proposals, place.check(proposals), strict=True):
            for number, found in enumerate(scores):
                if row.reason is not None:
                    break
                token = row.write(found, limits, self.max_length)
                yield token
                if number == len(proposed) or token.id != proposed[number]:
                    break

    def step(
        self, step: Step, rows: Sequence[tuple[Sequence[int], int]], table: Array | None = None
    ) -> Array:
        """Run a program; see `run_step`."""
        return run_step(self.programs[step.name], step, rows, self.numerics, table)

    def step_for(self, batch: int, missing: int) -> Step:
        """The program that takes so many tokens of each prompt, or as many of them as one does."""
        # Two tokens are written faster one by one than with the program for many.
        fitting = [each for each in self._lengths if each >= missing or missing <= 2]
        return Step(batch, fitting[0] if fitting else self._lengths[-1])


@dataclass
class _Place:
    """How far the caches of a generator are with some texts, which grow in place."""

    owner: Generator
    batch: int
    texts: list[list[int]]
    known: list[int] = field(default_factory=list[int])
    """How many tokens of each text are in the cache."""
    tried: list[list[int]] = field(default_factory=list[list[int]])
    """The tokens that follow there, which were proposed: texts may go on with others."""
    ended: set[int] = field(default_factory=set[int])
    """Texts that need no pages any more."""
    table: Array | None = None
    """The pages of each text, in its order; the one after the last where it has none."""
    free: list[int] = field(default_factory=list[int])

    def go_on_with(self, texts: Sequence[list[int]]) -> list[int]:
        """Take other texts, as many or fewer; returns the row of each.

        A text goes on in the row that has most of it, so that little is read again.
        """
        rows = list(range(len(self.texts)))
        places: list[int] = []
        for text in texts:
            row = max(rows, key=lambda row, text=text: _count_common(self.texts[row], text))
            rows.remove(row)
            places.append(row)
        for row, text in zip(places, texts, strict=True):
            if self.known:
                common = _count_common(self.texts[row], text)
                self.known[row] = min(self.known[row], common, len(text) - 1)
            self.texts[row] = text
        return places

    def room_for_one(self, row: int) -> int:
        """How many tokens a text may have when the next one is written."""
        length = len(self.texts[row]) + 1
        return self.owner.max_length if self._hold(row, length) else length

    def release(self, row: int) -> None:
        """Give the pages of a text to others."""
        self.ended.add(row)
        if self.table is not None and self.owner.pages is not None:
            nobody = self.owner.pages.count
            self.free += [int(page) for page in self.table[row] if page != nobody]
            self.table[row] = nobody

    def _hold(self, row: int, tokens: int) -> bool:
        """Take pages for so many tokens of a text; False if there are not enough."""
        pages = self.owner.pages
        if self.table is None or pages is None:
            return True
        for number in range(pages.needed(min(tokens, self.owner.max_length))):
            if self.table[row, number] == pages.count:
                if not self.free:
                    return False
                self.table[row, number] = self.free.pop()
        return True

    def _begin(self) -> None:
        """Forget what was in the cache."""
        self.known, self.tried = [0 for _ in self.texts], [[] for _ in self.texts]
        pages = self.owner.pages
        if pages is not None:
            each = pages.needed(self.owner.max_length)
            self.table = np.full((self.batch, each), pages.count, np.int32)
            self.free = list(range(pages.count))
            for row, text in enumerate(self.texts):
                if row not in self.ended:
                    self._hold(row, len(text))

    def advance(self, proposed: Sequence[Sequence[int]] = ()) -> Array:
        """Scores of the token after each text, and after what is proposed to follow it."""
        self._find_known(proposed)
        whole = self._with(proposed)
        known = list(self.known)
        while True:
            missing = max(len(text) - each for text, each in zip(whole, known, strict=True))
            step = self.owner.step_for(self.batch, missing)
            known = [
                min(len(text), each + step.tokens) for text, each in zip(whole, known, strict=True)
            ]
            scores = self.owner.step(step, list(zip(whole, known, strict=True)), self.table)
            if all(each == len(text) for text, each in zip(whole, known, strict=True)):
                self._keep(proposed)
                return scores

    def propose(self, counts: Sequence[int]) -> list[list[int]]:
        """The most likely tokens after each text, so many one after the other."""
        proposed: list[list[int]] = [[] for _ in self.texts]
        for number in range(max(counts)):
            for row, scores in enumerate(self.advance(proposed)):
                if number < counts[row]:
                    proposed[row].append(int(scores.argmax()))
        return proposed

    def check(self, proposed: Sequence[Sequence[int]]) -> list[Array]:
        """For each text, scores after it and after each of the tokens that are proposed."""
        self._find_known(())
        if any(each < len(text) - 1 for each, text in zip(self.known, self.texts, strict=True)):
            self.advance()
        step = Step(self.batch, self.owner.draft_length + 1, scores_all=True)
        whole = self._with(proposed)
        scores = self.owner.step(step, [(text, len(text)) for text in whole])
        self._keep(proposed)
        found: list[Array] = []
        for row, (text, all_tokens) in enumerate(zip(self.texts, whole, strict=True)):
            first = len(text) - 1 - max(0, len(all_tokens) - step.tokens)
            found.append(scores[row, first : first + len(all_tokens) - len(text) + 1])
        return found

    def _with(self, proposed: Sequence[Sequence[int]]) -> list[list[int]]:
        if not proposed:
            return self.texts
        return [[*text, *more] for text, more in zip(self.texts, proposed, strict=True)]

    def _find_known(self, proposed: Sequence[Sequence[int]]) -> None:
        """Count what is in the cache of texts, and of what is proposed to follow them."""
        if self.owner.holders.get(self.batch) is not self:
            self.owner.holders[self.batch] = self
            self._begin()
        for row, text in enumerate(self._with(proposed)):
            for token in self.tried[row]:
                if self.known[row] == len(text) or text[self.known[row]] != token:
                    break
                self.known[row] += 1
            self.tried[row] = []

    def _keep(self, proposed: Sequence[Sequence[int]]) -> None:
        self.known = list(map(len, self.texts))
        self.tried = list(map(list, proposed)) or [[] for _ in self.texts]


def _count_common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


# -- models ----------------------------------------------------------------------------------------


def _read_model(
    model: Any,
    steps: Sequence[Step],
    max_length: int,
    pages: Pages | None,
    cache: Callable[[int], Any] | None,
    mesh: Any,
) -> SteppingModel:
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "torch" in packages:
        if cache is not None:
            raise ArgumentTypeError(
                "cache= is for functions of JAX; torch modules write to the KeyValueCache that "
                "they are called with"
            )
        from ttmlir.generation.torch_steps import read_torch_model

        if mesh is not None and getattr(mesh, "ndim", None) != 1:
            raise ArgumentTypeError(
                'mesh is one axis of a mesh of torch, over which heads are divided: mesh["model"]'
            )
        return read_torch_model(model, steps, max_length, pages, mesh)
    if not callable(model):
        raise ArgumentTypeError(
            f"a Generator takes torch modules and functions of JAX, not a {type(model).__name__}"
        )
    if mesh is not None:
        raise ArgumentTypeError(
            "mesh= is for torch modules; arrays of JAX, those of the cache too, have shardings"
        )
    if pages is not None:
        raise ArgumentTypeError("pages= is for torch modules; functions of JAX have a cache=")
    if cache is None:
        raise ArgumentTypeError(
            "a function of JAX needs its cache: give Generator(function, cache=...) what makes an "
            "empty one of a number of prompts"
        )
    from ttmlir.generation.jax_steps import read_jax_model

    return read_jax_model(model, cache, steps)


def _stop_tokens_of(model: Any) -> tuple[int, ...]:
    """The tokens that end a text by what a model of transformers says of itself."""
    found = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    if found is None:
        return ()
    return tuple(int(each) for each in np.ravel(found))


def _listed(values: Any, name: str = "prompts") -> list[Any]:
    """The items of a list, or of an array of any framework."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    # Prompts have an order.
    kinds = (list, tuple, range) if name == "prompts" else (list, tuple, range, set, frozenset)
    if not isinstance(values, kinds):
        wanted = "tokens, or lists of prompts" if name == "prompts" else "a list"
        raise ArgumentTypeError(f"{name} are {wanted}; got a {_name_type(values)}")
    return list(cast("Iterable[Any]", values))


def _name_type(value: object) -> str:
    return type(value).__name__


def _check_pages(pages: int | None, page_size: int, draft_length: int) -> Pages | None:
    check_whole("page_size", page_size, 1, 1 << 16)
    if pages is None:
        return None
    check_whole("pages", pages, 1, 1 << 24)
    if draft_length:
        raise ArgumentError("pages and draft_length do not go together: leave one of them out")
    return Pages(pages, page_size)


def _check_sizes(name: str, values: Any) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"{name} are whole numbers in a list, not {values!r}")
    listed = list(cast("Iterable[Any]", values))
    for value in listed:
        check_whole(name, value, 1, 1 << 20)
    if not listed:
        raise ArgumentError(f"{name} are one or more whole numbers; there are none")
    return tuple(sorted(set(map(int, listed))))


def generate(
    model: Any,
    prompts: Any,
    *,
    max_new_tokens: int = MAX_NEW_TOKENS,
    cache: Callable[[int], Any] | None = None,
    tokenizer: Any = None,
    numerics: NumericsName = "exact",
    board: str | Path | None = None,
    **choices: Any,
) -> Any:
    """Compile a language model for some prompts, and write after them.

        tokens = ttmlir.generate(model, [5, 17, 3], max_new_tokens=10).tokens

    Other arguments are those of `Generator`, and `choices` those of `Generator.generate`, which
    also says what is returned; a `Generator` writes more than once without compiling again.
    """
    check_whole("max_new_tokens", max_new_tokens, 1, 1 << 20)
    beams = BeamLimits(choices.get("num_beams", 1)).count
    if isinstance(prompts, str):
        lengths = [len(tokenizer.encode(prompts)) if tokenizer is not None else 1]
    else:
        rows = _listed(prompts)
        rows = rows if any(isinstance(row, str) or np.ndim(row) for row in rows) else [rows]
        lengths = [
            len(tokenizer.encode(row) if tokenizer and isinstance(row, str) else _listed(row))
            for row in rows
        ]
    longest = max(lengths, default=1)
    generator = Generator(
        model,
        max_length=max(2, longest + max_new_tokens),
        prompt_lengths=(max(1, longest),),
        batch_sizes=(max(1, len(lengths), beams),),
        cache=cache,
        tokenizer=tokenizer,
        numerics=numerics,
        board=board,
    )
    return generator.generate(prompts, max_new_tokens=max_new_tokens, **choices)
