"""What tt-metal's compiler says of kernels in the form of 2026, from `Inputs/kernel_verdicts.txt`.

    PYTHONPATH=.:test:test/support python test/vendor/kernel_verdicts.py write FOLDER
    PYTHONPATH=.:test:test/support python test/vendor/kernel_verdicts.py record VERSION BOARD=LOG...

The first writes the kernels of `programs()`, one `HASH.ROLE.cpp` each. They are compiled with
tt-metal's own compiler, warnings as errors, for each board; a log has a line `ok FILE` for each
kernel that passes. The second records which kernels passed for which boards.
"""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from running.d2m_interpreter import normal, text_of
from running.kernel_runs import KERNEL_PIPELINE
from running.pass_runner import lowered

from ttmlir.compiler import write_kernels
from ttmlir.mlir.text_files import DEFAULT_MARKER

PATH = Path(__file__).resolve().parent / "Inputs" / "kernel_verdicts.txt"
UNARY = (
    "abs ceil cos erf exp floor gelu isfinite log log1p logical_not neg reciprocal relu rsqrt "
    "sigmoid sign sin sqrt tan tanh"
)
BINARY = "add atan2 div eq ge gt le lt maximum minimum multiply ne pow remainder subtract"


def programs() -> Iterator[tuple[str, str]]:
    """Name and text of each program, in the dialect ttir."""
    a, b = normal(40, 70), normal(40, 70, seed=1)
    for op in UNARY.split():
        yield op, text_of(op, [a], a)
    for op in BINARY.split():
        yield op, text_of(op, [a, b], a)
    yield "matmul", text_of("matmul", [normal(70, 96), normal(96, 130)], normal(70, 130))
    yield "transpose", text_of("transpose", [a], a.T, "dim0 = 0 : si32, dim1 = 1 : si32")
    for op in ("sum", "mean", "max", "min"):
        for dim, shape in ((0, (1, 70)), (1, (40, 1))):
            reduced = normal(*shape)
            yield (
                f"{op} {dim}",
                text_of(op, [a], reduced, f"dim_arg = [{dim} : i32], keep_dim = true"),
            )
    yield "softmax", text_of("softmax", [a], a, "dimension = 1 : si32")


def kernels(text: str) -> Iterator[tuple[str, str]]:
    """Role and C++ of each kernel of a program."""
    module = lowered(text, KERNEL_PIPELINE)
    for kernel in write_kernels(module, kernel_api="2026").split(f"{DEFAULT_MARKER}\n"):
        yield "compute" if '"api/compute/' in kernel else "reader", kernel


def hash_of(kernel: str) -> str:
    """The name of a kernel in the record: that of its text without the title."""
    code = kernel[kernel.index("#include") :]
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def verdicts() -> dict[str, set[str]]:
    """The boards that take a kernel, by its hash."""
    lines = PATH.read_text().splitlines()
    return {key: set(boards) for key, *boards in map(str.split, lines) if key != "#"}


def write(folder: Path) -> None:
    """Write the kernels of all programs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in programs():
        try:
            for role, kernel in kernels(text):
                (folder / f"{hash_of(kernel)}.{role}.cpp").write_text(kernel)
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)


def record(version: str, *logs: str) -> None:
    """Write what passed for which boards."""
    found = defaultdict[str, list[str]](list)
    for log in logs:
        board, _, path = log.partition("=")
        for line in Path(path).read_text().splitlines():
            if line.startswith("ok "):
                found[Path(line[3:].strip()).name.partition(".")[0]].append(board)
    rows = [f"# {version}", *(f"{key} {' '.join(found[key])}" for key in sorted(found))]
    PATH.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder]:
            write(Path(folder))
        case ["record", version, *logs]:
            record(version, *logs)
        case _:
            print(__doc__)
            sys.exit(2)
