"""Operations of ttnn whose kernels are written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib import import_module
from math import ceil, lcm
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, SupportsIndex, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.ttkernel import CallOp, CBType
from ttmlir.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingPackageError,
    NotSupportedError,
    UsageError,
)
from ttmlir.files import write_file
from ttmlir.frontend.pykernel.builder import Arguments, CircularBuffer
from ttmlir.frontend.pykernel.compilation import Kernel, KernelFunction
from ttmlir.layout.enums import CBPort, DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import Finding
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.timing.report import thread_table
from ttmlir.sim.timing.timeline import Timeline, chrome_trace
from ttmlir.target.cpp.kernel_api import KernelApi
from ttmlir.terminal import ShownAsText

# --- Precision ------------------------------------------------------------------------------------
# Which precision a compute kernel needs for the formats of its circular buffers.
#
# With the defaults of tt-metal, the matrix unit and DST have 16 bits, and Float32 decides on none
# of the two 16-bit formats, so that a kernel of Float32 alone computes in Float16: 10 bits of
# mantissa (tt-metal, jit_build/data_format.cpp). With `fp32_dest_acc_en` DST has 32 bits; tiles
# that pass a source register become TF32, and tiles that are only copied may pass it by.

_COPIES = frozenset(
    {
        "copy_tile",
        "copy_block_matmul_partials",
        "tilize_block",
        "untilize_block",
        "pack_untilize_block",
    }
)
"""Calls that the unpacker can move to DST without a source register."""
_WIDE = frozenset({DataType.F32, DataType.U32})


@dataclass(frozen=True)
class Precision:
    """What a compute kernel is configured with."""

    fp32_dest_acc_en: bool
    """DST holds 32-bit numbers, half as many."""
    unpack_to_dest: frozenset[int]
    """Circular buffers whose Float32 tiles are copied to DST whole."""


def choose_precision(module: ModuleOp, formats: Mapping[int, DataType]) -> Precision:
    """The precision of a compute kernel with circular buffers of these formats, by number.

    It has 32 bits where one of them has.
    """
    if _WIDE.isdisjoint(formats.values()):
        return Precision(False, frozenset())
    copied, computed = set[int](), set[int]()
    for mnemonic, port in _reads(module):
        (copied if mnemonic in _COPIES else computed).add(port)
    floats = {port for port, each in formats.items() if each is DataType.F32}
    return Precision(True, frozenset(floats & copied - computed))


def _reads(module: ModuleOp) -> Iterator[tuple[str, int]]:
    """Calls that unpack tiles, and the numbers of their circular buffers."""
    for op in module.walk():
        if isinstance(op, CallOp) and Role.UNPACK in op.CALL.roles and op.CALL.cost.unpack:
            for operand in op.operands:
                if isinstance(operand.type, CBType):
                    yield op.CALL.mnemonic, int(operand.type.buffer.data.port)


# --- Page counts ----------------------------------------------------------------------------------
# Which circular buffers kernels fill and empty, and how many pages they ask for at once.

_FILL = frozenset({"ttkernel.cb_reserve_back", "ttkernel.cb_push_back"})
_EMPTY = frozenset({"ttkernel.cb_wait_front", "ttkernel.cb_pop_front"})


def count_pages(kernels: Sequence[Kernel], port: int) -> tuple[int, ...] | None:
    """The numbers of pages that kernels reserve, push, wait for and pop.

    None where that is not known before they run, and where one kernel fills a circular buffer and
    empties it: how much it fills before that is not known either.
    """
    counts = set[int]()
    for kernel in kernels:
        for used, pages, both in _uses(kernel.module):
            if used == port:
                if pages is None or both:
                    return None
                counts.update(pages)
    return tuple(sorted(counts)) or None


@lru_cache(maxsize=512)
def _uses(module: ModuleOp) -> tuple[tuple[int, frozenset[int] | None, bool], ...]:
    """For each circular buffer of a kernel: its number, the pages, whether it does both."""
    found: dict[int, list[tuple[str, int | None]]] = {}
    for op, buffer, pages in _handovers(module):
        found.setdefault(buffer, []).append((op.name, pages))
    uses = list[tuple[int, frozenset[int] | None, bool]]()
    for buffer, calls in found.items():
        names = {name for name, _ in calls}
        pages = [count for _, count in calls]
        known = frozenset(count for count in pages if count is not None)
        both = bool(names & _FILL) and bool(names & _EMPTY)
        uses.append((buffer, known if None not in pages and min(known) > 0 else None, both))
    return tuple(uses)


def find_ends(module: ModuleOp) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of the circular buffers that a kernel fills, and of those that it empties."""
    uses = [(op.name, buffer) for op, buffer, _ in _handovers(module)]
    filled, emptied = (
        frozenset(buffer for name, buffer in uses if name in names) for names in (_FILL, _EMPTY)
    )
    return filled, emptied


def _handovers(module: ModuleOp) -> Iterator[tuple[Operation, int, int | None]]:
    for op in module.walk():
        if op.name in _FILL or op.name in _EMPTY:
            buffer = op.operands[0].type
            assert isinstance(buffer, CBType), "the verifier has checked the operand"
            yield op, int(buffer.buffer.data.port), _constant(op.operands[1])


def _constant(value: SSAValue) -> int | None:
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr(value=number)):
            return number.data
        case _:
            return None


# --- Profile --------------------------------------------------------------------------------------
# What an operation did on a simulated device.


@dataclass(frozen=True)
class Profile(ShownAsText):
    """One run of an operation."""

    name: str
    output: Any = field(repr=False)
    """What the operation returned."""
    report: ProgramReport = field(repr=False)
    timeline: Timeline = field(repr=False)

    @property
    def cycles(self) -> int:
        """When the last thread ended."""
        return self.report.cycles

    @property
    def nanoseconds(self) -> float:
        """The same in time."""
        return self.cycles * 1e9 / self.report.chip.clock_hz

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Warnings and notes of the sanitizer."""
        return self.report.findings

    @property
    def printed(self) -> tuple[str, ...]:
        """The lines that kernels printed."""
        return self.report.printed

    def summary(self) -> str:
        """A few lines: the time, what was moved, and what binds."""
        return self.report.summary(self.name)

    def threads(self) -> str:
        """A table as CSV: for each thread its cycles, and in which calls it waited."""
        return thread_table([self.report.times(self.name)])

    def trace(self) -> str:
        """The timeline, as JSON that chrome://tracing and ui.perfetto.dev show."""
        return chrome_trace([(self.timeline, 0)], self.report.chip.clock_hz)

    def write_trace(self, path: str | Path) -> None:
        """Write the timeline to a file."""
        write_file(path, self.trace().encode())

    def __str__(self) -> str:
        """Cycles, time and cores."""
        cores = len({thread.core for thread in self.report.threads})
        time = f"{self.nanoseconds / 1000:.1f} us"
        return f"{self.name}: {self.cycles} cycles, {time}, {cores} core{'s' * (cores != 1)}"


def record(name: str, queue: CommandQueue, run: Callable[[], Any]) -> Profile:
    """Run something that puts one program on a queue, and keep what it did."""
    outer, timeline = queue.timeline, Timeline()
    queue.timeline = timeline
    try:
        output = run()
    finally:
        queue.timeline = outer
    return Profile(name, output, queue.reports[-1], timeline)


# --- Op -------------------------------------------------------------------------------------------
# The base class of operations: circular buffers, kernels, programs, calls.

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
        self._is_for_cards = _is_library(self._ttnn)

    # What subclasses say.

    def invoke(self, *tensors: Any, **options: Any) -> Any:
        """Make the program: circular buffers, kernels, and `create_program` of them."""
        raise NotSupportedError(
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

    def save(self, path: str | Path, *tensors: Any, **options: Any) -> Path:
        """Run the operation, and write a script that runs its kernels on a card; its path.

        Beside it stand the numbers of the tensors as they were, and those of the result, which
        `--check` compares with. NotSupportedError or DescriptionError, a ValueError, for programs
        that no script can have; UsageError for tensors that are on no simulated device.
        """
        from ttmlir.frontend.pykernel.script import names_of_tensors, save_operation

        if _is_library(self._ttnn):
            raise UsageError(
                "save writes what runs on simulated devices; with the ttnn of a card the operation "
                "runs there"
            )
        named: dict[int, tuple[int, str, Any]] = {}
        for name, each in zip(names_of_tensors(self.invoke, tensors), tensors, strict=True):
            named.setdefault(id(each), (len(named), name, each))

        def build(made: Sequence[Any]) -> Any:
            self._is_for_cards = True
            try:
                return self.make_program([made[named[id(each)][0]] for each in tensors], options)
            finally:
                self._is_for_cards = False

        distinct = {name: tensor for _, name, tensor in named.values()}
        run = partial(self, *tensors, **options)
        return save_operation(path, type(self).__name__, distinct, build, run)

    def make_program(self, tensors: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """The `ttnn.ProgramDescriptor` for tensors; addresses in it are those of these tensors."""
        ranges = self.define_core_ranges(tensors, options)
        if ranges is None:
            raise ArgumentError("define_core_ranges returned None; return a ttnn.CoreRangeSet")
        self._core_ranges = ranges
        program = self.invoke(*tensors, **options)
        if not isinstance(program, self._ttnn.ProgramDescriptor):
            raise ArgumentTypeError(
                f"{type(self).__name__}.invoke returned {program!r}; it has to return "
                "self.create_program(kernels, cbs)"
            )
        return program

    def get_core_ranges(self) -> Any:
        """The cores of this call; ValueError before the first."""
        if self._core_ranges is None:
            raise ArgumentError("the core ranges are known when the operation is called")
        return self._core_ranges

    # Circular buffers.

    def create_cb(self, tensor: Any, buffer_index: int, *, num_pages: int | None = None) -> CB:
        """The circular buffer with a number for tiles of a tensor's format.

        Without `num_pages`, `create_program` gives it twice the pages that kernels ask for at
        once, or all of the tensor's where that is not known.
        """
        if not isinstance(tensor, self._ttnn.Tensor):
            package = type(tensor).__module__.partition(".")[0]
            raise ArgumentTypeError(
                f"create_cb takes a tensor of ttnn, not {package}.{type(tensor).__name__}; "
                "ttnn.from_torch makes one on a device"
            )
        dtype = tensor.dtype
        page_size = _PAGE_BYTES.get(dtype.name)
        if page_size is None:
            raise ArgumentTypeError(f"tiles of {dtype} do not go through a circular buffer")
        if num_pages is not None and num_pages < 1:
            raise ArgumentError(f"a circular buffer has at least one page, not {num_pages}")
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
        core; lists `[x][y][n]` are n arguments. More of them than the kernel has parameters are
        those that it reads by `get_arg_val` and `get_common_arg_val`; one that is left out has the
        default of its parameter. `tensor_accessor_configs` are tensors, or flags, that the kernel
        has a `TensorAccessorArgs` for, after its circular buffers. Without `compute_config`, a
        `ttnn.ComputeConfigDescriptor`, a compute kernel has the precision that its circular
        buffers need.
        """
        if not isinstance(kernel, KernelFunction):
            raise ArgumentTypeError(
                f"{kernel!r} is no kernel; decorate it with @compute_thread(), @reader_thread() or "
                "@writer_thread()"
            )
        if compute_config is not None and _thread_of(kernel) != "compute":
            raise ArgumentTypeError(
                f"kernel '{kernel.__name__}' does not compute; leave compute_config out"
            )
        ranges = self.get_core_ranges() if core_ranges is None else core_ranges
        buffers = [each for each in args if isinstance(each, CB)]
        arguments = [
            each for value in args if not isinstance(value, CB) for each in _arguments(value)
        ]
        words = [*(each.cb_type.cb_id for each in buffers), *self._accessor_words]
        for each in tensor_accessor_configs:
            words += self._words(each)
        compiled = _compile(kernel, buffers, arguments, constants, words)
        if self._is_for_cards:
            compiled = compiled.in_form(KernelApi.OF_2026)
        self.kernel_selection[compiled.name] = kernel
        self.kernel_cache[compiled.name, hash(compiled)] = compiled
        return self._ttnn.KernelDescriptor(
            kernel_source=compiled,
            source_type=self._ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
            core_ranges=ranges,
            compile_time_args=words,
            runtime_args=self._per_core(arguments, ranges),
            common_runtime_args=[each for each in arguments if isinstance(each, int)],
            config=self._config(kernel, compiled, buffers, compute_config),
        )

    def _config(
        self, kernel: KernelFunction, compiled: Kernel, buffers: Sequence[CB], compute: Any
    ) -> Any:
        """The configuration of a kernel's thread; `compute` is that of a compute kernel, if any."""
        match _thread_of(kernel):
            case "compute":
                cbs = [each.cb_type for each in buffers]
                return self._compute_config(compiled, cbs) if compute is None else compute
            case "reader":
                return self._ttnn.ReaderConfigDescriptor()
            case "writer" | "noc" | "datamovement":
                return self._ttnn.WriterConfigDescriptor()
            case _:
                raise ArgumentError(
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
        return [
            (
                self._ttnn.CoreCoord(x, y),
                [word for each in own for word in each.get_args(x - start.x, y - start.y)],
            )
            for x, y in sorted(_cores(ranges), key=lambda core: core[::-1])
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
        """Let kernels that follow find the layout of tensors after their circular buffers."""
        listed = _sequence(tensors) or [tensors]
        self._accessor_words = [word for each in listed for word in self._words(each)]

    def _words(self, config: Any) -> list[int]:
        """The compile-time arguments for a tensor accessor."""
        if isinstance(config, int):
            if self._is_for_cards:
                raise NotSupportedError(
                    "a card's library says how tensors lie in more words than flags have; give "
                    "tensors to tensor_accessor_configs and set_tensor_accessor_config"
                )
            return [int(config)]
        return list(self._ttnn.TensorAccessorArgs(config).get_compile_time_args())

    # Programs.

    def create_program(
        self, kernels: Sequence[Any], cbs: Sequence[Any], semaphores: Sequence[Any] = ()
    ) -> Any:
        """The program of kernels, circular buffers and semaphores."""
        sources = [each.kernel_source for each in kernels]
        compiled = [each for each in sources if isinstance(each, Kernel)]
        self._choose_processors(kernels)
        return self._ttnn.ProgramDescriptor(
            kernels=list(kernels),
            semaphores=list(semaphores),
            cbs=[self._sized(each, compiled) if isinstance(each, CB) else each for each in cbs],
        )

    def _choose_processors(self, kernels: Sequence[Any]) -> None:
        """Give data movement kernels without a thread the processor that is free on their cores.

        The writer's if both are.
        """
        threads = self._ttnn.WriterConfigDescriptor, self._ttnn.ReaderConfigDescriptor
        chosen = [each for each in kernels if not _is_free_to_choose(each)]
        for each in kernels:
            if not _is_free_to_choose(each):
                continue
            cores = _cores(each.core_ranges)
            taken = [other for other in chosen if cores & _cores(other.core_ranges)]
            free = (
                thread
                for thread in threads
                if not any(isinstance(other.config, thread) for other in taken)
            )
            each.config = next(free, threads[0])()
            chosen.append(each)


def _thread_of(kernel: KernelFunction) -> str | None:
    return kernel.thread_type or kernel.kernel_type


def _is_free_to_choose(kernel: Any) -> bool:
    """True for what `ttkernel_noc_compile` makes."""
    source = kernel.kernel_source
    return isinstance(source, Kernel) and source.thread_type == ""


def _cores(ranges: Any) -> set[tuple[int, int]]:
    return {
        (x, y)
        for each in ranges.ranges()
        for y in range(each.start.y, each.end.y + 1)
        for x in range(each.start.x, each.end.x + 1)
    }


_ARGUMENT_READS = ("ttkernel.get_arg_val", "ttkernel.get_common_arg_val")


def _compile(
    kernel: KernelFunction,
    buffers: Sequence[CB],
    arguments: list[int | Arguments],
    constants: dict[str, Any],
    words: Sequence[int],
) -> Kernel:
    """The kernel for these arguments, to which those by name and by default are added.

    It may read more arguments by number than it has parameters for.
    """
    names = [name for name, kind in kernel.parameters.items() if kind == ""]
    for name in names[len(arguments) :]:
        given = _arguments(constants.pop(name)) if name in constants else ()
        arguments += given or [kernel.default_argument(name)]
    count = len(names)
    compiled = kernel.compile(*buffers, *arguments[:count], compile_time_args=words, **constants)
    reads = sum(each.name in _ARGUMENT_READS for each in compiled.module.walk())
    if len(arguments) > count and reads == count:
        # Nothing reads the others: the message says how many there are.
        return kernel.compile(*buffers, *arguments, compile_time_args=words, **constants)
    return compiled


def _arguments(value: Any) -> list[int | Arguments]:
    """Run-time arguments: a number, or for each core one or several."""
    if isinstance(value, Arguments):
        return [*value.split()]
    if isinstance(value, SupportsIndex):
        return [value.__index__()]
    columns = _sequence(value)
    if columns is not None:
        return [*_per_core(columns).split()]
    if hasattr(value, "buffer_address"):
        return [value.buffer_address()]
    raise ArgumentTypeError(
        f"{value!r} is no run-time argument of a kernel; those are integers, tensors, and lists "
        "[x][y] or [x][y][n] of integers for each core; circular buffers come from create_cb"
    )


def _per_core(columns: Sequence[Any]) -> Arguments:
    lists = [_sequence(each) for each in columns]
    rows = {-1 if each is None else len(each) for each in lists}
    if len(rows) != 1 or -1 in rows:
        raise ArgumentTypeError(
            f"{columns!r} is no run-time argument; numbers for each core are lists [x][y], all "
            "columns as long"
        )
    arguments = Arguments(len(columns), rows.pop())
    for x, column in enumerate(lists):
        for y, numbers in enumerate(column or ()):
            listed = _sequence(numbers)
            words = [numbers] if listed is None else listed
            if not all(isinstance(each, SupportsIndex) for each in words):
                raise ArgumentTypeError(
                    f"{numbers!r} is no run-time argument of core ({x}, {y}); those are integers"
                )
            arguments.set_args_at_core(x, y, [each.__index__() for each in words])
    return arguments


def _sequence(value: Any) -> Sequence[Any] | None:
    """A list or tuple; None for anything else."""
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else None


def _is_library(module: ModuleType) -> bool:
    """True for the ttnn that runs on cards, whose compiler takes kernels of 2026."""
    return not module.__name__.startswith("ttmlir.")


def _find_ttnn() -> ModuleType:
    try:
        return import_module("ttnn")
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "PyKernelOp needs ttnn: install it, or 'import ttmlir.ttnn.activate' for simulated "
            "devices"
        ) from error
