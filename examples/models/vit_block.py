"""A vision transformer of one block in torch: patches of digits, attention, trained, compiled."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch
from images import digits
from report import accuracy, agrees, asked_board, asked_target, count_images
from torch import nn
from torch_training import trained

import ttmlir

WIDTH, HEADS, PATCHES = 32, 4, 16


class VisionTransformer(nn.Module):
    """Patches of 2x2 pixels and a token for the class, which attend to each other."""

    def __init__(self):
        """One block between the patches and the scores."""
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, 2, stride=2)
        self.token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.places = nn.Parameter(torch.randn(PATCHES + 1, WIDTH) * 0.1)
        self.before, self.between, self.after = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, images):
        """The scores of the ten digits."""
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), 1, WIDTH), x], 1) + self.places
        y = self.before(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        x = x + self.mlp(self.between(x))
        return self.head(self.after(x[:, 0]))


def main() -> int:
    """Exit status 0 if the compiled model agrees with torch; `--estimate n150` only estimates."""
    torch.manual_seed(0)
    board = asked_board()
    target = asked_target()
    train, test = digits()
    images, test_images = (
        torch.tensor(x).reshape(-1, 1, 8, 8) for x in (train.images, test.images)
    )
    test_images, labels = (each[: count_images(target)] for each in (test_images, test.labels))
    if board is not None:
        # Numbers make no difference to times, so an untrained model does.
        compiled = ttmlir.compile(VisionTransformer().eval(), test_images, board=board)
        estimate = compiled.estimate()
        print(estimate)
        print(f"{estimate.rate(len(test_images), 'images')}, in batches of {len(test_images)}")
        return 0
    model = trained(VisionTransformer(), images, torch.tensor(train.labels), steps=250, rate=5e-3)
    compiled = ttmlir.compile(model, test_images, target=target)
    good = agrees(compiled, test_images)
    with torch.no_grad():
        print(f"  accuracy: torch {accuracy(model(test_images), labels)}", end=", ")
    print(f"compiled {accuracy(compiled(test_images), labels)}")
    with tempfile.TemporaryDirectory() as folder:
        file = compiled.save(Path(folder) / f"vit_block{compiled.suffix}")
        print(f"  {file.name}: {file.stat().st_size:,} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
