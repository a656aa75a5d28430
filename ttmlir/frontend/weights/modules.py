"""Parts of torch modules: weights that are made of blocks, and products beside layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from operator import mul
from typing import Any


def numbers_of_blocks(
    shape: Sequence[int], scales: Sequence[Any], shifts: Sequence[Any], dtype: Any
) -> Any:
    """A module from integers to numbers of a type: they times all scales, less those of shifts.

    `shape` are the rows, blocks, groups and elements in which scales and shifts broadcast.
    """
    torch: Any = import_module("torch")
    blocks = tuple(shape)

    def product(module: Any, names: Sequence[str]) -> Any:
        return reduce(mul, [getattr(module, name).float() for name in names])

    class Blocks(torch.nn.Module):
        def forward(self, integers: Any) -> Any:
            found = integers.reshape(blocks).float() * product(self, names["scale"])
            if names["shift"]:
                found = found - product(self, names["shift"])
            return found.reshape(integers.shape).to(dtype)

    made: Any = Blocks()
    names: dict[str, list[str]] = {}
    for kind, factors in (("scale", scales), ("shift", shifts)):
        names[kind] = [f"{kind}_{number}" for number in range(len(factors))]
        for name, factor in zip(names[kind], factors, strict=True):
            made.register_buffer(name, factor)
    return made


def takes_product(module: Any) -> bool:
    """Whether a module's result is a product with its weight, or rows of it."""
    torch: Any = import_module("torch")
    # The linear layer of GPT-2 in transformers has its weight the other way around.
    is_transposed = type(module).__name__ == "Conv1D"
    return is_transposed or isinstance(module, torch.nn.Linear | torch.nn.Embedding)


def add_product(module: Any, a: Any, b: Any, factors: Any) -> None:
    """Let a module add `x @ a.T @ b.T` to its result, times factors of columns but for the bias."""
    torch: Any = import_module("torch")
    number = sum(name.startswith("adapter_a_") for name, _ in module.named_parameters())
    names = [f"adapter_{each}_{number}" for each in ("a", "b", "factors")]
    for name, tensor in zip(names, (a, b, factors), strict=True):
        kept = None if tensor is None else torch.nn.Parameter(tensor, requires_grad=False)
        module.register_parameter(name, kept)
    module.register_forward_hook(_Product(*names))


@dataclass(frozen=True)
class _Product:
    """A hook that adds a product to results; the names of its factors."""

    a: str
    b: str
    factors: str

    def __call__(self, module: Any, args: tuple[Any, ...], result: Any) -> Any:
        torch: Any = import_module("torch")
        functional = torch.nn.functional
        a, b, factors = (getattr(module, name) for name in (self.a, self.b, self.factors))
        is_table = isinstance(module, torch.nn.Embedding)
        inner = functional.embedding(args[0], a.T) if is_table else functional.linear(args[0], a)
        change = functional.linear(inner, b)
        if factors is None:
            return result + change
        bias = getattr(module, "bias", None)
        if bias is None:
            return (result + change) * factors
        return (result - bias + change) * factors + bias
