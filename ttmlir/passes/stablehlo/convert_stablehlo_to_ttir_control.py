"""Rules of StableHLO's operations that compute nothing, and of those that are refused.

They are part of `convert-stablehlo-to-ttir`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.errors import ArgumentError
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.rewriting import erase, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import ElementsType, elements_attr, raw_bytes
from ttmlir.mlir.reporting import op_diagnostic, warn
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_reduction import TOP_K, convert_top_k_call
from ttmlir.program import (
    TARGET,
    CustomKernel,
    DescriptionError,
    KernelTensor,
    RegisteredCall,
    how_to_register,
    read_custom_kernel,
    registered_call,
    write_custom_kernel,
)


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


# -- custom calls ------------------------------------------------------------------------------


_HINTS = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.Sharding",
)
"""Calls that say where a tensor should be and leave its numbers alone."""

_CALLBACKS = ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback")
"""What JAX makes of Python functions, and of kernels in programs that it lowers for the CPU."""

_LAPACK = re.compile(r"(?:lapack|blas)_[sdcz]([a-z0-9]+?)(?:_ffi)?$")
"""A routine of the library of linear algebra that CPUs have, without the letter of its type."""
_ROUTINES = {
    "geev": "eigenvalues and eigenvectors of a matrix",
    "heevd": "eigenvalues and eigenvectors of a symmetric matrix",
    "syevd": "eigenvalues and eigenvectors of a symmetric matrix",
    "gesdd": "singular values and vectors",
    "gesvd": "singular values and vectors",
    "gees": "the Schur form of a matrix",
    "gehrd": "the Hessenberg form of a matrix",
    "sytrd": "the tridiagonal form of a matrix",
    "gtsv": "solutions of a tridiagonal system",
    "geqp3": "QR factors with pivots",
    "getrf": "LU factors",
    "potrf": "Cholesky factors",
    "trsm": "solutions of a triangular system",
    "geqrf": "QR factors",
    "orgqr": "QR factors",
    "ungqr": "QR factors",
}


def _custom_call(op: Operation) -> None:
    target = cast("StringAttr", op.properties["call_target_name"]).data
    if target == TARGET:
        _convert_kernel(op)
        return
    if target == TOP_K:
        convert_top_k_call(op)
        return
    refuse_routine(op)
    registered = registered_call(target)
    if registered is not None:
        _convert_registered(op, target, registered)
    elif target in _HINTS:
        _pass_operands(op, target)
    elif target in _CALLBACKS:
        _drop_callback(op, target)
    else:
        refuse_to_legalize(
            op,
            f"the code of '{target}' is not part of the program; supported are '{TARGET}', which "
            "carries a kernel, and calls that only say where a tensor is placed: "
            f"{', '.join(_HINTS)}; {how_to_register(target)}, or express the computation by "
            "StableHLO operations",
        )


def _drop_callback(op: Operation, target: str) -> None:
    """Leave away a call that only tells, as `jax.debug.print` does; refuse one that computes."""
    if any(result.uses for result in op.results):
        refuse_to_legalize(
            op,
            f"'{target}' calls a function of Python, which is not part of the program; compute it "
            "before the call and pass the result as an argument, or express it by operations of "
            "jax.numpy; kernels are kept where ttmlir.compile gets the function itself, or what "
            ".lower(lowering_platforms=('tt',)) makes of it",
        )
    message = "calls of Python without results, as of jax.debug.print, are left out of the program"
    warn(op_diagnostic(op, message, severity="warning", with_name=False))
    erase(op)


def refuse_routine(op: Operation) -> None:
    """Refuse a custom call of LAPACK, by what it computes; others are left alone."""
    target = cast("StringAttr", op.properties["call_target_name"]).data
    if (found := _LAPACK.match(target)) is None or registered_call(target) is not None:
        return
    what = _ROUTINES.get(found[1], "linear algebra")
    refuse_to_legalize(
        op,
        f"{what} ('{target}') has no algorithm here; compute them on the host and pass them as an "
        "argument; supported are Cholesky, QR and LU factors, linear systems, eigenvalues of "
        "symmetric matrices (jnp.linalg.eigh) and singular values, of real numbers",
    )


def _pass_operands(op: Operation, target: str) -> None:
    if [operand.type for operand in op.operands] != [result.type for result in op.results]:
        refuse_to_legalize(
            op, f"'{target}' changes the shape of a tensor; compile the program for one device"
        )
    replace(op, *op.operands)


def _convert_kernel(op: Operation) -> None:
    config = _config_of(op)
    if not config:
        refuse_to_legalize(
            op,
            f"'{TARGET}' has no kernel: its backend_config is a text with the program of kernels "
            "(docs/bridge.md)",
        )
    try:
        kernel = read_custom_kernel(config)
    except DescriptionError as error:
        refuse_to_legalize(op, f"backend_config: {error}")
    _create_kernel(op, kernel, config)


def _create_kernel(op: Operation, kernel: CustomKernel, config: str) -> None:
    types = [result.type for result in op.results]
    difference = kernel.difference(
        [ttir.tensor_text(value.type) for value in op.operands], [*map(ttir.tensor_text, types)]
    )
    if difference is not None:
        refuse_to_legalize(op, difference)
    replace(op, *Builder.before(op).create_custom_kernel(config, op.operands, types))


def _config_of(op: Operation) -> str:
    """The text of the `backend_config`; empty if there is none, or if it is a dictionary."""
    attr = op.properties.get("backend_config")
    return attr.data if isinstance(attr, StringAttr) else ""


def _convert_registered(op: Operation, target: str, registered: RegisteredCall) -> None:
    try:
        if registered.kernel is not None:
            kernel = registered.kernel(tensors_of(op), _config_of(op))
            _create_kernel(op, kernel, write_custom_kernel(kernel))
            return
        arrays = _call_on_constants(op, target, registered)
    except (ValueError, TypeError, ArithmeticError) as error:
        refuse_to_legalize(op, f"'{target}', as it was registered, fails: {error}")
    builder = Builder.before(op)
    replace(
        op,
        *(
            builder.create_constant(
                elements_attr(cast("ElementsType", result.type), data), result.type
            )
            for result, data in zip(op.results, arrays, strict=True)
        ),
    )


def _call_on_constants(op: Operation, target: str, registered: RegisteredCall) -> Sequence[bytes]:
    """The bytes of the results of a function of NumPy on operands that are constants.

    A compiled program holds no Python, so that such a function runs when the program is compiled.
    """
    # NumPy is loaded only for calls that need it.
    import numpy as np

    from ttmlir.arrays.carriers import host_dtype

    operands: list[Any] = []
    for number, value in enumerate(op.operands):
        elements = constant_elements(value)
        if elements is None:
            refuse_to_legalize(
                op,
                f"operand #{number} of '{target}' is no constant, and no file holds Python: "
                f"{how_to_register(target)}; ttmlir.interpreter.execute runs the program "
                "in this process with the function that it has",
            )
        dtype = host_dtype(_check_dtype(value))
        operands.append(np.frombuffer(raw_bytes(elements), dtype).reshape(value_shape(value)))
    assert registered.numpy is not None, "what is registered has a kernel or a function"
    found = registered.numpy(*operands)
    results: list[Any] = [*found] if isinstance(found, tuple | list) else [found]
    arrays: list[bytes] = []
    for number, (array, result) in enumerate(zip(results, op.results, strict=True)):
        converted = np.asarray(array, host_dtype(_check_dtype(result)))
        if converted.shape != value_shape(result):
            raise ArgumentError(
                f"result #{number} has shape {converted.shape}; expected {value_shape(result)}"
            )
        arrays.append(converted.tobytes())
    return arrays


_GIVEN = re.compile(r"f(16|32|64)|[us]?i(8|16|32|64)")
"""Element types that are given to functions of NumPy."""


def _check_dtype(value: SSAValue) -> str:
    """The name of the element type; ValueError for one that functions of NumPy are not given."""
    name = str(element_type(value))
    if _GIVEN.fullmatch(name) is None:
        raise ArgumentError(f"elements of type {name} cannot be given to a function of NumPy")
    return name


def tensors_of(op: Operation) -> Sequence[KernelTensor]:
    """Operands and results as the tensors of a kernel."""
    groups = (("in", "operand", op.operands), ("out", "result", op.results))
    return [
        KernelTensor(
            name=f"{prefix}{number}",
            role=role,
            shape=value_shape(value),
            element=str(element_type(value)),
        )
        for role, prefix, values in groups
        for number, value in enumerate(values)
    ]


RULES: dict[str, ConversionRule] = {
    "sdy.mesh": erase,
    "sdy.reshard": _passes_on,
    "sdy.sharding_constraint": _passes_on,
    "stablehlo.optimization_barrier": _passes_on,
    "stablehlo.custom_call": _custom_call,
}
"""Rules by the full name of the operation."""


# -- 2026 --------------------------------------------------------------------------------------


LATE_RULES: dict[str, ConversionRule] = {}
"""Rules of 2026, where they differ."""
