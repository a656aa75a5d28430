"""The whole of `ttmlir-translate`: command line, files, and one translation in between."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ttmlir.errors import FileError, show_cause
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.text_files import Chunk, input_name, read_input, write_output
from ttmlir.terminal import print_error, show_wait
from ttmlir.tools.command_line import CommandLine, dash, flag_help, help_entry, parse_command_line
from ttmlir.tools.translate.flags import TranslateFlags
from ttmlir.tools.translate.translation import Translation
from ttmlir.version import version_text

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

PROGRAM = "ttmlir-translate"


def run_translate(arguments: Sequence[str], translations: Sequence[Translation]) -> int:
    """Run `ttmlir-translate` with command-line arguments; the exit status, 0 or 1.

    `translations` are those that the arguments may name; they name exactly one.
    """
    try:
        line = parse_command_line(
            TranslateFlags,
            arguments,
            program=PROGRAM,
            named=[translation.name for translation in translations],
        )
        flags = line.flags
        if flags.version:
            write_output("-", version_text(PROGRAM).encode("utf-8"))
            return 0
        if flags.help or flags.help_list or flags.help_hidden:
            write_output("-", help_text(translations, hidden=flags.help_hidden).encode("utf-8"))
            return 0
        return _translate(line, _requested_translation(line, translations))
    except (OptionError, FileError) as error:
        show_cause(error)
        print_error(f"{PROGRAM}: {error}")
        return 1


def help_text(translations: Sequence[Translation], *, hidden: bool = False) -> str:
    """The flags and the translations."""
    lines = [
        "OVERVIEW: MLIR Translation Testing Tool",
        f"USAGE: {PROGRAM} [options] <input file>",
        "",
        "OPTIONS:",
        "",
        *flag_help(TranslateFlags, hidden=hidden),
        "",
        "  Translations to perform",
        *(help_entry(4, dash(each.name), each.doc) for each in translations),
    ]
    return "\n".join(lines) + "\n"


def _requested_translation(
    line: CommandLine[TranslateFlags], translations: Sequence[Translation]
) -> Translation:
    if not line.named:
        supported = ", ".join(dash(each.name) for each in translations)
        raise OptionError(
            "Translations to perform option: must be specified at least once!"
            f" Supported: {supported}"
        )
    if len(line.named) > 1:
        given = ", ".join(dash(each.name) for each in line.named)
        raise OptionError(
            f"Translations to perform option: may only occur zero or one times! Given: {given}"
        )
    argument = next(iter(line.named))
    if argument.value:
        raise OptionError(
            f"for the {dash(argument.name)} option: does not allow a value!"
            f" '{argument.value}' specified."
        )
    return next(each for each in translations if each.name == argument.name)


def _translate(line: CommandLine[TranslateFlags], translation: Translation) -> int:
    flags = line.flags
    if translation.reads_file:
        return _read_file(line, translation)
    text = read_input(flags.input)

    # The IR library is imported here, after everything that can be refused without it.
    from ttmlir.mlir.chunk_processing import process_chunks
    from ttmlir.mlir.reporting import uses_colour

    keywords = {name: getattr(flags, name) for name in translation.flags}
    translate_chunk = _read_chunk if translation.reads_text else _translate_chunk
    done = process_chunks(
        text,
        input_name(flags.input),
        partial(translate_chunk, flags, partial(translation.load(), **keywords)),
        marker=flags.split_input_file,
        verify_diagnostics=flags.verify_diagnostics,
        errors_only=flags.error_diagnostics_only,
        coloured=flags.color if "color" in line.given else uses_colour(sys.stderr),
    )
    if done.succeeded:
        if flags.output == "-" and sys.stdout.isatty() and bytes in map(type, done.results):
            raise FileError(
                "the output is binary, and standard output is a terminal; write it to a file with"
                " -o FILE, or into a pipe"
            )
        marker = f"{flags.output_split_marker}\n" if flags.output_split_marker else ""
        write_output(flags.output, marker.encode("utf-8").join(map(_as_bytes, done.results)))
    return 0 if done.succeeded else 1


def _read_file(line: CommandLine[TranslateFlags], translation: Translation) -> int:
    """Print the module that a file is which is no text; the exit status."""
    from ttmlir.errors import InputError
    from ttmlir.files import read_stream
    from ttmlir.mlir.module_printer import print_module
    from ttmlir.mlir.printing import PrintOptions
    from ttmlir.mlir.reporting import DiagnosticError, render_all, uses_colour

    flags = line.flags
    keywords = {name: getattr(flags, name) for name in translation.flags}
    file = input_name(flags.input)
    try:
        given = read_stream(sys.stdin.buffer) if flags.input == "-" else flags.input
        with show_wait(PROGRAM):
            module = translation.load()(given, **keywords)
    except DiagnosticError as error:
        show_cause(error)
        coloured = flags.color if "color" in line.given else uses_colour(sys.stderr)
        sys.stderr.write(render_all(error.diagnostics, {}, coloured=coloured))
        return 1
    except (OSError, InputError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot read input file '{file}': {reason}") from error
    text = print_module(module, PrintOptions(debuginfo=flags.mlir_print_debuginfo))
    write_output(flags.output, text.encode("utf-8"))
    return 0


def _as_bytes(result: str | bytes | None) -> bytes:
    return result.encode("utf-8") if isinstance(result, str) else result or b""


def _translate_chunk(
    flags: TranslateFlags, function: Callable[[ModuleOp], str | bytes], chunk: Chunk
) -> str | bytes:
    """One module in the other format."""
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.dialects import DIALECTS
    from ttmlir.mlir.chunk_processing import read_chunk
    from ttmlir.mlir.context import make_context
    from ttmlir.mlir.reporting import LocatedError, reporting_mistakes

    file = input_name(flags.input)
    context = make_context(DIALECTS, allow_unregistered=flags.allow_unregistered_dialect)
    with reporting_mistakes("while reading", file, chunk.first_line):
        module = read_chunk(chunk, file, context, implicit_module=not flags.no_implicit_module)
    if not isinstance(module, ModuleOp):
        raise LocatedError(module.location, "expected a 'builtin.module' op to translate")
    with (
        reporting_mistakes("while translating", file, chunk.first_line),
        show_wait("ttmlir-translate"),
    ):
        return function(module)


def _read_chunk(
    flags: TranslateFlags, function: Callable[[str, str], ModuleOp], chunk: Chunk
) -> str:
    """The module that a text of another language is, with its places where they are asked for."""
    from ttmlir.mlir.module_printer import print_module
    from ttmlir.mlir.printing import PrintOptions
    from ttmlir.mlir.reporting import refuse_bytes, reporting_mistakes

    file = input_name(flags.input)
    # Empty lines stand for the chunks before, so that places are those in the whole text.
    text = "\n" * (chunk.first_line - 1) + chunk.text.restored()
    refuse_bytes(text, file)
    with reporting_mistakes("while reading", file, chunk.first_line):
        module = function(text, file)
    return print_module(module, PrintOptions(debuginfo=flags.mlir_print_debuginfo))
