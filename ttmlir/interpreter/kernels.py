"""Calls of kernels and of functions that users have registered.

A kernel has no other meaning than what it does: the simulator runs it, in exact numerics. A
function of NumPy that was registered for the target of a call comes first: it says what the kernel
is meant to compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.errors import plural
from ttmlir.interpreter.execution import Execution, Function, host_dtype
from ttmlir.mlir.reporting import OpError
from ttmlir.program import TARGET, read_custom_kernel, registered_call
from ttmlir.runtime.tensor import Array, convert

if TYPE_CHECKING:
    from ttmlir.program import CustomKernel


def can_call(target: str) -> bool:
    """True for targets whose calls carry a kernel or have a meaning of the user's."""
    return target == TARGET or registered_call(target) is not None


def lacks_reference(op: Operation) -> bool:
    """True for calls of kernels that nobody has said the meaning of."""
    if isinstance(op, ttir.CustomKernelOp):
        return True
    target = op.properties.get("call_target_name")
    if op.name != "stablehlo.custom_call" or not isinstance(target, StringAttr):
        return False
    registered = registered_call(target.data)
    return target.data == TARGET or (registered is not None and registered.numpy is None)


def call_target(op: Operation, target: str, operands: Sequence[Any]) -> Sequence[Any]:
    """The results of a `stablehlo.custom_call` of a target that can be called."""
    attr = op.properties.get("backend_config")
    config = attr.data if isinstance(attr, StringAttr) else ""
    registered = registered_call(target)
    if registered is None:
        return _run_kernel(op, read_custom_kernel(config), operands)
    if registered.numpy is None:
        # Passes are loaded only for calls that need them.
        from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import tensors_of

        assert registered.kernel is not None, "what is registered has a kernel or a function"
        return _run_kernel(op, registered.kernel(tensors_of(op), config), operands)
    found = registered.numpy(*_as_declared(op.operands, operands))
    results = cast("list[Any]", [*found] if isinstance(found, tuple | list) else [found])
    if len(results) != len(op.results):
        raise OpError(
            op,
            f"the function that '{target}' was registered with returned "
            f"{plural(len(results), 'array')}; expected {len(op.results)}",
        )
    return [np.asarray(each) for each in results]


def _run_custom_kernel(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    assert isinstance(op, ttir.CustomKernelOp)
    kernel = op.kernel
    return _run_kernel(op, kernel, operands[: len(kernel.inputs)])


def _run_kernel(op: Operation, kernel: CustomKernel, operands: Sequence[Any]) -> Sequence[Any]:
    # The simulator is loaded only for programs with kernels.
    from ttmlir.errors import Error
    from ttmlir.runtime.generic import run_custom_kernel

    arrays = _as_declared(op.operands, operands)
    try:
        return run_custom_kernel(kernel, arrays, numerics="exact").outputs
    except Error as error:
        raise OpError(op, str(error)) from error


def _as_declared(values: Sequence[SSAValue], arrays: Sequence[Any]) -> list[Array]:
    """Arrays in the element types that the IR gives them; those that are given may be wider."""
    found: list[Array] = []
    for value, array in zip(values, arrays, strict=False):
        dtype = host_dtype(cast("TensorType[Attribute]", value.type).element_type)
        assert dtype is not None, "the value was stored"
        found.append(convert(array, dtype))
    return found


FUNCTIONS: dict[str, Function] = {"ttir.custom_kernel": _run_custom_kernel}
"""Operations of this module by name."""
