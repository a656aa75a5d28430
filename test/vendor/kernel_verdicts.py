"""What tt-metal's compiler says of kernels in the form of 2026, from `Inputs/kernel_verdicts.txt`.

    PYTHONPATH=.:test:test/support python test/vendor/kernel_verdicts.py write FOLDER
    python test/vendor/compile_kernels.py FOLDER --command 'ref kernels' --size 1 --list > LOG
    PYTHONPATH=.:test:test/support python test/vendor/kernel_verdicts.py record VERSION LOG

The first writes the kernels of `programs()` and of `operations()`, one `HASH.ROLE.cpp` each. They
are compiled with tt-metal's own compiler, warnings as errors, for each board. The last records
which kernels passed for which boards.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from kernels import answers
from running.d2m_interpreter import normal, text_of
from running.kernel_runs import KERNEL_PIPELINE
from running.pass_runner import lowered

from ttmlir.compiler import write_kernels
from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.text_files import DEFAULT_MARKER

CONTEXT = make_context(DIALECTS)
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


_MOVES = re.compile(
    "noc_|semaphore|tensor_accessor|TensorAccessor|fabric|from_l1|to_l1|interleaved|mem_zeros|"
    "my_[xy]$|device_id|mesh_position|translated|get_dataformat|_ptr$|get_tile_size|reinterpret"
)
"""Operations of kernels that move data."""
_THREAD = "ttkernel.thread = #ttkernel.thread"
_PORT = "<arg_type = cb_port, operand_index = 0>"
_ARGUMENTS = f"ttkernel.arg_spec = #ttkernel.arg_spec< ct_args = [{_PORT}]>"


def operations() -> Iterator[tuple[str, str, str]]:
    """Name, role and C++ of a kernel with each operation of ttkernel in the form of 2026."""
    seen = set[str]()
    for answer in answers():
        is_operation = answer.op.startswith("ttkernel.") and answer.emitc is not None
        if answer.op in seen or not is_operation:
            continue
        seen.add(answer.op)
        moves = _MOVES.search(answer.op) is not None
        # The arguments tell the form where the operation is one of 2024, too.
        thread = f"{_ARGUMENTS}, {_THREAD}<{'noc' if moves else 'compute'}>"
        text = answer.given.replace(f"{_THREAD}<compute>", thread)
        module = parse_module(text, "kernel.mlir", CONTEXT)
        yield answer.op, "reader" if moves else "compute", write_kernels(module, kernel_api="2026")


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
    for _, role, kernel in operations():
        (folder / f"{hash_of(kernel)}.{role}.cpp").write_text(kernel)


def record(version: str, log: Path) -> None:
    """Write what passed for which boards."""
    found = defaultdict[str, list[str]](list)
    for line in log.read_text().splitlines():
        board, _, path = line.partition(" ok ")
        if path:
            found[Path(path).name.partition(".")[0]].append(board)
    rows = [f"# {version}", *(f"{key} {' '.join(found[key])}" for key in sorted(found))]
    PATH.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder]:
            write(Path(folder))
        case ["record", version, log]:
            record(version, Path(log))
        case _:
            print(__doc__)
            sys.exit(2)
