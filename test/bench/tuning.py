"""Prints what `ttmlir.tune` finds for the networks of the examples: `python test/bench/tuning.py`.

That is the table of docs/tuning.md, for an n150 and 50 candidates each. The networks are untrained,
and see 450 random images.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import torch

import ttmlir
from ttmlir.tuning.tuning import Report

ROOT = Path(__file__).resolve().parents[2]
IMAGES = 450


def tune_network(network: torch.nn.Module, budget: int, images: int) -> Report:
    """The report for a network of images of 8x8 pixels."""
    pixels = torch.randn(images, 1, 8, 8)
    compiled = ttmlir.compile(network.eval(), pixels, board="n150")
    return ttmlir.tune(compiled, budget=budget, inputs=[pixels.numpy()])


def tune_resnet(budget: int, images: int) -> Report:
    """The residual network."""
    from resnet import network

    return tune_network(network(), budget, images)


def tune_vit_block(budget: int, images: int) -> Report:
    """The transformer's block on patches of images."""
    from vit_block import VisionTransformer

    return tune_network(VisionTransformer(), budget, images)


def tune_attention(budget: int, images: int) -> Report:
    """An attention of seven tokens, from a file."""
    return ttmlir.tune(ROOT / "test" / "models" / "attention.mlir", budget=budget)


MODELS: dict[str, Callable[[int, int], Report]] = {
    "`resnet.py`": tune_resnet,
    "`vit_block.py`": tune_vit_block,
    "`test/models/attention.mlir`, 7 tokens": tune_attention,
}


def table(budget: int, images: int = IMAGES) -> list[str]:
    """A row for each model, line by line."""
    lines = [
        "| Model | Default us | Tuned us | Gain | Least PCC |",
        "|---|---|---|---|---|",
    ]
    sys.path.insert(0, str(ROOT / "examples" / "models"))
    for name, tune in MODELS.items():
        torch.manual_seed(0)
        report = tune(budget, images)
        default, best = report.default, report.best
        assert default.time is not None, "a report has times"
        assert best.time is not None, "a report has times"
        lines.append(
            f"| {name} | {default.time / 1e3:,.1f} | {best.time / 1e3:,.1f} | {report.gain:.2f} | "
            f"{best.pcc:.4f} |"
        )
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What tuning brings.")
    parser.add_argument("--budget", type=int, default=50, help="candidates for each model")
    print("\n".join(table(parser.parse_args().budget)))


if __name__ == "__main__":
    main()
