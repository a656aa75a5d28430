"""LeNet in torch: a convolutional classifier of handwritten digits, trained and compiled."""

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


class LeNet(nn.Module):
    """Two convolutions with pooling, then three linear layers."""

    def __init__(self):
        """Channels for images of 8x8."""
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(1, 6, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2)),
            *(nn.Conv2d(6, 16, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2)),
        )
        self.classifier = nn.Sequential(
            *(nn.Linear(64, 48), nn.Tanh()),
            *(nn.Linear(48, 32), nn.Tanh()),
            nn.Linear(32, 10),
        )

    def forward(self, images):
        """The scores of the ten digits."""
        return self.classifier(self.features(images).flatten(1))


def main() -> int:
    """Exit status 0 if the compiled model agrees with torch."""
    torch.manual_seed(0)
    train, test = digits()
    images, test_images = (
        torch.tensor(x).reshape(-1, 1, 8, 8) for x in (train.images, test.images)
    )
    model = trained(LeNet(), images, torch.tensor(train.labels), steps=200)
    compiled = ttmlir.compile(model, test_images)
    good = agrees(compiled, test_images)
    with torch.no_grad():
        print(f"  accuracy: torch {accuracy(model(test_images), test.labels)}", end=", ")
    print(f"compiled {accuracy(compiled(test_images), test.labels)}")
    with tempfile.TemporaryDirectory() as folder:
        file = compiled.save(Path(folder) / "lenet.ttnn")
        print(f"  {file.name}: {file.stat().st_size:,} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
