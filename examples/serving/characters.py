"""A model of characters learns the text of its own source, and then writes.

`ttmlir.train_step` trains it, with the losses of torch itself, which are printed beside them;
`ttmlir.Generator` writes with it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from torch import nn

import ttmlir

TEXT = Path(__file__).read_text(encoding="utf-8")
WIDTH, HEADS, LAYERS, POSITIONS = 64, 4, 2, 128


class Characters:
    """The tokenizer: a number for each character of ASCII, and one for all others."""

    size = 128

    def encode(self, text):
        """Numbers of characters."""
        return [min(ord(letter), self.size - 1) for letter in text]

    def decode(self, tokens):
        """The characters again."""
        return "".join(map(chr, tokens))


class Layer(nn.Module):
    """Attention to earlier characters, and two products."""

    def __init__(self, number):
        """A layer with this number in the cache."""
        super().__init__()
        self.number = number
        self.inner, self.outer = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(2)])
        self.thought = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x, cache):
        """Without a cache, all characters of a text are there."""
        split = self.inner(self.norms[0](x)).unflatten(-1, (3, HEADS, -1))
        query, keys, values = split.permute(2, 0, 3, 1, 4)
        mask = None
        if cache is not None:
            keys, values = cache.update(keys, values, self.number)
            mask = cache.mask()
        found = nn.functional.scaled_dot_product_attention(
            query, keys, values, attn_mask=mask, is_causal=cache is None
        )
        x = x + self.outer(found.transpose(1, 2).flatten(2))
        return x + self.thought(self.norms[1](x))


class CharacterModel(nn.Module):
    """Scores of the next character, after each one."""

    def __init__(self):
        """Tables of characters and positions, layers, and scores by the table of characters."""
        super().__init__()
        self.characters = nn.Embedding(Characters.size, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.layers = nn.ModuleList([Layer(number) for number in range(LAYERS)])
        self.norm, self.scores = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, Characters.size)

    def forward(self, tokens, cache=None):
        """`tokens` is texts x characters."""
        places = torch.arange(tokens.shape[1]) if cache is None else cache.positions
        x = self.characters(tokens) + self.positions(places)
        for layer in self.layers:
            x = layer(x, cache)
        x = self.norm(x)
        return self.scores(x if cache is None else cache.select(x))


def loss_of(scores, wanted):
    """Of all characters."""
    return nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())


def pieces(count, batch, length):
    """`count` batches of pieces of the text, from random places, and what follows them."""
    numbers = torch.tensor(Characters().encode(TEXT))
    for _ in range(count):
        starts = torch.randint(len(numbers) - length - 1, (batch, 1))
        found = numbers[starts + torch.arange(length + 1)]
        yield found[:, :-1], found[:, 1:]


def train(steps, *, batch=8, length=64):
    """A model after so many steps, and the losses: those of the compiled step, and of torch."""
    torch.manual_seed(0)
    model = CharacterModel()
    batches = list(pieces(max(steps, 1), batch, length))
    step = ttmlir.train_step(
        model, loss_of, torch.optim.AdamW(model.parameters(), lr=3e-3), *batches[0]
    )
    losses = [float(step(*each)) for each in batches[:steps]]
    wanted, optimizer = [], torch.optim.AdamW(model.parameters(), lr=3e-3)
    for x, y in batches[:steps]:
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        wanted.append(loss.item())
    step.load_into(model, optimizer)
    return model.eval(), losses, wanted


def make_generator(model, **sizes):
    """Programs that write with the model."""
    return ttmlir.Generator(model, max_length=POSITIONS, tokenizer=Characters(), **sizes)


def main() -> int:
    """Exit status 0 if the losses are those of torch."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200, help="how many to train")
    parser.add_argument("--prompt", default="import ", help="what to write on with")
    asked = parser.parse_args()
    model, losses, wanted = train(max(2, asked.steps))
    for number in sorted({0, len(losses) // 2, len(losses) - 1}):
        print(f"step {number}: loss {losses[number]:.4f}, in torch {wanted[number]:.4f}")
    generator = make_generator(model, prompt_lengths=(16,))
    print(asked.prompt, end="")
    for token in generator.stream(asked.prompt, max_new_tokens=60, temperature=0.5, seed=1):
        print(token.text, end="", flush=True)
    print("\n", generator.summary(["n150", "p150"]), sep="")
    is_close = all(abs(a - b) < 1e-2 * b for a, b in zip(losses, wanted, strict=True))
    return 0 if is_close and losses[-1] < losses[0] else 1


if __name__ == "__main__":
    sys.exit(main())
