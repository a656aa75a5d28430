"""What a model consists of, layer by layer, as a table for terminals and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from ttmlir.cost import Estimate, estimate_program
from ttmlir.runtime.binary import BinaryProgram, TensorRef
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.layers import MAIN, layer_of
from ttmlir.terminal import printable

MOST_LAYERS = 40
"""Layers that are shown; `layers` has all."""


@dataclass(kw_only=True)
class Layer:
    """A part of a model: the operations with one scope, module or line in their locations."""

    name: str
    operations: int = 0
    """Operations that compute, or launches of kernels."""
    parameters: int = 0
    """Numbers that it learns; where the frontend knows none, those in constants."""
    nanoseconds: float = 0
    """That its operations are expected to take, those that only move numbers included."""
    bound_by: dict[str, float] = field(default_factory=dict[str, float])
    """How many of the nanoseconds each unit binds."""

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to say about it."""
        return not (self.operations or self.parameters or self.nanoseconds)


@dataclass(frozen=True, kw_only=True)
class ModelSummary:
    """Layers in the order of the program; printed and shown in notebooks as a table."""

    signature: str
    layers: tuple[Layer, ...]
    facts: tuple[tuple[str, str], ...]
    """What there is to say about the whole model: a name and a value."""
    has_times: bool
    """False where nothing estimates the program."""
    knows_parameters: bool
    """False where the frontend has handed over constants without saying what is learned."""

    @property
    def operations(self) -> int:
        """Of all layers."""
        return sum(layer.operations for layer in self.layers)

    @property
    def parameters(self) -> int:
        """Of all layers."""
        return sum(layer.parameters for layer in self.layers)

    def _rows(self) -> Iterator[tuple[str, ...]]:
        """The texts of the table, its head first and the sums last."""
        total = sum(layer.nanoseconds for layer in self.layers)

        def row(*texts: str) -> tuple[str, ...]:
            return texts if self.has_times else texts[:3]

        numbers = "parameters" if self.knows_parameters else "constants"
        yield row("layer", "operations", numbers, "us", "share", "bound by")
        for layer in self.layers[:MOST_LAYERS]:
            share = layer.nanoseconds / total if total else 0
            binding = max(layer.bound_by, key=layer.bound_by.__getitem__, default="")
            yield row(
                printable(layer.name),
                f"{layer.operations:,}",
                f"{layer.parameters:,}",
                f"{layer.nanoseconds / 1e3:,.1f}",
                f"{share:.0%}",
                binding,
            )
        if len(self.layers) > MOST_LAYERS:
            yield row(f"... {len(self.layers) - MOST_LAYERS} more", *[""] * 5)
        sums = (f"{self.operations:,}", f"{self.parameters:,}", f"{total / 1e3:,.1f}")
        yield row("all", *sums, "", "")

    def __str__(self) -> str:
        """A table of text."""
        lines = [self.signature, "", *_align(list(self._rows()))]
        width = max((len(name) for name, _ in self.facts), default=0)
        return "\n".join([*lines, "", *(f"{name:<{width}}  {value}" for name, value in self.facts)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return self.to_html()

    def to_html(self) -> str:
        """A table in HTML; names from files are texts in it."""
        head, *rows = self._rows()
        body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
        facts = "".join(
            f"<div><b>{escape(name)}</b> {escape(value)}</div>" for name, value in self.facts
        )
        return (
            f"<div><code>{escape(self.signature)}</code></div>"
            f"<table><thead><tr>{_cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"
            f"{facts}"
        )


def summarize(
    program: BinaryProgram,
    signature: str,
    size: int,
    board: str | os.PathLike[str] | None = None,
) -> ModelSummary:
    """The summary of a program in a file of `size` bytes; times are those of a board."""
    layers: dict[str, Layer] = {}

    def layer_at(location: str) -> Layer:
        name = layer_of(location)
        return layers.setdefault(name, Layer(name=name))

    # Layers stand in the order of the program.
    for operation in program.operations:
        layer_at(operation.location)
    for location in _computing_locations(program):
        layer_at(location).operations += 1
    parameters = program.signature.parameters if program.signature is not None else ()
    for name, count in parameters:
        module = "/".join(name.split(".")[:-1]) or MAIN
        layers.setdefault(module, Layer(name=module)).parameters += count
    if not parameters:
        for location, ref in _constants(program):
            layer_at(location).parameters += ref.desc.volume
    facts = [("file", f"{size:,} bytes")]
    estimate = None if program.binary.is_metal else estimate_program(program, board)
    if estimate is not None:
        facts += _estimate_facts(estimate)
        for each in estimate.operations:
            if each.mid:
                layer = layer_at(each.location)
                layer.nanoseconds += each.mid
                layer.bound_by[each.bound_by] = layer.bound_by.get(each.bound_by, 0) + each.mid
    return ModelSummary(
        signature=signature,
        layers=tuple(layer for layer in layers.values() if not layer.is_empty),
        facts=tuple(facts),
        has_times=estimate is not None,
        knows_parameters=bool(parameters),
    )


def _computing_locations(program: BinaryProgram) -> list[str]:
    if program.binary.is_metal:
        from ttmlir.runtime.metal.program import MetalProgram

        assert isinstance(program, MetalProgram), "the file is a .ttm file"
        return [command.location for command in program.launches]
    steps = prepare(program).steps
    return [
        step.operation.location
        for step in steps
        if step.call is not None or step.generic is not None
    ]


def _constants(program: BinaryProgram) -> list[tuple[str, TensorRef]]:
    """Constants with the locations of the operations that make them, each once."""
    if program.binary.is_metal:
        from ttmlir.runtime.metal.program import MetalProgram

        assert isinstance(program, MetalProgram), "the file is a .ttm file"
        found = [
            (command.location, tensor.ref)
            for command in program.commands
            for tensor in command.tensors
        ]
    else:
        found = [
            (operation.location, operation.tensor("out"))
            for operation in program.operations
            if operation.table == "ConstantOp"
        ]
    constants = {ref.global_id: (place, ref) for place, ref in found if ref.constant is not None}
    return list(constants.values())


def _estimate_facts(estimate: Estimate) -> list[tuple[str, str]]:
    """Time and memory on the board."""
    total = estimate.total
    low, mid, high = (f"{each / 1e3:,.1f}" for each in (total.low, total.mid, total.high))
    facts = [(f"time on {estimate.board}", f"{mid} us ({low} to {high})")]
    if estimate.memory is not None:
        for use in (estimate.memory.dram, estimate.memory.l1):
            if use.peak:
                value = f"{use.total_bytes:,} bytes, {use.share:.1%} of the fullest bank"
                facts.append((f"peak of {use.space.keyword}", value))
    return facts


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="text-align:{"left" if i == 0 else "right"}">{escape(text)}</{tag}>'
        for i, text in enumerate(texts)
    )
