"""Kernels as operations of torch: eager, and in programs that `torch.export` makes.

The operation is `torch.ops.ttmlir.kernel(inputs, config)`, a list of tensors and the kernel's text
in, a list of tensors out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import ml_dtypes
import numpy as np
import torch

from ttmlir.bridge.framework import FrameworkKernel, ShapeDtype, place_outputs
from ttmlir.errors import ArgumentError
from ttmlir.program import read_custom_kernel
from ttmlir.runtime.generic import run_custom_kernel
from ttmlir.runtime.tensor import Array

_torch: Any = torch

_DTYPES: dict[Any, str] = {
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.int32: "i32",
    torch.uint32: "ui32",
    torch.uint16: "ui16",
    torch.uint8: "ui8",
}
_OF_KEYWORD = {keyword: dtype for dtype, keyword in _DTYPES.items()}


class TorchKernel(FrameworkKernel):
    """A kernel that takes and returns torch tensors."""

    def translate_to_neuron_dtype(self, _dtype: Any) -> str:
        """The keyword of a dtype."""
        if _dtype not in _DTYPES:
            names = ", ".join(map(str, _DTYPES))
            raise ArgumentError(f"kernels take no tensors of {_dtype}; supported are {names}")
        return _DTYPES[_dtype]

    def is_framework_tensor(self, t: Any) -> bool:
        """True for tensors, those of `torch.export` included, and shapes of tensors."""
        return isinstance(t, torch.Tensor | ShapeDtype)

    def map_framework_tensor(self, t: Any) -> tuple[Sequence[int], Any]:
        """Shape and dtype."""
        return t.shape, t.dtype

    def __call__(self, *args: Any, out_shape: Any = None, **kwargs: Any) -> Any:
        """What the kernel makes: a tensor, or a tuple of tensors if it makes several.

        Outputs are parameters of the kernel's function. They are given as tensors, which are not
        changed, or left out, and then `out_shape` gives something of their shape and dtype.
        """
        call = self.bind(*place_outputs(self, args, kwargs, out_shape))
        _KERNELS[call.config] = self
        results = _torch.ops.ttmlir.kernel(call.operands, call.config)
        return tuple(results) if len(results) > 1 else results[0]


_KERNELS: WeakValueDictionary[str, TorchKernel] = WeakValueDictionary()
"""Who made a text last, and wants to know how it runs."""


def _to_numpy(tensor: Any) -> Array:
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _from_numpy(array: Array) -> Any:
    if array.dtype == np.dtype(ml_dtypes.bfloat16):
        return _torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return _torch.from_numpy(array)


@_torch.library.custom_op("ttmlir::kernel", mutates_args=())
def _kernel(inputs: Sequence[torch.Tensor], config: str) -> list[torch.Tensor]:
    """What the simulator computes."""
    run = run_custom_kernel(read_custom_kernel(config), [_to_numpy(each) for each in inputs])
    if (kernel := _KERNELS.get(config)) is not None:
        kernel.last_run = run
    return [_from_numpy(np.array(each)) for each in run.outputs]


@_kernel.register_fake
def _fake(inputs: Sequence[torch.Tensor], config: str) -> list[torch.Tensor]:
    """Tensors of the right shapes without numbers."""
    return [
        inputs[0].new_empty(tensor.shape, dtype=_OF_KEYWORD[tensor.element])
        for tensor in read_custom_kernel(config).outputs
    ]
