"""Figures measured on cards come out of the simulator; what takes long is left to the benchmark."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from card_figures import compare_all
from figures import fabric, launch, network, operations, tiles
from figures.comparison import Comparison, summarize, write_row

FEW = 16
"""Transfers of a sweep that do not take long to simulate."""

WORST = {"N1": 0.4, "N2": 0.35}
"""What single values may be off by, where that is more than elsewhere: short sweeps of many cores
on the network that runs along the channels."""


@pytest.fixture(scope="module")
def values() -> list[Comparison]:
    """All values of the networks and of DRAM that do not take long."""
    few = [
        replace(figure, measured={n: row for n, row in figure.measured.items() if n <= FEW})
        for figure in network.FIGURES
    ]
    return [value for figure in few for value in network.compare(figure)]


def test_transfers_are_within_30_percent_of_the_chip(values: list[Comparison]) -> None:
    """Every value, but for those that are named above."""
    far = [each for each in values if abs(each.error) > WORST.get(each.number, 0.3)]
    assert far == []


@pytest.mark.parametrize(
    "kind", [network.ONE_CORE, network.DRAM, network.MULTICAST, network.SEMAPHORES]
)
def test_half_of_the_transfers_are_within_10_percent(values: list[Comparison], kind: str) -> None:
    """The median of each kind."""
    errors = [abs(each.error) for each in values if each.kind == kind]
    assert median(errors) <= 0.1


@pytest.mark.parametrize("number", ["C10", "C11"])
def test_semaphores_and_words_are_within_10_percent(number: str) -> None:
    """However many."""
    compared = list(compare_network(number))
    assert compared
    assert all(abs(each.error) <= 0.1 for each in compared)


def compare_network(number: str) -> list[Comparison]:
    """All values of a figure."""
    chosen = [figure for figure in network.FIGURES if figure.number == number]
    return [value for figure in chosen for value in network.compare(figure)]


def test_flag_out_of_l1_takes_as_long_as_any_write() -> None:
    """Other than one that comes with the command: 36 cycles less, and fewer to issue."""
    flag = replace(network.WRITE, transfer="noc_semaphore_set_remote(here, target)")
    word = replace(network.WRITE, transfer="noc_inline_dw_write(target, 1)")
    data = network.simulate(network.WRITE, 1, 4, "n150")
    assert network.simulate(flag, 1, 4, "n150") == pytest.approx(data, abs=3)
    assert data - network.simulate(word, 1, 4, "n150") == pytest.approx(36 + 19 - 13, abs=3)


def test_launches_are_within_3_percent() -> None:
    """Of each kind of program, size and generation."""
    compared = list(launch.compare_all())
    assert len(compared) == 30
    assert all(abs(each.error) <= 0.035 for each in compared)


def test_tiles_are_within_30_percent_and_half_of_them_within_10() -> None:
    """Products of tiles, and reductions."""
    compared = [*tiles.compare_products(), *tiles.compare_reduction()]
    assert all(abs(each.error) <= 0.3 for each in compared)
    assert median(abs(each.error) for each in compared) <= 0.1


def test_functions_of_the_vector_unit_are_within_2_percent() -> None:
    """Cycles of a tile."""
    compared = list(tiles.compare_vector_calls())
    assert len(compared) == 5
    assert all(abs(each.error) <= 0.02 for each in compared)


def test_hops_of_the_fabric_are_within_10_percent() -> None:
    """Of small packets and of large ones, in lines and in rings."""
    compared = list(fabric.compare_hops())
    assert len(compared) == 12
    assert all(abs(each.error) <= 0.1 for each in compared)


def test_rates_of_the_fabric_are_within_10_percent() -> None:
    """Of packets that all chips of a row send both ways, and of those of one."""
    compared = list(fabric.compare_rates())
    assert len(compared) == 11
    assert all(abs(each.error) <= 0.1 for each in compared)


def test_figures_are_chosen_by_their_numbers() -> None:
    """With the other figures of that number."""
    assert {each.figure for each in compare_all(["C12"])} == {
        "C12: address of a page",
        "C12: the same on Blackhole",
    }


def test_rows_of_the_tables() -> None:
    """Values, their median error and the worst; a window has none inside."""
    sweep = [
        Comparison("C1: writes", "one core", "1 x 32 B", 1000, 1100),
        Comparison("C1: writes", "one core", "2 x 32 B", 40, 30),
        Comparison("C1: writes", "one core", "3 x 32 B", (300, 400), 310),
    ]
    assert write_row(sweep) == (
        "| C1: writes | 1 x 32 B: 1,100 of 1,000; 2 x 32 B: 30 of 40; 3 x 32 B: 310 of 300 to 400 "
        "| cycles | 10% | 25% |"
    )
    assert list(summarize(sweep))[2] == "| one core | 3 | 10.0% | -25% | C1: writes, 2 x 32 B |"


REPOSITORY = Path(__file__).parents[2]
NUMBER = re.compile(r"\bC\d+b?\b")


def test_each_figure_has_its_source_in_the_page() -> None:
    """Once, whichever page or module speaks of it; `C1 to C4` speaks of its ends."""
    page = (REPOSITORY / "test" / "bench" / "figures" / "README.md").read_text()
    head = "| Figure | What was measured | Source |\n|---|---|---|\n"
    table = page.partition(head)[2].partition("\n\n")[0]
    rows = [row.strip("|").split("|") for row in table.splitlines()]
    assert all(source.strip() for _, _, source in rows)
    defined = [name.strip() for names, _, _ in rows for name in names.split(",")]
    assert len(defined) == len(set(defined))
    spoken = [
        *(REPOSITORY / "docs" / name for name in ("timing.md", "cost.md", "plan.md")),
        *(REPOSITORY / "ttmlir" / "sim" / "timing").glob("*.py"),
        *(REPOSITORY / "ttmlir" / "cost").glob("*.py"),
        *(REPOSITORY / "test" / "sim" / "timing").glob("*.py"),
    ]
    compared = {figure.number for figure in network.FIGURES}
    compared |= launch.NUMBERS | tiles.NUMBERS | operations.NUMBERS | fabric.NUMBERS
    named = {number for path in spoken for number in NUMBER.findall(path.read_text())}
    assert len(compared) > 30
    assert (named | compared) - set(defined) == set()
