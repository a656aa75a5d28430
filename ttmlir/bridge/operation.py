"""Operations of PyKernel, as far as kernels of frameworks have to know them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, runtime_checkable


@runtime_checkable
class Operation(Protocol):
    """What `pykernel.PyKernelOp` is."""

    invoke: Callable[..., Any]

    def make_program(self, tensors: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """The program for tensors of ttnn."""
        ...


def is_operation(function: object) -> TypeGuard[Operation]:
    """True for operations of PyKernel."""
    return isinstance(function, Operation)
