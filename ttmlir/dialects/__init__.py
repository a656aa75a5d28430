"""MLIR dialects: tt, ttcore, ttir, ttnn, d2m, ttkernel, ttmetal, and what xDSL lacks of others."""

from __future__ import annotations

DIALECTS: dict[str, str] = {
    "arith": "ttmlir.dialects.arith:ARITH",
    "builtin": "xdsl.dialects.builtin:Builtin",
    "cf": "xdsl.dialects.cf:Cf",
    "chlo": "ttmlir.dialects.chlo:CHLO",
    "d2m": "ttmlir.dialects.d2m:D2M",
    "debug": "ttmlir.dialects.debug:DEBUG",
    "emitc": "ttmlir.dialects.emitc:EmitC",
    "emitpy": "ttmlir.dialects.emitpy:EmitPy",
    "func": "xdsl.dialects.func:Func",
    "linalg": "ttmlir.dialects.linalg:LINALG",
    "ml_program": "ttmlir.dialects.ml_program:ML_PROGRAM",
    "quant": "ttmlir.dialects.quant:QUANT",
    "scf": "xdsl.dialects.scf:Scf",
    "sdy": "ttmlir.dialects.sdy:SDY",
    "stablehlo": "ttmlir.dialects.stablehlo:STABLEHLO",
    "tensor": "ttmlir.dialects.tensor:TENSOR",
    "tosa": "ttmlir.dialects.tosa:TOSA",
    "tt": "ttmlir.dialects.tt:TT",
    "ttcore": "ttmlir.dialects.ttcore:TTCORE",
    "ttir": "ttmlir.dialects.ttir:TTIR",
    "ttkernel": "ttmlir.dialects.ttkernel:TTKERNEL",
    "ttmetal": "ttmlir.dialects.ttmetal:TTMETAL",
    "ttnn": "ttmlir.dialects.ttnn:TTNN",
    "vector": "xdsl.dialects.vector:Vector",
}
"""Where each dialect is: `module:attribute`, in alphabetical order; imported when first used."""
