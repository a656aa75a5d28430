"""Operations of kernels in Python as scripts, which run them by `ttnn.generic_op`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.program import CoreRanges, ProgramDescription
from ttmlir.target.python.model_script import PROGRAM, identifier, taken_names
from ttmlir.target.python.program_text import (
    PIECES_OF_PROGRAMS,
    ProgramWriter,
    Refuse,
    cores_text,
    frame_script,
)


@dataclass(frozen=True)
class ShardsText:
    """How a tensor is spread over cores, in the words of the library."""

    memory_layout: str
    cores: CoreRanges
    shape: tuple[int, ...]
    orientation: str


@dataclass(frozen=True)
class TensorText:
    """A tensor of an operation, in the words of the library."""

    name: str
    """In the file of tensors."""
    dtype: str
    layout: str
    buffer_type: str
    shards: ShardsText | None

    @property
    def memory(self) -> str:
        """The memory as an expression."""
        if self.shards is None:
            return f"ttnn.{self.buffer_type}_MEMORY_CONFIG"
        shards = self.shards
        return (
            f"sharded({shards.memory_layout!r}, {self.buffer_type!r}, {cores_text(shards.cores)}, "
            f"{[*shards.shape]}, {shards.orientation!r})"
        )


@dataclass(frozen=True)
class ChipText:
    """The chip that a script is for."""

    arch: str
    """Empty where the program is the same for all chips."""
    grid: tuple[int, int]
    """Columns and rows of the cores that are needed."""
    dram_banks: int


def write_operation_script(
    program: ProgramDescription,
    tensors: Sequence[TensorText],
    chip: ChipText,
    *,
    title: str,
    script: str,
    refuse: Refuse,
) -> str:
    """The script of an operation on tensors, the last of which is the result.

    `script` is its file's name; `refuse` raises what the library or a script has no form for.
    """
    check = "check_chip" if chip.arch else "check_cores"
    own = (check, "numbers", "on_device", "sharded", "accessor", *PIECES_OF_PROGRAMS)
    taken = taken_names() | {*own}

    def new_name(stem: str) -> str:
        name, number = stem, 1
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        taken.add(name)
        return name

    function = new_name(identifier(_words(title)) or "operation")
    names = [new_name(identifier(each.name) or "tensor") for each in tensors]
    writer = ProgramWriter(new_name, taken)
    text = f"def {function}{writer.text(program, title, names, refuse)}"
    made = [
        f"    {name} = on_device({name}, ttnn.{each.dtype}, ttnn.{each.layout}_LAYOUT, "
        f"{each.memory}, device)"
        for name, each in zip(names, tensors, strict=True)
    ]
    forward = [
        f"def {PROGRAM}({''.join(f'{name}: Any, ' for name in names)}device: Any) -> Any:",
        '    """The result, the last tensor, for arrays of NumPy with what all tensors hold."""',
        *made,
        f"    {function}({', '.join(names)})",
        f"    return {names[-1]}",
    ]
    given = "".join(f"read_array(TENSORS, {each.name!r}), " for each in tensors)
    main = (
        "def main(device: Any) -> Any:\n"
        '    """The result for the numbers in the file of tensors."""\n'
        f"    {check}(device)\n"
        f"    return {PROGRAM}({given}device)"
    )
    facts = f"GRID = {chip.grid}"
    if chip.arch:
        facts = f'ARCH, GRID, DRAM_BANKS = "{chip.arch}", {chip.grid}, {chip.dram_banks}'
    parts = (*writer.definitions(), text, "\n".join(forward), main)
    used = "\n".join((text, *forward))
    unused = {name for name in ("sharded", "accessor") if f"{name}(" not in used}
    return frame_script(title, script, facts, [each for each in own if each not in unused], parts)


def _words(title: str) -> str:
    """The name of a class as that of a function."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", title).lower()
