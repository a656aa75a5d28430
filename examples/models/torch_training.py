"""Training of the torch examples."""

from __future__ import annotations

import torch
from torch import nn


def trained(model: nn.Module, images, labels, *, steps: int, rate: float = 1e-2) -> nn.Module:
    """The model after some steps of Adam on batches of 128, ready to be used."""
    torch.set_num_threads(1)  # the layers are too small to be shared
    optimizer = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    model.train()
    for step in range(steps):
        chosen = torch.arange(128 * step, 128 * (step + 1)) % len(labels)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images[chosen]), labels[chosen]).backward()
        optimizer.step()
        schedule.step()
    return model.eval()
