"""In which order layouts are tried, and which one is taken, with times that are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ttmlir.explorer.overrides import Overrides
from ttmlir.tuning.search import Place, Search, Trial, list_common_moves, merge

WORDS = ("l1:interleaved", "2x1:l1:height_sharded", "bf16")
PLACES = [Place("a", WORDS), Place("b", WORDS), Place("c", WORDS)]
TIMES = {"a": 10.0, "b": 50.0, "c": 30.0}


def times_of(overrides: Overrides) -> dict[str, float]:
    """`b` is best sharded, `c` with narrow numbers, and `a` as it is."""
    times = dict(TIMES)
    for name, words in overrides.layouts.items():
        times[name] += {"a": 5, "b": -20 if "sharded" in str(words) else 1, "c": 1}[name]
        if "bf16" in str(words) and name != "a":
            times[name] -= 8
    return times


class Recorder:
    """Stands for the compiler, and notes what is asked."""

    def __init__(self, pcc: Callable[[Overrides], float] = lambda _: 1.0) -> None:
        """With the accuracy of each candidate."""
        self.pcc = pcc
        self.asked: list[str] = []

    def __call__(self, candidates: Sequence[Overrides], limit: float | None) -> list[Trial]:
        """Their times, and what they are worth."""
        self.asked += [each.options for each in candidates]
        trials: list[Trial] = []
        for each in candidates:
            times = times_of(each)
            total = sum(times.values())
            runs = limit is None or total < limit
            pcc = self.pcc(each) if runs else None
            trials.append(Trial(overrides=each, time=total, pcc=pcc, times=times))
        return trials


def search(recorder: Recorder, budget: int, seed: int = 0, *, formats: bool = True) -> Search:
    """A search that has ended."""
    done = Search(recorder, budget, 0.99, seed)
    done.run(PLACES, formats)
    return done


def test_the_best_of_all_operations_is_found() -> None:
    """By hand: 10 of a, 50 - 20 - 8 of b, 30 + 1 - 8 of c."""
    best = search(Recorder(), 200).best
    assert best.time == 10 + 22 + 23
    assert {name: str(each) for name, each in best.overrides.layouts.items()} == {
        "b": "2x1:l1:height_sharded:bf16",
        "c": "bf16",
    }


@pytest.mark.parametrize("budget", [1, 2, 7, 20])
def test_the_budget_holds_and_nothing_is_tried_twice(budget: int) -> None:
    """The default counts."""
    recorder = Recorder()
    done = search(recorder, budget)
    assert len(recorder.asked) == len(set(recorder.asked)) == len(done.trials) <= budget
    assert recorder.asked[0] == ""


def test_a_search_ends_when_nothing_is_left() -> None:
    """Three operations of three moves do not need a thousand candidates."""
    assert len(search(Recorder(), 1000).trials) < 100


def test_what_is_inaccurate_is_not_taken() -> None:
    """However fast it is."""

    def pcc(overrides: Overrides) -> float:
        return 0.98 if "bf16" in overrides.options else 1.0

    best = search(Recorder(pcc), 200).best
    assert "bf16" not in best.overrides.options
    assert best.time == 10 + 30 + 30


def test_formats_are_left_alone_on_demand() -> None:
    """No candidate for all operations names one."""
    moves = list_common_moves(PLACES, formats=False)
    assert moves == [dict.fromkeys("abc", "l1:interleaved")]


def test_the_same_seed_gives_the_same_search() -> None:
    """In the same order."""
    one, other = Recorder(), Recorder()
    search(one, 30, seed=5)
    search(other, 30, seed=5)
    assert one.asked == other.asked


def test_moves_are_merged() -> None:
    """What the words do not say stays, but a grid belongs to its way of spreading."""
    start = merge(Overrides(), {"a": "4x1:l1:height_sharded:bf16"})
    assert start.options == "override-output-layout=a=4x1:l1:height_sharded:bf16"
    assert str(merge(start, {"a": "bfp_bf8"}).layouts["a"]) == "4x1:l1:height_sharded:bfp_bf8"
    assert str(merge(start, {"a": "dram:interleaved"}).layouts["a"]) == "dram:interleaved:bf16"
    assert merge(start, {"a": "", "b": ""}) == Overrides()
    assert Overrides.parse(start.options) == start
    assert Overrides.parse("") == Overrides()
