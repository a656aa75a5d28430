"""Runs one kernel in Python on its own, on a core of a simulated device.

    from ttmlir.pykernel import simulate

    run = simulate(kernel, x, CircularBuffer(1, (64, 96), "Float32"), 6)
    print(run, run.buffers["out"])

The other ends of its circular buffers are held by a second kernel, which fills and empties them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

import ttmlir.ttnn as ttnn
from ttmlir.errors import ArgumentTypeError
from ttmlir.frontend.pykernel.builder import CircularBuffer
from ttmlir.frontend.pykernel.compilation import Kernel, KernelFunction, ParameterKind
from ttmlir.frontend.pykernel.operation import CB, Profile, PyKernelOp, find_ends
from ttmlir.sim.options import Numerics, SimOptions
from ttmlir.ttnn.device.mesh import MeshDevice, chip_of
from ttmlir.ttnn.device.opening import DEFAULT_BOARD

_TILE_ELEMENTS = 1024

_FEED = """    // Tiles for circular buffer {port}, '{name}'.
    {{
        const InterleavedAddrGenFast<true> source = {{
            .bank_base_address = get_arg_val<uint32_t>({index}),
            .page_size = get_tile_size({port}),
            .data_format = get_dataformat({port})}};
        for (uint32_t tile = 0; tile < {pages}; ++tile) {{
            cb_reserve_back({port}, 1);
            noc_async_read_tile(tile, source, get_write_ptr({port}));
            noc_async_read_barrier();
            cb_push_back({port}, 1);
        }}
    }}
"""
_DRAIN = """    // Tiles of circular buffer {port}, '{name}'.
    {{
        const InterleavedAddrGenFast<true> target = {{
            .bank_base_address = get_arg_val<uint32_t>({index}),
            .page_size = get_tile_size({port}),
            .data_format = get_dataformat({port})}};
        for (uint32_t tile = 0; tile < {pages}; ++tile) {{
            cb_wait_front({port}, 1);
            noc_async_write_tile(tile, target, get_read_ptr({port}));
            noc_async_write_barrier();
            cb_pop_front({port}, 1);
        }}
    }}
"""
_NEIGHBOUR = """#include <cstdint>
#include "dataflow_api.h"
void kernel_main() {{
{steps}}}
"""


@dataclass(frozen=True)
class Simulation(Profile):
    """What a kernel did, and what it left."""

    buffers: Mapping[str, Any] = field(repr=False)
    """Arrays of the tiles that the kernel pushed, by parameter."""
    tensors: Mapping[str, Any] = field(repr=False)
    """Arrays of the tensors that the kernel has addresses of, by parameter."""

    @property
    def cycles(self) -> int:
        """When the last thread of the kernel ended."""
        return max(each.cycles for each in self.report.threads if each.kernel == self.name)

    def __str__(self) -> str:
        """Cycles and time, and what the sanitizer has to say."""
        return "\n".join((super().__str__(), *(each.text() for each in self.findings)))


def simulate(
    kernel: KernelFunction,
    *arguments: Any,
    semaphores: Sequence[int] = (),
    board: str = DEFAULT_BOARD,
    numerics: Numerics = "device",
    **named: Any,
) -> Simulation:
    """Run a kernel on one core, with arguments in the order of its parameters or by name.

    For a circular buffer that the kernel empties: an array or tensor, whose tiles come through it.
    For one that it fills: a `CircularBuffer` with the shape and format of what it pushes. For a
    run-time argument: an integer, or an array or tensor for the address of its tiles in DRAM.
    Constants are ints and bools. `semaphores` are initial values.

    RuntimeError for what goes wrong on the core, at its line; PyKernelError for a kernel that does
    not compile; TypeError for arguments that do not go with the parameters.
    """
    if not isinstance(cast("object", kernel), KernelFunction):
        raise ArgumentTypeError(
            f"{kernel!r} is no kernel; decorate it with @compute_thread(), @reader_thread() or "
            "@writer_thread()"
        )
    device = MeshDevice(0, chip_of(board, 0), SimOptions(numerics=numerics))
    try:
        operation = _OneKernel(kernel, _bind(kernel, arguments, named), device, semaphores)
        tensors = [*operation.tensors.values()]
        # An operation takes two tensors at least.
        padding = [ttnn.zeros((1, 1), device=device) for _ in range(2 - len(tensors))]
        profile = operation.profile(*tensors, *padding)
        return Simulation(
            name=kernel.__name__,
            output=None,
            report=profile.report,
            timeline=profile.timeline,
            buffers={each: operation.read(each) for each in operation.filled},
            tensors={each: operation.read(each) for each in operation.addressed},
        )
    finally:
        device.close()


def _bind(
    kernel: KernelFunction, arguments: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by parameter."""
    try:
        bound = inspect.signature(kernel.__wrapped__).bind(*arguments, **named)
    except TypeError as error:
        raise ArgumentTypeError(f"kernel '{kernel.__name__}': {error}") from error
    bound.apply_defaults()
    return dict(bound.arguments)


class _OneKernel(PyKernelOp):
    """An operation of one kernel, and of one that holds the other ends of its circular buffers."""

    def __init__(
        self,
        kernel: KernelFunction,
        given: Mapping[str, Any],
        device: MeshDevice,
        semaphores: Sequence[int],
    ) -> None:
        """Put what is given on the device."""
        super().__init__()
        # Devices are simulated ones also where a real ttnn is installed.
        self._ttnn = ttnn
        self._kernel, self._given = kernel, given
        self._device, self._semaphores = device, semaphores
        buffers = self._names("CircularBuffer")
        self.addressed = [each for each in self._names("") if hasattr(given[each], "shape")]
        """Run-time arguments that are addresses of tensors."""
        self.tensors = {name: self._put(name) for name in (*buffers, *self.addressed)}
        """Tensors of arguments and of circular buffers, by parameter."""
        self.filled: list[str] = []
        """Circular buffers that the kernel fills for others."""

    def _names(self, kind: ParameterKind) -> list[str]:
        return [name for name, each in self._kernel.parameters.items() if each == kind]

    def _put(self, name: str) -> ttnn.Tensor:
        """What is given for a parameter, as tiles in DRAM."""
        value = self._given[name]
        match value:
            case CircularBuffer(tensor_shape=shape):
                host = ttnn.zeros(shape, dtype=_dtype(value), layout=ttnn.TILE_LAYOUT)
            case ttnn.Tensor():
                host = ttnn.to_layout(value, ttnn.TILE_LAYOUT)
            case np.ndarray():
                host = ttnn.Tensor(cast("Any", value)).to(ttnn.TILE_LAYOUT)
            case _ if type(value).__module__ == "torch":
                host = ttnn.from_torch(value, layout=ttnn.TILE_LAYOUT)
            case _:
                raise ArgumentTypeError(
                    f"kernel '{self._kernel.__name__}': '{name}' is a circular buffer; give an "
                    "array or tensor that comes through it, or CircularBuffer(number, shape, "
                    f"format) for what the kernel pushes, not {value!r}"
                )
        return ttnn.to_device(host, self._device)

    def read(self, name: str) -> Any:
        """The tensor of a parameter, as an array."""
        return ttnn.from_device(self.tensors[name]).to_numpy()

    def invoke(self, *tensors: Any, **options: Any) -> Any:
        """The kernel and its neighbour on one core."""
        given, cbs = self._given, self._create_cbs()
        arguments = [self.tensors.get(name, given[name]) for name in self._names("")]
        constants = {name: given[name] for name in self._names("CompileTimeValue")}
        descriptor = self.create_kernel(
            self._kernel,
            *cbs.values(),
            *arguments,
            tensor_accessor_configs=[self.tensors[name] for name in self.addressed],
            **constants,
        )
        filled, emptied = find_ends(descriptor.kernel_source.module)
        steps = list[tuple[str, str]]()
        for name, cb in cbs.items():
            port = cb.cb_type.cb_id
            if port not in filled:
                steps.append((_FEED, name))
            elif port not in emptied:
                self.filled.append(name)
        steps += [(_DRAIN, name) for name in self.filled]
        cores = self.get_core_ranges()
        values = [
            ttnn.SemaphoreDescriptor(id=index, core_ranges=cores, initial_value=value)
            for index, value in enumerate(self._semaphores)
        ]
        kernels = [descriptor, self._create_neighbour(steps, cbs)]
        return self.create_program(kernels, [*cbs.values()], values)

    def _create_cbs(self) -> dict[str, CB]:
        """A circular buffer for each that the kernel has, with room for the whole tensor.

        Those of arrays get numbers that no other has.
        """
        names = self._names("CircularBuffer")
        given = {each: self._given[each] for each in names}
        numbers = {
            name: each.cb_id for name, each in given.items() if isinstance(each, CircularBuffer)
        }
        free = (each for each in range(len(names) + max(numbers.values(), default=0) + 1))
        unused = (each for each in free if each not in numbers.values())
        return {
            name: self.create_cb(
                self.tensors[name],
                numbers[name] if name in numbers else next(unused),
                num_pages=_pages(self.tensors[name]),
            )
            for name in names
        }

    def _create_neighbour(self, steps: Sequence[tuple[str, str]], cbs: Mapping[str, CB]) -> Any:
        """The kernel on a processor that is free, which gives tiles first, and takes them then."""
        text = "".join(
            step.format(
                port=cbs[name].cb_type.cb_id,
                name=name,
                index=index,
                pages=_pages(self.tensors[name]),
            )
            for index, (step, name) in enumerate(steps)
        )
        reads = self._kernel.thread_type == "reader"
        config = ttnn.WriterConfigDescriptor() if reads else ttnn.ReaderConfigDescriptor()
        return ttnn.KernelDescriptor(
            kernel_source=Kernel("neighbour", _NEIGHBOUR.format(steps=text)),
            source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
            core_ranges=self.get_core_ranges(),
            common_runtime_args=[],
            runtime_args=[[[self.tensors[name].buffer_address() for _, name in steps]]],
            config=config,
        )


def _pages(tensor: ttnn.Tensor) -> int:
    return tensor.volume() // _TILE_ELEMENTS


def _dtype(described: CircularBuffer) -> ttnn.DataType:
    """The data type of ttnn for a format; the first of those that are kept alike."""
    named = ttnn.DataType.__members__.get(described.dtype)
    if named is not None:
        return named
    return next(each for each in ttnn.DataType if each.facts.storage is described.data_type)
