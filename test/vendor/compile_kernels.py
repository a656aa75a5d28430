"""Compiles kernels in the form of 2026 with tt-metal's own compiler, many in one text.

    python test/vendor/compile_kernels.py FOLDER --command 'ref kernels'

FOLDER holds `NAME.ROLE.cpp` (reader, writer or compute), as collect_kernels.py writes them. The
command gets `ROLE:FILE:ARGUMENTS` for each text, with numbers for its compile-time arguments, and
prints `ok FILE` or `ERROR FILE` and messages; `BOARD` is n150 or p150. Kernels with the same lines
before the function are one text, each in a namespace of its own; where one does not compile, its
halves are tried. Prints what fails, and how many compile; the exit status is 1 if one does not.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_ENTRY = "void kernel_main() {"
_ARGUMENTS = re.compile(r"get_compile_time_arg_val\((\d+)\)|TensorAccessorArgs<(\d+)")
_SPARE = 4
"""Arguments beyond the last that a kernel asks for by its number: layouts of tensors have more."""
_TEXTS = 24
"""So many texts are given to one process."""


@dataclass(frozen=True)
class Source:
    """A kernel: its file, the lines before its function, and the function."""

    path: Path
    head: str
    body: str

    @property
    def role(self) -> str:
        """The part of the core that it is for."""
        return self.path.suffixes[-2][1:]

    @property
    def arguments(self) -> int:
        """How many compile-time arguments it needs."""
        found = [int(a or b) for a, b in _ARGUMENTS.findall(self.body)]
        return max(found, default=-1) + _SPARE


def read_source(path: Path) -> Source:
    """The parts of a kernel's file."""
    head, entry, body = path.read_text(encoding="utf-8").partition(_ENTRY)
    if not entry:
        raise ValueError(f"{path}: no '{_ENTRY}'")
    lines = [line for line in head.splitlines() if line and not line.startswith("//")]
    return Source(path, "\n".join(lines), f"{entry}{body}")


def divide(sources: list[Source], size: int) -> list[list[Source]]:
    """Groups of at most `size` kernels that can be one text."""
    alike = defaultdict[tuple[str, str], list[Source]](list)
    for source in sources:
        alike[source.role, source.head].append(source)
    return [
        group[start : start + size]
        for group in alike.values()
        for start in range(0, len(group), size)
    ]


def join(group: list[Source]) -> str:
    """One kernel that calls those of a group; one alone stays as it is."""
    if len(group) == 1:
        return f"{group[0].head}\n{group[0].body}"
    parts = [group[0].head]
    for number, source in enumerate(group):
        parts.append(f"namespace kernel_{number} {{\n[[gnu::noinline]] {source.body}\n}}")
    calls = "".join(f"  kernel_{number}::kernel_main();\n" for number in range(len(group)))
    return "\n".join((*parts, f"{_ENTRY}\n{calls}}}\n"))


def compile_groups(
    groups: list[list[Source]], command: list[str], board: str, work: Path
) -> dict[int, str]:
    """What the compiler says of each text that it refuses, by the number of its group."""
    specs = dict[str, int]()
    for number, group in enumerate(groups):
        path = work / f"{number}.{group[0].role}.cpp"
        path.write_text(join(group), encoding="utf-8")
        count = max(source.arguments for source in group)
        arguments = ",".join(str(2 + 2 * each) for each in range(count))
        specs[f"{group[0].role}:{path}:{arguments}"] = number
    passed = set[int]()
    said = defaultdict[int, list[str]](list)
    listed = list(specs)
    for start in range(0, len(listed), _TEXTS):
        done = subprocess.run(
            [*command, *listed[start : start + _TEXTS]],
            capture_output=True, text=True, check=False, env={**os.environ, "BOARD": board},
        )  # fmt: skip
        number = -1
        for line in done.stdout.splitlines():
            verdict = re.match(rf"(ok|ERROR) {re.escape(str(work))}/(\d+)\.", line)
            if verdict:
                number = int(verdict[2])
                if verdict[1] == "ok":
                    passed.add(number)
            elif number not in passed and line.startswith(" "):
                said[number].append(line.strip()[:300])
    return {
        number: "; ".join(said[number][:6]) or "no message"
        for number in range(len(groups))
        if number not in passed
    }


def compile_sources(
    sources: list[Source], command: list[str], board: str, work: Path, size: int
) -> dict[Path, str]:
    """What the compiler says of each kernel that it refuses."""
    refused = dict[Path, str]()
    groups = divide(sources, size)
    while groups:
        print(f"{board}: {len(groups)} texts", flush=True)
        next_groups = list[list[Source]]()
        for number, message in compile_groups(groups, command, board, work).items():
            group = groups[number]
            if len(group) == 1:
                refused[group[0].path] = message
            else:
                half = len(group) // 2
                next_groups += group[:half], group[half:]
        groups = next_groups
    return refused


def main() -> int:
    """Compile, and print what fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--command", required=True, help="tt-metal's compiler")
    parser.add_argument("--boards", nargs="*", default=["p150", "n150"])
    parser.add_argument("--size", type=int, default=24, help="kernels in one text")
    parser.add_argument("--every", type=int, default=1, help="take every so many kernels only")
    parser.add_argument("--list", action="store_true", help="print those that compile, too")
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    sources = [read_source(path) for path in sorted(folder.glob("*.*.cpp"))][:: options.every]
    status = 0
    for board in options.boards:
        work = folder / "texts" / board
        work.mkdir(parents=True, exist_ok=True)
        refused = compile_sources(sources, shlex.split(options.command), board, work, options.size)
        for path, message in sorted(refused.items()):
            print(f"{board} {path.name}: {message}")
        for source in sources if options.list else ():
            if source.path not in refused:
                print(f"{board} ok {source.path}")
        print(f"{board}: {len(sources) - len(refused)} of {len(sources)} compile", flush=True)
        status |= bool(refused)
    return status


if __name__ == "__main__":
    sys.exit(main())
