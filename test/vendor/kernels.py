"""What tt-lang's MLIR made of modules of ttkernel and ttmetal, from `Inputs/kernels.json.xz`.

A module holds one operation of ttkernel, or arithmetic, loops and branches (`flow`), or what the
host does (`ttmetal`), or is a kernel of many operations in loops and branches (`program`), which
chance has put together. It was read, verified and printed, lowered by convert-ttkernel-to-emitc,
and translated to C++. Texts are the tool's own; C++ with helpers that tt-mlir writes into kernels
is left out.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PATH = Path(__file__).resolve().parent / "Inputs" / "kernels.json.xz"


@dataclass(frozen=True)
class KernelAnswer:
    """A module, and what became of it."""

    op: str
    given: str
    """In the generic form."""
    printed: str | None
    emitc: str | None
    cpp: str | None
    error: str | None
    """The message of a module that is wrong, from after the place."""


@cache
def answers() -> list[KernelAnswer]:
    """All answers, in the order of the operations."""
    records = json.loads(lzma.decompress(PATH.read_bytes()))
    return [KernelAnswer(**record) for record in records["modules"]]


def versions() -> dict[str, str]:
    """The versions of what gave the answers."""
    return json.loads(lzma.decompress(PATH.read_bytes()))["versions"]
