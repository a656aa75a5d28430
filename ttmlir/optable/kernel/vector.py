"""How the rows of calls on the vector unit (SFPU) are made: tiles of DST in, a tile of DST out."""

from __future__ import annotations

from ttmlir.optable.kernel.meanings import Meaning
from ttmlir.optable.kernel.row import (
    Approximation,
    Cost,
    Element,
    KernelCall,
    Operands,
    Role,
    Scalar,
    Template,
    Tiles,
    ValueKind,
    ints,
)

Scalars = tuple[tuple[str, str, Scalar], ...]
"""Operands that are numbers: name, parameter of the meaning, encoding."""

API = "compute_kernel_api/"
UNARY = f"{API}eltwise_unary/"
GENERAL = "compute_kernel_api.h"
_VECTORS = 32  # a vector is 4 rows of 8 columns (tt-isa-documentation, WormholeB0: VectorUnit.md)


def instructions(count: int) -> Cost:
    """Cost of so many vector instructions for each vector, an estimate; one issues per cycle."""
    return Cost(
        math=_VECTORS * count,
        estimated=True,
        source=f"about {count} vector instructions for each of {_VECTORS} vectors",
    )


def cycles(count: int, source: str, blackhole: int = 0) -> Cost:
    """A published cost, and that on Blackhole if it is published, too."""
    return Cost(math=count, source=source, blackhole=blackhole)


def preparation(
    mnemonic: str,
    prepared: str,
    header: str,
    *,
    templates: tuple[Template, ...] = (),
    operands: Operands = (),
    defaults: tuple[str, ...] = (),
) -> KernelCall:
    """The call that prepares another one, or several."""
    return KernelCall(
        mnemonic=mnemonic,
        summary=f"Prepare {prepared}.",
        operands=operands,
        defaults=defaults,
        header=header,
        roles=Role.MATH,
        templates=templates,
    )


def computation(
    mnemonic: str,
    summary: str,
    header: str,
    meaning: Meaning | None,
    cost: Cost,
    *,
    inputs: tuple[str, ...],
    output: str,
    scalars: Scalars = (),
    element: Element = Element.FLOAT,
    templates: tuple[Template, ...] = (),
    init: str = "",
    approximation: Approximation | None = None,
) -> KernelCall:
    """A call that computes on tiles of DST; `output` may be one of `inputs`."""
    numbers = tuple(
        (name, ValueKind.F32 if encoding is Scalar.FLOAT else ValueKind.I32)
        for name, _, encoding in scalars
    )
    targets = () if output in inputs else (output,)
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=(*ints(*inputs, *targets), *numbers),
        header=header,
        roles=Role.MATH,
        templates=templates,
        init=init or f"{mnemonic}_init",
        meaning=meaning,
        tiles=Tiles(to=output, dst=inputs, scalars=scalars, element=element),
        cost=cost,
        approximation=approximation,
    )
