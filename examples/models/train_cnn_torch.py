"""Training in torch through the compiler: a convolutional network learns drawn digits."""

from __future__ import annotations

import copy
import sys

import torch
from drawn_digits import draw_digits
from report import accuracy
from torch import nn

import ttmlir

STEPS, BATCH, RATE = 40, 48, 1e-2


class Network(nn.Module):
    """Two convolutions with pooling, and a linear layer."""

    def __init__(self) -> None:
        """Channels for images of 12x12."""
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU()),
            *(nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        )
        self.scores = nn.Linear(144, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """The scores of the ten digits."""
        return self.scores(self.features(images).flatten(1))


def main() -> int:
    """Exit status 0 if the compiled step learns as torch's does."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the layers are too small to be shared
    generator = torch.Generator().manual_seed(1)
    model, loss_function = Network(), nn.CrossEntropyLoss()
    other = copy.deepcopy(model)
    batches = [draw_digits(BATCH, generator) for _ in range(STEPS)]

    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    step = ttmlir.train_step(model, loss_function, optimizer, *batches[0])
    print(step.compiled)

    other_optimizer = torch.optim.AdamW(other.parameters(), lr=RATE)
    losses: list[tuple[float, float]] = []
    for index, (images, labels) in enumerate(batches):
        loss = step(images, labels)
        expected = loss_function(other(images), labels)
        other_optimizer.zero_grad()
        expected.backward()
        other_optimizer.step()
        losses.append((loss.item(), expected.item()))
        if index % 10 == 9:
            print(f"  step {index + 1}: loss {loss:.5f}, with torch {expected:.5f}")
    difference = max(abs(ours - theirs) for ours, theirs in losses)
    correlation = torch.corrcoef(torch.tensor(losses).T)[0, 1].item()
    print(f"  losses: correlation {correlation:.6f}, largest difference {difference:.1e}")

    step.load_into(model)
    images, labels = draw_digits(500, generator)
    with torch.no_grad():
        ours, theirs = (each.eval()(images) for each in (model, other))
    print(f"  accuracy on new digits: {accuracy(ours, labels.numpy())}", end=", ")
    print(f"with torch {accuracy(theirs, labels.numpy())}")
    same = (ours.argmax(1) == theirs.argmax(1)).float().mean().item()
    return 0 if difference < 1e-3 and same > 0.99 else 1


if __name__ == "__main__":
    sys.exit(main())
