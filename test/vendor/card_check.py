"""Run the script of a model, and compare each tensor with what its comment says.

    python card_check.py MODEL.py RESULTS.npz

Runs in the process of whichever ttnn there is; prints one line of JSON, which begins with `card:`.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any, cast

import ttnn


def main(script: Path, results: str) -> int:
    """Run it, whatever it prints."""
    lines = script.read_text(encoding="utf-8").splitlines()
    tree = ast.parse("\n".join(lines))
    _watch(tree, lines)
    wrong = list[str]()
    watched = [0]

    def see(name: str, said: str, tensor: Any) -> None:
        watched[0] += 1
        found = describe(tensor)
        if found != said:
            wrong.append(f"{name}: {found}, not {said}")

    names: dict[str, Any] = {"__file__": str(script), "__name__": "model", "_see": see}
    code = compile(ast.fix_missing_locations(tree), str(script), "exec")
    exec(code, names)
    sys.argv[:] = [str(script), "--check", "--save", results]
    status = int(names["run"]())
    print("card:" + json.dumps({"status": status, "tensors": watched[0], "wrong": wrong}))
    return 0


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
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
