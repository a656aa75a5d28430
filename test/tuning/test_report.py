"""`ttmlir.report`: one page about a model."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.cost import Estimate
from ttmlir.tuning.report import ModelReport

X = np.linspace(-2, 3, 33 * 70, dtype=np.float32).reshape(33, 70)
W = np.linspace(-1, 1, 70 * 5, dtype=np.float32).reshape(70, 5)


def scores(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A product and what follows from it."""
    with jax.named_scope("<script>alert(1)</script>"):
        y = x @ w
    return y, jnp.exp(-y * y).sum(axis=1)


@pytest.fixture(scope="module")
def compiled() -> ttmlir.CompiledModel:
    """The model for an n150."""
    return ttmlir.compile(scores, X, W, board="n150")


@pytest.fixture(scope="module")
def found(compiled: ttmlir.CompiledModel) -> ModelReport:
    """What there is to say about it."""
    return ttmlir.report(compiled, suggestions=False)


class _Page(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _rows(report: ModelReport, title: str) -> list[list[str]]:
    [section] = [each for each in report.sections if each.title.startswith(title)]
    return [list(row) for row in section.rows]


def test_times_are_those_of_the_estimate(
    compiled: ttmlir.CompiledModel, found: ModelReport
) -> None:
    """In the title, for each operation, and on each board."""
    estimates = {board: compiled.estimate(board) for board in ("n150", "p150")}

    def spell(estimate: Estimate) -> str:
        return f"{estimate.total.mid / 1e3:,.1f}"

    assert found.title.startswith(f"scores on n150: {spell(estimates['n150'])} us (")
    boards = {row[0]: row[1] for row in _rows(found, "The same program")[1:]}
    assert boards == {board: spell(estimate) for board, estimate in estimates.items()}
    operations = _rows(found, f"The {len(estimates['n150'].in_call)} operations")[1:]
    times = [float(row[1]) for row in operations]
    assert times == sorted(times, reverse=True)
    assert sum(times) == pytest.approx(estimates["n150"].total.mid / 1e3, abs=0.06 * len(times))
    assert {row[6] for row in operations} <= {f"test_report.py:{line}:{column}"
        for line in range(26, 33) for column in range(99)}  # fmt: skip


def test_results_are_compared_with_the_framework(found: ModelReport) -> None:
    """Both results in both numerics, for the examples it was compiled with."""
    head, *rows = _rows(found, "Results")
    assert head == ["numerics", "result", "PCC", "largest error", "within 0.01"]
    assert [row[:2] for row in rows] == [[n, r] for n in ("exact", "device") for r in "01"]
    assert all(float(row[2]) > 0.999 for row in rows)
    assert [row[4] for row in rows[:2]] == ["yes", "yes"]


def test_a_page_holds_all_and_loads_nothing(found: ModelReport, tmp_path: Path) -> None:
    """Pictures are data, and names of the model are text, not tags."""
    text = found.write(tmp_path / "report.html").read_text(encoding="utf-8")
    page = _Page(text)
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "iframe", "object"}
    assert "&lt;script&gt;alert(1)" in text
    pictures = [attributes["src"] or "" for tag, attributes in page.tags if tag == "img"]
    assert len(pictures) == 2
    for picture in pictures:
        kind, _, data = picture.partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert ElementTree.fromstring(b64decode(data)).tag.endswith("svg")
    assert "://" not in re.sub(r"base64,[\w+/=]*", "", text)
    assert "default-src 'none'" in text
    assert found.write(tmp_path / "twice.html").read_bytes() == text.encode()
    again = ttmlir.report(ttmlir.compile(scores, X, W, board="n150"), suggestions=False)
    assert again.write(tmp_path / "again.html").read_bytes() == text.encode()


def test_notebooks_and_terminals_show_it(found: ModelReport) -> None:
    """The same sections; parts of it alone, too."""
    assert all(each.title in str(found) for each in found.sections)
    assert "<h2>Memory</h2>" in found._repr_html_()
    assert str(found) == found.summary()


def test_a_loaded_file_brings_its_golden_call(
    compiled: ttmlir.CompiledModel, found: ModelReport, tmp_path: Path
) -> None:
    """What a file says is what the model said, without what only a compiler can try."""
    compiled.save(tmp_path / "scores.ttnn", golden=True)
    loaded = ttmlir.report(ttmlir.load(tmp_path / "scores.ttnn"))
    assert loaded.title == found.title
    assert _rows(loaded, "Results") == _rows(found, "Results")
    assert [each.title for each in loaded.sections] == [each.title for each in found.sections]


def test_suggestions_end_it() -> None:
    """Weights in fewer bits, of a model whose time they are."""
    x, w = (jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in ((1, 1024), (1024, 2048)))
    compiled = ttmlir.compile(lambda x, w: x @ w, x, w, board="n150", resident=["w"])
    last = ttmlir.report(compiled).sections[-1]
    assert last.title == "What may help"
    assert "weights in bfp_bf8" in last.text


def test_kernels_are_timed_by_the_simulator() -> None:
    """They need numbers to run, which the examples are."""
    compiled = ttmlir.compile(scores, X, W, target="kernels")
    cycles = compiled.profile(X, W).cycles
    report = ttmlir.report(compiled)
    assert report.title == f"scores on wormhole_b0: {cycles:,} cycles"
    assert "bound by" in report.sections[0].text
    shapes = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in (X, W)]
    with pytest.raises(ttmlir.InputError, match="give the arguments of a call, too"):
        ttmlir.report(ttmlir.compile(scores, *shapes, target="kernels"))


def test_refusals(found: ModelReport, tmp_path: Path) -> None:
    """Of what is no model, of other kinds of files, and of boards that there are not."""
    wrong: Any = scores
    with pytest.raises(ttmlir.InputError, match="a function has no report: give what"):
        ttmlir.report(wrong)
    with pytest.raises(ttmlir.Error, match=r"report.pdf: a report is written as \.html"):
        found.write(tmp_path / "report.pdf")
    with pytest.raises(ttmlir.Error, match="n15"):
        ttmlir.report(ttmlir.compile(scores, X, W), board="n15")


def test_calls_that_do_not_fit(compiled: ttmlir.CompiledModel) -> None:
    """They are refused as calls of the model are, not by the framework."""
    for args in ((X,), (X, W, W), (X, [W, W])):
        with pytest.raises(ttmlir.InputError) as of_call:
            compiled(*args)
        with pytest.raises(ttmlir.InputError) as of_report:
            ttmlir.report(compiled, *args, suggestions=False)
        assert str(of_report.value) == str(of_call.value)
        assert str(of_call.value).startswith("'scores' ")


def test_layers_in_order_of_time(compiled: ttmlir.CompiledModel, found: ModelReport) -> None:
    """Beside those in the order of the program, with the same sums."""
    head, *layers, sums = _rows(found, "Layers in order")
    assert head[0] == "layer"
    assert {row[0] for row in layers} == {each.name for each in compiled.summary("n150").layers}
    times = [float(row[3]) for row in layers]
    assert times == sorted(times, reverse=True)
    assert sum(times) == pytest.approx(float(sums[3]), abs=0.06 * len(times))


def test_boards_with_fewer_chips_than_devices() -> None:
    """Their rows say that no such board is meant, but devices like its chip."""
    divided = """
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func @main(%x: tensor<5x34xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> tensor<5x34xf32> {
  %0 = stablehlo.tanh %x : tensor<5x34xf32>
  return %0 : tensor<5x34xf32>
}
"""
    report = ttmlir.report(ttmlir.compile(divided), boards=["n150", "n300"], suggestions=False)
    rows = _rows(report, "The same program")[1:]
    assert [row[0] for row in rows] == ["1x2 devices like n150", "1x2 chips of n300"]
