"""Runs compiled functions on the tensors of a device.

What is run is the compiled file: its programs of kernels on the buffers that the tensors have in
this call, and between them moves that kernels do not do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ttmlir.metalium.queues import EnqueueProgram
from ttmlir.program.description import ProgramDescription
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.generic.reading import TABLE as GENERIC
from ttmlir.runtime.generic.reading import read_program
from ttmlir.runtime.generic.sim_program import create_sim_program
from ttmlir.runtime.loading import read_binary
from ttmlir.ttnn.device.mesh import MeshDevice
from ttmlir.ttnn.operations.operation import remember_program
from ttmlir.ttnn.registry import find_operation
from ttmlir.ttnn.tensor.formats import round_to
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn_jit.layouts import spec_of

_MOVES = {"ToLayoutOp": "in", "ToMemoryConfigOp": "in0"}
"""Operations that move a tensor, and their operand."""
_NOTHING = ("GetDeviceOp", "DeallocateOp", "DeallocOp")


class CompiledFunction:
    """A compiled function: the file, and what was made of it."""

    def __init__(self, data: bytes, name: str, returns: type[Any]) -> None:
        """`returns` is `Tensor`, or the kind of sequence of tensors that the function returns."""
        self.data = data
        self.binary = read_binary(data, name)
        self._program = self.binary.program(0)
        self._returns = returns

    @cached_property
    def descriptions(self) -> dict[int, ProgramDescription]:
        """The programs of kernels, by the numbers of their operations.

        They name tensors by their numbers; addresses are those of each call.
        """
        return {
            each.index: read_program(each.table_field("program"), each.where)
            for each in self._program.operations
            if each.table == GENERIC
        }

    @property
    def num_kernel_launches(self) -> int:
        """How many programs of kernels a call runs."""
        return len(self.descriptions)

    def kernels(self) -> dict[str, str]:
        """The C++ of the kernels by name."""
        return {
            kernel.name: kernel.source
            for description in self.descriptions.values()
            for kernel in description.kernels
        }

    def run(self, device: MeshDevice, inputs: Sequence[Tensor]) -> Any:
        """What the function returns for tensors on a device."""
        values: dict[int, Tensor] = {
            ref.global_id: tensor for ref, tensor in zip(self._program.inputs, inputs, strict=True)
        }
        for operation in self._program.operations:
            self._run_operation(operation, device, values)
        results = [values[ref.global_id] for ref in self._program.outputs]
        return results[0] if self._returns is Tensor else self._returns(results)

    def _run_operation(
        self, operation: Operation, device: MeshDevice, values: dict[int, Tensor]
    ) -> None:
        if operation.table == GENERIC:
            self._run_kernels(operation, device, values)
        elif operation.table in _MOVES:
            source = values[operation.tensor(_MOVES[operation.table]).global_id]
            out = operation.tensor("out")
            spec = spec_of(out.desc)
            numbers = round_to(source.array, spec.dtype)
            values[out.global_id] = Tensor.on(device, spec, numbers)
        elif operation.table == "EmptyOp":
            out = operation.tensor("out")
            values[out.global_id] = Tensor.on(device, spec_of(out.desc), None)
        elif operation.table == "FullOp":
            out = operation.tensor("out")
            spec = spec_of(out.desc)
            values[out.global_id] = find_operation("full")(
                spec.shape,
                operation.scalar("fill_value"),
                spec.dtype,
                spec.layout,
                device,
                spec.memory_config,
            )
        elif operation.table == "ConstantOp":
            out = operation.tensor("out")
            spec = spec_of(out.desc)
            assert out.constant is not None, "constants have elements"
            numbers = round_to(np.asarray(out.constant).reshape(tuple(spec.shape)), spec.dtype)
            values[out.global_id] = Tensor.on(device, spec, numbers)
        elif operation.table not in _NOTHING:
            raise AssertionError(f"{operation.where}: kernels stand for all that computes")

    def _run_kernels(
        self, operation: Operation, device: MeshDevice, values: dict[int, Tensor]
    ) -> None:
        tensors = [values[ref.global_id] for ref in operation.tensors("io_tensors")]
        buffers = [tensor.device_storage().buffer for tensor in tensors]
        program = create_sim_program(self.descriptions[operation.index], buffers)
        EnqueueProgram(device.command_queue(), program)
        remember_program(device, ("ttnn_jit", id(self), operation.index))
