"""A language model of letters in torch learns the Zen of Python, step by step as torch's does."""

from __future__ import annotations

import argparse
import copy
import sys

import torch
from letters import LENGTH, Letters, write
from torch import nn
from zen import pieces

import ttmlir


def main() -> int:
    """Exit status 0 if the compiled step learns as torch's does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    asked = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the layers are too small to be shared
    model, loss_function = Letters(asked.layers), nn.CrossEntropyLoss()
    other = copy.deepcopy(model)
    batches = [
        torch.from_numpy(batch).long() for (batch,) in pieces(asked.steps, asked.batch, LENGTH + 1)
    ]
    optimizers = [torch.optim.AdamW(each.parameters(), lr=3e-3) for each in (model, other)]
    example = batches[0][:, :-1], batches[0][:, 1:]
    step = ttmlir.train_step(model, loss_function, optimizers[0], *example, clip_grad_norm=1.0)
    print(step.compiled)

    losses: list[tuple[float, float]] = []
    for number, batch in enumerate(batches, 1):
        letters, following = batch[:, :-1], batch[:, 1:]
        loss = step(letters, following)
        expected = loss_function(other(letters), following)
        optimizers[1].zero_grad()
        expected.backward()
        nn.utils.clip_grad_norm_(other.parameters(), 1.0)
        optimizers[1].step()
        losses.append((loss.item(), expected.item()))
        if number % 20 == 0:
            print(f"  step {number}: loss {loss:.5f}, with torch {expected:.5f}")
    difference = max(abs(ours - theirs) for ours, theirs in losses)
    correlation = torch.corrcoef(torch.tensor(losses).T)[0, 1].item()
    print(
        f"  from {losses[0][0]:.3f} to {losses[-1][0]:.3f}, correlation {correlation:.6f}", end=""
    )
    print(f", largest difference {difference:.1e}")
    step.load_into(model)
    with torch.no_grad():
        print(f"  {write(model.eval(), 'Beautiful is ', 40)!r}")
    return 0 if difference < 1e-2 and losses[-1][0] < losses[0][0] else 1


if __name__ == "__main__":
    sys.exit(main())
