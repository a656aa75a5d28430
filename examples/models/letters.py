"""A language model of letters: blocks of a transformer, which see the letters before."""

from __future__ import annotations

import torch
from torch import nn
from zen import LETTERS, decoded, encoded

LENGTH = 32


class Block(nn.Module):
    """Attention to the letters before, then a layer for each letter."""

    def __init__(self, width: int, heads: int) -> None:
        """Norms before both."""
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.mixed, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.layers = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The letters with what they know of those before."""
        batch, length, width = x.shape
        parts = self.mixed(self.norms[0](x)).reshape(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.layers(self.norms[1](x))


class Letters(nn.Module):
    """Scores of the next letter at each place of a text."""

    def __init__(self, layers: int, width: int = 48, heads: int = 3) -> None:
        """So many blocks."""
        super().__init__()
        self.letters, self.places = nn.Embedding(len(LETTERS), width), nn.Embedding(LENGTH, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, len(LETTERS))

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        """Scores (batch, letters, places)."""
        x = self.letters(letters) + self.places(torch.arange(letters.shape[1]))
        return self.scores(self.norm(self.blocks(x))).transpose(1, 2)


def write(model: nn.Module, text: str, count: int) -> str:
    """The text with so many letters more, each the one of the highest score."""
    numbers = torch.from_numpy(encoded(text)).long()
    for _ in range(count):
        scores = model(numbers[None, -LENGTH:])
        numbers = torch.cat([numbers, scores[0, :, -1:].argmax(0)])
    return decoded(numbers.tolist())
