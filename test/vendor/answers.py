"""What the vendor's compiler made of the programs of the corpus, from the archives in `Inputs/`.

    ANSWERS = Archive("p150")
    for name in ANSWERS.names():
        answer = ANSWERS[name]
        if answer.error is None:
            print(answer.ttnn)

Texts are the compiler's own bytes. Nothing of the vendor's is needed to read them; `record.py`
writes the archives.
"""

from __future__ import annotations

import json
import lzma
import tarfile
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path

GIVEN = "shlo.mlir"
ERROR = "error.txt"
BINARY = "program.ttnn"
VERSIONS = "versions.json"
FILES = (GIVEN, "ttir.mlir", "ttnn.mlir", "ttnn_runtime.mlir", BINARY, ERROR)

INPUTS = Path(__file__).resolve().parent / "Inputs"


@dataclass(frozen=True)
class Answer:
    """What the compiler made of a program.

    A refused program has an `error`, and only the stages before it; others have all of them.
    """

    name: str
    files: dict[str, bytes]

    @property
    def given(self) -> str:
        """The StableHLO module that the compiler got."""
        return self.files[GIVEN].decode()

    @property
    def ttir(self) -> str | None:
        """The module of ttir."""
        return self._text("ttir.mlir")

    @property
    def ttnn(self) -> str | None:
        """The module of ttnn, with layouts."""
        return self._text("ttnn.mlir")

    @property
    def ttnn_runtime(self) -> str | None:
        """The module of ttnn as the binary is written from it."""
        return self._text("ttnn_runtime.mlir")

    @property
    def binary(self) -> bytes | None:
        """The `.ttnn` file."""
        return self.files.get(BINARY)

    @property
    def error(self) -> str | None:
        """Why the compiler refuses the program; None if it does not."""
        return self._text(ERROR)

    def _text(self, file: str) -> str | None:
        content = self.files.get(file)
        return None if content is None else content.decode()


class Archive:
    """The answers for one board, which are read when the first is asked for."""

    def __init__(self, board: str) -> None:
        """Take the archive of a board: `p150` or `n150`."""
        self._path = INPUTS / f"{board}.tar.xz"

    def names(self) -> list[str]:
        """The names of the programs, in the order of the corpus."""
        return list(self._answers)

    def __getitem__(self, name: str) -> Answer:
        """The answer for a program."""
        return self._answers[name]

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the compiler and of JAX, and the board."""
        return json.loads(self._contents[VERSIONS])

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with tarfile.open(fileobj=BytesIO(lzma.decompress(self._path.read_bytes()))) as archive:
            for entry in archive:
                content = archive.extractfile(entry)
                if content is not None:
                    found[entry.name] = content.read()
        return found

    @cached_property
    def _answers(self) -> dict[str, Answer]:
        files: dict[str, dict[str, bytes]] = {}
        for path, content in self._contents.items():
            name, _, file = path.rpartition("/")
            if name:
                files.setdefault(name, {})[file] = content
        return {name: Answer(name, content) for name, content in files.items()}
