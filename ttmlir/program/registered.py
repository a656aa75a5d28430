"""What custom calls of other targets than `tt.kernel` mean, as far as the user has said so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ttmlir.program.custom_kernel import TARGET, CustomKernel, KernelTensor

Specialize = Callable[[Sequence[KernelTensor], str], CustomKernel]
"""Makes the kernel for operands and results, given in this order, and a `backend_config`."""
Function = Callable[..., Any]
"""Computes results from operands: NumPy arrays in, an array or a sequence of arrays out."""


@runtime_checkable
class SpecializedKernel(Protocol):
    """A kernel for tensors of any shape, such as a `ttmlir.bridge.FrameworkKernel`."""

    def specialize(self, tensors: Sequence[KernelTensor], config: str) -> CustomKernel:
        """The kernel for these operands and results."""
        ...


@dataclass(frozen=True)
class RegisteredCall:
    """What the calls of a target mean: a kernel, a function, or both."""

    kernel: Specialize | None
    numpy: Function | None


_CALLS: dict[str, RegisteredCall] = {}


def register_custom_call(
    target: str,
    *,
    kernel: SpecializedKernel | Specialize | None = None,
    numpy: Function | None = None,
) -> None:
    """Say what calls of `target` mean, from now on and in this process.

    `kernel` gives the kernel that a call becomes in a compiled program: a `FrameworkKernel`, or a
    function of the operands and results (`KernelTensor`) and the text of the `backend_config`.
    `numpy` computes results from arrays: of operands that are constants when a program is compiled,
    and of all operands where a program is interpreted. ValueError if neither is given, or for the
    target 'tt.kernel', whose calls carry their kernel.
    """
    if target == TARGET:
        raise ValueError(f"calls of '{TARGET}' carry their kernel; register another target")
    if kernel is None and numpy is None:
        raise ValueError(f"'{target}' needs a meaning: give a kernel, a function of NumPy, or both")
    specialize = kernel.specialize if isinstance(kernel, SpecializedKernel) else kernel
    _CALLS[target] = RegisteredCall(specialize, numpy)


def unregister_custom_call(target: str) -> None:
    """Forget what calls of a target mean."""
    _CALLS.pop(target, None)


def registered_call(target: str) -> RegisteredCall | None:
    """What calls of a target mean; None if nobody has said so."""
    return _CALLS.get(target)


def how_to_register(target: str) -> str:
    """What to do about calls of a target without a meaning, for messages."""
    return (
        f"ttmlir.register_custom_call('{target}', kernel=...) gives it a kernel of yours, "
        "numpy=... a function for calls on constants and for programs that are interpreted"
    )
