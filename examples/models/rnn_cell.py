"""A recurrent cell in torch: it reads digits row by row, compiled at once and as one step."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch
from images import digits
from report import accuracy, agrees
from torch import nn
from torch_training import trained

import ttmlir

WIDTH = 32


class RowReader(nn.Module):
    """The scores of the ten digits after the eight rows of an image."""

    def __init__(self):
        """A cell and what reads its last state."""
        super().__init__()
        self.cell = nn.LSTMCell(8, WIDTH)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, images):
        """The loop is written out by the compiler."""
        state = (images.new_zeros(len(images), WIDTH),) * 2
        for row in images.unbind(1):
            state = self.cell(row, state)
        return self.head(state[0])


def main() -> int:
    """Exit status 0 if the compiled models agree with torch."""
    torch.manual_seed(0)
    train, test = digits()
    images, test_images = (torch.tensor(x).reshape(-1, 8, 8) for x in (train.images, test.images))
    model = trained(RowReader(), images, torch.tensor(train.labels), steps=250, rate=2e-2)
    compiled = ttmlir.compile(model, test_images)
    good = agrees(compiled, test_images)

    # The same with a program of one step, which Python calls for each row.
    rows = test_images.unbind(1)
    state = (torch.zeros(len(test_images), WIDTH),) * 2
    step = ttmlir.compile(model.cell, rows[0], state)
    good &= agrees(step, rows[0], state)
    for row in rows:
        state = step(row, state)
    with torch.no_grad():
        print(f"  accuracy: torch {accuracy(model(test_images), test.labels)}", end=", ")
        print(f"compiled {accuracy(compiled(test_images), test.labels)}", end=", ")
        print(f"step by step {accuracy(model.head(state[0]), test.labels)}")
    with tempfile.TemporaryDirectory() as folder:
        file = compiled.save(Path(folder) / "rnn_cell.ttnn")
        print(f"  {file.name}: {file.stat().st_size:,} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
