"""The base class of operations: circular buffers, kernels, programs, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from math import ceil, lcm
from types import ModuleType
from typing import Any, NamedTuple, SupportsIndex, cast

from ttmlir.frontend.pykernel.kernels import Kernel, KernelFunction
from ttmlir.frontend.pykernel.operation.page_counts import count_pages
from ttmlir.frontend.pykernel.operation.precision import choose_precision
from ttmlir.frontend.pykernel.operation.profile import Profile, record
from ttmlir.frontend.pykernel.types import Arguments, CircularBuffer
from ttmlir.layout.enums import CBPort

_PAGE_BYTES = {
    "BFLOAT16": 2048,
    "FLOAT32": 4096,
    "UINT32": 4096,
    "INT32": 4096,
    "BFLOAT8_B": 1088,
    "BFLOAT4_B": 576,
    "UINT16": 2048,
    "UINT8": 1024,
}
"""Bytes of a tile by the names of ttnn's data types."""
_TILE_ELEMENTS = 1024
_BUFFERING = 2
"""One page is filled while another one is read."""


class CB(NamedTuple):
    """A circular buffer of an operation: for its kernels, and for the device."""

    cb_type: CircularBuffer
    cb_format: Any
    cb_descriptor: Any
    is_sized: bool = False
    """`num_pages` was given."""


class PyKernelOp:
    """An operation that runs kernels in Python; subclasses say in `invoke` which."""

    def __init__(self) -> None:
        """ImportError where neither ttnn nor its stand-in is found."""
        self._ttnn = _find_ttnn()
        self.kernel_selection: dict[str, KernelFunction] = {}
        self.kernel_cache: dict[tuple[str, int], Kernel] = {}
        """Every kernel that was compiled, by name and hash of its C++."""
        self._core_ranges: Any = None
        self._accessor_words: list[int] = []

    # What subclasses say.

    def invoke(self, *tensors: Any, **options: Any) -> Any:
        """Make the program: circular buffers, kernels, and `create_program` of them."""
        raise NotImplementedError(
            f"{type(self).__name__} has no 'invoke'; define it to make circular buffers and "
            "kernels, and return self.create_program(kernels, cbs)"
        )

    def define_core_ranges(self, tensors: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """The cores that run the kernels: a `ttnn.CoreRangeSet`; one core unless overridden."""
        core = self._ttnn.CoreCoord(0, 0)
        return self._ttnn.CoreRangeSet([self._ttnn.CoreRange(core, core)])

    # Running.

    def __call__(self, *tensors: Any, **options: Any) -> Any:
        """Run the operation on tensors, the last of which is the output; returns the output.

        Kernels are compiled once for each form of their arguments; `invoke` runs for each call, so
        that addresses are those of these tensors.
        """
        program = self.make_program(tensors, options)
        return self._ttnn.generic_op(list(tensors), program)

    def profile(self, *tensors: Any, **options: Any) -> Profile:
        """Run the operation, and say what its threads did: cycles, stalls, findings, lines."""
        program = self.make_program(tensors, options)
        queue = tensors[0].device().command_queue()
        return record(
            type(self).__name__, queue, lambda: self._ttnn.generic_op(list(tensors), program)
        )

    def make_program(self, tensors: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """The `ttnn.ProgramDescriptor` for tensors; addresses in it are those of these tensors."""
        ranges = self.define_core_ranges(tensors, options)
        if ranges is None:
            raise ValueError("define_core_ranges returned None; return a ttnn.CoreRangeSet")
        self._core_ranges = ranges
        program = self.invoke(*tensors, **options)
        if not isinstance(program, self._ttnn.ProgramDescriptor):
            raise TypeError(
                f"{type(self).__name__}.invoke returned {program!r}; it has to return "
                "self.create_program(kernels, cbs)"
            )
        return program

    def get_core_ranges(self) -> Any:
        """The cores of this call; ValueError before the first."""
        if self._core_ranges is None:
            raise ValueError("the core ranges are known when the operation is called")
        return self._core_ranges

    # Circular buffers.

    def create_cb(self, tensor: Any, buffer_index: int, *, num_pages: int | None = None) -> CB:
        """The circular buffer with a number for tiles of a tensor's format.

        Without `num_pages`, `create_program` gives it twice the pages that kernels ask for at
        once, or all of the tensor's where that is not known.
        """
        if not isinstance(tensor, self._ttnn.Tensor):
            package = type(tensor).__module__.partition(".")[0]
            raise TypeError(
                f"create_cb takes a tensor of ttnn, not {package}.{type(tensor).__name__}; "
                "ttnn.from_torch makes one on a device"
            )
        dtype = tensor.dtype
        page_size = _PAGE_BYTES.get(dtype.name)
        if page_size is None:
            raise TypeError(f"tiles of {dtype} do not go through a circular buffer")
        if num_pages is not None and num_pages < 1:
            raise ValueError(f"a circular buffer has at least one page, not {num_pages}")
        pages = ceil(tensor.volume() / _TILE_ELEMENTS) if num_pages is None else num_pages
        described = self._ttnn.CBFormatDescriptor(
            buffer_index=buffer_index, data_format=dtype, page_size=page_size
        )
        cb_type = CircularBuffer(buffer_index, tuple(tensor.shape), dtype.name)
        return CB(cb_type, described, self._describe(described, pages), num_pages is not None)

    def _describe(self, described: Any, pages: int) -> Any:
        return self._ttnn.CBDescriptor(
            total_size=pages * described.page_size,
            core_ranges=self.get_core_ranges(),
            format_descriptors=[described],
        )

    def _sized(self, cb: CB, kernels: Sequence[Kernel]) -> Any:
        """The descriptor of a circular buffer with room for what its kernels ask for at once."""
        counts = count_pages(kernels, cb.cb_type.cb_id)
        if cb.is_sized or counts is None:
            return cb.cb_descriptor
        most = cb.cb_descriptor.total_size // cb.cb_format.page_size
        block = lcm(*counts)
        pages = _BUFFERING * block
        return self._describe(cb.cb_format, min(pages, most) if most % block == 0 else pages)

    # Kernels.

    def create_kernel(
        self,
        kernel: Any,
        *args: Any,
        core_ranges: Any = None,
        tensor_accessor_configs: Sequence[Any] = (),
        compute_config: Any = None,
        **constants: Any,
    ) -> Any:
        """Compile a kernel, and say where it runs with which arguments: a `KernelDescriptor`.

        Circular buffers come first, then run-time arguments, then constants by name. A run-time
        argument is a number for all cores, a tensor for its address, or numbers `[x][y]` for each
        core. `tensor_accessor_configs` are tensors, or flags, that the kernel has a
        `TensorAccessorArgs` for, behind its circular buffers. Without `compute_config`, a
        `ttnn.ComputeConfigDescriptor`, a compute kernel has the precision that its circular
        buffers need.
        """
        if not isinstance(kernel, KernelFunction):
            raise TypeError(
                f"{kernel!r} is no kernel; decorate it with @compute_thread(), @reader_thread() or "
                "@writer_thread()"
            )
        ranges = self.get_core_ranges() if core_ranges is None else core_ranges
        buffers = [each for each in args if isinstance(each, CB)]
        arguments = [_argument(each) for each in args if not isinstance(each, CB)]
        compiled = kernel.compile(*buffers, *arguments, **constants)
        self.kernel_selection[compiled.name] = kernel
        self.kernel_cache[compiled.name, hash(compiled)] = compiled
        words = [*self._accessor_words]
        for each in tensor_accessor_configs:
            words += self._words(each)
        return self._ttnn.KernelDescriptor(
            kernel_source=compiled,
            source_type=self._ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
            core_ranges=ranges,
            compile_time_args=[*(each.cb_type.cb_id for each in buffers), *words],
            runtime_args=self._per_core(arguments, ranges),
            common_runtime_args=[each for each in arguments if isinstance(each, int)],
            config=self._config(kernel, compiled, buffers, compute_config),
        )

    def _config(
        self, kernel: KernelFunction, compiled: Kernel, buffers: Sequence[CB], compute: Any
    ) -> Any:
        """The configuration of a kernel's thread; `compute` is that of a compute kernel, if any."""
        thread = kernel.thread_type or kernel.kernel_type
        if compute is not None and thread != "compute":
            raise TypeError(
                f"kernel '{kernel.__name__}' does not compute; leave compute_config out"
            )
        match thread:
            case "compute":
                cbs = [each.cb_type for each in buffers]
                return self._compute_config(compiled, cbs) if compute is None else compute
            case "reader":
                return self._ttnn.ReaderConfigDescriptor()
            case "writer" | "noc" | "datamovement":
                return self._ttnn.WriterConfigDescriptor()
            case _:
                raise ValueError(
                    f"kernel '{kernel.__name__}' has no thread; decorate it with "
                    "@compute_thread(), @reader_thread() or @writer_thread()"
                )

    def _compute_config(self, kernel: Kernel, buffers: Sequence[CircularBuffer]) -> Any:
        formats = {each.cb_id: each.data_type for each in buffers}
        precision = choose_precision(kernel.module, formats)
        config = self._ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=precision.fp32_dest_acc_en)
        if precision.unpack_to_dest:
            mode = self._ttnn.UnpackToDestMode
            config.unpack_to_dest_mode = [
                mode.UnpackToDestFp32 if port in precision.unpack_to_dest else mode.Default
                for port in range(len(CBPort))
            ]
        return config

    def _per_core(
        self, arguments: Sequence[int | Arguments], ranges: Any
    ) -> list[tuple[Any, list[int]]]:
        """The arguments that each core has of its own, with its coordinates."""
        own = [each for each in arguments if isinstance(each, Arguments)]
        if not own:
            return []
        start = ranges.bounding_box().start
        places = [
            (x, y)
            for each in ranges.ranges()
            for y in range(each.start.y, each.end.y + 1)
            for x in range(each.start.x, each.end.x + 1)
        ]
        return [
            (
                self._ttnn.CoreCoord(x, y),
                [word for each in own for word in each.get_args(x - start.x, y - start.y)],
            )
            for x, y in places
        ]

    def create_rt_args(self) -> list[list[int]]:
        """Zeros `[x][y]` for the cores of this call, to be filled for `create_kernel`."""
        box = self.get_core_ranges().bounding_box()
        columns, rows = box.end.x - box.start.x + 1, box.end.y - box.start.y + 1
        return [[0] * rows for _ in range(columns)]

    def get_buffer_addr(self, tensor: Any) -> int:
        """The address of a tensor in its memory."""
        return tensor.buffer_address()

    def set_tensor_accessor_config(self, tensors: Any) -> None:
        """Let kernels that follow find the layout of tensors behind their circular buffers."""
        listed = _sequence(tensors) or [tensors]
        self._accessor_words = [word for each in listed for word in self._words(each)]

    def _words(self, config: Any) -> list[int]:
        """The compile-time arguments for a tensor accessor."""
        if isinstance(config, int):
            return [int(config)]
        return list(self._ttnn.TensorAccessorArgs(config).get_compile_time_args())

    # Programs.

    def create_program(
        self, kernels: Sequence[Any], cbs: Sequence[Any], semaphores: Sequence[Any] = ()
    ) -> Any:
        """The program of kernels, circular buffers and semaphores."""
        sources = [each.kernel_source for each in kernels]
        compiled = [each for each in sources if isinstance(each, Kernel)]
        return self._ttnn.ProgramDescriptor(
            kernels=list(kernels),
            semaphores=list(semaphores),
            cbs=[self._sized(each, compiled) if isinstance(each, CB) else each for each in cbs],
        )


def _argument(value: Any) -> int | Arguments:
    """A run-time argument: a number, or numbers for each core."""
    if isinstance(value, Arguments):
        return value
    if isinstance(value, SupportsIndex):
        return value.__index__()
    columns = _sequence(value)
    if columns is not None:
        return _per_core(columns)
    if hasattr(value, "buffer_address"):
        return value.buffer_address()
    raise TypeError(
        f"{value!r} is no run-time argument of a kernel; those are integers, tensors, and lists "
        "[x][y] of integers for each core; circular buffers come from create_cb"
    )


def _per_core(columns: Sequence[Any]) -> Arguments:
    lists = [_sequence(each) for each in columns]
    rows = {-1 if each is None else len(each) for each in lists}
    if len(rows) != 1 or -1 in rows:
        raise TypeError(
            f"{columns!r} is no run-time argument; numbers for each core are lists [x][y], all "
            "columns as long"
        )
    arguments = Arguments(len(columns), rows.pop())
    for x, column in enumerate(lists):
        for y, number in enumerate(column or ()):
            arguments.set_args_at_core(x, y, [number.__index__()])
    return arguments


def _sequence(value: Any) -> Sequence[Any] | None:
    """A list or tuple; None for anything else."""
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else None


def _find_ttnn() -> ModuleType:
    try:
        return import_module("ttnn")
    except ModuleNotFoundError as error:
        raise ImportError(
            "PyKernelOp needs ttnn: install it, or 'import ttmlir.ttnn.activate' for simulated "
            "devices"
        ) from error
