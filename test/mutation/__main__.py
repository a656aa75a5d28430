"""Measure what the tests notice: `python test/mutation --sample 150 --seed 1`.

The first run finds out which test executes what, which takes as long as the suite; later runs
do so only for files of tests that changed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from children import warm_up
from judge import Fate, Verdict, judge
from mutant import Mutant
from recording import Coverage, outdated_files, record
from results import equivalent, known_verdict, known_verdicts, remember, share, write_results
from sample import draw, draw_of_package


def main() -> int:
    """Draw mutants, judge them, and write the results; the exit status."""
    options = _options()
    chosen = _chosen(options)
    warm_up()
    if outdated := outdated_files():
        print(f"recording what {len(outdated)} files of tests execute", flush=True)
        record(outdated, options.jobs)
    if options.record:
        return 0
    verdicts: list[tuple[Mutant, Verdict]] = []
    for mutant, verdict in _judge_all(chosen, options):
        verdicts.append((mutant, verdict))
        if verdict.fate is Fate.MISSED and mutant.key not in equivalent():
            print(f"{mutant.path}:{mutant.line}: {mutant.kind}: {mutant.description}")
            print(f"    {mutant.key}: missed by {verdict.by}", flush=True)
        elif options.verbose:
            print(f"{mutant.path}:{mutant.line}: {mutant.kind}: {verdict.by}", flush=True)
    print(f"{len(verdicts)} mutants; {share(verdicts):.1f} % of those that differ are noticed")
    if options.package is None:
        write_results(options.seed, verdicts)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("test/mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=150, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the random choice")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--package", help="draw all mutants from this one, and write no results")
    parser.add_argument(
        "--patience", type=float, default=100.0, help="seconds for the slower tests of a mutant"
    )
    parser.add_argument("--again", action="store_true", help="judge again what was missed before")
    parser.add_argument("--record", action="store_true", help="only record what tests execute")
    parser.add_argument("--verbose", action="store_true", help="say what noticed each mutant")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    if options.package:
        return list(draw_of_package(options.package, options.sample, options.seed))
    return draw(options.sample, options.seed)


def _judge_all(
    mutants: Sequence[Mutant], options: argparse.Namespace
) -> Iterator[tuple[Mutant, Verdict]]:
    known = known_verdicts()
    new: list[Mutant] = []
    for mutant in mutants:
        verdict = known_verdict(mutant, known)
        if verdict is None or (options.again and verdict.fate is Fate.MISSED):
            new.append(mutant)
        else:
            yield mutant, verdict
    work = (new, Coverage.load(), options.patience)
    with ProcessPoolExecutor(options.jobs, get_context("fork"), _prepare, work) as pool:
        for judged in as_completed(pool.submit(_judge_number, each) for each in range(len(new))):
            number, verdict = judged.result()
            remember(new[number], verdict)
            yield new[number], verdict


_work: tuple[Sequence[Mutant], Coverage, float]
"""What a process of the pool judges, by what, and how patiently."""


def _prepare(mutants: Sequence[Mutant], coverage: Coverage, patience: float) -> None:
    global _work
    _work = (mutants, coverage, patience)


def _judge_number(number: int) -> tuple[int, Verdict]:
    mutants, coverage, patience = _work
    return number, judge(mutants[number], coverage, patience)


if __name__ == "__main__":
    sys.exit(main())
