"""Public models as scripts on the real ttnn library, without numbers: `make test-models-card`.

    PYTHONPATH=test/support:.venv/models python test/vendor/card_zoo.py OUT --command 'ref ttnn'

Each tensor is compared with its comment, as `card.py` does; small models are first. `--record`
keeps the verdicts, after each few models, and `--rest` takes only those that have none yet.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import card
from model_zoo.catalogue import ENTRIES
from model_zoo.measure import save
from model_zoo.sweep import measure_apart

VERDICTS = Path(__file__).parent / "Inputs" / "card_zoo.json"
_MEASURED = Path(__file__).parents[1] / "model_zoo" / "results.json"
_AT_ONCE = 8
"""Models that one process of the library runs."""


def main() -> int:
    """Write, run and print; 0 where all are right or refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--command", required=True)
    parser.add_argument("--board", default="p150")
    parser.add_argument("--only", nargs="*", default=[""], help="words in the keys of models")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--rest", action="store_true", help="only models without a verdict")
    options = parser.parse_args()
    known: dict[str, Any] = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    done: set[str] = set(known) if options.rest else set()
    chosen = [key for key in ENTRIES if any(word in key for word in options.only)]
    chosen = sorted((key for key in chosen if key not in done), key=_size_of())
    bad = 0
    for first in range(0, len(chosen), _AT_ONCE):
        found = _check(chosen[first : first + _AT_ONCE], options)
        bad += sum(each != "right" and not each.startswith("refused") for each in found.values())
        for key, verdict in found.items():
            print(f"{key}: {verdict}", flush=True)
        known |= found
        if options.record:
            VERDICTS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    return 1 if bad else 0


def _size_of() -> Callable[[str], float]:
    """How many operations a model has, as far as `make docs-models` found it."""
    measured: dict[str, Any] = json.loads(_MEASURED.read_text())["models"]
    return lambda key: measured.get(key, {}).get("operations", math.inf)


def _check(keys: list[str], options: argparse.Namespace) -> dict[str, str]:
    """The verdicts of models; what is written for them is removed."""
    found: dict[str, str] = {}
    scripts: dict[Path, str] = {}
    for key in keys:
        script = options.out.resolve() / re.sub(r"\W", "_", key) / "model.py"
        script.parent.mkdir(parents=True, exist_ok=True)
        finding = measure_apart(ENTRIES[key], partial(save, path=script))
        if finding.state == "right":
            scripts[script] = key
        else:
            found[key] = f"{finding.state}: {finding.message}"
    command = shlex.split(options.command)
    for script, verdict in card.run_checks([*scripts], command, "shapes", options.board).items():
        found[scripts[script]] = verdict
        for file in script.parent.glob("*"):
            if file.suffix in (".safetensors", ".npz"):
                file.unlink()
    return found


if __name__ == "__main__":
    sys.exit(main())
