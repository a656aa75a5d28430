"""Kernels inside frameworks: a program of kernels as an operation of JAX, torch or NumPy.

    from ttmlir.bridge import JAXKernel

    softmax = JAXKernel("softmax", build_softmax, grid=(8,))
    y = jax.jit(lambda x: softmax(x, out_shape=x))(x)

Names are loaded on first use, so that a framework is needed only by who uses it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ttmlir.errors import MissingNameError

if TYPE_CHECKING:
    from ttmlir.bridge.framework import FrameworkKernel, KernelConfiguration, NumPyKernel
    from ttmlir.bridge.host_programs import TensorArgument, assign_programs
    from ttmlir.bridge.jax_kernel import JAXKernel
    from ttmlir.bridge.torch_kernel import TorchKernel
    from ttmlir.program import Shards
    from ttmlir.runtime.generic import KernelRun, run_custom_kernel

_HOMES = {
    "FrameworkKernel": "framework",
    "JAXKernel": "jax_kernel",
    "KernelConfiguration": "framework",
    "KernelRun": "framework",
    "NumPyKernel": "framework",
    "Shards": "framework",
    "TensorArgument": "host_programs",
    "TorchKernel": "torch_kernel",
    "assign_programs": "host_programs",
    "run_custom_kernel": "framework",
}

__all__ = [
    "FrameworkKernel",
    "JAXKernel",
    "KernelConfiguration",
    "KernelRun",
    "NumPyKernel",
    "Shards",
    "TensorArgument",
    "TorchKernel",
    "assign_programs",
    "run_custom_kernel",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    if name not in _HOMES:
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
