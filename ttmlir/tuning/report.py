"""`ttmlir.report`: what there is to say about a compiled model, as one file to share.

The file is HTML with its pictures inside: it loads nothing, and names in models are text in it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, get_args

import numpy as np

from ttmlir.cost import Estimate, OperationEstimate
from ttmlir.errors import ArgumentError
from ttmlir.files import write_file
from ttmlir.frontend.calls import CallableModel, JaxOpener, NumericsName, as_array, read_layout
from ttmlir.frontend.compiled import CompiledModel, LoadedModel
from ttmlir.frontend.mesh_kernels import MeshKernels
from ttmlir.frontend.summary import ModelPlot, align_left, draw, html_table, plot_estimate
from ttmlir.runtime.binary import chip_of
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.golden import compare
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.memory import MemoryUse
from ttmlir.runtime.tensor import Array
from ttmlir.terminal import printable
from ttmlir.tuning.suggestions import MOST_FLOPS, suggest

BOARDS = ("n150", "p150")
MOST_OPERATIONS = 20
"""Operations that are shown, those that take longest."""
TOLERANCE = 1e-2
"""Relative and absolute, with which results are called close to those of the framework."""

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em }
table { border-collapse: collapse; margin: .6em 0 }
td, th { border-bottom: 1px solid #ddd; padding: .15em .7em; white-space: nowrap }
div.wide { overflow-x: auto }
img { max-width: 100% }
pre { overflow-x: auto }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title><style>{style}</style></head>
<body><h1>{title}</h1>
{body}
</body></html>
"""
Row = Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report: a table, a text, pictures, or several of them."""

    title: str
    text: str = ""
    rows: Sequence[Row] = ()
    """The head of a table, and its rows."""
    plots: Sequence[ModelPlot] = field(default=(), repr=False)

    def __str__(self) -> str:
        """All but the pictures."""
        parts = [self.title, *([self.text] if self.text else ()), *align_left(self.rows or [[]])]
        return "\n".join(printable(part) for part in parts if part)

    def to_html(self) -> str:
        """A heading, and what is below it."""
        parts = [f"<h2>{_escaped(self.title)}</h2>"]
        if self.text:
            parts.append(f"<pre>{_escaped(self.text)}</pre>")
        if self.rows:
            parts.append(f'<div class="wide">{html_table(self.rows)}</div>')
        for plot in self.plots:
            data = b64encode(plot.render("svg")).decode()
            title = _escaped(plot.title)
            parts.append(f'<img alt="{title}" src="data:image/svg+xml;base64,{data}">')
        return "\n".join(parts)


@dataclass(frozen=True, kw_only=True)
class ModelReport:
    """Sections about a model; printed as text, and shown by notebooks with its pictures."""

    title: str
    sections: Sequence[Section]

    def summary(self) -> str:
        """The report as text."""
        return "\n\n".join([printable(self.title), *map(str, self.sections)])

    __str__ = summary

    def write(self, path: str | Path) -> Path:
        """Write one file, `.html`, that needs no other and no network."""
        if not str(path).endswith(".html"):
            raise ArgumentError(f"{path}: a report is written as .html")
        page = _PAGE.format(title=_escaped(self.title), style=_STYLE, body=self.to_html())
        write_file(path, page.encode())
        return Path(path)

    def to_html(self) -> str:
        """The sections, without the head of a page."""
        return "\n".join(each.to_html() for each in self.sections)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return f"<h1>{_escaped(self.title)}</h1>{self.to_html()}"


def report(
    model: object,
    *args: Any,
    board: str | None = None,
    boards: Sequence[str] = BOARDS,
    suggestions: bool = True,
    **kwargs: Any,
) -> ModelReport:
    """Say how long a compiled model takes, what limits it, how exact it is, and what may help.

        ttmlir.report(compiled, x).write("report.html")

    `model` is what `ttmlir.compile` or `ttmlir.load` returned, and the further arguments are those
    of a call, with which it runs to be compared with its framework. Without them a model of at most
    2 GFLOP runs with its examples, and a loaded file with the golden call in it. Of a model of
    kernels the simulator gives the times, which needs arguments.

    `board` is a name as in `estimate`, and `boards` are those on which the same program is
    estimated beside it. Without `suggestions`, no changes of the model are compiled. Pictures need
    matplotlib, which the extra `plot` installs; a report without it has none.
    """
    if not isinstance(model, CallableModel):
        raise InputError(
            f"a {type(model).__name__} has no report: give what ttmlir.compile or ttmlir.load "
            "returned"
        )
    sections = list[Section]()
    is_mesh = isinstance(model, MeshKernels)
    is_kernels = is_mesh or model.binary.is_metal
    estimate = None if is_kernels else model.estimate(board)
    if isinstance(model, CompiledModel) and not (args or kwargs) and model.examples is not None:
        if estimate is None or estimate.flops <= MOST_FLOPS:
            args, kwargs = model.examples
    if args or kwargs:
        # Refused here like a call: the framework's own message would name its own functions.
        model.flatten(args, kwargs)
    if estimate is None:
        if not (args or kwargs):
            raise InputError(
                f"'{model.name}' is made of kernels, which have to run for their times: give the "
                "arguments of a call, too"
            )
        profile = model.profile(*args, **kwargs)
        place = model.board if is_mesh else chip_of(model.binary).arch.keyword
        title = f"{model.name} on {place}: {profile.cycles:,} cycles"
        sections.append(Section(title="Programs", text=str(profile)))
        if not is_mesh:
            sections.append(Section(title="Layers", text=str(model.summary())))
    else:
        time = estimate.total
        bounds = f"({time.low / 1e3:,.1f} to {time.high / 1e3:,.1f})"
        title = f"{model.name} on {estimate.place}: {time.mid / 1e3:,.1f} us {bounds}"
        sections += _sections_of(estimate, model, board, boards)
    accuracy = _measure(model, args, kwargs)
    if accuracy is not None:
        sections.append(accuracy)
    if suggestions and isinstance(model, CompiledModel) and model.target == "ttnn":
        sections.append(Section(title="What may help", text=str(suggest(model))))
    return ModelReport(title=title, sections=sections)


def _sections_of(
    estimate: Estimate, model: CallableModel, board: str | None, boards: Sequence[str]
) -> Iterator[Section]:
    summary = model.summary(board)
    yield Section(title="Layers", text=str(summary))
    if len(summary.layers) > 1:
        yield Section(title="Layers in order of time", rows=summary.by_time().rows())
    plots = _draw(lambda: plot_estimate(estimate, model.name))
    missing = "" if plots else 'Pictures need matplotlib: pip install "ttmlir-py[plot]"'
    yield Section(title="What limits it", text=missing, rows=_bounds(estimate), plots=plots)
    slowest = sorted(estimate.in_call, key=lambda each: -each.mid)[:MOST_OPERATIONS]
    head = ("operation", "us", "low", "high", "share", "bound by", "location")
    rows = [head, *(_cells_of(each, estimate.share(each)) for each in slowest)]
    yield Section(title=f"The {len(slowest)} operations that take longest", rows=rows)
    if estimate.memory is not None:
        uses = (estimate.memory.dram, estimate.memory.l1)
        problem = estimate.memory.first_overflow or ""
        drawn = _draw(lambda: draw("Memory", "drawing memory", [_drawer(each) for each in uses]))
        yield Section(title="Memory", text=problem, rows=_memory(uses), plots=drawn)
    others = [model.estimate(each) for each in dict.fromkeys(boards)]
    yield Section(title="The same program on boards", rows=_compare(others))
    yield Section(title="What the estimate leaves out", text="\n".join(estimate.notes))


def _draw(make: Callable[[], ModelPlot]) -> tuple[ModelPlot, ...]:
    try:
        return (make(),)
    except ImportError:
        return ()


def _bounds(estimate: Estimate) -> list[Row]:
    shares = sorted(estimate.bounds.items(), key=lambda each: -each[1])
    times = [
        ("inputs and results over PCIe, apart", estimate.transfers),
        ("before the first call", estimate.once),
        ("exchanges between devices, of it", estimate.exchanges),
    ]
    total = estimate.total.mid
    return [
        ("bound by", "us", "share"),
        *((name, f"{share * total / 1e3:,.1f}", f"{share:.0%}") for name, share in shares),
        *((name, f"{time.mid / 1e3:,.1f}", "") for name, time in times if time.mid),
    ]


def _cells_of(each: OperationEstimate, share: float) -> Row:
    times = (f"{value / 1e3:,.1f}" for value in (each.mid, each.low, each.high))
    place = place_in(each.location) or "-"
    return (each.name, *times, f"{share:.0%}", each.bound_by, place)


def _memory(uses: Sequence[MemoryUse]) -> list[Row]:
    rows: list[Row] = [("memory", "MB at the peak", "of the fullest bank", "weights and state, MB")]
    for use in uses:
        resident = f"{use.resident * use.banks / 1e6:,.2f}"
        total = f"{use.total_bytes / 1e6:,.2f}"
        rows.append((use.space.keyword, total, f"{use.share:.1%}", resident))
    return rows


def _drawer(use: MemoryUse) -> Callable[[Any], None]:
    """Draws how full the fullest bank of a memory is, operation by operation."""

    def fill(axes: Any) -> None:
        shares = [100 * taken / use.capacity for taken in use.by_operation]
        axes.step(range(len(shares)), shares, where="post")
        axes.axhline(100, color="gray", linestyle="dashed")
        axes.set(title=use.space.keyword, xlabel="operation", ylabel="% of the fullest bank")

    return fill


def _compare(estimates: Sequence[Estimate]) -> list[Row]:
    rows: list[Row] = [("board", "us", "low", "high", "calls per second", "fits")]
    for each in estimates:
        times = (
            f"{value / 1e3:,.1f}" for value in (each.total.mid, each.total.low, each.total.high)
        )
        fits = "yes" if each.memory is None or each.memory.fits else "no"
        rows.append((each.place, *times, f"{each.rate(1).per_second:,.1f}", fits))
    return rows


def _measure(model: CallableModel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Section | None:
    """How far the results of a call are from those of the framework, in both numerics."""
    title = "Results beside those of the framework"
    if isinstance(model, CompiledModel):
        if model.source.reference is None or not (args or kwargs):
            return None
        if model.source.signature.state:
            return Section(title=title, text="Not compared: a call changes the state of the model.")
        expected = model.reference(*args, **kwargs)
    elif isinstance(model, LoadedModel) and model.golden is not None and not (args or kwargs):
        args, kwargs, expected = model.golden.args, model.golden.kwargs, model.golden.result
    else:
        return None
    rows: list[Row] = [("numerics", "result", "PCC", "largest error", f"within {TOLERANCE:g}")]
    for numerics in get_args(NumericsName):
        results = _leaves(model(*args, numerics=numerics, **kwargs))
        for index, (actual, golden) in enumerate(zip(results, _leaves(expected), strict=True)):
            found = compare(actual, golden, rtol=TOLERANCE, atol=TOLERANCE)
            numbers = (f"{found.pcc:.6f}", f"{found.max_absolute_error:.2e}")
            rows.append((numerics, str(index), *numbers, "yes" if found.allclose else "no"))
    return Section(title=title, rows=rows)


def _leaves(results: Any) -> list[Array]:
    _, leaves = read_layout(results, JaxOpener())
    return [np.asarray(as_array(leaf, "a result")) for leaf in leaves]


def _escaped(text: str) -> str:
    return escape(printable(text))
