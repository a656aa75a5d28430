"""Public architectures in plain torch, as shapes alone, for `levels.py`: numbers are not needed.

Sizes are those of the published models, and those of the runs that they are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional

# --- Convolutions ---------------------------------------------------------------------------------


class Bottleneck(nn.Module):
    """Three convolutions, each with a norm of batches, beside a shortcut."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        """The result has four times as many channels as the middle."""
        super().__init__()
        out = 4 * width
        self.main = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, out, 1, bias=False),
            nn.BatchNorm2d(out),
        )
        self.beside = nn.Sequential()
        if stride != 1 or channels != out:
            self.beside.append(nn.Conv2d(channels, out, 1, stride, bias=False))
            self.beside.append(nn.BatchNorm2d(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of both ways."""
        return functional.relu(self.main(x) + self.beside(x))


class ResNet(nn.Module):
    """ResNet-50 of 2015, with the stride in the windows of 3x3."""

    def __init__(self, blocks: Sequence[int] = (3, 4, 6, 3)) -> None:
        """So many blocks for each size of the images."""
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        self.blocks, channels = nn.Sequential(), 64
        for stage, (count, width) in enumerate(zip(blocks, (64, 128, 256, 512), strict=True)):
            for number in range(count):
                stride = 2 if number == 0 and stage else 1
                self.blocks.append(Bottleneck(channels, width, stride))
                channels = 4 * width
        self.head = nn.Linear(channels, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of classes."""
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


# --- Encoders -------------------------------------------------------------------------------------


class EncoderLayer(nn.Module):
    """Attention and two products, normalized before (ViT) or after (BERT)."""

    def __init__(self, width: int, heads: int, hidden: int, *, before: bool) -> None:
        """So many heads as wide as the width allows."""
        super().__init__()
        self.heads, self.before = heads, before
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        """Of all positions to all."""
        query, key, value = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        found = functional.scaled_dot_product_attention(query, key, value)
        return self.out(found.transpose(1, 2).flatten(2))

    def feed(self, x: torch.Tensor) -> torch.Tensor:
        """Each position alone."""
        return self.down(functional.gelu(self.up(x)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Both, each added to what it is computed of."""
        if self.before:
            x = x + self.attend(self.first(x))
            return x + self.feed(self.second(x))
        x = self.first(x + self.attend(x))
        return self.second(x + self.feed(x))


class Bert(nn.Module):
    """BERT-large with a head for answers to questions."""

    def __init__(self, layers: int = 24) -> None:
        """The embeddings are of words, kinds and positions."""
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(count, 1024) for count in (30522, 2, 512))
        self.norm = nn.LayerNorm(1024)
        self.layers = nn.Sequential(
            *(EncoderLayer(1024, 16, 4096, before=False) for _ in range(layers))
        )
        self.head = nn.Linear(1024, 2)

    def forward(self, *numbers: torch.Tensor) -> torch.Tensor:
        """Scores of begin and end."""
        words, kinds, places = (
            table(each) for table, each in zip(self.tables, numbers, strict=True)
        )
        return self.head(self.layers(self.norm(words + kinds + places)))


class ViT(nn.Module):
    """ViT-base of patches of 16x16."""

    def __init__(self, layers: int = 12) -> None:
        """197 positions, the first of which is the image's."""
        super().__init__()
        self.patches = nn.Conv2d(3, 768, 16, 16)
        self.image = nn.Parameter(torch.zeros(1, 1, 768))
        self.places = nn.Parameter(torch.zeros(1, 197, 768))
        self.layers = nn.Sequential(
            *(EncoderLayer(768, 12, 3072, before=True) for _ in range(layers))
        )
        self.norm, self.head = nn.LayerNorm(768), nn.Linear(768, 1000)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of classes."""
        patches = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.image.expand(len(x), -1, -1), patches], 1) + self.places
        return self.head(self.norm(self.layers(x))[:, 0])


# --- Decoders -------------------------------------------------------------------------------------


class RMSNorm(nn.Module):
    """Rows of mean square 1, computed in 32 bits, and a weight."""

    def __init__(self, width: int) -> None:
        """One number for each column."""
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """As transformers has it."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * wide.to(x.dtype)


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary positions of halves."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


class DecoderLayer(nn.Module):
    """A layer of Llama 3.2 1B: 32 heads of queries, 8 of keys, each of 64 numbers."""

    def __init__(self) -> None:
        """Without biases."""
        super().__init__()

        def linear(inner: int, outer: int) -> nn.Linear:
            return nn.Linear(inner, outer, bias=False)

        self.query, self.out = linear(2048, 2048), linear(2048, 2048)
        self.key, self.value = linear(2048, 512), linear(2048, 512)
        self.gate, self.up, self.down = linear(2048, 8192), linear(2048, 8192), linear(8192, 2048)
        self.first, self.second = RMSNorm(2048), RMSNorm(2048)

    def forward(
        self,
        x: torch.Tensor,
        angles: Sequence[torch.Tensor],
        mask: torch.Tensor,
        write: Callable[[torch.Tensor], torch.Tensor],
    ) -> torch.Tensor:
        """`write` gives all keys, or values, for those of this step."""
        y = self.first(x)
        query, key, value = (
            layer(y).unflatten(-1, (-1, 64)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        query, key = rotate(query, *angles), write(rotate(key, *angles))
        found = functional.scaled_dot_product_attention(
            query, key, write(value), attn_mask=mask, enable_gqa=True
        )
        x = x + self.out(found.transpose(1, 2).flatten(2))
        y = self.second(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """Llama 3.2 1B; scores are those of the last position."""

    def __init__(self, layers: int = 16) -> None:
        """Cosines and sines are numbers of the program, as of its 1,024 positions."""
        super().__init__()
        self.table, self.head = nn.Embedding(128256, 2048), nn.Linear(2048, 128256, bias=False)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(layers))
        self.norm = RMSNorm(2048)
        self.register_buffer("cos", torch.zeros(1024, 64))
        self.register_buffer("sin", torch.zeros(1024, 64))


class Prefill(Llama):
    """All positions of a prompt at once."""

    def forward(self, words: torch.Tensor, mask: torch.Tensor) -> tuple[Any, list[Any]]:
        """Scores, keys and values."""
        x, count = self.table(words), words.shape[1]
        angles, kept = (self.cos[:count], self.sin[:count]), list[Any]()

        def write(new: torch.Tensor) -> torch.Tensor:
            kept.append(new)
            return new

        for layer in self.layers:
            x = layer(x, angles, mask, write)
        return self.head(self.norm(x)[:, -1]), kept


class Decode(Llama):
    """One position of each of several prompts, which are written to caches."""

    def forward(
        self, words: torch.Tensor, places: torch.Tensor, mask: torch.Tensor, cache: list[Any]
    ) -> tuple[Any, list[Any]]:
        """Scores, and the caches."""
        x, left, kept = self.table(words), list(cache), list[Any]()
        angles = tuple(each[places][:, None, None] for each in (self.cos, self.sin))

        def write(new: torch.Tensor) -> torch.Tensor:
            index = places[:, None, None, None].long().expand(new.shape)
            kept.append(left.pop(0).scatter(2, index, new))
            return kept[-1]

        for layer in self.layers:
            x = layer(x, angles, mask, write)
        return self.head(self.norm(x)[:, -1]), kept


# --- Cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A model, an example of its arguments, and how long it takes written by hand."""

    name: str
    make: Callable[[], nn.Module]
    arguments: Callable[[], tuple[Any, ...]]
    batch: int
    by_hand_us: float
    """Of the device alone on an n150, in tt-metal's own form, or scaled from such a time."""
    is_bound_by_dram: bool = False
    """Whether a faster board takes less time as far as its DRAM is faster, or else its cores."""
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    """Arguments of `ttmlir.compile`."""


def _words(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.int32)


def _numbers(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.bfloat16)


def _weights_of(size: int) -> float:
    """Numbers in the layers of Llama 3.2 1B and Llama 3.1 8B, by which prompts are multiplied."""
    layers, width, keys, hidden = {1: (16, 2048, 512, 8192), 8: (32, 4096, 1024, 14336)}[size]
    return layers * width * (2 * width + 2 * keys + 3 * hidden)


CASES = (
    Case("ResNet-50, 16 images", ResNet, lambda: (_numbers(16, 3, 224, 224),), 16, 2606),
    Case("BERT-large, 8 times 384 words", Bert, lambda: (_words(8, 384),) * 3, 8, 8e6 / 371),
    Case("ViT-base, 8 images", ViT, lambda: (_numbers(8, 3, 224, 224),), 8, 8e6 / 1370),
    Case(
        "Llama 3.2 1B, prompt of 128",
        Prefill,
        lambda: (_words(1, 128), _numbers(1, 1, 128, 128)),
        1,
        104e3 * _weights_of(1) / _weights_of(8),
    ),
    Case(
        "Llama 3.2 1B, a token of 32 users",
        Decode,
        lambda: (
            _words(32, 1),
            _words(32),
            _numbers(32, 1, 1, 256),
            [_numbers(32, 8, 256, 64) for _ in range(32)],
        ),
        32,
        1e6 / 26 * 1.313 / 5.156,
        is_bound_by_dram=True,
        more={"resident": ["cache"]},
    ),
)
"""Times by hand: images and sentences per second of tt-metal's README and of its tests of device
time (December 2025 to February 2026); that of ViT is of whole runs. Those of Llama 3.2 1B are
scaled from Llama 3.1 8B there, 26.0 tokens per second and user and 104 ms to the first one: a token
by the gigabytes of weights, which the 8B model has in blocks of 4 bits in the middle of its layers
and of 8 bits elsewhere, this one all of 8; a prompt by the products of its layers."""
