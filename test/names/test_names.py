"""Nothing that a table names gets lost: the tables against lists that are kept by hand.

Other tests run over the definitions of a table, so that a definition which is dropped drops its
tests, too. Who adds a definition adds its name to `Inputs/`; who removes one says so in the
changelog.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from ttmlir.dialects import DIALECTS
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.mlir.context import load_dialect
from ttmlir.optable.kernel import CALLS
from ttmlir.passes import convert_linalg_to_ttir
from ttmlir.passes.core.registry import PASSES, PIPELINES
from ttmlir.passes.stablehlo import convert_stablehlo_to_ttir as stablehlo
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import REFUSED
from ttmlir.passes.tosa import convert_tosa_to_ttir
from ttmlir.tools.opt.flags import OptFlags
from ttmlir.tools.translate.translations import TRANSLATIONS
from ttmlir.ttnn.registry import known_names

INPUTS = Path(__file__).parent / "Inputs"


def find_edits(file: str, heading: str, names: Iterable[str]) -> list[str]:
    """What to change in a file so that it has these names under a heading."""
    lines = (INPUTS / file).read_text().splitlines()
    where = f"test/names/Inputs/{file}"
    # The words of the heading and their lines.
    there: dict[str, int] = {}
    start = lines.index(f"{heading}:") + 1 if f"{heading}:" in lines else len(lines)
    if start == len(lines):
        return [f"{where}: add at the end: `{heading}: {' '.join(sorted(names))}`"]
    for number, line in enumerate(lines[start:], start + 1):
        if line.endswith(":"):
            break
        there.update(dict.fromkeys(line.split(), number))
    wanted = set(names)
    edits = [
        f"{where}:{max((there[each] for each in there if each < name), default=start + 1)}: "
        f"add `{name}` under `{heading}:`"
        for name in sorted(wanted - {*there})
    ]
    return edits + [
        f"{where}:{there[name]}: `{name}` is gone from {heading}: take it from this line if that "
        "is meant, and say so in CHANGELOG.md"
        for name in sorted({*there} - wanted)
    ]


def listed(file: str) -> dict[str, list[str]]:
    """The names under each heading of a file; a heading ends in a colon."""
    names: dict[str, list[str]] = {}
    heading = ""
    for word in (INPUTS / file).read_text().split():
        if word.endswith(":"):
            heading = word[:-1]
            names[heading] = []
        else:
            names[heading].append(word)
    return names


def operations(dialect: str) -> Iterable[str]:
    """The operations of a dialect without its name."""
    return (
        op.name.removeprefix(f"{dialect}.") for op in load_dialect(DIALECTS[dialect]).operations
    )


TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "passes": lambda: PASSES,
    "pipelines": lambda: PIPELINES,
    "translations": lambda: (each.name for each in TRANSLATIONS),
    "boards": lambda: BOARD_NAMES,
    "kernel_calls": lambda: (call.mnemonic for call in CALLS),
    "stablehlo_converted": lambda: stablehlo.CONVERTED,
    "stablehlo_refused": lambda: REFUSED,
    "tosa_converted": lambda: convert_tosa_to_ttir.CONVERTED,
    "ttnn_names": known_names,
    "linalg_converted": lambda: convert_linalg_to_ttir.RULES,
}


def test_dialects() -> None:
    """Every dialect has its list of operations."""
    missing = set(DIALECTS) - {*listed("operations.txt")}
    assert not [
        edit
        for name in sorted(missing)
        for edit in find_edits("operations.txt", name, operations(name))
    ]
    assert sorted(listed("operations.txt")) == sorted(DIALECTS)


@pytest.mark.parametrize("dialect", listed("operations.txt"))
def test_operations(dialect: str) -> None:
    """The operations of a dialect are those of the list."""
    names = [*operations(dialect)]
    assert find_edits("operations.txt", dialect, names) == []
    assert len(names) == len(set(names))


@pytest.mark.parametrize("table", TABLES)
def test_tables(table: str) -> None:
    """A table has the names of the list."""
    names = [*TABLES[table]()]
    assert find_edits("tables.txt", table, names) == []
    assert len(names) == len(set(names))


def test_flags() -> None:
    """Command lines that worked go on working: flags are only added."""
    known = {field.name for field in dataclasses.fields(OptFlags)}
    assert not set(listed("tables.txt")["flags"]) - known


def test_edits_name_the_line() -> None:
    """Who forgot a name is told where it goes: behind the last one before it in the alphabet."""
    boards = listed("tables.txt")["boards"]
    lines = (INPUTS / "tables.txt").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if boards[0] in text.split())
    last = next(number for number, text in enumerate(lines, 1) if boards[-1] in text.split())
    where = "test/names/Inputs/tables.txt"
    assert find_edits("tables.txt", "boards", boards) == []
    assert find_edits("tables.txt", "boards", [*boards, "zebra", "aardvark"]) == [
        f"{where}:{line}: add `aardvark` under `boards:`",
        f"{where}:{last}: add `zebra` under `boards:`",
    ]
    [edit] = find_edits("tables.txt", "boards", boards[1:])
    assert edit.startswith(f"{where}:{line}: `{boards[0]}` is gone from boards")
    [edit] = find_edits("tables.txt", "planets", ["mars", "earth"])
    assert edit == f"{where}: add at the end: `planets: earth mars`"
