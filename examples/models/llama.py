"""A tiny Llama in plain torch, and `LlamaForCausalLM` of transformers, both with static caches."""

from __future__ import annotations

import torch
from torch import nn

import ttmlir

VOCABULARY, WIDTH, HIDDEN, LAYERS, HEADS, GROUPS = 300, 64, 160, 2, 4, 2
SIZE = WIDTH // HEADS


class RMSNorm(nn.Module):
    """Rows of mean square 1, scaled."""

    def __init__(self):
        """One number for each column."""
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        """Divide by the root of the mean square."""
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


def rotate(x, places):
    """Turn pairs of columns by angles that grow with the place: `x` is heads x places x SIZE."""
    rates = 10000 ** (-torch.arange(0, SIZE, 2) / SIZE)
    angles = torch.outer(places.float(), rates)
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


class Attention(nn.Module):
    """Heads that share keys and values in groups, with a cache of as many places as there are."""

    def __init__(self, places):
        """Four products, and the cache."""
        super().__init__()
        self.query, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(WIDTH, GROUPS * SIZE, bias=False) for _ in range(2))
        self.register_buffer("keys", torch.zeros(GROUPS, places, SIZE))
        self.register_buffer("values", torch.zeros(GROUPS, places, SIZE))

    def forward(self, x, places):
        """Attend to all places up to each of the given ones; `x` is places x WIDTH."""

        def split(rows):
            return rows.reshape(len(places), -1, SIZE).transpose(0, 1)

        self.keys.index_copy_(1, places, rotate(split(self.key(x)), places))
        self.values.index_copy_(1, places, split(self.value(x)))
        keys = self.keys.repeat_interleave(HEADS // GROUPS, 0)
        values = self.values.repeat_interleave(HEADS // GROUPS, 0)
        scores = rotate(split(self.query(x)), places) @ keys.transpose(1, 2) / SIZE**0.5
        is_later = torch.arange(keys.shape[1]) > places[:, None]
        weights = scores.masked_fill(is_later, float("-inf")).softmax(-1)
        return self.out((weights @ values).transpose(0, 1).reshape(len(places), WIDTH))


class Block(nn.Module):
    """Attention, then a gated product (SwiGLU)."""

    def __init__(self, places):
        """Two norms before the two parts."""
        super().__init__()
        self.before, self.between = RMSNorm(), RMSNorm()
        self.attention = Attention(places)
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x, places):
        """Add both."""
        x = x + self.attention(self.before(x), places)
        y = self.between(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """The scores of the next token; the places that it has seen are in its cache."""

    def __init__(self, places):
        """A table of tokens, blocks, and scores."""
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block(places) for _ in range(LAYERS))
        self.norm = RMSNorm()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, places):
        """Of the last of some tokens at these places."""
        x = self.table(tokens)
        for block in self.blocks:
            x = block(x, places)
        return self.head(self.norm(x[-1]))


class PlainModel:
    """The Llama of this file, its cache in buffers."""

    def __init__(self, prompt, places):
        """Random weights."""
        self.prompt = prompt
        self.module = Llama(places).eval()
        with torch.no_grad():
            # Scores that differ clearly, as those of a trained model do.
            self.module.head.weight *= 6

    def examples(self):
        """What the two programs are compiled for."""
        first = self.arguments(self.prompt, 0)
        return {
            "prefill": ttmlir.Example(self.module, *first),
            "decode": ttmlir.Example(self.module, *self.arguments(self.prompt[:1], 0)),
        }

    def arguments(self, tokens, place):
        """Tokens, and their places."""
        return tokens, torch.arange(place, place + len(tokens))

    def run(self, function, tokens, place):
        """The scores of the next token."""
        return function(*self.arguments(tokens, place))


class TransformersModel:
    """`LlamaForCausalLM`, its cache an argument that is changed in place."""

    def __init__(self, prompt, places):
        """Random weights."""
        from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

        config = LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=WIDTH,
            intermediate_size=HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=GROUPS,
            max_position_embeddings=places,
            initializer_range=0.2,
        )
        self.prompt = prompt
        self.module = LlamaForCausalLM(config).eval()
        self.new_cache = lambda: StaticCache(config, max_cache_len=places)
        self.caches = {}

    def cache_of(self, function):
        """Each side has a cache of its own: torch, and the compiled programs."""
        side = "torch" if function is self.module else "compiled"
        if side not in self.caches:
            cache = self.caches[side] = self.new_cache()
            cache.early_initialization(1, GROUPS, SIZE, torch.float32, "cpu")
        return self.caches[side]

    def examples(self):
        """What the two programs are compiled for."""
        cache = self.cache_of(None)
        return {
            "prefill": ttmlir.Example(self.module, self.prompt[None], past_key_values=cache),
            "decode": ttmlir.Example(self.module, self.prompt[None, :1], past_key_values=cache),
        }

    def run(self, function, tokens, _):
        """The scores of the next token."""
        return function(tokens[None], past_key_values=self.cache_of(function)).logits[0, -1]
