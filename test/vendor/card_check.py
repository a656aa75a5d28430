"""Run scripts of models, and compare each tensor with what its comment says.

    python card_check.py RESULTS.npz MODEL.py...

Runs in the process of whichever ttnn there is; prints one line of JSON for each script, which
begins with `card:`. Results are kept beside the script.
"""

from __future__ import annotations

import ast
import gc
import json
import sys
import traceback
from pathlib import Path
from typing import Any, cast

import ttnn


def main(results: str, scripts: list[Path]) -> int:
    """Run them, whatever they print."""
    for script in scripts:
        report: dict[str, Any] = {"script": str(script), "status": 1, "wrong": [], "error": ""}
        try:
            report["status"] = _run(script, str(script.with_name(results)), report["wrong"])
        except (Exception, SystemExit):
            report["error"] = traceback.format_exc()
        print("card:" + json.dumps(report), flush=True)
        gc.collect()
    return 0


def _run(script: Path, results: str, wrong: list[str]) -> int:
    """The exit status of a script; `wrong` gets what is not as its comment says."""
    lines = script.read_text(encoding="utf-8").splitlines()
    tree = ast.parse("\n".join(lines))
    _watch(tree, lines)

    def see(name: str, said: str, tensor: Any) -> None:
        found = describe(tensor)
        if found != said:
            wrong.append(f"{name}: {found}, not {said}")

    names: dict[str, Any] = {"__file__": str(script), "__name__": "model", "_see": see}
    code = compile(ast.fix_missing_locations(tree), str(script), "exec")
    exec(code, names)
    checked = ["--check"] if names["GOLDEN"].exists() else []
    sys.argv[:] = [str(script), *checked, "--save", results]
    return int(names["run"]())


def describe(tensor: Any) -> str:
    """A tensor as the comments of scripts say it."""
    words = [str([*tensor.shape]), _last(tensor.dtype).lower(), _last(tensor.layout)]
    if not ttnn.is_tensor_storage_on_device(tensor):
        return " ".join((*words, "host"))
    memory = tensor.memory_config()
    words.append(_last(memory.buffer_type))
    spread = _last(memory.memory_layout)
    return " ".join((*words, *([] if spread == "INTERLEAVED" else [spread])))


def _last(value: Any) -> str:
    return str(value).rpartition(".")[2]


def _watch(tree: ast.AST, lines: list[str]) -> None:
    """Add a call after each statement with a comment."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        changed = list[ast.stmt]()
        for statement in cast("list[ast.stmt]", body):
            changed.append(statement)
            changed += _calls(statement, lines)
        node.body = changed  # pyright: ignore[reportAttributeAccessIssue]


def _calls(statement: ast.stmt, lines: list[str]) -> list[ast.stmt]:
    if not isinstance(statement, ast.Assign):
        return []
    said = lines[(statement.end_lineno or 1) - 1].rpartition("  # [")[2]
    if not said or said == lines[(statement.end_lineno or 1) - 1]:
        return []
    target = ast.unparse(statement.targets[0]).strip("()")
    found = list[ast.stmt]()
    for name, text in zip(target.split(", "), f"[{said}".split("; "), strict=True):
        found += ast.parse(f"_see({name!r}, {text!r}, {name})").body
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [Path(each) for each in sys.argv[2:]]))
