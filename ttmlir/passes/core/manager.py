"""Runs a nest of passes on an operation, with instruments that watch."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ttmlir.errors import FileError
from ttmlir.files import safe_file_name
from ttmlir.mlir.extensions import source_of
from ttmlir.mlir.option_values import Option, OptionError, OptionValue, options_of
from ttmlir.mlir.quoting import quote
from ttmlir.mlir.text_files import write_output
from ttmlir.passes.core.base import ANY, LaterPasses, Pass, Pipeline, title_of
from ttmlir.passes.core.registry import lookup, unknown_name
from ttmlir.passes.core.value_form import make_all, run_on, wants_values

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation

# --- Nest -----------------------------------------------------------------------------------------
# Passes arranged by the operations that they run on, and the text of such an arrangement.
#
# `builtin.module(canonicalize,func.func(cse))` is a nest on the module that holds a pass and a nest
# on its functions. A nest on `any` takes operations of every name that contain all they use.

# --- Option text ----------------------------------------------------------------------------------
# Options of a pass as text: `key=value other="a b" flag list=1,2`.
#
# Entries are separated by blanks; quotes and braces keep blanks together, and one outer pair of
# them is taken off a value. Names may be spelled with `-` or `_`. A name alone is `true`.

T = TypeVar("T")

_CLOSING = {"{": "}", "[": "]", "(": ")", "<": ">", '"': '"', "'": "'"}


def parse_options(cls: type[T], text: str) -> T:
    """An instance of the dataclass `cls` with the options that `text` gives.

    Raises OptionError in the words of LLVM if there is no such option or value.
    """
    known = {option.name.replace("_", "-"): option for option in options_of(cls)}
    values: dict[str, OptionValue] = {}
    for entry in split_entries(text):
        key, equals, value = entry.partition("=")
        option = known.get(key.replace("_", "-"))
        if option is None:
            raise OptionError(_no_such_option(key, tuple(known)))
        if option.field in values and option.name.startswith("override-"):
            raise OptionError(
                f"for the {option.flag} option: it is there twice: put its names into one list, "
                "between commas"
            )
        values[option.field] = option.parse(_unwrap(value) if equals else "")
    return cls(**values)


def format_options(instance: object) -> str:
    """The options of an instance as `parse_options` reads them, defaults included."""
    return " ".join(_format_entry(instance, option) for option in options_of(type(instance)))


def _no_such_option(key: str, known: tuple[str, ...]) -> str:
    supported = f"supported: {', '.join(known)}" if known else "the pass has no options"
    # Tools that only say what there is do without xDSL.
    from ttmlir.mlir.reporting import near_names

    near = " or ".join(f"'{each}'" for each in near_names(key, known))
    question = f"did you mean {near}? " if near else ""
    return f"<Pass-Options-Parser>: no such option {key}; {question}{supported}"


def _format_entry(instance: object, option: Option) -> str:
    text = option.type.format(getattr(instance, option.field))
    return f"{option.name}={_quote(text)}"


def _quote(text: str) -> str:
    if text and not any(character in ' \t\n{}"' for character in text):
        return text
    return f'"{text}"' if '"' not in text else "{" + text + "}"


def split_entries(text: str) -> Iterator[str]:
    """The entries of an option text; blanks inside quotes and brackets do not separate."""
    start, open_brackets = 0, list[str]()
    for index, character in enumerate(text):
        if open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
        elif open_brackets and open_brackets[-1] in "\"'":
            continue
        elif character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif character.isspace() and not open_brackets:
            if start < index:
                yield text[start:index]
            start = index + 1
    if open_brackets:
        raise OptionError(f"missing closing '{open_brackets[-1]}' in pass options '{text}'")
    if start < len(text):
        yield text[start:]


def _unwrap(value: str) -> str:
    for opening, closing in (("{", "}"), ('"', '"'), ("'", "'")):
        if len(value) >= 2 and value[0] == opening and value[-1] == closing:
            return value[1:-1]
    return value


# --- Nest -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Nest:
    """Passes that run in order on each operation called `anchor`, nested nests included."""

    anchor: str
    parts: tuple[Pass | Nest | _LaterItems, ...] = ()
    """The passes and nests, of which some may not be made yet."""

    @cached_property
    def items(self) -> tuple[Pass | Nest, ...]:
        """All passes and nests."""
        return _join(chain.from_iterable(map(_items_of, self.parts)))

    def __eq__(self, other: object) -> bool:
        """Equal for the same passes and nests, whether or not they were made before."""
        return isinstance(other, Nest) and (self.anchor, self.items) == (other.anchor, other.items)

    def __hash__(self) -> int:
        """Equal for equal nests."""
        return hash(self.anchor)

    def __str__(self) -> str:
        """The text that `parse_pipeline` reads."""
        return f"{self.anchor}({','.join(map(item_text, self.items))})"

    def accepts(self, step: Pass) -> bool:
        """True if the pass may run directly on the operations of this nest."""
        return step.anchor in (ANY, self.anchor)

    def passes(self) -> Iterator[Pass]:
        """All passes, those of nested nests included."""
        for item in self.items:
            if isinstance(item, Nest):
                yield from item.passes()
            else:
                yield item

    def until(self, name: str) -> Nest:
        """The passes in front of the first one with a name; all if there is none."""
        items: list[Pass | Nest] = []
        for item in self.items:
            if isinstance(item, Pass) and item.name == name:
                break
            kept = item.until(name) if isinstance(item, Nest) else item
            items.append(kept)
            if kept != item:
                break
        return Nest(self.anchor, tuple(items))


PartT = TypeVar("PartT")


def _join(parts: Iterable[PartT]) -> tuple[PartT, ...]:
    """The same with neighbouring nests on the same operations as one.

    So all their passes run on a function before the next function's turn, as in MLIR.
    """
    joined: list[Any] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Nest) and isinstance(last, Nest) and last.anchor == part.anchor:
            joined[-1] = Nest(part.anchor, _join((*last.parts, *part.parts)))
        else:
            joined.append(part)
    return tuple(joined)


@dataclass(frozen=True, eq=False)
class _LaterItems:
    """What `LaterPasses` add to a nest on `anchor`."""

    passes: LaterPasses
    anchor: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def items(self) -> tuple[Pass | Nest, ...]:
        """The passes, made now, and nests of them."""
        made = (_from_environment(each, self.environment) for each in make_all(self.passes))
        return nest_implicitly(self.anchor, made).items


def _items_of(part: Pass | Nest | _LaterItems) -> tuple[Pass | Nest, ...]:
    return part.items if isinstance(part, _LaterItems) else (part,)


def with_environment(nest: Nest, environment: Mapping[str, str]) -> Nest:
    """The same nest with values from environment variables where options have their defaults."""

    def ask(part: Pass | Nest | _LaterItems) -> Pass | Nest | _LaterItems:
        if isinstance(part, Nest):
            return with_environment(part, environment)
        if isinstance(part, _LaterItems):
            return replace(part, environment=environment)
        return _from_environment(part, environment)

    return Nest(nest.anchor, tuple(map(ask, nest.parts)))


_environment: ContextVar[Mapping[str, str] | None] = ContextVar("environment", default=None)


@contextmanager
def pipelines_ask(environment: Mapping[str, str]) -> Generator[None]:
    """Let pipelines take options from environment variables; `with_environment` asks passes."""
    token = _environment.set(environment)
    try:
        yield
    finally:
        _environment.reset(token)


StepT = TypeVar("StepT", Pass, Pipeline)


def _from_environment(step: StepT, environment: Mapping[str, str]) -> StepT:
    values = {
        option.field: option.parse(environment[option.environment])
        for option in options_of(type(step))
        if environment.get(option.environment) and getattr(step, option.field) == option.default
    }
    return replace(step, **values) if values else step


def item_text(item: Pass | Nest) -> str:
    """A pass with its options, or a nest, as the text of a pipeline has it."""
    if isinstance(item, Nest):
        return str(item)
    options = format_options(item)
    if item.spelled:
        options = f"{options} {_SPELLED}{item.spelled}".lstrip()
    return f"{item.name}{{{options}}}" if options else item.name


def nest_implicitly(anchor: str, parts: Iterable[Pass | Nest | _LaterItems]) -> Nest:
    """A nest of `parts` in which passes on other operations get a nest of their own."""
    nest = Nest(anchor)
    return Nest(
        anchor,
        _join(
            Nest(part.anchor, (part,))
            if isinstance(part, Pass) and not nest.accepts(part)
            else part
            for part in parts
        ),
    )


def make_items(name: str, options: str, anchor: str) -> tuple[Pass | Nest | _LaterItems, ...]:
    """What the pass or pipeline with this registered name adds to a nest on `anchor`.

    A pipeline nests its passes as they need it; a pass stays as it is. Raises OptionError if there
    is no such name or option.
    """
    cls = lookup(name)
    if cls is None:
        raise OptionError(unknown_name(name))
    entries = list(split_entries(options)) if _SPELLED in options else []
    if entries and not issubclass(cls, Pipeline):
        years = [entry.removeprefix(_SPELLED) for entry in entries if entry.startswith(_SPELLED)]
        own = " ".join(entry for entry in entries if not entry.startswith(_SPELLED))
        return (
            _for_modules_of(years[-1], parse_options(cls, own))
            if years
            else parse_options(cls, own),
        )
    made = parse_options(cls, options)
    if isinstance(made, Pipeline):
        made = _from_environment(made, _environment.get() or {})
        parts = (
            each if isinstance(each, Pass) else _LaterItems(each, anchor) for each in made.steps()
        )
        return nest_implicitly(anchor, parts).parts
    return (made,)


_SPELLED = "spelled="
"""What tells which modules a pass of a pipeline for several spellings runs on."""


def _for_modules_of(year: str, step: Pass) -> Pass:
    from ttmlir.passes.core.value_form import CONDITIONS, when

    if year not in CONDITIONS:
        raise OptionError(
            f"<Pass-Options-Parser>: passes run on modules spelled as in {', '.join(CONDITIONS)}, "
            f"not {year}"
        )
    return when(year, step)


class PipelineError(OptionError):
    """Text that is no pipeline; the message shows where."""

    def __init__(self, text: str, position: int, message: str):
        """The pipeline text, the offset of the mistake in it and what is wrong."""
        super().__init__(
            f"MLIR Textual PassPipeline Parser:1:{position + 1}: error: {message}\n"
            f"{text}\n{' ' * position}^"
        )


def parse_pipeline(text: str) -> Nest:
    """Read `builtin.module(a,func.func(b{x=1}))`; raises OptionError."""
    text = text.strip()
    anchor, opening, rest = text.partition("(")
    if opening and not text.endswith(")") and text.count("(") > text.count(")"):
        raise PipelineError(
            text, len(anchor), "missing ')' for this '(' creates unbalanced parentheses"
        )
    if not opening or not text.endswith(")"):
        raise OptionError(
            "expected pass pipeline to be wrapped with the anchor operation type,"
            " e.g. 'builtin.module(...)'"
        )
    return parse_passes(rest[:-1], anchor.strip())


def parse_passes(text: str, anchor: str) -> Nest:
    """Read the part of a pipeline that stands within the parentheses of `anchor`."""
    return _PipelineReader(text).read(anchor)


MAX_DEPTH = 100
"""Deepest nesting in the text of a pipeline."""


class _PipelineReader:
    """Reads a list of passes and nests; `position` is the offset of what comes next."""

    def __init__(self, text: str):
        self.text = text
        self.position = 0
        self.depth = 0

    def read(self, anchor: str) -> Nest:
        if not self.text.strip():
            return Nest(anchor)
        nest = self.items(anchor)
        if self.position < len(self.text):
            raise self.error(
                "encountered extra closing ')' creating unbalanced parentheses"
                " while parsing pipeline"
            )
        return nest

    def items(self, anchor: str) -> Nest:
        parts = list[Pass | Nest | _LaterItems]()
        while True:
            parts += self.item(Nest(anchor))
            self.skip_blanks()
            if not self.take(","):
                return Nest(anchor, _join(parts))

    def item(self, parent: Nest) -> tuple[Pass | Nest | _LaterItems, ...]:
        self.skip_blanks()
        start = self.position
        name = self.name()
        if self.take("("):
            return (self.nested(name, start),)
        options = self.options() if self.take("{") else ""
        items = self.make(name, options, parent.anchor, start)
        for item in items:
            if isinstance(item, Pass) and not parent.accepts(item):
                raise self.error(_misplaced(item, parent.anchor), start)
        return items

    def nested(self, anchor: str, start: int) -> Nest:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"nesting is deeper than {MAX_DEPTH} levels", start)
        self.skip_blanks()
        nest = Nest(anchor) if self.peek() == ")" else self.items(anchor)
        if not self.take(")"):
            raise self.error(f"expected ')' to close '{anchor}('", start)
        self.depth -= 1
        return nest

    def make(
        self, name: str, options: str, anchor: str, start: int
    ) -> tuple[Pass | Nest | _LaterItems, ...]:
        if lookup(name) is None:
            raise self.error(unknown_name(name), start)
        try:
            return make_items(name, options, anchor)
        except OptionError as error:
            raise OptionError(
                f"{error}\nfailed to add `{name}` with options `{options}`"
            ) from error

    def options(self) -> str:
        start, depth, quote = self.position, 1, ""
        for index, character in enumerate(self.text[start:], start):
            if character in "\"'" and quote in ("", character):
                quote = "" if quote else character
            elif not quote:
                depth += {"{": 1, "}": -1}.get(character, 0)
            if depth == 0:
                self.position = index + 1
                return self.text[start:index].strip()
        raise self.error("missing closing '}' while processing pass options", start - 1)

    def name(self) -> str:
        start = self.position
        while self.peek() not in ("", ",", "(", ")", "{"):
            self.position += 1
        return self.text[start : self.position].strip()

    def skip_blanks(self) -> None:
        while self.peek().isspace():
            self.position += 1

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def take(self, character: str) -> bool:
        found = self.peek() == character
        self.position += found
        return found

    def error(self, message: str, position: int | None = None) -> PipelineError:
        return PipelineError(self.text, self.position if position is None else position, message)


def _misplaced(step: Pass, anchor: str) -> str:
    title = title_of(type(step), step.title)
    return (
        f"Can't add pass '{title}' restricted to '{step.anchor}' on a PassManager"
        f" intended to run on '{anchor}', did you intend to nest?"
    )


# --- Manager --------------------------------------------------------------------------------------


class PassFailure(Exception):
    """A pass raised an error or left invalid IR; `__cause__` is the error."""

    def __init__(self, step: Pass, op: Operation, *, left_invalid: bool):
        """The pass that failed, the operation that it ran on, and how it failed."""
        super().__init__(f"pass '{step.name}' failed on '{op.name}'")
        self.step = step
        self.op = op
        self.left_invalid = left_invalid

    @property
    def place(self) -> str:
        """Where it failed, for the message of an internal error."""
        return f"in pass '{self.step.name}' on '{self.op.name}'"

    @property
    def culprit(self) -> str:
        """Whose mistake it is if it is none of the input."""
        source = source_of(type(self.step))
        return "ttmlir" if source is None else f"the package of the entry point {source}"


class Instrument:
    """Watches a run; every method may be overridden and does nothing here."""

    def before_nest(self, nest: Nest, op: Operation) -> None:
        """The passes of `nest` are about to run on the operation `op`."""

    def after_nest(self, nest: Nest, op: Operation) -> None:
        """The passes of `nest` have run on the operation `op`."""

    def before_pass(self, step: Pass, op: Operation) -> None:
        """`step` is about to run on `op`."""

    def after_pass(self, step: Pass, op: Operation) -> None:
        """`step` has run on `op` and left it valid."""

    def after_failure(self, step: Pass, op: Operation) -> None:
        """`step` has raised an error on `op`, or left it invalid."""


def _run_as_written(step: Pass, ctx: Context, op: Operation) -> None:
    """Run a pass, and write what it makes of a module of late 2025 as modules of that time."""
    if not wants_values(step, op):
        step.run(ctx, op)
        return
    convert = cast("type[Pass]", lookup("convert-spelling"))
    parse_options(convert, "to=2026").run(ctx, op)
    step.run(ctx, op)
    parse_options(convert, "to=2025").run(ctx, op)


@dataclass(frozen=True, kw_only=True)
class PassManager:
    """A nest of passes and how to run it."""

    nest: Nest
    verify: Callable[[Operation], None] | None = None
    """Called on the operation after each pass; None runs the passes without."""
    instruments: Sequence[Instrument] = ()

    def run(self, ctx: Context, op: Operation) -> None:
        """Run all passes on `op`.

        Raises PassFailure, whose cause is what the pass or the verifier raised, and OptionError if
        the nest is for operations of another name, or an option does not suit the module.
        """
        if self.nest.anchor not in (ANY, op.name):
            raise OptionError(f"can't run '{self.nest.anchor}' pass manager on '{op.name}' op")
        self._run_nest(self.nest, ctx, op)

    def _run_nest(self, nest: Nest, ctx: Context, op: Operation) -> None:
        for part in nest.parts:
            if isinstance(part, _LaterItems) and not run_on(part.passes, op):
                continue
            for item in _items_of(part):
                if isinstance(item, Pass):
                    self._run_pass(item, ctx, op)
                    continue
                for child in children(op, item.anchor):
                    self._run_child(item, ctx, child)

    def _run_child(self, nest: Nest, ctx: Context, op: Operation) -> None:
        for instrument in self.instruments:
            instrument.before_nest(nest, op)
        self._run_nest(nest, ctx, op)
        for instrument in self.instruments:
            instrument.after_nest(nest, op)

    def _run_pass(self, step: Pass, ctx: Context, op: Operation) -> None:
        if not step.applies(op):
            return
        for instrument in self.instruments:
            instrument.before_pass(step, op)
        has_run = False
        try:
            _run_as_written(step, ctx, op)
            has_run = True
            if self.verify is not None:
                self.verify(op)
        except Exception as error:
            for instrument in self.instruments:
                instrument.after_failure(step, op)
            if isinstance(error, OptionError):
                raise
            raise PassFailure(step, op, left_invalid=has_run) from error
        for instrument in self.instruments:
            instrument.after_pass(step, op)


def children(op: Operation, anchor: str) -> Iterator[Operation]:
    """The operations directly inside `op` that a nest on `anchor` runs on."""
    from xdsl.traits import IsolatedFromAbove

    inside = [child for region in op.regions for block in region.blocks for child in block.ops]
    for child in inside:
        if child.name == anchor or (anchor == ANY and child.has_trait(IsolatedFromAbove)):
            yield child


def title(step: Pass) -> str:
    """The name of a pass in dumps and reports; of passes of other packages, that of their flag."""
    if not step.title and source_of(type(step)) is not None:
        return step.name
    return title_of(type(step), step.title)


# --- Timing ---------------------------------------------------------------------------------------
# How long passes take, and the reports of `--mlir-timing` and `--mlir-pass-statistics`.

RULE = f"==={'-' * 73}==="


class TimingDisplay(Enum):
    """How times are shown."""

    LIST = "list"
    """By name, the longest first."""
    TREE = "tree"
    """Nested, in the order in which they began."""


class StatisticsDisplay(Enum):
    """How statistics are shown."""

    LIST = "list"
    """By name of the pass, those of the same name added up."""
    PIPELINE = "pipeline"
    """Nested as the passes are."""


@dataclass
class Timer:
    """Wall time under one name; seconds."""

    name: str
    seconds: float = 0.0
    children: dict[Hashable, Timer] = field(default_factory=dict[Hashable, "Timer"])

    def child(self, name: str, key: Hashable = None) -> Timer:
        """The timer called `name` inside this one; the same for the same name or key."""
        return self.children.setdefault(key or name, Timer(name))

    @contextmanager
    def running(self) -> Generator[Timer]:
        """Add the time that the body takes."""
        start = perf_counter()
        try:
            yield self
        finally:
            self.seconds += perf_counter() - start


class PassTimer(Instrument):
    """Times every pass of a run under a root timer."""

    def __init__(self, root: Timer):
        """`root` gets a child for every pass and every nest."""
        self.stack = [root]
        self.starts: list[float] = []

    def before_nest(self, nest: Nest, op: Operation) -> None:
        """Begin the time of a nest."""
        self._begin(f"'{nest.anchor}' Pipeline", nest)

    def after_nest(self, nest: Nest, op: Operation) -> None:
        """End the time of a nest."""
        self._end()

    def before_pass(self, step: Pass, op: Operation) -> None:
        """Begin the time of a pass."""
        self._begin(title(step), step)

    def after_pass(self, step: Pass, op: Operation) -> None:
        """End the time of a pass."""
        self._end()

    def after_failure(self, step: Pass, op: Operation) -> None:
        """End the time of a pass."""
        self._end()

    def _begin(self, name: str, item: Pass | Nest) -> None:
        # The same pass twice in a pipeline has two times, over all functions that it runs on.
        self.stack.append(self.stack[-1].child(name, id(item)))
        self.starts.append(perf_counter())

    def _end(self) -> None:
        self.stack.pop().seconds += perf_counter() - self.starts.pop()


def timing_report(root: Timer, display: TimingDisplay) -> str:
    """The report on the timers inside `root`, whose own time is the total."""
    rows = list(_tree(root, 0) if display is TimingDisplay.TREE else _flat(root))
    rest = root.seconds - sum(child.seconds for child in root.children.values())
    rows += [("Rest", rest), ("Total", root.seconds)]
    lines = [
        *_heading("Execution time"),
        f"  Total Execution Time: {root.seconds:.4f} seconds",
        "",
        "  ----Wall Time----  ----Name----",
        *(_time_row(name, seconds, root.seconds) for name, seconds in rows),
    ]
    return "\n".join(lines) + "\n"


def _heading(subject: str) -> list[str]:
    return [RULE, f"... {subject} report ...".center(len(RULE)).rstrip(), RULE]


def _time_row(name: str, seconds: float, total: float) -> str:
    share = 100 * seconds / total if total else 0.0
    return f"  {seconds:8.4f} ({share:5.1f}%)  {name}"


def _tree(timer: Timer, depth: int) -> Iterator[tuple[str, float]]:
    for child in timer.children.values():
        yield "  " * depth + child.name, child.seconds
        yield from _tree(child, depth + 1)


def _flat(root: Timer) -> list[tuple[str, float]]:
    seconds: dict[str, float] = {}
    for name, spent in _tree(root, 0):
        seconds[name.lstrip()] = seconds.get(name.lstrip(), 0.0) + spent
    return sorted(seconds.items(), key=lambda row: -row[1])


def statistics_report(nest: Nest, display: StatisticsDisplay) -> str:
    """The report on what the passes of a nest counted."""
    body = _list_statistics(nest) if display is StatisticsDisplay.LIST else _nested(nest, 0)
    return "\n".join([*_heading("Pass statistics"), *body]) + "\n"


def _list_statistics(nest: Nest) -> Iterator[str]:
    merged: dict[str, dict[str, int]] = {}
    for step in nest.passes():
        counts = merged.setdefault(title(step), {})
        for statistic, amount in step.statistics.items():
            counts[statistic] = counts.get(statistic, 0) + amount
    for name in sorted(name for name, counts in merged.items() if counts):
        yield name
        yield from _counts(merged[name], 1)


def _nested(nest: Nest, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}'{nest.anchor}' Pipeline"
    for item in nest.items:
        if isinstance(item, Nest):
            yield from _nested(item, depth + 1)
            continue
        yield f"{'  ' * (depth + 1)}{title(item)}"
        yield from _counts(item.statistics, depth + 2)


def _counts(counts: dict[str, int], depth: int) -> Iterator[str]:
    for statistic in sorted(counts):
        yield f"{'  ' * depth}(S) {counts[statistic]:8} {statistic}"


# --- Ir printing ----------------------------------------------------------------------------------
# Prints the IR around passes: the flags `--mlir-print-ir-*`.


@dataclass(frozen=True, kw_only=True)
class PrintFilter:
    """Which passes have the IR printed around them."""

    before: Collection[str] = ()
    """Names of passes that the IR is printed before."""
    after: Collection[str] = ()
    """Names of passes that the IR is printed after."""
    before_all: bool = False
    after_all: bool = False
    only_on_change: bool = False
    """Print after a pass only if it changed the IR."""
    only_on_failure: bool = False
    """Print after a pass only if it failed."""
    module_scope: bool = False
    """Print the whole module, not only the operation that the pass runs on."""

    @property
    def is_active(self) -> bool:
        """True if anything is ever printed."""
        return bool(
            self.before or self.after or self.before_all or self.after_all or self.only_on_failure
        )

    def wants_before(self, step: Pass) -> bool:
        """True if the IR is printed before the pass."""
        return self.before_all or step.name in self.before

    def wants_after(self, step: Pass) -> bool:
        """True if the IR is printed after the pass."""
        return self.after_all or step.name in self.after


class IRPrinter(Instrument):
    """Writes the IR before and after passes, each time under a line that names the pass."""

    def __init__(
        self,
        selected: PrintFilter,
        text_of: Callable[[Operation], str],
        tree_directory: Path | None = None,
    ):
        """`text_of` prints an operation; a directory takes one file per pass instead of stderr."""
        self.selected = selected
        self.text_of = text_of
        self.tree = _FileTree(tree_directory) if tree_directory else None
        self.text_before = ""

    def before_pass(self, step: Pass, op: Operation) -> None:
        """Print the IR if the pass is selected, and remember it if changes matter."""
        if self.selected.wants_before(step):
            self._write("Before", "", step, op, self._text(op))
        if self.selected.only_on_change and self.selected.wants_after(step):
            self.text_before = self.text_of(op)

    def after_pass(self, step: Pass, op: Operation) -> None:
        """Print the IR if the pass is selected and the conditions hold."""
        if self.selected.only_on_failure or not self.selected.wants_after(step):
            return
        if self.selected.only_on_change and self.text_of(op) == self.text_before:
            return
        self._write("After", "", step, op, self._text(op))

    def after_failure(self, step: Pass, op: Operation) -> None:
        """Print the IR that a failed pass left."""
        if self.selected.only_on_failure or self.selected.wants_after(step):
            self._write("After", " Failed", step, op, self._text(op))

    def _text(self, op: Operation) -> str:
        from ttmlir.mlir.core_prefix import root_of

        return self.text_of(root_of(op) if self.selected.module_scope else op)

    def _write(self, when: str, outcome: str, step: Pass, op: Operation, text: str) -> None:
        where = _where(op) if self.selected.module_scope else ""
        header = f"// -----// IR Dump {when} {title(step)}{outcome} ({step.name}){where} //----- //"
        if self.tree:
            self.tree.write(step, op, f"{header}\n{text}\n\n")
        else:
            sys.stderr.write(f"{header}\n{text}\n\n")


def _where(op: Operation) -> str:
    from ttmlir.ir.rewriting import symbol_name

    symbol = symbol_name(op)
    return f" ('{op.name}' operation: @{symbol})" if symbol else f" ('{op.name}' operation)"


class _FileTree:
    """Files `builtin_module_NAME/func_func_NAME/0_1_pass.mlir`.

    The last number counts the dumps of the operation; those before it are the latest of the
    enclosing operations, where 0 also stands for none.
    """

    def __init__(self, root: Path):
        self.root = root
        self.latest: dict[Path, int] = {}

    def write(self, step: Pass, op: Operation, text: str) -> None:
        *enclosing, own = _directories(op, self.root)
        numbers = [self.latest.setdefault(directory, 0) for directory in enclosing]
        self.latest[own] = self.latest.get(own, -1) + 1
        name = "_".join(map(str, (*numbers, self.latest[own])))
        try:
            own.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make folder '{own}': {error.strerror}") from error
        write_output(str(own / f"{name}_{step.name}.mlir"), text.encode("utf-8"))


def _directories(op: Operation, root: Path) -> list[Path]:
    """The folders of the operations that enclose `op`, outermost first, and that of `op`."""
    parent = op.parent_op()
    enclosing = _directories(parent, root) if parent is not None else []
    name = f"{op.name.replace('.', '_')}_{_symbol_in_path(op)}"
    return [*enclosing, (enclosing[-1] if enclosing else root) / name]


def _symbol_in_path(op: Operation) -> str:
    from ttmlir.ir.rewriting import symbol_name

    symbol = symbol_name(op)
    return safe_file_name(symbol) if symbol else "no-symbol-name"


# --- Pass log -------------------------------------------------------------------------------------
# Says what each pass does: the flags `--debug` and `--debug-only`.


class PassLog(Instrument):
    """Writes a line to standard error for each pass: which operations have become more or fewer."""

    def __init__(self, prefix: str, only: Collection[str] = ()):
        """Begin each line with `prefix`; passes of other names than those in `only` say nothing."""
        self.prefix = prefix
        self.only = only
        self._before: Counter[str] = Counter()

    def before_pass(self, step: Pass, op: Operation) -> None:
        """Count the operations."""
        if self._wants(step):
            self._before = _count(op)

    def after_pass(self, step: Pass, op: Operation) -> None:
        """Say what has changed."""
        if self._wants(step):
            self._say(step, op, _changes(self._before, _count(op)))

    def after_failure(self, step: Pass, op: Operation) -> None:
        """Say that the pass has failed."""
        if self._wants(step):
            self._say(step, op, "failed")

    def _wants(self, step: Pass) -> bool:
        return not self.only or step.name in self.only

    def _say(self, step: Pass, op: Operation, text: str) -> None:
        print(f"{self.prefix}{step.name} on '{op.name}': {text}", file=sys.stderr)


def _count(op: Operation) -> Counter[str]:
    return Counter(each.name for each in op.walk())


def _changes(before: Counter[str], after: Counter[str]) -> str:
    """How often each operation occurs that did not occur as often before, sorted by name."""
    changes = [
        f"{name} {before[name]} -> {after[name]}"
        for name in sorted({*before, *after})
        if before[name] != after[name]
    ]
    return ", ".join(changes) or "as many operations of each kind as before"


# --- Reproducer -----------------------------------------------------------------------------------
# Reproducers: the input of a failed run with the pipeline that failed, in one file.
#
# The pipeline stands after the IR, in the section of external resources, as in MLIR:
#
#     {-#
#       external_resources: {
#         mlir_reproducer: {
#           pipeline: "builtin.module(canonicalize)",
#           disable_threading: true,
#           verify_each: true
#         }
#       }
#     #-}

# Neither looks at a character more than a few times, whatever the file contains: a section ends
# before the next begins, and what has matched is not given back.
_SECTION = (
    r"(?s)\{-#\s*+external_resources\s*+:\s*+\{\s*+mlir_reproducer\s*+:\s*+\{"
    r"(?P<entries>(?:(?!\{-#).)*?)\}\s*+\}\s*+#-\}"
)
_ENTRY = r'(?<!\w)(?P<key>\w++)\s*+:\s*+(?:"(?P<text>(?:[^"\\\n]|\\.)*+)"|(?P<word>true|false))'


@dataclass(frozen=True)
class Reproducer:
    """What a reproducer says about the run, and the IR without it."""

    text: str
    pipeline: str
    verify_each: bool


def reproducer_text(source: str, nest: Nest, *, verify_each: bool) -> str:
    """The IR in `source` followed by a section that says how it was run."""
    pipeline = quote(str(nest).encode("utf-8", "surrogateescape"))
    return (
        f"{re.sub(_SECTION, '', source).rstrip()}\n\n"
        "{-#\n"
        "  external_resources: {\n"
        "    mlir_reproducer: {\n"
        f"      pipeline: {pipeline},\n"
        "      disable_threading: true,\n"
        f"      verify_each: {'true' if verify_each else 'false'}\n"
        "    }\n"
        "  }\n"
        "#-}\n"
    )


def read_reproducer(source: str) -> Reproducer:
    """The parts of a reproducer; OptionError if `source` is none."""
    from ttmlir.mlir.lexer import unescape

    section = re.search(_SECTION, source)
    found = list(re.finditer(_ENTRY, section["entries"])) if section else []
    texts = {entry["key"]: entry["text"] for entry in found if entry["text"] is not None}
    words = {entry["key"]: entry["word"] for entry in found}
    if section is None or "pipeline" not in texts:
        raise OptionError(
            "the input is no reproducer: expected a section `mlir_reproducer` with a `pipeline`"
        )
    # Blank lines in its place keep the line numbers of what follows.
    blank = "\n" * section[0].count("\n")
    return Reproducer(
        text=source[: section.start()] + blank + source[section.end() :],
        pipeline=unescape(f'"{texts["pipeline"]}"').decode("utf-8", "replace"),
        verify_each=words.get("verify_each", "true") == "true",
    )
