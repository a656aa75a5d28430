"""Pictures of an estimate: operations under the roofline of a board, and the time of layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from ttmlir.cost import Estimate, OperationEstimate
from ttmlir.cost.estimate import peak_flops
from ttmlir.files import write_file
from ttmlir.frontend.errors import missing_package
from ttmlir.layout.enums import MathFidelity
from ttmlir.runtime.layers import layer_of

MOST_LAYERS = 20
"""Layers with bars of their own; the others share one."""


@dataclass(frozen=True)
class ModelPlot:
    """A picture, which notebooks show; `figure` is matplotlib's."""

    title: str
    figure: Any = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write a file of the kind that its name ends with: `.png`, `.svg` or `.pdf`."""
        suffix = Path(path).suffix.removeprefix(".")
        if suffix not in ("png", "svg", "pdf"):
            raise ValueError(f"{path}: a picture is written as .png, .svg or .pdf")
        write_file(path, self._render(suffix))
        return Path(path)

    def _repr_png_(self) -> bytes:
        """For notebooks."""
        return self._render("png")

    def _render(self, kind: str) -> bytes:
        buffer = BytesIO()
        self.figure.savefig(buffer, format=kind)
        return buffer.getvalue()


def plot_estimate(estimate: Estimate, name: str) -> ModelPlot:
    """The picture of an estimate; ImportError without matplotlib."""
    try:
        figures: Any = import_module("matplotlib.figure")
    except ImportError:
        raise missing_package("matplotlib", "plot", "drawing an estimate") from None
    title = f"{name} on {estimate.board}"
    figure = figures.Figure(figsize=(11, 5), layout="constrained")
    figure.suptitle(title)
    roofline, layers = figure.subplots(1, 2)
    _draw_roofline(roofline, estimate)
    _draw_layers(layers, estimate)
    return ModelPlot(title, figure)


def _draw_roofline(axes: Any, estimate: Estimate) -> None:
    """Flops per second over flops per byte of DRAM, under what the board can do at most."""
    operations = [
        each for each in estimate.operations if each.flops and each.bytes and each.kernels.mid
    ]
    bandwidth = estimate.machine.dram_rate * estimate.machine.clock_hz
    peak = peak_flops(estimate.machine, _least_fidelity(operations))
    intensities = [each.flops / each.bytes for each in operations]
    ridge = peak / bandwidth
    least, most = min([*intensities, ridge]) / 2, max([*intensities, ridge]) * 4
    axes.plot([least, ridge, most], [least * bandwidth, peak, peak], color="black")
    for bound in dict.fromkeys(each.bound_by for each in operations):
        chosen = [each for each in operations if each.bound_by == bound]
        axes.scatter(
            [each.flops / each.bytes for each in chosen],
            [each.flops / each.kernels.mid * 1e9 for each in chosen],
            s=[20 + 400 * estimate.share(each) for each in chosen],
            alpha=0.6,
            label=f"bound by {bound}",
        )
    axes.set(xscale="log", yscale="log", title="roofline")
    axes.set(xlabel="flops per byte of DRAM", ylabel="flops per second")
    if operations:
        axes.legend(fontsize="small")


def _least_fidelity(operations: list[OperationEstimate]) -> MathFidelity:
    """The fastest fidelity of the operations, with the highest roof."""
    found = [each.fidelity for each in operations if each.fidelity is not None]
    return min(found, default=MathFidelity.HIFI4, key=int)


def _draw_layers(axes: Any, estimate: Estimate) -> None:
    """A bar for each layer: what to expect, and the bounds."""
    times: dict[str, list[float]] = {}
    for each in estimate.operations:
        if each.mid:
            sums = times.setdefault(layer_of(each.location), [0.0, 0.0, 0.0])
            for i, value in enumerate((each.low, each.mid, each.high)):
                sums[i] += value / 1e3
    shown = list(times.items())[:MOST_LAYERS]
    others = [sums for _, sums in list(times.items())[MOST_LAYERS:]]
    if others:
        sums = [sum(column, 0.0) for column in zip(*others, strict=True)]
        shown.append((f"{len(others)} others", sums))
    names = [name for name, _ in shown]
    middle = [sums[1] for _, sums in shown]
    errors = [
        [sums[1] - sums[0] for _, sums in shown],
        [sums[2] - sums[1] for _, sums in shown],
    ]
    # Numbers as places: matplotlib reads markup in names of categories.
    axes.barh(range(len(shown)), middle, xerr=errors, color="tab:blue", ecolor="gray")
    axes.set_yticks(range(len(shown)), [name.replace("$", r"\$") for name in names])
    axes.invert_yaxis()
    axes.set(title="time of each layer", xlabel="us")
