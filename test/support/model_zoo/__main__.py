"""Compile and run the models of the catalogue: `make docs-models`.

What has not changed since it was measured last is not measured again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from math import inf
from typing import Any

# Processes share the cores; and sums come out the same on every machine.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from model_zoo.catalogue import ENTRIES  # noqa: E402
from model_zoo.entry import Entry  # noqa: E402
from model_zoo.results import (  # noqa: E402
    as_result,
    fingerprint,
    fingerprint_compiler,
    missing_libraries,
    read_results,
    write_results,
)
from model_zoo.sweep import TIME_LIMIT, measure_all  # noqa: E402

SLOWEST = 10
"""So many models are named at the end, those that took longest."""


def main() -> int:
    """Measure, print what comes, and keep it; the exit status is 1 for models that go wrong."""
    options = _options()
    if missing := missing_libraries():
        print(f"not installed: {', '.join(missing)}; `make docs-models` does it", file=sys.stderr)
        return 2
    compiler = fingerprint_compiler()
    models = read_results()["models"]
    chosen = [entry for entry in ENTRIES.values() if _is_chosen(entry, models, compiler, options)]
    chosen.sort(key=lambda entry: models.get(entry.key, {}).get("seconds", inf), reverse=True)
    print(f"{len(chosen)} of {len(ENTRIES)} models", flush=True)
    start, costs = time.monotonic(), dict[str, float]()
    for number, (entry, finding) in enumerate(measure_all(chosen, options.jobs), 1):
        models[entry.key] = as_result(entry, finding, compiler)
        costs[entry.key] = finding.seconds or TIME_LIMIT
        write_results(models)
        took = time.monotonic() - start
        numbers = f"pcc {finding.pcc} difference {finding.difference} device {finding.device_pcc}"
        said = finding.message if finding.message else numbers
        cost = f"{took:.0f}s, {finding.seconds} of processors"
        print(f"{number} {cost} {entry.key}: {finding.state} {said}", flush=True)
    slowest = sorted(costs, key=costs.__getitem__, reverse=True)[:SLOWEST]
    print(f"{sum(costs.values()):.0f}s of processors; most of it:")
    print(*(f"{costs[key]:6.1f}s {key}" for key in slowest), sep="\n")
    return int(any(models[entry.key]["state"] in ("wrong", "broken") for entry in chosen))


def _is_chosen(
    entry: Entry, models: dict[str, dict[str, Any]], compiler: str, options: argparse.Namespace
) -> bool:
    known = models.get(entry.key)
    if options.names or options.state or options.new:
        in_state = known is not None and known["state"] in options.state
        named = any(name in entry.key for name in options.names)
        return in_state or named or (options.new and known is None)
    return known is None or known["inputs"] != fingerprint(entry, compiler)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m model_zoo", description=__doc__)
    parser.add_argument("names", nargs="*", help="only models with one of these in their keys")
    parser.add_argument("--state", nargs="*", default=[], help="only those that were in a state")
    parser.add_argument("--new", action="store_true", help="only those never measured")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
