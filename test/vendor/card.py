"""Scripts of models on the real ttnn library: what `test_card.py` holds them to.

    python test/vendor/card.py OUT                          scripts, run on this project's ttnn
    python test/vendor/card.py OUT --command 'ref ttnn'     and on the real one, without a card
    python test/vendor/card.py OUT --command ... --record   and keep the verdicts

The command gets a mode, `shapes` (tensors without numbers) or `sim` (a simulated chip), and a
script with arguments; `BOARD` is n150 or p150.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from card_programs import make_program, program_names

import ttmlir

VERDICTS = Path(__file__).parent / "Inputs" / "card.json"
RUNS = tuple((mode, board) for mode in ("shapes", "sim") for board in ("n150", "p150"))
_CHECK = Path(__file__).with_name("card_check.py")
STOPS = "the simulator stops: "
"""Begins verdicts about what the simulator lacks, or leaves undefined."""
_SECONDS = 600
_VERSIONS = "ttnn 0.81.1; ttsim 1.10.0"


def write_script(name: str, folder: Path) -> Path:
    """The script of a program, with golden results of its framework."""
    function, arguments = make_program(name)
    folder.mkdir(parents=True, exist_ok=True)
    return ttmlir.compile(function, *arguments).save(folder / "model.py", golden=True)


def hash_of(script: Path) -> str:
    """Stands for the calls of the library, without comments."""
    functions = [
        ast.unparse(node)
        for node in ast.parse(script.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and not node.returns
    ]
    return hashlib.sha256("\n".join(functions).encode()).hexdigest()[:16]


def run_check(script: Path, command: list[str], mode: str, board: str) -> str:
    """`right`, or what is wrong: of shapes, or of numbers where there are some."""
    return run_checks([script], command, mode, board)[script]


def run_checks(
    scripts: Sequence[Path], command: list[str], mode: str, board: str
) -> dict[Path, str]:
    """The verdicts of scripts that one process runs; where it ends, another takes the others."""
    environment = {**os.environ, "BOARD": board}
    run = f"{mode or 'own'}-{board}"
    call = [*command, *([mode] if mode else []), str(_CHECK), f"{run}.npz"]
    verdicts: dict[Path, str] = {}
    while left := [each for each in scripts if each not in verdicts]:
        try:
            done = subprocess.run(
                [*call, *map(str, left)], capture_output=True, text=True, check=False,
                env=environment, timeout=_SECONDS * len(left), cwd=left[0].parent,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            output = bytes(error.stdout or b"").decode(errors="replace")
            words = f"no end in {_SECONDS * len(left)} seconds"
        else:
            output, words = done.stdout, _reason(done.stdout + done.stderr)
            log = left[0].with_name(f"{run}.log")
            log.write_text(done.stdout + done.stderr, encoding="utf-8")
        before = ""
        for line in output.splitlines():
            if line.startswith("card:"):
                report: dict[str, Any] = json.loads(line.removeprefix("card:"))
                script = Path(report["script"])
                verdicts[script] = _verdict(report, before, mode)
                before = ""
            else:
                before += line + "\n"
        for each in left:
            if each not in verdicts:
                verdicts[each] = words
                break
    return verdicts


def _verdict(report: Mapping[str, Any], printed: str, mode: str) -> str:
    if report["error"]:
        return _reason(report["error"])
    if report["wrong"]:
        return "; ".join(report["wrong"][:3])
    if report["status"] and mode != "shapes":
        wrong = [line for line in printed.splitlines() if line.endswith("WRONG")]
        return "; ".join(wrong) or "another number of results"
    return "right"


def _is_final(verdict: str, without_suffix: str) -> bool:
    """Whether another run would say nothing new."""
    return verdict == "right" or verdict.startswith(STOPS) or without_suffix == "right"


def _reason(text: str) -> str:
    """The line that says why a process ended."""
    marks = ("ERROR:", "TT_FATAL", "TT_THROW", "error:", "Error:", "incompatible function")
    lines = [line.strip() for line in text.splitlines()]
    stop = re.search(r"ERROR: (\w+(Behavior|Functionality|Specification).*)", text)
    if stop:
        return STOPS + stop.group(1)
    for number, line in enumerate(lines):
        if any(mark in line for mark in marks):
            detail = lines[number + 2] if lines[number + 1 : number + 2] == ["info:"] else ""
            return f"{line} {detail}".strip()[:300]
    return f"ended without a word: {lines[-1][:200] if lines else ''}"


def main() -> int:
    """Write, run and print; 0 where all are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--command", default="")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--modes", nargs="*", default=["shapes", "sim"])
    parser.add_argument("--boards", nargs="*", default=["n150", "p150"])
    parser.add_argument("--suffix", default="", help="of the names of simulators in the record")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    known: dict[str, Any] = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    programs: dict[str, Any] = known.get("programs", {})
    count = 0
    for name in options.only or program_names():
        try:
            script = write_script(name, options.out.resolve() / name)
        except (ttmlir.CompilationError, ttmlir.InputError) as error:
            verdicts = {"refused": str(error).splitlines()[0].partition("error: ")[2]}
        else:
            old = programs.get(name, {})
            verdicts = dict(old) if old.get("script") == hash_of(script) else {}
            verdicts["script"] = hash_of(script)
            own = [sys.executable, "-m", "ttmlir"]
            verdicts["own"] = run_check(script, own, "", "")
            for mode, board in RUNS if options.command else ():
                key = f"{mode} {board}{options.suffix}"
                is_known = _is_final(verdicts.get(key, ""), verdicts.get(f"{mode} {board}", ""))
                is_chosen = mode in options.modes and board in options.boards
                if is_chosen and not is_known:
                    verdicts[key] = run_check(script, shlex.split(options.command), mode, board)
        programs[name] = dict(sorted(verdicts.items()))
        bad = {key: each for key, each in verdicts.items() if key != "script" and each != "right"}
        count += bool(bad)
        print(name, bad or "right", flush=True)
        if options.record:
            text = {"versions": _VERSIONS, "programs": dict(sorted(programs.items()))}
            VERDICTS.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    print(f"{count} of {len(options.only or program_names())} are not right everywhere")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
