"""Kernels as operations of JAX: eager, inside of `jax.jit`, under `vmap`, with `custom_vjp`.

The operation is one primitive, whose parameter is the kernel's text. Lowered for the CPU it calls
the simulator; lowered for the platform `tt` it is a custom call of `tt.kernel`, which
`ttmlir.compile` and `.lower(lowering_platforms=("tt",))` ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive

from ttmlir.bridge.framework import FrameworkKernel, ShapeDtype, keyword_of_dtype, place_outputs
from ttmlir.errors import ArgumentError, NotSupportedError
from ttmlir.files import PACKAGE_FOLDER
from ttmlir.program import TARGET, read_custom_kernel, write_custom_kernel
from ttmlir.runtime.generic import element_of, run_custom_kernel

PLATFORM = "tt"
"""The platform of JAX's lowerings that keeps kernels."""

MAX_CALLS = 256
"""Most calls that a vmap makes of one."""

# JAX's own types are unknown to type checkers in part.
_mlir: Any = import_module("jax.interpreters.mlir")
_ad: Any = import_module("jax.interpreters.ad")
_batching: Any = import_module("jax.interpreters.batching")
_source_info: Any = import_module("jax.extend.source_info_util")
_jax: Any = jax


class JAXKernel(FrameworkKernel):
    """A kernel that takes and returns JAX arrays.

    `vmap_method` is "sequential", a call for each element of the batch, or "broadcast_all", where
    the function builds a program for tensors with the batch in front.
    """

    def __init__(self, *args: Any, vmap_method: str = "sequential", **kwargs: Any) -> None:
        """As for every `FrameworkKernel`."""
        super().__init__(*args, **kwargs)
        if vmap_method not in ("sequential", "broadcast_all"):
            raise ArgumentError(
                f"vmap_method '{vmap_method}' is not supported; supported are 'sequential' and "
                "'broadcast_all'"
            )
        self.vmap_method = vmap_method

    def translate_to_neuron_dtype(self, _dtype: Any) -> str:
        """The keyword of a dtype."""
        return keyword_of_dtype(_dtype)

    def is_framework_tensor(self, t: Any) -> bool:
        """True for arrays, what `jax.jit` has in their place, and shapes of arrays."""
        return isinstance(t, (jax.Array, np.ndarray, jax.ShapeDtypeStruct, ShapeDtype))

    def map_framework_tensor(self, t: Any) -> tuple[Sequence[int], Any]:
        """Shape and dtype."""
        return t.shape, t.dtype

    def __call__(self, *args: Any, out_shape: Any = None, **kwargs: Any) -> Any:
        """What the kernel makes: an array, or a tuple of arrays if it makes several.

        Outputs are parameters of the kernel's function. They are given as arrays, whose numbers do
        not matter, as `jax.ShapeDtypeStruct`s, or left out for `out_shape`.
        """
        call = self.bind(*place_outputs(self, args, kwargs, out_shape))
        origin = _Origin(self, call.config, call.constants)
        results = KERNEL.bind(*call.operands, config=call.config, origin=origin)
        return tuple(results) if len(results) > 1 else results[0]


@dataclass(frozen=True, eq=False)
class _Origin:
    """Where a call comes from: what made its text, to make it again for a batch."""

    kernel: JAXKernel
    config: str
    constants: tuple[tuple[str, Any], ...]

    def __eq__(self, other: object) -> bool:
        """Equal texts of one kernel come from equal constants."""
        return (
            isinstance(other, _Origin)
            and self.kernel is other.kernel
            and self.config == other.config
        )

    def __hash__(self) -> int:
        """Of what is compared."""
        return hash((id(self.kernel), self.config))

    def batched(self, size: int) -> _Origin:
        """The same call for tensors with a batch in front."""
        tensors = [
            replace(tensor, shape=(size, *tensor.shape))
            for tensor in read_custom_kernel(self.config).tensors
        ]
        kernel = self.kernel.build(tensors, self.constants)
        return _Origin(self.kernel, write_custom_kernel(kernel), self.constants)


KERNEL: Any = Primitive("tt_kernel")
"""The call of a kernel, by its text."""
KERNEL.multiple_results = True


def _run(*operands: Any, origin: _Origin) -> tuple[Any, ...]:
    """What the simulator computes."""
    arrays = [np.asarray(operand) for operand in operands]
    run = origin.kernel.last_run = run_custom_kernel(read_custom_kernel(origin.config), arrays)
    return run.outputs


def _evaluate(*operands: Any, config: str, origin: _Origin) -> list[Any]:
    return [_jax.numpy.asarray(array) for array in _run(*operands, origin=origin)]


def _result_types(config: str) -> list[Any]:
    return [
        jax.ShapeDtypeStruct(tensor.shape, element_of(tensor.element).host)
        for tensor in read_custom_kernel(config).outputs
    ]


def _abstract(*operands: Any, config: str, origin: _Origin) -> list[Any]:
    return [_jax.core.ShapedArray(each.shape, each.dtype) for each in _result_types(config)]


def _call_back(*operands: Any, config: str, origin: _Origin) -> Any:
    function = partial(_run, origin=origin)
    return _jax.pure_callback(function, tuple(_result_types(config)), *operands)


def _call_kernel(context: Any, *operands: Any, config: str, origin: _Origin) -> Any:
    """The custom call that carries the kernel."""
    rule = _jax.ffi.ffi_lowering(TARGET, backend_config=config, api_version=2)
    return rule(context, *operands)


def _batch(
    operands: Sequence[Any], dims: Sequence[Any], *, config: str, origin: _Origin
) -> tuple[Any, Any]:
    """A call for each element of the batch, or one for a larger program."""
    size = next(
        operand.shape[dim] for operand, dim in zip(operands, dims, strict=True) if dim is not None
    )
    moved = [
        _jax.numpy.broadcast_to(operand, (size, *operand.shape))
        if dim is None
        else _jax.numpy.moveaxis(operand, dim, 0)
        for operand, dim in zip(operands, dims, strict=True)
    ]
    if origin.kernel.vmap_method == "broadcast_all":
        larger = origin.batched(size)
        results = KERNEL.bind(*moved, config=larger.config, origin=larger)
        return results, [0] * len(results)
    if size > MAX_CALLS:
        raise ArgumentError(
            f"a vmap over {size} elements makes as many calls of '{origin.kernel.func_name}'; at "
            f"most {MAX_CALLS} are made: build the program for the whole batch and say so by "
            "vmap_method='broadcast_all'"
        )
    calls = [
        KERNEL.bind(*(each[i] for each in moved), config=config, origin=origin) for i in range(size)
    ]
    results = [_jax.numpy.stack(each) for each in zip(*calls, strict=True)]
    return results, [0] * len(results)


def _refuse_derivative(primals: Any, tangents: Any, *, config: str, origin: _Origin) -> Any:
    raise NotSupportedError(
        f"kernels have no derivative of their own; give '{origin.kernel.func_name}' one by "
        "jax.custom_vjp"
    )


# Messages of JAX and of compilers are about the user's lines, not about ours.
_source_info.register_exclusion(PACKAGE_FOLDER)
KERNEL.def_impl(_evaluate)
KERNEL.def_abstract_eval(_abstract)
_mlir.register_lowering(KERNEL, _call_kernel)
_mlir.register_lowering(KERNEL, _mlir.lower_fun(_call_back, multiple_results=True), platform="cpu")
_batching.primitive_batchers[KERNEL] = _batch
_ad.primitive_jvps[KERNEL] = _refuse_derivative
