"""StableHLO's own reader, verifier and printer, from jaxlib, as what ours is compared with."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

IR: Any = import_module("jaxlib.mlir.ir")
_EXTENSION: Any = import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
_DIALECTS = ("stablehlo", "chlo", "sdy")


@cache
def context() -> Any:
    """A context with the dialects that JAX uses."""
    made = IR.Context()
    registry = IR.DialectRegistry()
    _EXTENSION.register_dialects(registry)
    made.append_dialect_registry(registry)
    made.load_all_available_dialects()
    for name in _DIALECTS:
        import_module(f"jaxlib.mlir.dialects.{name}").register_dialect(made)
    return made


def reprinted(text: str, *, generic: bool = False, debuginfo: bool = False) -> str:
    """What jaxlib prints after reading and verifying a module."""
    with context():
        module = IR.Module.parse(text)
        return module.operation.get_asm(print_generic_op_form=generic, enable_debug_info=debuginfo)


def refusal(text: str) -> str | None:
    """The first error of jaxlib's reader or verifier, without its place; None if there is none."""
    try:
        reprinted(text)
    except IR.MLIRError as error:
        first = next(line for line in str(error).splitlines() if "error:" in line)
        return first.partition("error: ")[2].partition(": ")[2]
    return None
