"""A residual network in torch, compiled with its batch normalization and with that folded away."""

from __future__ import annotations

import sys
import tempfile
from copy import deepcopy
from pathlib import Path

import torch
from images import digits
from report import accuracy, agrees
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch_training import trained

import ttmlir


def normalized(inputs, outputs, kernel, stride=1):
    """A convolution and the normalization of what it gives."""
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


class Block(nn.Module):
    """Two convolutions beside a shorter path."""

    def __init__(self, inputs, outputs, stride):
        """The shorter path has a convolution where shapes differ."""
        super().__init__()
        self.first = normalized(inputs, outputs, 3, stride)
        self.second = normalized(outputs, outputs, 3)
        same = stride == 1 and inputs == outputs
        self.short = nn.Identity() if same else normalized(inputs, outputs, 1, stride)

    def forward(self, x):
        """The sum of both paths."""
        return torch.relu(self.second(torch.relu(self.first(x))) + self.short(x))


def network():
    """The scores of the ten digits from images of 8x8."""
    blocks = Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2)
    start, end = normalized(1, 8, 3), (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    return nn.Sequential(start, nn.ReLU(), *blocks, *end)


def folded(model):
    """The model with the normalizations multiplied into the convolutions."""
    for name, part in model.named_children():
        pair = isinstance(part, nn.Sequential) and isinstance(part[-1], nn.BatchNorm2d)
        setattr(model, name, fuse_conv_bn_eval(*part) if pair else folded(part))
    return model


def main() -> int:
    """Exit status 0 if both compiled models agree with torch."""
    torch.manual_seed(0)
    train, test = digits()
    images, test_images = (
        torch.tensor(x).reshape(-1, 1, 8, 8) for x in (train.images, test.images)
    )
    model = trained(network(), images, torch.tensor(train.labels), steps=60)
    good = True
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for name, variant in (("resnet", model), ("resnet_folded", folded(deepcopy(model)))):
            compiled = ttmlir.compile(variant, test_images)
            good &= agrees(compiled, test_images)
            print(f"  accuracy: torch {accuracy(variant(test_images), test.labels)}", end=", ")
            print(f"compiled {accuracy(compiled(test_images), test.labels)}")
            file = compiled.save(Path(folder) / f"{name}.ttnn")
            print(f"  {file.name}: {file.stat().st_size:,} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
