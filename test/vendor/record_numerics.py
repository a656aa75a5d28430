"""Numbers of ttnn's operations on a simulated card: what `test_numerics.py` holds devices to.

    python test/vendor/record_numerics.py OUT --command 'ref ttnn sim' [--only NAME...]
    python test/vendor/record_numerics.py OUT --compare

The command gets a script with arguments, and `BOARD`, which is n150 or p150. Results are kept in
`OUT/BOARD/NAME.npy`, where a later run finds them; the record has a hash of each, and a sample.
The comparison counts in `numerics_different.json` how many numbers of each are others here, and how
many of them by more than one unit of the last place, or not finite.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numerics_cases import CASES, numbers_of

RECORD = Path(__file__).parent / "Inputs" / "numerics.json"
DIFFERENT = RECORD.with_name("numerics_different.json")
BOARDS = ("n150", "p150")
_VERSIONS = "ttnn 0.81.1; ttsim 1.10.0"
_CASES = Path(__file__).with_name("numerics_cases.py")
_SAMPLE = 32
_AT_ONCE = 40
_SECONDS = 60


def entry_of(patterns: Any) -> dict[str, Any]:
    """What is recorded of a result: its size, a hash, and every so many of its numbers."""
    return {
        "size": int(patterns.size),
        "hash": hashlib.sha256(patterns.astype("<u4").tobytes()).hexdigest()[:32],
        "sample": " ".join(f"{each:08x}" for each in sample_of(patterns)),
    }


def sample_of(patterns: Any) -> Any:
    """Numbers that are spread over a result."""
    return patterns[:: max(1, patterns.size // _SAMPLE - 1)][:_SAMPLE]


def count_others(name: str, found: Any, expected: Any) -> tuple[int, int]:
    """How many numbers of a case differ, and how many of them by more than one unit."""
    unit = 1 if name.endswith("float32") else 1 << 16
    patterns = [np.asarray(each).astype(np.uint32) for each in (found, expected)]
    finite = np.logical_and(*(each & 0x7F800000 != 0x7F800000 for each in patterns))
    places = [each.view(np.int32).astype(np.int64) for each in patterns]
    first, second = (np.where(each < 0, -(each & 0x7FFFFFFF), each) for each in places)
    differs = patterns[0] != patterns[1]
    return int(differs.sum()), int((differs & ~(finite & (abs(first - second) <= unit))).sum())


def compare(out: Path, boards: list[str]) -> None:
    """Count what is different here of all results that are kept in a folder."""
    import ttmlir.ttnn as ttnn

    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for board in boards:
        device = ttnn.open_device(device_id=0, board=board, card_bits=True)
        for name in CASES:
            if (path := out / board / f"{name}.npy").exists():
                found = numbers_of(ttnn, CASES[name](ttnn, device))
                count = count_others(name, found, np.load(path))
                if count[0]:
                    counts.setdefault(board, {})[name] = count
        ttnn.close_device(device)
    DIFFERENT.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def run_cases(command: list[str], board: str, out: Path, names: list[str]) -> dict[str, str]:
    """Why the cases that gave no result gave none; a process that ends is followed by another."""
    out.mkdir(parents=True, exist_ok=True)
    reasons: dict[str, str] = {}
    left = [name for name in names if not (out / f"{name}.npy").exists()]
    while left:
        part, last = left[:_AT_ONCE], ""
        try:
            done = subprocess.run(
                [*command, str(_CASES), str(out), *part], capture_output=True, check=False,
                env={**os.environ, "BOARD": board}, timeout=_SECONDS * len(part), cwd=out,
            )  # fmt: skip
            status, text = done.returncode, (done.stdout + done.stderr).decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            status, text = 1, (error.stdout or b"").decode(errors="replace")
        for line in text.splitlines():
            if line.startswith("case:"):
                last = line.removeprefix("case:")
            elif line.startswith("refused:"):
                _, name, reason = line.split(":", 2)
                reasons[name] = reason
        if not last:
            raise SystemExit(f"nothing ran: {text[-1000:]}")
        if status:
            errors = [line for line in text.splitlines() if "ERROR: " in line]
            reasons[last] = errors[-1].partition("ERROR: ")[2][:120] if errors else "no end"
        left = left[part.index(last) + 1 :]
    return reasons


def main() -> int:
    """Run what has no result yet, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--command", default="")
    parser.add_argument("--boards", nargs="*", default=[*BOARDS])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.compare:
        compare(options.out, options.boards)
        return 0
    record: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    boards: dict[str, Any] = record.get("boards", {})
    for board in options.boards:
        folder = options.out.resolve() / board
        known: dict[str, Any] = boards.setdefault(board, {})
        names = options.only or [*CASES]
        if options.command:
            command = shlex.split(options.command)
            known |= {
                name: {"stops": reason}
                for name, reason in run_cases(command, board, folder, names).items()
            }
        for name in names:
            if (path := folder / f"{name}.npy").exists():
                known[name] = entry_of(np.load(path))
        boards[board] = dict(sorted(known.items()))
    lines = json.dumps({"versions": _VERSIONS, "boards": boards}, indent=0)
    RECORD.write_text(lines + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
