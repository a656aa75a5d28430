"""Programs of kernels as functions of a script, which describe them to the ttnn library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import NoReturn

from ttmlir.layout.enums import DataType
from ttmlir.program import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferIndex,
    ComputeConfig,
    CoreRanges,
    DataMovementConfig,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
)
from ttmlir.target.python.model_script import (
    FRAME,
    OF_FRAME,
    USAGE,
    identifier,
    imports_of,
    piece,
)
from ttmlir.version import TTNN_VERSION, VERSION

KERNEL_FRAME = "kernel_frame.py"
PIECES_OF_PROGRAMS = (
    *("cores_of", "CIRCULAR_BUFFERS", "reader", "writer", "compute", "kernel"),
    *("circular_buffer", "semaphore"),
)
"""What the text of programs needs of the frame."""
_CONSTANTS = ("MESH_SHAPE", "TENSORS", "GOLDEN", "KINDS")
_DATA_TYPES = {
    DataType.F32: "float32",
    DataType.BF16: "bfloat16",
    DataType.BFP_BF8: "bfloat8_b",
    DataType.BFP_BF4: "bfloat4_b",
    DataType.U32: "uint32",
    DataType.SI32: "int32",
    DataType.U16: "uint16",
    DataType.U8: "uint8",
}
"""What the library has tensors of."""
_FIDELITY = {"lofi": "LoFi", "hifi2": "HiFi2", "hifi3": "HiFi3", "hifi4": "HiFi4"}
_FLAGS = ("fp32_dest_acc_en", "dst_full_sync_en", "math_approx_mode", "bfp8_pack_precise")

Refuse = Callable[[str], NoReturn]


def frame_script(
    title: str, script: str, facts: str, own: Iterable[str], parts: Iterable[str]
) -> str:
    """A script of kernels: what it says of itself, facts of the chip, parts, and what is around.

    `own` are the pieces of the frame of kernels that the parts need.
    """
    taken = [*own]
    after = [name for name in ("to_array",) if name in taken]
    text = "\n\n\n".join(
        (
            *(piece(KERNEL_FRAME, name) for name in taken if name not in after),
            *parts,
            *(piece(KERNEL_FRAME, name) for name in after),
            *(piece(FRAME, name) for name in ("read_array", *OF_FRAME) if name not in after),
            piece(FRAME, ""),
        )
    )
    head = (
        f'"""{title}, as kernels for ttnn {TTNN_VERSION}; written by ttmlir {VERSION}.\n\n'
        f'{USAGE.replace("SCRIPT", script)}"""'
    )
    frame = (*(piece(FRAME, name) for name in _CONSTANTS), piece(KERNEL_FRAME, "L1_SMALL_SIZE"))
    imports = imports_of(text, script, (FRAME, KERNEL_FRAME))
    return "\n".join((head, "", imports, *frame, facts, "", "", text)) + "\n"


class ProgramWriter:
    """Writes functions that describe programs and run them, and the kernels of these."""

    def __init__(self, new_name: Callable[[str], str], taken: set[str]) -> None:
        """No kernels yet; `new_name` makes a name of a stem that is not `taken`."""
        self._new_name, self._taken = new_name, taken
        self.kernels: dict[str, str] = {}
        """Texts of kernels by names."""

    def definitions(self) -> Iterator[str]:
        """The kernels."""
        for name, text in self.kernels.items():
            yield f"{name} = {_quoted(text)}"

    def text(
        self, program: ProgramDescription, meaning: str, tensors: list[str], refuse: Refuse
    ) -> str:
        """The function of a program after its name, for tensors.

        `refuse` raises what says where a program is that no script can have.
        """
        lines = [
            f"({', '.join(f'{name}: Any' for name in tensors)}) -> None:",
            f'    """{meaning}."""',
        ]
        every = {each.core_ranges for each in program.kernels}
        shared = next(iter(every)) if len(every) == 1 else None
        if shared is not None:
            lines.append(f"    cores = {cores_text(shared)}")
        writer = _OneProgram(self, shared, tensors, refuse)
        parts = {
            "kernels": map(writer.kernel, program.kernels),
            "semaphores": map(writer.semaphore, count(), program.semaphores),
            "circular_buffers": map(writer.circular_buffer, program.circular_buffers),
        }
        for name, texts in parts.items():
            lines += [f"    {name} = [", *(f"        {each}," for each in texts), "    ]"]
        # The library asks for an input and an output.
        operands = tensors if len(tensors) > 1 else tensors * 2
        lines += [
            "    program = ttnn.ProgramDescriptor(",
            "        kernels=kernels, semaphores=semaphores, cbs=circular_buffers",
            "    )",
            f"    ttnn.generic_op([{', '.join(operands)}], program)",
        ]
        return "\n".join(lines)

    def name_kernel(self, kernel: KernelDescription) -> str:
        """The name of a kernel, the same for the same text."""
        name = identifier(kernel.name).upper()
        if self.kernels.setdefault(name, kernel.source) != kernel.source:
            name = self._new_name(name)
            self.kernels[name] = kernel.source
        self._taken.add(name)
        return name


class _OneProgram:
    """Writes the parts of a program."""

    def __init__(
        self,
        owner: ProgramWriter,
        shared: CoreRanges | None,
        tensors: list[str],
        refuse: Refuse,
    ) -> None:
        self._owner, self._shared, self._tensors, self._refuse = owner, shared, tensors, refuse

    def kernel(self, kernel: KernelDescription) -> str:
        """A kernel and its arguments."""
        words = [self._owner.name_kernel(kernel), self._on(kernel.core_ranges)]
        if kernel.named_compile_time_args:
            self._refuse(f"names compile-time arguments of kernel '{kernel.name}'")
        if kernel.compile_time_args:
            words.append(self._arguments(kernel.compile_time_args))
        if kernel.common_runtime_args:
            words.append(f"runtime={self._arguments(kernel.common_runtime_args)}")
        if any(arguments for _, arguments in kernel.runtime_args):
            pairs = ", ".join(
                f"({core}, {self._arguments(each)})" for core, each in kernel.runtime_args
            )
            words.append(f"by_core=[{pairs}]")
        if kernel.defines:
            words.append(f"defines={[*kernel.defines]}")
        config = kernel.config
        if isinstance(config, DataMovementConfig):
            self._refuse(
                f"chooses processor and network of kernel '{kernel.name}'; scripts have readers "
                "and writers"
            )
        if not isinstance(config, ComputeConfig):
            maker = "reader" if isinstance(config, ReaderConfig) else "writer"
            return f"{maker}({', '.join(words)})"
        if (fidelity := _FIDELITY[config.math_fidelity.keyword]) != "HiFi4":
            words.append(f"fidelity={fidelity!r}")
        if config.unpack_to_dest_fp32:
            words.append(f"unpack_to_dest={config.unpack_to_dest_fp32}")
        words += [f"{flag}=True" for flag in _FLAGS if getattr(config, flag)]
        return f"compute({', '.join(words)})"

    def semaphore(self, number: int, semaphore: SemaphoreDescription) -> str:
        """A semaphore, by its number or its place."""
        index = number if semaphore.id is None else semaphore.id
        words = [str(index), self._on(semaphore.core_ranges)]
        if semaphore.initial_value:
            words.append(str(semaphore.initial_value))
        return f"semaphore({', '.join(words)})"

    def circular_buffer(self, queue: CircularBufferDescription) -> str:
        """A circular buffer, of its own or on a tensor."""
        form, *others = queue.formats
        if others:
            self._refuse("has circular buffers that share memory")
        if queue.tensor is not None and queue.tensor < len(self._tensors):
            tensor = self._tensors[queue.tensor]
            return f"ttnn.cb_descriptor_from_sharded_tensor({form.index}, {tensor})"
        dtype = data_type_text(form.data_type, self._refuse)
        return (
            f"circular_buffer({form.index}, {dtype}, {form.page_size}, {queue.total_size}, "
            f"{self._on(queue.core_ranges)})"
        )

    def _on(self, ranges: CoreRanges) -> str:
        return "cores" if ranges == self._shared else cores_text(ranges)

    def _arguments(self, arguments: Arguments) -> str:
        return f"[{', '.join(map(self._argument, arguments))}]"

    def _argument(self, argument: Argument) -> str:
        match argument:
            case AddressOfTensor(number):
                return f"{self._tensors[number]}.buffer_address()"
            case TensorAccessorArgs(number):
                return f"*accessor({self._tensors[number]})"
            case CircularBufferIndex(number) | SemaphoreAt(number):
                return str(number)
            case int():
                return str(argument)


def data_type_text(data_type: DataType, refuse: Refuse) -> str:
    """An element type as the library has it."""
    if data_type not in _DATA_TYPES:
        known = ", ".join(each.keyword for each in _DATA_TYPES)
        refuse(f"has numbers of {data_type.keyword}; the ttnn library has tensors of {known}")
    return f"ttnn.{_DATA_TYPES[data_type]}"


def cores_text(ranges: CoreRanges) -> str:
    """Rectangles of cores: first column, first row, last column, last row."""
    return str([(*each.start, *each.end) for each in ranges])


def _quoted(text: str) -> str:
    """A text as a literal of several lines."""
    if '"""' in text or "\\" in text:
        return repr(text)
    return f'"""\\\n{text}"""'
