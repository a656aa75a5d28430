"""Kernels as functions of NumPy arrays, which the simulator computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ttmlir.bridge.framework import FrameworkKernel, keyword_of_dtype
from ttmlir.bridge.shapes import ShapeDtype, place_outputs
from ttmlir.runtime.generic.custom_kernel import run_custom_kernel


class NumPyKernel(FrameworkKernel):
    """A kernel that takes and returns NumPy arrays."""

    def translate_to_tt_dtype(self, _dtype: Any) -> str:
        """The keyword of a dtype."""
        return keyword_of_dtype(_dtype)

    def is_framework_tensor(self, t: Any) -> bool:
        """True for arrays, and for shapes of arrays."""
        return isinstance(t, np.ndarray | ShapeDtype)

    def map_framework_tensor(self, t: Any) -> tuple[Sequence[int], Any]:
        """Shape and dtype."""
        return t.shape, t.dtype

    def __call__(self, *args: Any, out_shape: Any = None, **kwargs: Any) -> Any:
        """What the kernel makes: an array, or a tuple of arrays if it makes several.

        Outputs are parameters of the kernel's function. They are given as arrays, which are not
        changed, or left out, and then `out_shape` gives something of their shape and dtype.
        """
        call = self.bind(*place_outputs(self, args, kwargs, out_shape))
        run = self.last_run = run_custom_kernel(call.kernel, call.operands)
        first, *others = run.outputs
        return run.outputs if others else first
