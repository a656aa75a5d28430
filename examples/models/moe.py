"""A mixture of experts in torch: a router sends each image to the best two of six networks."""

from __future__ import annotations

import sys

import torch
from images import digits
from report import accuracy, agrees
from torch import nn
from torch_training import trained

import ttmlir

EXPERTS, PICKED, WIDTH = 6, 2, 24


class Experts(nn.Module):
    """Small networks of two layers, of which every row goes through a few."""

    def __init__(self, features: int):
        """The matrices of all experts, side by side."""
        super().__init__()
        self.router = nn.Linear(features, EXPERTS)
        self.up = nn.Parameter(torch.randn(EXPERTS, features, WIDTH) / features**0.5)
        self.down = nn.Parameter(torch.randn(EXPERTS, WIDTH, features) / WIDTH**0.5)

    def forward(self, x):
        """The sum of what the chosen experts say, weighted by the router."""
        weights, chosen = self.router(x).softmax(-1).topk(PICKED)
        # Rows for the same expert next to each other.
        expert, order = chosen.flatten().sort(stable=True)
        row = order // PICKED
        hidden = nn.functional.silu(torch.bmm(x[row].unsqueeze(1), self.up[expert]))
        said = torch.bmm(hidden, self.down[expert]).squeeze(1)
        said = said * weights.flatten()[order].unsqueeze(1)
        return torch.zeros_like(x).index_add(0, row, said)

    def load(self, x):
        """How many rows each expert gets."""
        chosen = self.router(x).topk(PICKED).indices
        return torch.histc(chosen.float(), EXPERTS, 0, EXPERTS - 1).int().tolist()


class Mixture(nn.Module):
    """A classifier of digits with a layer of experts."""

    def __init__(self):
        """For images of 8x8."""
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(64, 32), nn.Tanh())
        self.experts = Experts(32)
        self.scores = nn.Linear(32, 10)

    def forward(self, images):
        """The scores of the ten digits."""
        x = self.embed(images)
        return self.scores(x + self.experts(x))


def main() -> int:
    """Exit status 0 if the compiled model agrees with torch."""
    torch.manual_seed(0)
    train, test = digits()
    images, test_images = torch.tensor(train.images), torch.tensor(test.images)
    model = trained(Mixture(), images, torch.tensor(train.labels), steps=150)
    compiled = ttmlir.compile(model, test_images)
    good = agrees(compiled, test_images)
    with torch.no_grad():
        print(f"  rows for each expert: {model.experts.load(model.embed(test_images))}")
        print(f"  accuracy: torch {accuracy(model(test_images), test.labels)}", end=", ")
    print(f"compiled {accuracy(compiled(test_images), test.labels)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
