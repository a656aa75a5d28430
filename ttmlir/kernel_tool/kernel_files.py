"""Which files hold kernels, and for which processors each of them is written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from pathlib import Path

from ttmlir.files import decode_text, read_stream
from ttmlir.kernel_tool.errors import KernelToolError
from ttmlir.limits import MAX_SOURCE_LENGTH
from ttmlir.optable.kernel import ALL_CALLS, Role

_ENTRY = re.compile(r"\b(?:kernel_main|MAIN)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_COMPUTE_ENTRY = re.compile(r"\bvoid\s+MAIN\b|\bnamespace\s+NAMESPACE\b")
_WORD = re.compile(r"\b[a-z]\w+(?=\s*[(<])")
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"\n]*)[>"]', re.MULTILINE)
_COMPUTE_HEADER = re.compile(r"(?:^|/)compute_kernel_api(?:/|\.h)|(?:^|/)api/compute/")
_DATA_HEADER = re.compile(r"(?:^|/)dataflow_api\.h$|(?:^|/)api/dataflow/")
_COMPUTE_NAME = re.compile(r"compute|eltwise|(?:^|[_/])(?:mm|bmm|math|sfpu)(?=[_./]|$)")
_MOVER_NAME = re.compile(r"(read|load)|(writ|store)")


class KernelRole(Enum):
    """What a kernel is for, and the processors that run it."""

    COMPUTE = "compute", (Role.UNPACK, Role.MATH, Role.PACK), 0
    READER = "reader", (Role.NCRISC,), 0
    WRITER = "writer", (Role.BRISC,), 1

    def __init__(self, word: str, processors: tuple[Role, ...], noc_index: int) -> None:
        """The role as it is written, its processors, and the network that it uses."""
        self.word = word
        self.processors = processors
        self.noc_index = noc_index


def find_role(text: str, path: str) -> KernelRole:
    """The role of a kernel, from its text, or from its path where the text may be of any.

    Its entry decides, then the calls that only one kind of processor has, then its headers. Readers
    and writers make the same calls: their names come first, then whether they write only.
    """
    bare = _COMMENT.sub(" ", text)
    name = path.lower().replace(os.sep, "/")
    if _COMPUTE_ENTRY.search(bare) or _is_compute(bare, text, name):
        return KernelRole.COMPUTE
    named = _MOVER_NAME.search(name.rpartition("/")[2])
    if named is not None:
        return KernelRole.READER if named[1] else KernelRole.WRITER
    only_writes = "noc_async_write" in bare and "noc_async_read" not in bare
    return KernelRole.WRITER if only_writes else KernelRole.READER


def _is_compute(bare: str, text: str, name: str) -> bool:
    words = _WORD.findall(bare)
    compute, data = _calls_of_one_kind()
    ours = sum(each in compute for each in words)
    theirs = sum(each in data for each in words)
    if ours != theirs:
        return ours > theirs
    headers = _INCLUDE.findall(text)
    ours = sum(bool(_COMPUTE_HEADER.search(each)) for each in headers)
    theirs = sum(bool(_DATA_HEADER.search(each)) for each in headers)
    if bool(ours) != bool(theirs):
        return bool(ours)
    return bool(_COMPUTE_NAME.search("/".join(name.split("/")[-2:])))


@cache
def _calls_of_one_kind() -> tuple[frozenset[str], frozenset[str]]:
    """The calls of compute kernels alone, and those of the others alone."""
    roles = dict[str, Role]()
    for call in ALL_CALLS:
        roles[call.cpp] = roles.get(call.cpp, Role(0)) | call.roles
    return (
        frozenset(name for name, each in roles.items() if name and not each & Role.DATA),
        frozenset(name for name, each in roles.items() if name and not each & Role.COMPUTE),
    )


def read_kernel(path: str) -> str:
    """The text of a kernel; KernelToolError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            text = decode_text(read_stream(file))
    except OSError as error:
        raise KernelToolError(f"{path}: error: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KernelToolError(f"{path}: error: this is no UTF-8 text") from None
    if len(text) > MAX_SOURCE_LENGTH:
        raise KernelToolError(
            f"{path}: error: a kernel has at most {MAX_SOURCE_LENGTH} characters, not {len(text)}"
        )
    return text


def find_kernels(paths: Sequence[str]) -> list[str]:
    """The files that are given, and those with kernels in folders that are given, each once.

    A kernel in a folder is a `.cpp` file that says `kernel_main` or `MAIN`. Links to folders are
    not followed. KernelToolError for a path that is not there, and for folders without kernels.
    """
    found = dict[str, None]()
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.exists(path):
                raise KernelToolError(f"{path}: error: there is no such file or folder")
            found[path] = None
            continue
        inside = list(_walk(path))
        if not inside:
            raise KernelToolError(
                f"{path}: error: no kernel is in this folder: no .cpp file below it says "
                "'kernel_main' or 'MAIN'"
            )
        found |= dict.fromkeys(inside)
    return list(found)


def _walk(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(parent, name)
            if name.endswith(".cpp") and os.path.isfile(path) and _has_entry(path):
                yield path


def _has_entry(path: str) -> bool:
    try:
        return bool(_ENTRY.search(read_kernel(path)))
    except KernelToolError:
        return True  # Whoever checks it says what is wrong.
