"""Reading the input of a tool, splitting it, and writing the output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from errno import EFBIG

from ttmlir.errors import FileError
from ttmlir.files import write_file
from ttmlir.mlir.long_strings import CompactText, compact, read_compact

STANDARD_STREAM = "-"
"""The file name that means standard input or standard output."""

DEFAULT_MARKER = "// -----"
"""The line between the parts of an input file that are processed on their own."""


@dataclass(frozen=True)
class Chunk:
    """A part of an input file that is processed on its own."""

    text: CompactText
    first_line: int
    """Number of its first line in the file, from 1."""


def read_input(path: str) -> CompactText:
    """The text of a file or of standard input; FileError if it cannot be read.

    Long constants are not in the text, but beside it. Bytes that are no UTF-8 are surrogates, which
    `ttmlir.mlir.reporting.refuse_bytes` refuses.
    """
    try:
        if path == STANDARD_STREAM:
            data, contents = read_compact(sys.stdin.buffer)
        else:
            # Not by `Path`, for which an empty name is the current folder.
            with open(path, "rb") as file:
                data, contents = read_compact(file)
    except OSError as error:
        verb = "read" if error.errno == EFBIG else "open"
        raise FileError(f"cannot {verb} input file '{path}': {error.strerror}") from error
    return CompactText(data.decode("utf-8", "surrogateescape"), contents)


def input_name(path: str) -> str:
    """What messages call an input file."""
    return "<stdin>" if path == STANDARD_STREAM else path


def split_input(text: str, marker: str) -> Iterator[Chunk]:
    """The parts of a text between lines that consist of `marker`; all of it if that is empty."""
    text = compact(text)
    if not marker:
        yield Chunk(text, 1)
        return
    first, lines = 1, list[str]()
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() == marker:
            yield Chunk(text.part("\n".join(lines)), first)
            first, lines = number + 1, []
        else:
            lines.append(line)
    yield Chunk(text.part("\n".join(lines)), first)


def write_output(path: str, data: bytes | Iterable[bytes]) -> None:
    """Write a file or standard output, from bytes or from chunks of them.

    Raises FileError if that is impossible.
    """
    chunks = [data] if isinstance(data, bytes) else data
    try:
        if path == STANDARD_STREAM:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(chunks)
            sys.stdout.buffer.flush()
        else:
            write_file(path, chunks)
    except OSError as error:
        raise FileError(f"cannot open output file '{path}': {error.strerror}") from error
