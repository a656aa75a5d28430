"""StableHLO's own reader, verifier and printer, from jaxlib, as what ours is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy

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


def executed(text: str, inputs: Sequence[Any]) -> list[Any]:
    """The results of a module's `main` as XLA computes them on the CPU."""
    jax: Any = import_module("jax")
    extension: Any = import_module("jaxlib._jax")
    options = import_module("jaxlib.xla_client").CompileOptions()
    # As JAX_DISABLE_MOST_OPTIMIZATIONS: programs that run once are not worth more.
    debug_options = options.executable_build_options.debug_options
    debug_options.xla_backend_optimization_level = 0
    debug_options.xla_llvm_disable_expensive_passes = True
    device = jax.devices("cpu")[0]
    program = device.client.compile_and_load(
        text.encode(), extension.DeviceList((device,)), options
    )
    arrays = [jax.device_put(value, device) for value in inputs]
    results = program.execute_sharded(arrays).disassemble_into_single_device_arrays()
    return [numpy.asarray(result[0]) for result in results]
