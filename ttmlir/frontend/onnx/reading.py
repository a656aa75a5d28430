"""Models of ONNX: what a file, bytes or a protobuf holds, before it is looked at in detail."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import UNKNOWN_LOC

from ttmlir.errors import FileError, path_error
from ttmlir.files import read_stream, require_path
from ttmlir.frontend.onnx.elements import onnx_package
from ttmlir.mlir.reporting import Diagnostic, DiagnosticError

SUFFIX = ".onnx"
MAX_FILE = (1 << 31) - 1
"""Most bytes of a protobuf; the weights of larger models are in files beside it."""
BYTES = "<model>"
"""What messages call a model that is not given as a file."""

OPERATORS = ("", "ai.onnx")
"""The names of the domain of the standard's operators."""


@dataclass(frozen=True)
class Model:
    """A protobuf, and where it comes from."""

    proto: Any
    file: str
    """What messages call it."""
    folder: str | None
    """Where its external data are; None if it is not from a file."""
    opsets: Mapping[str, int] = field(default_factory=dict[str, int])
    """The versions of operator sets by their domains."""

    @property
    def name(self) -> str:
        """The name of the file without folders and suffix, or of the graph."""
        if self.folder is None:
            return one_line(self.proto.graph.name) or "model"
        return Path(self.file).stem

    def refuse(self, message: str) -> DiagnosticError:
        """An error about the model as a whole."""
        return refuse_model(self.file, message)


def refuse_model(file: str, message: str) -> DiagnosticError:
    """An error about a model as a whole."""
    return DiagnosticError(Diagnostic("error", UNKNOWN_LOC, one_line(message), file=file))


MAX_MESSAGE = 2000
"""Most characters of a message that has names from a file in it."""


def one_line(message: str) -> str:
    """A message with names from a file, which may be long and have ends of lines in them."""
    line = " ".join(message.split())
    return line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]} ..."


def read_model(given: Any) -> Model:
    """The model of a path, of bytes or of a `ModelProto`.

    FileError for a path that cannot be read, DiagnosticError for what is no model.
    """
    if isinstance(given, str | os.PathLike):
        path = os.fspath(cast("str | os.PathLike[str]", given))
        require_path(path, "ttmlir.compile")
        return parse_model(_read(path), path, os.path.dirname(path))
    if isinstance(given, bytes):
        return parse_model(given, BYTES, None)
    return _checked(given, BYTES, None)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return read_stream(file)
            if status.st_size > MAX_FILE:
                raise FileError(
                    f"{path}: it has {status.st_size:,} bytes, and a protobuf at most "
                    f"{MAX_FILE:,}; save the model with external data"
                )
            return file.read()
    except OSError as error:
        raise path_error(path, error) from error


def parse_model(data: bytes, file: str, folder: str | None) -> Model:
    """The model in the bytes of a file."""
    proto = onnx_package().ModelProto()
    try:
        proto.ParseFromString(data)
    except import_module("google.protobuf.message").DecodeError as error:
        raise refuse_model(file, f"this is no model of ONNX, or a damaged one: {error}") from error
    return _checked(proto, file, folder)


def _checked(proto: Any, file: str, folder: str | None) -> Model:
    if not proto.HasField("graph") or not proto.opset_import:
        raise refuse_model(
            file,
            "this is no model of ONNX, or a damaged one: it has no "
            + ("graph" if not proto.HasField("graph") else "operator set"),
        )
    if not all(isinstance(name, str) for name in _names(proto)):
        raise refuse_model(file, "this is a damaged model of ONNX: a name in it is no UTF-8")
    opsets = {
        "" if each.domain in OPERATORS else each.domain: each.version for each in proto.opset_import
    }
    newest = onnx_package().defs.onnx_opset_version()
    if opsets.get("", 1) > newest:
        raise refuse_model(
            file,
            f"it is for version {opsets['']} of the operator set; the installed package onnx "
            f"{onnx_package().__version__} knows versions up to {newest}: install a newer one",
        )
    return Model(proto, file, folder, opsets)


def _names(proto: Any) -> Iterator[object]:
    """All names in a model, of which the package leaves those that are no text as bytes."""
    pending = [proto.graph, *proto.functions]
    yield from (each.domain for each in proto.opset_import)
    while pending:
        graph = pending.pop()
        yield graph.name
        if isinstance(graph, onnx_package().FunctionProto):
            yield from (*graph.input, *graph.output, *graph.attribute, graph.domain)
        else:
            infos = (*graph.input, *graph.output)
            yield from (each.name for each in (*infos, *graph.initializer))
            shapes = (each.type.tensor_type.shape for each in infos)
            yield from (dim.dim_param for shape in shapes for dim in shape.dim)
        for node in graph.node:
            yield from (node.op_type, node.domain, node.name, *node.input, *node.output)
            for attribute in node.attribute:
                yield from (attribute.name, attribute.ref_attr_name)
                pending += attribute.graphs
                if attribute.HasField("g"):
                    pending.append(attribute.g)
