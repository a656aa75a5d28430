"""The sections of a file, as JSON or text for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ttmlir.runtime.binary import Binary
from ttmlir.runtime.compiled_for import system_of
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.memory import program_memory
from ttmlir.runtime.memory_report import memory_document
from ttmlir.runtime.system import read_system_desc
from ttmlir.runtime.ttrt.reports.file_summary import summarize_binary, summarize_system
from ttmlir.schema import FlatbufferError, TableView, identify, load_schema
from ttmlir.schema.versions import unknown_kind
from ttmlir.terminal import shown_name

SUMMARY = "summary"
ALL = "all"
MAX_BYTES = 4096
"""Longer vectors of bytes, such as the elements of constants, are shown by their size."""
PLAIN_SECTIONS = (SUMMARY, "version", "mlir", "cpp")
"""Sections that are no JSON."""
_METAL_SECTIONS = (ALL, "version", "system_desc", "mlir", "cpp", "inputs", "outputs")


def joined_documents(documents: Mapping[str, str]) -> str:
    """JSON documents as one: an object with an entry for each, by name."""
    # Lines end in no JSON string, so all of them may be indented.
    entries = (f"{json.dumps(name)}: {text.rstrip()}" for name, text in documents.items())
    body = ",\n".join(entries).replace("\n", "\n  ")
    return f"{{\n  {body}\n}}" if documents else "{}"


def section_text(path: str, data: bytes | memoryview, section: str) -> str:
    """A section of a `.ttnn`, `.ttm` or `.ttsys` file; `path` names it in messages.

    Raises BinaryError for a damaged file and InputError for a section that it does not have.
    """
    try:
        match identify(data):
            case "TTSY":
                return _read_system(path, data, section)
            case "TTM0":
                return _read_metal(path, data, section)
            case "TTNN":
                binary = read_binary(data, path, ignore_version=True)
                if section == SUMMARY:
                    return summarize_binary(binary, len(data), tuple(_SECTIONS))
                return _SECTIONS[section](binary)
            case _:
                raise unknown_kind(path)
    except FlatbufferError as error:
        raise BinaryError(str(error)) from error


def _unavailable(path: str, section: str, available: tuple[str, ...]) -> InputError:
    return InputError(f"{path}: there is no section '{section}'; it has {', '.join(available)}")


def _read_system(path: str, data: bytes | memoryview, section: str) -> str:
    root = read_system_desc(data, path)
    match section:
        case "summary":
            return summarize_system(path, root)
        case "all":
            return root.to_json()
        case "version":
            return _version_text(root["version"], root["ttmlir_git_hash"])
        case "system_desc":
            return root["system_desc"].to_json()
        case _:
            raise _unavailable(path, section, (SUMMARY, ALL, "version", "system_desc"))


def _read_metal(path: str, data: bytes | memoryview, section: str) -> str:
    if section == SUMMARY:
        binary = read_binary(data, path, ignore_version=True)
        return summarize_binary(binary, len(data), _METAL_SECTIONS)
    root = load_schema("TTMetal/binary.fbs").read(data, path)
    match section:
        case "all":
            return root.to_json(max_bytes=MAX_BYTES)
        case "version":
            return _version_text(root["version"], root["ttmlir_git_hash"])
        case "system_desc" if root["system_desc"] is not None:
            return root["system_desc"].to_json()
        case "inputs" | "outputs":
            programs = root.as_dict(max_bytes=MAX_BYTES)["programs"]
            return json.dumps({p["name"]: p.get(section, []) for p in programs}, indent=2)
        case "cpp":
            return _kernel_sources(root)
        case "mlir" if (sources := _module_sources(root)) is not None:
            return sources
        case _:
            raise _unavailable(path, section, (SUMMARY, *_METAL_SECTIONS))


def _module_sources(root: TableView) -> str | None:
    """The modules that the programs were written from, None if the file does not say."""
    debug = [program["debug_info"] for program in root["programs"] or ()]
    modules = [each["mlir"] for each in debug if each is not None and each["mlir"] is not None]
    # The programs of a file share one module.
    return "\n".join(dict.fromkeys(each["source"] or "" for each in modules)) or None


def _kernel_sources(root: TableView) -> str:
    """C++ of every kernel of every program, with the operation that runs it."""
    parts: list[str] = []
    for i, program in enumerate(root["programs"] or ()):
        parts.append(f"program[{i}]: {program['name']}")
        for command in _commands(program):
            if command["type_type"] != "EnqueueProgramCommand":
                continue
            parts.append(f"// {command['debug_info'] or 'no debug information'}")
            parts += [source.strip() for source in _sources_of(command["type"])]
    return "\n".join(parts)


def _sources_of(command: TableView) -> list[str]:
    """C++ of the kernels of an `EnqueueProgramCommand`."""
    if command["descriptor"] is not None:
        return [kernel["source"] or "" for kernel in command["descriptor"]["kernels"] or ()]
    kernels = command["program"]["kernels"] or ()
    return [each["kernel"]["source"] for each in kernels if each["kernel_type"] == "KernelSource"]


def _commands(program: TableView) -> list[TableView]:
    return [
        command
        for device in program["device_programs"] or ()
        for queue in device["command_queues"] or ()
        for command in queue["commands"] or ()
    ]


def _version_text(version: Any, git_hash: str | None) -> str:
    numbers = "unknown" if version is None else ".".join(str(part) for part in version)
    return f"version: {numbers}\ntt-mlir git hash: {git_hash or 'unknown'}"


def _all(binary: Binary) -> str:
    return binary.view.to_json(max_bytes=MAX_BYTES)


def _version(binary: Binary) -> str:
    return _version_text(binary.view["version"], binary.ttmlir_git_hash)


def _system_desc(binary: Binary) -> str:
    if binary.system_desc is None:
        raise BinaryError(f"{binary.source}: field 'system_desc' is missing")
    return binary.system_desc.to_json()


def _sources(is_wanted: Callable[[str], bool]) -> Callable[[Binary], str]:
    def read(binary: Binary) -> str:
        parts: list[str] = []
        for program in binary.programs:
            parts.append(f"program[{program.index}]: {shown_name(program.name)}")
            found = [(name, text) for name, text in program.debug_sources() if is_wanted(name)]
            parts += [f"[{name}]\n{text.strip()}" for name, text in found]
            if not found:
                parts.append("no debug information")
        return "\n".join(parts)

    return read


def _cpp(binary: Binary) -> str:
    """The C++ of the host, then that of every kernel, with the operation that runs it."""
    parts = [_sources(lambda name: name == "cpp")(binary)]
    for program in binary.programs:
        for operation in program.operations:
            if operation.table != "GenericOp" or not operation.has("program"):
                continue
            title = f"// program[{program.index}] operation {operation.index}"
            for kernel in operation.table_field("program")["kernels"] or ():
                parts.append(f"{title}: kernel {kernel['name'] or ''}")
                parts.append((kernel["source"] or "").strip())
    return "\n".join(parts)


def _tensors(field: str) -> Callable[[Binary], str]:
    def read(binary: Binary) -> str:
        programs = binary.view.as_dict(max_bytes=MAX_BYTES)["programs"]
        return json.dumps({p["name"]: p.get(field) or [] for p in programs}, indent=2)

    return read


def _op_stats(binary: Binary) -> str:
    stats: dict[str, dict[str, int]] = {}
    for program in binary.programs:
        counts: dict[str, int] = {}
        for operation in program.operations:
            counts[operation.title] = counts.get(operation.title, 0) + 1
        stats[program.name] = dict(sorted(counts.items()))
    return json.dumps(stats, indent=2)


def _mesh_shape(binary: Binary) -> str:
    meshes = {
        program["name"]: [
            operation["type"].as_dict()
            for operation in program["operations"] or ()
            if operation["type_type"] == "GetDeviceOp"
        ]
        for program in binary.view["programs"] or ()
    }
    return json.dumps(meshes, indent=2)


def _memory(binary: Binary) -> str:
    """What each program's tensors take of the memories of the chip that it was compiled for."""
    chip = system_of(binary).chip(0)
    documents = {
        program.name: memory_document(program_memory(program, chip)) for program in binary.programs
    }
    return json.dumps(documents, indent=2)


_SECTIONS: dict[str, Callable[[Binary], str]] = {
    ALL: _all,
    "version": _version,
    "system_desc": _system_desc,
    "mlir": _sources(lambda name: name != "cpp"),
    "cpp": _cpp,
    "inputs": _tensors("inputs"),
    "outputs": _tensors("outputs"),
    "op_stats": _op_stats,
    "mesh_shape": _mesh_shape,
    "memory": _memory,
}
SECTIONS = (SUMMARY, *_SECTIONS)
"""Names of all sections."""
