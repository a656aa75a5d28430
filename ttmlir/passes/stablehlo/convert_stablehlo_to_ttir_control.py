"""Rules of StableHLO's operations that compute nothing, and of those that are refused.

They are part of `convert-stablehlo-to-ttir`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.ir.rewriting import erase, refuse_to_legalize, replace
from ttmlir.passes.core.ttir_conversion import ConversionRule


def _passes_on(op: Operation) -> None:
    replace(op, *op.operands)


def _refuse(reason: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        refuse_to_legalize(op, reason)

    return rule


_DYNAMIC = (
    "sizes that are known become part of static operations before: run stablehlo-refine-shapes, "
    "which is part of stablehlo-to-ttir-pipeline"
)
_HOST = (
    "it waits for another program in the middle of a run; devices take all arguments when a "
    "program begins and give all results when it ends, so make it an argument or a result of the "
    "function"
)
_TUPLES = (
    "tuples and tokens are taken apart before: run stablehlo-flatten-tuple, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_COMPLEX = "complex numbers are not supported; compute with real and imaginary parts"
_FOURIER = "Fourier transforms are not supported; run them on the host"
_LIBRARY = (
    "linear algebra becomes loops before: run stablehlo-expand-linear-algebra, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_CONTROL = (
    "control flow is flattened before: run stablehlo-flatten-control-flow, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_EXPANDED = (
    "it is written in terms of others before: run stablehlo-expand-operations, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_REASONS = {
    _DYNAMIC: (
        *("dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota"),
        *("dynamic_pad", "dynamic_reshape", "get_dimension_size", "real_dynamic_slice"),
        "set_dimension_size",
    ),
    _HOST: ("infeed", "outfeed", "recv", "send"),
    _TUPLES: ("after_all", "create_token", "get_tuple_element", "tuple"),
    _COMPLEX: ("complex", "imag", "real"),
    _FOURIER: ("fft",),
    _LIBRARY: ("cholesky", "triangular_solve"),
    _CONTROL: ("case", "if", "while"),
    _EXPANDED: (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("cross-replica-sum", "einsum", "map", "partition_id", "reduce_scatter", "replica_id"),
        *("rng", "rng_bit_generator", "torch_index_select", "unary_einsum"),
    ),
}
REFUSED: dict[str, ConversionRule] = {
    f"stablehlo.{name}": _refuse(reason) for reason, names in _REASONS.items() for name in names
}
"""Operations that a message says something better about than what is supported."""
WITH_HOST = tuple(f"stablehlo.{name}" for name in _REASONS[_HOST])
"""Operations that need another program while this one runs."""


RULES: dict[str, ConversionRule] = {
    "sdy.mesh": erase,
    "sdy.reshard": _passes_on,
    "sdy.sharding_constraint": _passes_on,
    "stablehlo.optimization_barrier": _passes_on,
}
"""Rules by the full name of the operation."""
