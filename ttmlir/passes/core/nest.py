"""Passes arranged by the operations that they run on, and the text of such an arrangement.

`builtin.module(canonicalize,func.func(cse))` is a nest on the module that holds a pass and a nest
on its functions. A nest on `any` takes operations of every name that contain all they use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ttmlir.mlir.option_values import OptionError, options_of
from ttmlir.passes.core.base import ANY, Pass, Pipeline, title_of
from ttmlir.passes.core.option_text import format_options, parse_options
from ttmlir.passes.core.registry import lookup


@dataclass(frozen=True)
class Nest:
    """Passes that run in order on each operation called `anchor`, nested nests included."""

    anchor: str
    items: tuple[Pass | Nest, ...] = ()

    def __str__(self) -> str:
        """The text that `parse_pipeline` reads."""
        return f"{self.anchor}({','.join(map(item_text, self.items))})"

    def accepts(self, step: Pass) -> bool:
        """True if the pass may run directly on the operations of this nest."""
        return step.anchor in (ANY, self.anchor)

    def with_item(self, item: Pass | Nest) -> Nest:
        """This nest with one more item at its end.

        Neighbouring nests on the same operations become one, so that all their passes run on a
        function before the next function's turn, as in MLIR.
        """
        if self.items and isinstance(item, Nest):
            *others, last = self.items
            if isinstance(last, Nest) and last.anchor == item.anchor:
                return Nest(self.anchor, (*others, Nest(last.anchor, (*last.items, *item.items))))
        return Nest(self.anchor, (*self.items, item))

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


def with_environment(nest: Nest, environment: Mapping[str, str]) -> Nest:
    """The same nest with values from environment variables where options have their defaults."""
    return Nest(
        nest.anchor,
        tuple(
            with_environment(item, environment)
            if isinstance(item, Nest)
            else _pass_with_environment(item, environment)
            for item in nest.items
        ),
    )


def _pass_with_environment(step: Pass, environment: Mapping[str, str]) -> Pass:
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
    return f"{item.name}{{{options}}}" if options else item.name


def nest_implicitly(anchor: str, items: Iterable[Pass | Nest]) -> Nest:
    """A nest of `items` in which passes on other operations get a nest of their own."""
    nest = Nest(anchor)
    for item in items:
        is_elsewhere = isinstance(item, Pass) and not nest.accepts(item)
        nest = nest.with_item(Nest(item.anchor, (item,)) if is_elsewhere else item)
    return nest


def make_items(name: str, options: str, anchor: str) -> tuple[Pass | Nest, ...]:
    """What the pass or pipeline with this registered name adds to a nest on `anchor`.

    A pipeline nests its passes as they need it; a pass stays as it is. Raises OptionError if there
    is no such name or option.
    """
    cls = lookup(name)
    if cls is None:
        raise OptionError(f"'{name}' does not refer to a registered pass or pass pipeline")
    made = parse_options(cls, options)
    if isinstance(made, Pipeline):
        return nest_implicitly(anchor, made.passes()).items
    return (made,)


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
        nest = Nest(anchor)
        while True:
            for item in self.item(nest):
                nest = nest.with_item(item)
            self.skip_blanks()
            if not self.take(","):
                return nest

    def item(self, parent: Nest) -> tuple[Pass | Nest, ...]:
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

    def make(self, name: str, options: str, anchor: str, start: int) -> tuple[Pass | Nest, ...]:
        if lookup(name) is None:
            raise self.error(
                f"'{name}' does not refer to a registered pass or pass pipeline", start
            )
        try:
            return make_items(name, options, anchor)
        except OptionError as error:
            raise OptionError(f"{error}\nfailed to add `{name}` with options `{options}`") from None

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
