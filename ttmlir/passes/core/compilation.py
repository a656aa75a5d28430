"""Reads a module, runs passes on it and prints it: `ttmlir-opt` without command line and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xdsl.context import Context
from xdsl.ir import Operation

from ttmlir.dialects import DIALECTS
from ttmlir.errors import FileError
from ttmlir.mlir.chunk_processing import read_chunk, verify
from ttmlir.mlir.context import make_context
from ttmlir.mlir.long_strings import PrintedText
from ttmlir.mlir.module_printer import print_module, printed_text
from ttmlir.mlir.printing import DEFAULT_OPTIONS, PrintOptions
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import (
    Diagnostic,
    DiagnosticError,
    LocatedError,
    internal_error,
    note,
    reporting_mistakes,
)
from ttmlir.mlir.text_files import Chunk, write_output
from ttmlir.passes.core.manager import (
    Instrument,
    IRPrinter,
    Nest,
    PassFailure,
    PassManager,
    PassTimer,
    PrintFilter,
    Timer,
    reproducer_text,
    title,
)

REPRODUCER_FLAG = "mlir-pass-pipeline-crash-reproducer"
"""MLIR's name of the flag of `ttmlir-opt` that sets `Compilation.reproducer`."""


@dataclass(frozen=True, kw_only=True)
class Compilation:
    """How modules are read, transformed and printed."""

    file: str
    """The name of the input in locations and messages."""
    nest: Nest
    """The passes."""
    print_options: PrintOptions = DEFAULT_OPTIONS
    print_filter: PrintFilter = field(default_factory=PrintFilter)
    print_tree: Path | None = None
    """A folder that takes the dumps of the IR, one file each."""
    allow_unregistered: bool = False
    implicit_module: bool = True
    """Put a module around operations that stand on their own."""
    verify_each: bool = True
    """See that every pass leaves valid IR, not only that what was read is valid."""
    verify_roundtrip: bool = False
    """Check that what was read prints to text that reads and prints the same."""
    reproducer: str = ""
    """The file that a failed run is written to; empty: none is."""
    log: Instrument | None = None
    """Says what each pass does."""
    timer: Timer = field(default_factory=lambda: Timer("root"))
    failures: list[PassFailure] = field(default_factory=list[PassFailure])
    """The passes that failed so far."""

    def compile(self, chunk: Chunk) -> PrintedText:
        """The text of a module after all passes.

        Raises DiagnosticError for input that is refused, with the reason. An exception that is a
        mistake in a pass becomes one too, and says so.
        """
        context = make_context(DIALECTS, allow_unregistered=self.allow_unregistered)
        line = chunk.first_line
        with reporting_mistakes("while reading", self.file, line):
            with self.timer.child("Parser").running():
                root = read_chunk(chunk, self.file, context, implicit_module=self.implicit_module)
            if self.verify_roundtrip:
                self.check_roundtrip(root)
        if self.nest.parts:
            self.run_passes(context, root, chunk)
        with (
            reporting_mistakes("while printing", self.file, line),
            self.timer.child("Output").running(),
        ):
            return self.printed(root).followed_by("\n")

    def run_passes(self, context: Context, root: Operation, chunk: Chunk) -> None:
        """Transform `root`, which is what `chunk` spells; raise DiagnosticError if a pass fails.

        Verifying after each pass would take as long as the passes. So what they make together is
        verified; only if that or a pass fails, they run again on the text with the verifier after
        each, which tells the pass that is to blame.
        """
        is_watched = self.print_filter.is_active
        try:
            try:
                self.manager(verify_each=is_watched and self.verify_each).run(context, root)
                if self.verify_each and not is_watched:
                    verify(root)
            except (PassFailure, DiagnosticError):
                if self.verify_each and not is_watched:
                    self.run_again(chunk)
                raise
        except PassFailure as failure:
            self.failures.append(failure)
            raise self.explanation(failure, chunk) from failure

    def run_again(self, chunk: Chunk) -> None:
        """Run the passes with the verifier after each; raise PassFailure where it is due."""
        context = make_context(DIALECTS, allow_unregistered=self.allow_unregistered)
        root = read_chunk(chunk, self.file, context, implicit_module=self.implicit_module)
        PassManager(nest=self.nest, verify=verify).run(context, root)

    def check_roundtrip(self, root: Operation) -> None:
        """Raise an error at `root` if its text, read again, does not print the same."""
        for generic in (False, True):
            options = PrintOptions(generic=generic, debuginfo=True)
            text = print_module(root, options)
            context = make_context(DIALECTS, allow_unregistered=self.allow_unregistered)
            again = print_module(parse_module(text, self.file, context), options)
            if again != text:
                change = _first_difference(text, again)
                raise LocatedError(root.location, f"IR does not survive a round trip: {change}")

    def manager(self, *, verify_each: bool) -> PassManager:
        """The pass manager with the instruments that are asked for."""
        instruments: list[Instrument] = [PassTimer(self.timer)]
        if self.log is not None:
            instruments.append(self.log)
        if self.print_filter.is_active:
            instruments.append(IRPrinter(self.print_filter, self.text_of, self.print_tree))
        return PassManager(
            nest=self.nest,
            verify=verify if verify_each else None,
            instruments=instruments,
        )

    def printed(self, op: Operation) -> PrintedText:
        """The text of an operation; a line end of its own closes what is printed as a whole file.

        As in MLIR, an operation inside another one is printed in local scope, without aliases, and
        what is printed so is no whole file.
        """
        if op.parent is None and not self.print_options.local_scope:
            return printed_text(op, self.print_options)
        return printed_text(op, replace(self.print_options, local_scope=True)).removesuffix("\n")

    def text_of(self, op: Operation) -> str:
        """What `printed` gives, as one text."""
        return str(self.printed(op))

    def explanation(self, failure: PassFailure, chunk: Chunk) -> DiagnosticError:
        """What is said about a failed pass; a reproducer is written if there is a file for it."""
        cause, location = failure.__cause__, failure.op.location
        assert cause is not None, "the manager raises a failure from its cause"
        step = f"pass '{failure.step.name}' on '{failure.op.name}'"
        if not isinstance(cause, DiagnosticError):
            notes = self.reproducer_notes(failure, chunk)
            return internal_error(location, failure.place, cause, notes, failure.culprit)
        if failure.left_invalid:
            notes = self.reproducer_notes(failure, chunk)
            mistake = f"this is a mistake in {failure.culprit}, not in the input"
            message = f"{step} produced invalid IR; {mistake}"
            ours = Diagnostic("error", location, message, tuple(notes), show_source=False)
            return DiagnosticError(*cause.diagnostics, ours)
        if self.reproducer:
            notes = self.reproducer_notes(failure, chunk)
            message = "Failures have been detected while processing an MLIR pass pipeline"
            ours = Diagnostic("error", location, message, tuple(notes), show_source=False)
            return DiagnosticError(*cause.diagnostics, ours)
        return cause

    def reproducer_notes(self, failure: PassFailure, chunk: Chunk) -> Sequence[Diagnostic]:
        """Write the input and the pipeline to a file, and say where it is, or how to get it."""
        location = failure.op.location
        executing = f"Pipeline failed while executing [`{title(failure.step)}` on"
        executing += f" '{failure.op.name}' operation]"
        path = self.reproducer
        if not path:
            advice = f"--{REPRODUCER_FLAG}=FILE writes the input and the passes to a file"
            return [note(location, f"{executing}: {advice}", show_source=False)]
        text = reproducer_text(chunk.text.restored(), self.nest, verify_each=self.verify_each)
        try:
            write_output(path, text.encode("utf-8"))
        except FileError as error:
            return [note(location, f"{executing}: no reproducer: {error}", show_source=False)]
        written = f"{executing}: reproducer generated at `{path}`"
        command = f"run it with: ttmlir-opt --run-reproducer {path}"
        return [note(location, text, show_source=False) for text in (written, command)]


def _first_difference(text: str, again: str) -> str:
    pairs = zip(text.split("\n"), again.split("\n"), strict=False)
    return next((f"'{a}' becomes '{b}'" for a, b in pairs if a != b), "its length changes")
