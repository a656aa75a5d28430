"""Nothing that a table names gets lost: the tables against lists that are kept by hand.

Other tests run over the rows of a table, so that a row which is dropped drops its tests, too. Who
adds a row adds its name to `Inputs/`; who removes one says so in the changelog.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from ttmlir.dialects import DIALECTS
from ttmlir.layout.system.boards import BOARD_NAMES
from ttmlir.mlir.context import load_dialect
from ttmlir.optable.kernel import CALLS
from ttmlir.passes.core.registry import PASSES, PIPELINES
from ttmlir.passes.linalg import convert_linalg_to_ttir
from ttmlir.passes.stablehlo import convert_stablehlo_to_ttir as stablehlo
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import REFUSED
from ttmlir.passes.tosa import convert_tosa_to_ttir
from ttmlir.tools.opt.flags import OptFlags
from ttmlir.tools.translate.translations import TRANSLATIONS
from ttmlir.ttnn.registry import known_names

INPUTS = Path(__file__).parent / "Inputs"


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
    assert sorted(listed("operations.txt")) == sorted(DIALECTS)


@pytest.mark.parametrize("dialect", listed("operations.txt"))
def test_operations(dialect: str) -> None:
    """The operations of a dialect are those of the list."""
    assert sorted(operations(dialect)) == sorted(listed("operations.txt")[dialect])


@pytest.mark.parametrize("table", TABLES)
def test_tables(table: str) -> None:
    """A table has the names of the list."""
    assert sorted(TABLES[table]()) == sorted(listed("tables.txt")[table])


def test_flags() -> None:
    """Command lines that worked go on working: flags are only added."""
    known = {field.name for field in dataclasses.fields(OptFlags)}
    assert not set(listed("tables.txt")["flags"]) - known
