"""What a file is, on one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.boards import BOARD_NAMES, board
from ttmlir.layout.system.chip import SystemDesc
from ttmlir.layout.system.system_tables import system_desc_from_table
from ttmlir.runtime.binary import Binary, BinaryProgram, TensorRef
from ttmlir.schema import TableView
from ttmlir.terminal import shown_name

MOST_NAMES = 8
MOST_TENSORS = 5
MOST_KINDS = 5


def summarize_binary(binary: Binary, size: int, sections: Sequence[str]) -> str:
    """What a program file holds; `size` counts its bytes, `sections` are what else can be read."""
    kind = "programs of kernels" if binary.is_metal else "calls of the ttnn library"
    version = ".".join(map(str, binary.version))
    lines = [
        f"{binary.source}: {kind}, {size:,} bytes, version {version}",
        f"compiled for {describe_system(binary.system_desc)}",
    ]
    first, *others = [*binary.programs, None]
    if first is not None:
        lines += ["", *_summarize_program(first)]
    names = [program.name for program in others if program is not None]
    if names:
        lines += ["", f"more programs: {_shorten(names, MOST_NAMES)}"]
    return "\n".join([*lines, "", f"more with --section {', '.join(sections)}"])


def summarize_system(source: str, root: TableView) -> str:
    """What a system description says."""
    version = root["version"]
    numbers = "unknown" if version is None else ".".join(str(part) for part in version)
    return (
        f"{source}: system description, version {numbers}\n"
        f"describes {describe_system(root['system_desc'])}\n\n"
        "more with --section all, version, system_desc"
    )


def describe_system(table: TableView | None) -> str:
    """The board that a `SystemDesc` table describes, or its chips."""
    if table is None:
        return "no system that it names"
    try:
        system = system_desc_from_table(table)
    except LayoutError as error:
        return f"a system that is not known: {error}"
    name = next((name for name in BOARD_NAMES if board(name) == system), None)
    return f"board '{name}', {_describe_chips(system)}" if name else _describe_chips(system)


def _describe_chips(system: SystemDesc) -> str:
    chip = system.chip(0)
    rows, columns = chip.grid
    count = system.num_chips
    chips = "a chip" if count == 1 else f"{count} chips"
    return f"{chips} of {chip.arch.name.lower()} with {rows}x{columns} cores"


def _summarize_program(program: BinaryProgram) -> list[str]:
    signature = program.signature
    names = [""] * len(program.inputs) if signature is None else signature.input_names
    of_model = f" of the model '{shown_name(signature.name)}'" if signature is not None else ""
    lines = [f"program {program.index} '{shown_name(program.name)}'{of_model}"]
    lines += _list(
        "inputs", [_spell(name, ref) for name, ref in zip(names, program.inputs, strict=True)]
    )
    lines += _list("outputs", [_spell("", ref) for ref in program.outputs])
    lines += _list("does", [_count(_kinds(program))])
    if constants := _constants(program):
        size = sum(ref.desc.volume * ref.desc.element.host.itemsize for ref in constants)
        lines += _list("constants", [f"{len(constants)}, {size:,} bytes"])
    texts = [name for name, text in program.debug_sources() if text]
    golden = ["golden results of the framework"] if program.golden is not None else []
    lines += _list("also", [", ".join([*(f"its text in {name}" for name in texts), *golden])])
    return lines


def _kinds(program: BinaryProgram) -> list[str]:
    if not program.binary.is_metal:
        return [operation.title for operation in program.operations]
    # The simulator is loaded only for files that need it.
    from ttmlir.runtime.metal.program import MetalProgram

    assert isinstance(program, MetalProgram), "the file is a .ttm file"
    return [f"launch of {command.meaning}" for command in program.launches]


def _constants(program: BinaryProgram) -> list[TensorRef]:
    operations = [each for each in program.operations if each.table == "ConstantOp"]
    refs = {ref.global_id: ref for each in operations for ref in (each.tensor("out"),)}
    return [ref for ref in refs.values() if ref.constant is not None]


def _count(kinds: Sequence[str]) -> str:
    counts = Counter(kinds).most_common()
    shown = _shorten((f"{count} {kind}" for kind, count in counts), MOST_KINDS)
    return f"{len(kinds)} operations: {shown}" if kinds else "nothing"


def _spell(name: str, ref: TensorRef) -> str:
    text = str(ref.desc) if ref.desc.is_on_device else ref.desc.type_text
    return f"{name}: {text}" if name else text


def _shorten(texts: Iterable[str], most: int) -> str:
    texts = list(texts)
    more = [f"... {len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*texts[:most], *more])


def _list(title: str, items: Sequence[str]) -> list[str]:
    """Lines under a title, of many the first ones."""
    items = [item for item in items if item]
    if len(items) > MOST_TENSORS:
        items = [*items[: MOST_TENSORS - 1], f"... {len(items) - MOST_TENSORS + 1} more"]
    return [f"  {title if i == 0 else '':<10}{item}" for i, item in enumerate(items)]
