"""Runs a program of kernels on tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.errors import UsageError, plural
from ttmlir.metalium.host_api import EnqueueProgram
from ttmlir.runtime.generic import create_sim_program
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    operations_of,
    remember_program,
    require_tensor,
)
from ttmlir.ttnn.programs.describing import describe_program
from ttmlir.ttnn.programs.descriptors import ProgramDescriptor
from ttmlir.ttnn.tensor.tensor import Tensor


def generic_op(io_tensors: Sequence[Tensor], program_descriptor: ProgramDescriptor) -> Tensor:
    """Run a program on tensors; the last of them, which holds the result, is returned.

    RuntimeError for tensors on the host, for less than two, and for what the simulator finds in a
    kernel.
    """
    tensors = [require_tensor(each, "an entry of io_tensors") for each in io_tensors]
    if len(tensors) < 2:
        raise UsageError(
            f"io_tensors has {plural(len(tensors), 'tensor')}; give the inputs and, as the last "
            "one, the "
            "output"
        )
    device = common_device(*tensors)
    # From now on the bytes of the tensors are what kernels see.
    buffers = [tensor.device_storage().buffer for tensor in tensors]

    def number_of(tensor: Tensor) -> int:
        """The number of the tensor of a circular buffer, which may be none of `io_tensors`."""
        buffers.append(tensor.device_storage().buffer)
        return len(buffers) - 1

    description = describe_program(program_descriptor, number_of)
    EnqueueProgram(device.command_queue(), create_sim_program(description, buffers))
    remember_program(device, id(program_descriptor))
    return tensors[-1]


OPERATIONS: dict[str, Operation] = operations_of(generic_op)
