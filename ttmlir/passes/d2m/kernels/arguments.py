"""What kernels are told when they are compiled or launched: addresses and semaphores."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.dialects.ttmetal import KernelArg, KernelArgKind, KernelArgs, KernelArgsAttr
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.layout.enums import NocIndex

WIDE_DST = "ttkernel.fp32_dest_acc_en"
"""On a compute kernel: DST holds numbers of 32 bits."""
APPROXIMATE = "ttkernel.math_approx_mode"
"""On a compute kernel: functions are approximate."""
READER_NOC, WRITER_NOC = NocIndex.NOC0, NocIndex.NOC1
"""The networks of the two kernels that move data; the second one has the longer way from DRAM."""

KERNEL_ARGS = "ttmetal.kernel_args"
"""On a kernel: what its arguments are. Buffers are numbered as the operands of the generic, without
local buffers."""

D2M_REFERENCE = "d2m.reference"
"""On a generic: what it computes, spelled as `ttmetal.reference` on a program."""


class KernelArguments:
    """The arguments that a kernel asks for, in the order in which it does."""

    def __init__(self, kernel: KernelBuilder, *, addresses_at_launch: bool) -> None:
        """No arguments yet; addresses may become known at each launch only."""
        self._kernel = kernel
        self._addresses_at_launch = addresses_at_launch
        self._compile_time: list[KernelArg] = []
        self._runtime: list[KernelArg] = []

    @property
    def attribute(self) -> KernelArgsAttr:
        """The list of all."""
        return KernelArgsAttr(KernelArgs(tuple(self._compile_time), tuple(self._runtime)))

    def address(self, number: int) -> SSAValue:
        """The address of the buffer below an operand."""
        arg = KernelArg(KernelArgKind.BUFFER_ADDRESS, number)
        if not self._addresses_at_launch:
            return self._add(arg)
        self._runtime.append(arg)
        (value,) = self._kernel.call("get_common_arg_val", len(self._runtime) - 1)
        return value

    def semaphore(self, number: int) -> SSAValue:
        """The address of a semaphore in L1."""
        word = self._add(KernelArg(KernelArgKind.SEMAPHORE, number))
        (value,) = self._kernel.call("get_semaphore", word)
        return value

    def _add(self, arg: KernelArg) -> SSAValue:
        self._compile_time.append(arg)
        place = len(self._compile_time) - 1
        (value,) = self._kernel.call("get_compile_time_arg_val", arg_index=place)
        return value
