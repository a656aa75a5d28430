"""Custom kernels as texts, the `backend_config` of `stablehlo.custom_call @tt.kernel`.

The text is JSON. It is complete: nothing but the operands has to be known to run it;
`docs/bridge.md` describes it. Reading checks everything and computes nothing: the only code in a
text is C++ for the simulator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NoReturn, TypeVar, cast

from ttmlir.layout.enums import DataType, KeywordEnum, MathFidelity, NocIndex
from ttmlir.program.custom_kernel import CustomKernel, KernelTensor, Shards
from ttmlir.program.description import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    Core,
    CoreRange,
    CoreRanges,
    DataMovementConfig,
    DescriptionError,
    KernelConfig,
    KernelDescription,
    Processor,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
    WriterConfig,
    limit_kernels,
)

VERSION = 1
"""The version of the form; readers refuse others."""
MAX_LENGTH = 1 << 24
"""Most characters of the text."""

EnumT = TypeVar("EnumT", bound=KeywordEnum)
ItemT = TypeVar("ItemT")
Fields = dict[str, Any]


# -- writing --------------------------------------------------------------------------------------


def write_custom_kernel(kernel: CustomKernel) -> str:
    """The text of a kernel; the same kernel always has the same text."""
    program = kernel.program
    return json.dumps(
        {
            "version": VERSION,
            "name": kernel.name,
            "tensors": [_tensor_fields(each) for each in kernel.tensors],
            "kernels": [_kernel_fields(each) for each in program.kernels],
            "circular_buffers": [_buffer_fields(each) for each in program.circular_buffers],
            "semaphores": [
                {"cores": _range_items(each.core_ranges), "initial_value": each.initial_value}
                | ({} if each.id is None else {"id": each.id})
                for each in program.semaphores
            ],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _tensor_fields(tensor: KernelTensor) -> Fields:
    fields: Fields = {
        "name": tensor.name,
        "role": tensor.role,
        "shape": [*tensor.shape],
        "dtype": tensor.element,
        "layout": tensor.layout,
        "memory": tensor.memory,
    }
    shards = tensor.shards
    if shards is None:
        return fields
    return fields | {"shards": {"layout": shards.layout, "grid": [*shards.grid]}}


def _kernel_fields(kernel: KernelDescription) -> Fields:
    fields: Fields = {
        "name": kernel.name,
        "source": kernel.source,
        "config": _config_fields(kernel.config),
        "cores": _range_items(kernel.core_ranges),
        "compile_time_args": _argument_items(kernel.compile_time_args),
        "runtime_args": [[[*core], _argument_items(each)] for core, each in kernel.runtime_args],
        "common_runtime_args": _argument_items(kernel.common_runtime_args),
        "defines": [[*each] for each in kernel.defines],
    }
    named = [[name, _argument_item(value)] for name, value in kernel.named_compile_time_args]
    return fields | {"named_compile_time_args": named} if named else fields


def _config_fields(config: KernelConfig) -> Fields:
    match config:
        case ReaderConfig():
            return {"kind": "reader"}
        case WriterConfig():
            return {"kind": "writer"}
        case DataMovementConfig(processor, noc):
            return {"kind": "data_movement", "processor": int(processor), "noc": noc.keyword}
        case ComputeConfig():
            return {
                "kind": "compute",
                "math_fidelity": config.math_fidelity.keyword,
                **{name: getattr(config, name) for name in _COMPUTE_FLAGS},
                "unpack_to_dest_fp32": [*config.unpack_to_dest_fp32],
            }


_COMPUTE_FLAGS = ("fp32_dest_acc_en", "dst_full_sync_en", "math_approx_mode", "bfp8_pack_precise")


def _buffer_fields(buffer: CircularBufferDescription) -> Fields:
    fields: Fields = {
        "total_size": buffer.total_size,
        "cores": _range_items(buffer.core_ranges),
        "formats": [
            {
                "index": each.index,
                "data_type": each.data_type.keyword,
                "page_size": each.page_size,
            }
            for each in buffer.formats
        ],
    }
    return fields if buffer.tensor is None else fields | {"tensor": buffer.tensor}


def _range_items(ranges: CoreRanges) -> list[list[int]]:
    return [[*each.start, *each.end] for each in ranges]


_ARGUMENT_KINDS: dict[str, Callable[[int], Argument]] = {
    "address_of_tensor": AddressOfTensor,
    "circular_buffer": CircularBufferIndex,
    "semaphore": SemaphoreAt,
    "tensor_accessor_args": TensorAccessorArgs,
}


def _argument_items(arguments: Arguments) -> list[int | dict[str, int]]:
    return [_argument_item(each) for each in arguments]


def _argument_item(argument: Argument) -> int | dict[str, int]:
    match argument:
        case AddressOfTensor(number):
            return {"address_of_tensor": number}
        case CircularBufferIndex(index):
            return {"circular_buffer": index}
        case SemaphoreAt(number):
            return {"semaphore": number}
        case TensorAccessorArgs(number):
            return {"tensor_accessor_args": number}
        case int():
            return argument


# -- reading --------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def read_custom_kernel(text: str) -> CustomKernel:
    """The kernel of a text; DescriptionError, which says where, if it is none."""
    if len(text) > MAX_LENGTH:
        _refuse("the text", f"has {len(text)} characters; at most {MAX_LENGTH} are taken")
    try:
        content: object = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        _refuse("the text", "is nested too deeply")
    except ValueError as error:
        _refuse("the text", f"is no JSON: {error}")
    version = _fields(content).get("version", VERSION)
    if type(version) is not int or version != VERSION:
        _refuse("version", f"is {_shown(version)}; this reader knows {VERSION}")
    reader = _Reader(content, "", ("version", "name", "tensors", "kernels"), _OPTIONAL_FIELDS)
    return CustomKernel(
        name=reader.text("name"),
        tensors=reader.tables("tensors", _read_tensor, *_TENSOR_FIELDS),
        program=ProgramDescription(
            kernels=limit_kernels(reader.each_table("kernels", _read_kernel, *_KERNEL_FIELDS)),
            circular_buffers=reader.tables("circular_buffers", _read_buffer, *_BUFFER_FIELDS),
            semaphores=reader.tables("semaphores", _read_semaphore, *_SEMAPHORE_FIELDS),
        ),
    )


_OPTIONAL_FIELDS = ("circular_buffers", "semaphores")
_TENSOR_FIELDS = (("name", "role", "shape", "dtype", "layout", "memory"), ("shards",))
_KERNEL_FIELDS = (
    ("name", "source", "config", "cores"),
    (
        *("compile_time_args", "named_compile_time_args", "runtime_args", "common_runtime_args"),
        "defines",
    ),
)
_SEMAPHORE_FIELDS = (("cores",), ("initial_value", "id"))
_BUFFER_FIELDS = (("total_size", "cores", "formats"), ("tensor",))


def _once(pairs: list[tuple[str, Any]]) -> Fields:
    """An object of JSON; one that says something twice is refused."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("an object has a field twice")
    return fields


def _fields(content: object) -> Fields:
    """The fields of a table; none of what is no table."""
    return cast("Fields", content) if isinstance(content, dict) else {}


def _refuse(where: str, what: str) -> NoReturn:
    raise DescriptionError(f"{where} {what}")


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."


class _Reader:
    """A table of the text; errors name the place of a field."""

    def __init__(
        self, content: object, where: str, needed: Sequence[str], optional: Sequence[str] = ()
    ) -> None:
        """Refuse what is no table, lacks a field or has one that is not known."""
        if not isinstance(content, dict):
            _refuse(where or "the text", f"is {_shown(content)}; expected a table")
        self.fields = cast("Fields", content)
        self.where = where
        for name in needed:
            if name not in self.fields:
                _refuse(self.place(name), "is missing")
        known = (*needed, *optional)
        for name in self.fields:
            if name not in known:
                _refuse(self.place(_shown(name)), f"is not known; known are {', '.join(known)}")

    def place(self, name: str) -> str:
        """Where a field is, such as `kernels[0].source`."""
        return f"{self.where}.{name}" if self.where else name

    def text(self, name: str) -> str:
        """A field of text."""
        return _text(self.fields[name], self.place(name))

    def number(self, name: str, default: int | None = None) -> int:
        """A field of an integer."""
        value = self.fields.get(name, default)
        return _number(value, self.place(name))

    def flag(self, name: str) -> bool:
        """A field that is true or false; false if it is not there."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            _refuse(self.place(name), f"is {_shown(value)}; expected true or false")
        return value

    def keyword(self, name: str, enum: type[EnumT]) -> EnumT:
        """A field that is a keyword of an enumeration."""
        value = self.text(name)
        if value not in enum.keywords():
            known = ", ".join(enum.keywords())
            _refuse(self.place(name), f"is {_shown(value)}; expected one of {known}")
        return enum.from_keyword(value)

    def items(self, name: str, read: Callable[[object, str], ItemT]) -> tuple[ItemT, ...]:
        """A field that is a list; empty if it is not there."""
        return _items(self.fields.get(name, []), self.place(name), read)

    def each_table(
        self,
        name: str,
        read: Callable[[_Reader], ItemT],
        needed: Sequence[str],
        optional: Sequence[str] = (),
    ) -> Iterator[ItemT]:
        """What the tables of a list are, one after another."""
        return _each_item(
            self.fields.get(name, []),
            self.place(name),
            lambda item, where: read(_Reader(item, where, needed, optional)),
        )

    def tables(
        self,
        name: str,
        read: Callable[[_Reader], ItemT],
        needed: Sequence[str],
        optional: Sequence[str] = (),
    ) -> tuple[ItemT, ...]:
        """A field that is a list of tables."""
        return tuple(self.each_table(name, read, needed, optional))


def _items(value: object, where: str, read: Callable[[object, str], ItemT]) -> tuple[ItemT, ...]:
    return tuple(_each_item(value, where, read))


def _each_item(value: object, where: str, read: Callable[[object, str], ItemT]) -> Iterator[ItemT]:
    if not isinstance(value, list):
        _refuse(where, f"is {_shown(value)}; expected a list")
    items: Iterable[tuple[int, object]] = enumerate(cast("list[object]", value))
    return (read(item, f"{where}[{index}]") for index, item in items)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        _refuse(where, f"is {_shown(value)}; expected a text")
    return value


def _number(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 32:
        _refuse(where, f"is {_shown(value)}; expected an integer of 32 bits without a sign")
    return value


def _numbers(value: object, where: str, count: int) -> tuple[int, ...]:
    numbers = _items(value, where, _number)
    if len(numbers) != count:
        _refuse(where, f"has {len(numbers)} numbers; expected {count}")
    return numbers


def _read_tensor(reader: _Reader) -> KernelTensor:
    return KernelTensor(
        name=reader.text("name"),
        role=reader.text("role"),
        shape=reader.items("shape", _number),
        element=reader.text("dtype"),
        layout=reader.text("layout"),
        memory=reader.text("memory"),
        shards=_read_shards(reader.fields["shards"], reader.place("shards"))
        if "shards" in reader.fields
        else None,
    )


def _read_shards(content: object, where: str) -> Shards:
    reader = _Reader(content, where, ("layout", "grid"))
    rows, columns = _numbers(reader.fields["grid"], reader.place("grid"), 2)
    return Shards(reader.text("layout"), (rows, columns))


def _read_kernel(reader: _Reader) -> KernelDescription:
    return KernelDescription(
        name=reader.text("name"),
        source=reader.text("source"),
        config=_read_config(reader.fields["config"], reader.place("config")),
        core_ranges=reader.items("cores", _read_range),
        compile_time_args=reader.items("compile_time_args", _read_argument),
        named_compile_time_args=reader.items("named_compile_time_args", _read_named_argument),
        runtime_args=reader.items("runtime_args", _read_core_arguments),
        common_runtime_args=reader.items("common_runtime_args", _read_argument),
        defines=reader.items("defines", _read_define),
    )


def _read_config(content: object, where: str) -> KernelConfig:
    kind = _fields(content).get("kind")
    match kind:
        case "reader":
            _Reader(content, where, ("kind",))
            return ReaderConfig()
        case "writer":
            _Reader(content, where, ("kind",))
            return WriterConfig()
        case "data_movement":
            reader = _Reader(content, where, ("kind", "processor", "noc"))
            processor = reader.number("processor")
            if processor not in (0, 1):
                _refuse(reader.place("processor"), f"is {processor}; expected 0 or 1")
            return DataMovementConfig(Processor(processor), reader.keyword("noc", NocIndex))
        case "compute":
            optional = (*_COMPUTE_FLAGS, "unpack_to_dest_fp32")
            reader = _Reader(content, where, ("kind", "math_fidelity"), optional)
            return ComputeConfig(
                math_fidelity=reader.keyword("math_fidelity", MathFidelity),
                unpack_to_dest_fp32=reader.items("unpack_to_dest_fp32", _number),
                **{name: reader.flag(name) for name in _COMPUTE_FLAGS},
            )
        case _:
            known = "reader, writer, data_movement, compute"
            _refuse(f"{where}.kind", f"is {_shown(kind)}; expected one of {known}")


def _read_range(item: object, where: str) -> CoreRange:
    x0, y0, x1, y1 = _numbers(item, where, 4)
    return CoreRange((x0, y0), (x1, y1))


def _read_argument(item: object, where: str) -> Argument:
    if isinstance(item, int):
        return _number(item, where)
    fields = _fields(item)
    kind = next(iter(fields), None)
    if len(fields) != 1 or kind not in _ARGUMENT_KINDS:
        known = ", ".join(_ARGUMENT_KINDS)
        _refuse(where, f"is {_shown(item)}; expected a number, or one of {known} with a number")
    return _ARGUMENT_KINDS[kind](_number(fields[kind], f"{where}.{kind}"))


def _read_core_arguments(item: object, where: str) -> tuple[Core, Arguments]:
    pair = _items(item, where, lambda value, _: value)
    if len(pair) != 2:
        _refuse(where, "is no pair of a core and its arguments")
    x, y = _numbers(pair[0], f"{where}[0]", 2)
    return (x, y), _items(pair[1], f"{where}[1]", _read_argument)


def _read_named_argument(item: object, where: str) -> tuple[str, Argument]:
    pair = _items(item, where, lambda value, _: value)
    if len(pair) != 2:
        _refuse(where, "is no pair of a name and an argument")
    return _text(pair[0], f"{where}[0]"), _read_argument(pair[1], f"{where}[1]")


def _read_define(item: object, where: str) -> tuple[str, str]:
    pair = _items(item, where, _text)
    if len(pair) != 2:
        _refuse(where, "is no pair of a name and its text")
    return pair[0], pair[1]


def _read_buffer(reader: _Reader) -> CircularBufferDescription:
    return CircularBufferDescription(
        total_size=reader.number("total_size"),
        core_ranges=reader.items("cores", _read_range),
        formats=reader.tables("formats", _read_format, ("index", "data_type", "page_size")),
        tensor=reader.number("tensor") if "tensor" in reader.fields else None,
    )


def _read_format(reader: _Reader) -> CircularBufferFormat:
    return CircularBufferFormat(
        index=reader.number("index"),
        data_type=reader.keyword("data_type", DataType),
        page_size=reader.number("page_size"),
    )


def _read_semaphore(reader: _Reader) -> SemaphoreDescription:
    return SemaphoreDescription(
        core_ranges=reader.items("cores", _read_range),
        initial_value=reader.number("initial_value", 0),
        id=reader.number("id") if "id" in reader.fields else None,
    )
