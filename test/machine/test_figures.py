"""Every figure of a chip has a source, and none stands where figures are read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from ttmlir.layout.enums import Arch
from ttmlir.machine import BLACKHOLE, GENERATIONS, WORMHOLE, generation
from ttmlir.machine.boards import BOARDS
from ttmlir.machine.figures import Figures, Generation, LaunchFigures, figure

PRODUCT = Path(__file__).resolve().parents[2] / "ttmlir"

READERS = [
    *sorted((PRODUCT / "sim" / "timing").glob("*.py")),
    *sorted((PRODUCT / "cost").rglob("*.py")),
    *sorted((PRODUCT / "layout" / "system").glob("*.py")),
    PRODUCT / "passes" / "d2m" / "schedule" / "block_choice.py",
    PRODUCT / "passes" / "d2m" / "schedule" / "d2m_grid_selection.py",
    PRODUCT / "sim" / "calls" / "kernel_api.py",
]

CHOICES = {
    # How the clock counts, and tables are laid out.
    *("BUCKET_BITS", "SHARED_BUCKETS", "KEPT_BUCKETS", "BOUND_SHARE", "_BOUND_SHARE"),
    *("_LEAST_WIDTHS", "_LONGEST_NAME", "_TRACKS"),
    # What is assumed of programs, and what is known of operations.
    *("TYPICAL_KERNEL_BYTES", "_VECTOR", "_INSTRUCTIONS", "TILE", "_TILE_BYTES"),
    "POOL_CHANNELS",
    *("ALIGNED", "SPLIT_ROWS"),
    *("NARROW", "USUAL_ERROR", "WIDE"),
    # What is tried, and how large it may be.
    *("MOST_BYTES", "_MOST_CYCLES", "_MOST_STREAM_BUFFERS", "SHARED_TILES", "MOST_SIZES"),
    "MOST_L1_BYTES",
    # Addresses and fields of what kernels see, and how long a thread runs before others do.
    *("LOCAL_MEMORY", "_COMMON_ARGUMENTS", "(READ_POINTER, WRITE_POINTER)"),
    *("_MANY", "_MOST_PRINTED", "_ITERATIONS_PER_CYCLE", "_WALL_CLOCK"),
}
"""Names that hold numbers of other kinds."""

COUNTS = {0, 1, 2}
"""Numbers that say how often something is done."""

CONVERSIONS = {100, 1e3, 1e6, 1e9, 1e12, 1e-9}
"""Per cent, and seconds as other units of time."""

IN_STATEMENTS: dict[str, set[float]] = {
    # Rows and bytes of a tile, and what their number is a multiple of for banks of L1.
    "sim/timing/costs.py": {32, 4096, 4},
    # Places in the middle, and the bytes of a word.
    "sim/timing/noc_model.py": {0.5, 4},
    # Tiles of a result of a block in DST, and operations of softmax and norms for a number.
    "cost/families/contraction.py": {3, 4, 8, 9},
    "cost/families/reduction.py": {4, 5, 7},
    # Rows of a face.
    "cost/families/window.py": {16},
    # Dimensions of attention, and the most keys that the library takes at once by itself.
    "cost/records.py": {4, 512},
    # What a table shows.
    "cost/estimate.py": {4, 5, 10},
    # The grid of the default system, and where it puts its cores.
    "layout/system.py": {3, 4, 8},
    # How many sizes are tried, and how often what is multicast passes through a core.
    "passes/d2m/schedule/block_choice.py": {1.5, 3, 4, 4096},
    # Iterators of a product of matrices.
    "passes/d2m/schedule/d2m_grid_selection.py": {3},
    # Bytes, bits and masks of words, and what is printed of them.
    "sim/calls/kernel_api.py": {4, 8, 32, 64, 255, 1024, 65535, 4294967295},
}
"""Other numbers of functions."""


OTHERS = ("network", "programs", "schedules", "units")


def records(each: Generation) -> dict[str, Figures]:
    """The records of a generation by their names."""
    found = {field.name: getattr(each, field.name) for field in fields(each)}
    return {name: record for name, record in found.items() if isinstance(record, Figures)}


@pytest.mark.parametrize("name", ["wormhole_b0", "blackhole"])
def test_every_figure_of_a_generation_has_a_source(name: str) -> None:
    """A sentence, or the name of a document, for each field of each record."""
    found = records(generation(name))
    assert sorted(found) == ["chip", "launch", "links", *OTHERS]
    for record in found.values():
        assert set(record.sources) == set(record.numbers())
        assert all(len(source) > 8 for source in record.sources.values())


def test_every_figure_of_a_board_has_a_source() -> None:
    """All but its name and its chips, those included that boards have by default."""
    cards = ["n150", "n300", "p100", "p150", "p300"]
    systems = ["p150x2", "p150x4", "p150x8", "t3000", "galaxy"]
    assert [each.name for each in BOARDS] == [*cards, *systems]
    for each in BOARDS:
        assert set(each.sources) == set(each.numbers()) - {"name", "generation"}


def test_generations_are_those_of_the_enumeration() -> None:
    """By keyword, so that readers find them; the records of both have the same fields."""
    assert [Arch.from_keyword(name) for name in GENERATIONS] == [Arch.WORMHOLE_B0, Arch.BLACKHOLE]
    assert generation("blackhole") is BLACKHOLE
    with pytest.raises(KeyError):
        generation("grayskull")


def test_fitted_figures_say_what_they_were_fitted_to() -> None:
    """Published numbers and fitted ones are told apart by their sources."""
    for each in (WORMHOLE, BLACKHOLE):
        for record in records(each).values():
            for source in record.sources.values():
                assert "fitted" not in source or re.search(r"fitted (to|for) \w+", source), source


def test_a_record_holds_numbers_and_keeps_their_sources() -> None:
    """A number that replaces one has no source."""
    made = replace(WORMHOLE.launch, fixed=figure(5.0, "a clock"), kernel=6.0)
    assert (made.fixed, made.kernel) == (5.0, 6.0)
    assert made.sources == {"fixed": "a clock"}
    assert isinstance(made, LaunchFigures)
    assert made != WORMHOLE.launch


def numbers_in(node: ast.AST) -> Iterator[float]:
    """The literals in an expression that count nothing, truth values left out."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and type(each.value) in (int, float):
            number = each.value
            assert isinstance(number, int | float)
            if number not in COUNTS:
                yield number


def figures_held(tree: ast.Module) -> Iterator[str]:
    """Names of modules and classes, and arguments by default, that hold numbers."""
    for node in ast.walk(tree):
        match node:
            case ast.Module(body=body) | ast.ClassDef(body=body):
                for each in body:
                    match each:
                        case ast.Assign(targets=[target], value=value):
                            pass
                        case ast.AnnAssign(target=target, value=ast.expr() as value):
                            pass
                        case _:
                            continue
                    if any(numbers_in(value)):
                        yield ast.unparse(target)
            case ast.arguments(defaults=defaults, kw_defaults=by_name):
                for default in (*defaults, *by_name):
                    if default is not None and any(numbers_in(default)):
                        yield ast.unparse(default)
            case _:
                pass


@pytest.mark.parametrize("path", READERS, ids=lambda path: str(path.relative_to(PRODUCT)))
def test_readers_hold_no_figures(path: Path) -> None:
    """Numbers of chips are in `ttmlir.machine`; what else has a number is listed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert set(figures_held(tree)) <= CHOICES
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = {number for each in functions for part in each.body for number in numbers_in(part)}
    name = path.relative_to(PRODUCT).as_posix()
    assert found <= CONVERSIONS | IN_STATEMENTS.get(name, set())


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("RATE = 22.0", ["RATE"]),
        ("class A:\n    rate: float = 22.0", ["rate"]),
        ("RATES = {1: (1, 33)}", ["RATES"]),
        ("def f(rate: float = 22.0) -> None: ...", ["22.0"]),
        ("RATE = WORMHOLE.rate * 2\nNAME = 'x'\nTRUE = True", []),
    ],
)
def test_figures_that_are_held_are_found(text: str, held: list[str]) -> None:
    """In modules, classes, tables and arguments."""
    assert list(figures_held(ast.parse(text))) == held
