"""The notebooks run from their first cell to the last, and what they show is HTML or text."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def _run_cell(source: str, names: dict[str, Any]) -> Any:
    """The value of the last expression of a cell, as IPython has it; None without one."""
    body = ast.parse(source).body
    last = body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(source, "<cell>", "exec"), names)
        return None
    exec(compile(ast.Module(body[:-1], []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "model_report",
            ["feed_forward(", "e-0", "ttnn.matmul", "weights in bfp_bf8", "<h2>Layers"],
        ),
        ("model_as_kernels", ["scaled_softmax(", "cycles", "Results beside those"]),
    ],
)
def test_notebook(
    name: str, shown: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells work in one namespace, and write beside the notebook."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [each for each in notebook["cells"] if each["cell_type"] == "code"]
    assert not any(each["outputs"] for each in cells)
    names: dict[str, Any] = {"__name__": "__main__"}
    values = [_run_cell("".join(each["source"]), names) for each in cells]
    texts = [
        each._repr_html_() if hasattr(each, "_repr_html_") else str(each)
        for each in values
        if each is not None
    ]
    assert len(texts) == len(shown)
    for text, expected in zip(texts, shown, strict=True):
        assert expected in text


def test_every_notebook_is_run() -> None:
    """None is left out above."""
    [marks] = [each for each in test_notebook.pytestmark if each.name == "parametrize"]  # type: ignore[attr-defined]
    assert {each.stem for each in NOTEBOOKS.glob("*.ipynb")} == {name for name, _ in marks.args[1]}
