"""Ask a compiler about the corpus, and pack what it says into one archive.

    python test/vendor/record.py --stages COMMAND --board p150 --out FILE

`COMMAND FOLDER FILE.mlir...` compiles each file, with the board in the variable `BOARD`, and leaves
in `FOLDER/STEM/` the modules `ttir.mlir`, `ttnn.mlir` and `ttnn_runtime.mlir` and the binary
`program.ttnn`, or a message in `error.txt`. A line for each file that is done starts with its stem.
A module that ends the command's process gets an `error.txt` that says so, and the command is
started again with those after it.

The archive has a folder for each program with these files and `shlo.mlir`, the text given, and at
its root `versions.json`. The same answers are the same bytes.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from answers import ERROR, FILES, GIVEN, VERSIONS
from stablehlo_programs import few_names, names, text

# How many modules one process of the command gets: to start it takes longer than to compile some.
_AT_ONCE = 100
# Seconds after which a process that compiles so many is taken for hanging.
_PATIENCE = 1800
# Programs are alike in what they say of the machine, so the dictionary spans all of them.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26}]


def main() -> int:
    """Compile what was asked for, write the archive, and print how large it is."""
    options = _options()
    chosen = options.names or (few_names() if options.few else names())
    with TemporaryDirectory() as scratch:
        folder = options.raw or Path(scratch) / "answers"
        given = Path(scratch) / "given"
        given.mkdir()
        for name in chosen:
            (given / f"{name}.mlir").write_text(text(name))
        _ask(
            shlex.split(options.stages),
            options.board,
            [given / f"{n}.mlir" for n in chosen],
            folder,
        )
        versions = {**dict(pair.split("=", 1) for pair in options.version), "board": options.board}
        packed = _pack(folder, chosen, versions)
    options.out.write_bytes(packed)
    print(f"{options.out}: {len(chosen)} programs, {len(packed)} bytes")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--stages", required=True, help="the command that compiles: COMMAND FOLDER FILE.mlir...")
    add("--board", default="p150", help="the value of BOARD for the command")
    add("--out", type=Path, required=True, help="the archive to write, a .tar.xz")
    add("--few", action="store_true", help="about sixty programs instead of all")
    add("--raw", type=Path, help="keep the answers in this folder; those in it are not asked for")
    add("--version", action="append", default=[], metavar="NAME=VERSION", help="for versions.json")
    add("names", nargs="*", help="only these programs")
    return parser.parse_args()


def _ask(command: list[str], board: str, files: list[Path], folder: Path) -> None:
    """Compile those files that have no answer in the folder."""
    waiting = [file for file in files if not _is_answered(file, folder / file.stem)]
    for file in waiting:
        shutil.rmtree(folder / file.stem, ignore_errors=True)
    while waiting:
        batch = waiting[:_AT_ONCE]
        done, message = _ask_at_once(command, board, batch, folder)
        if len(done) < len(batch):
            culprit = next(file for file in batch if file.stem not in done)
            (folder / culprit.stem).mkdir(parents=True, exist_ok=True)
            (folder / culprit.stem / ERROR).write_text(message)
            done.add(culprit.stem)
        for file in batch:
            if file.stem in done:
                shutil.copyfile(file, folder / file.stem / GIVEN)
        waiting = [file for file in waiting if file.stem not in done]
        print(f"{len(waiting)} to go", file=sys.stderr, flush=True)


def _is_answered(file: Path, answer: Path) -> bool:
    """Whether the folder has an answer to this text, not to what the program was before."""
    given = answer / GIVEN
    return given.exists() and given.read_bytes() == file.read_bytes()


def _ask_at_once(
    command: list[str], board: str, files: list[Path], folder: Path
) -> tuple[set[str], str]:
    """Run the command once; the stems that it finished, and how it ended before the others."""
    stems = {file.stem for file in files}
    process = subprocess.run(
        [*command, str(folder), *map(str, files)],
        env={**os.environ, "BOARD": board},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_PATIENCE,
        check=False,
        text=True,
        errors="replace",
    )
    lines = process.stdout.splitlines()
    starts = [(line.split() or [""])[0] for line in lines]
    done = stems.intersection(starts)
    since = max((number for number, first in enumerate(starts) if first in stems), default=-1) + 1
    if not done and not any((folder / stem).exists() for stem in stems):
        raise SystemExit("\n".join([*lines[-30:], f"the command failed: {process.returncode}"]))
    return done, "\n".join(
        [f"the process ended with status {process.returncode}", *_causes(lines[since:])]
    )


def _causes(lines: list[str]) -> list[str]:
    """The lines that name a cause, without times, addresses and folders."""
    naming = re.compile(r"error:|assert|fatal|what\(\)|terminate|LLVM ERROR|UNREACHABLE", re.I)
    found = [re.sub(r"0x[0-9a-f]+|(?<![\w.])/\S*/", "", line) for line in lines]
    return [f"{line}\n" for line in found if naming.search(line)][-3:]


def _pack(folder: Path, chosen: list[str], versions: dict[str, str]) -> bytes:
    """The archive, with the files of one kind beside each other, which makes it smaller."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        _append(archive, VERSIONS, (json.dumps(versions, indent=2, sort_keys=True) + "\n").encode())
        for name in chosen:
            for kind in FILES:
                file = folder / name / kind
                if file.exists():
                    content = file.read_bytes()
                    _append(
                        archive, f"{name}/{kind}", _cause(content) if kind == ERROR else content
                    )
    return lzma.compress(stream.getvalue(), format=lzma.FORMAT_XZ, filters=_FILTERS)


def _cause(message: bytes) -> bytes:
    """A message without the addresses of the calls that led to it."""
    return message.partition(b"backtrace:")[0].rstrip() + b"\n"


def _append(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    sys.exit(main())
