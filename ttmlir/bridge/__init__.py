"""Kernels inside frameworks: a program of kernels as an operation of JAX, torch or NumPy.

    from ttmlir.bridge import JAXKernel

    softmax = JAXKernel("softmax", build_softmax, grid=(8,))
    y = jax.jit(lambda x: softmax(x, out_shape=x))(x)

Names are loaded on first use, so that a framework is needed only by who uses it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttmlir.bridge.framework import FrameworkKernel, KernelConfiguration
    from ttmlir.bridge.jax_kernel import JAXKernel
    from ttmlir.bridge.numpy_kernel import NumPyKernel
    from ttmlir.bridge.tensor_argument import TensorArgument
    from ttmlir.bridge.torch_kernel import TorchKernel
    from ttmlir.bridge.work import assign_programs
    from ttmlir.program.custom_kernel import Shards
    from ttmlir.runtime.generic.custom_kernel import KernelRun, run_custom_kernel

_HOMES = {
    "FrameworkKernel": "framework",
    "JAXKernel": "jax_kernel",
    "KernelConfiguration": "framework",
    "KernelRun": "framework",
    "NumPyKernel": "numpy_kernel",
    "Shards": "framework",
    "TensorArgument": "tensor_argument",
    "TorchKernel": "torch_kernel",
    "assign_programs": "work",
    "run_custom_kernel": "numpy_kernel",
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
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
