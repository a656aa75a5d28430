"""Loads files as objects of their kind."""

from __future__ import annotations

import os
from typing import Any

from ttmlir.runtime.loading import file_bytes
from ttmlir.runtime.ttrt.objects.flatbuffers import Binary, Flatbuffer, SystemDesc
from ttmlir.schema import identify


def load_from_path(path: str | os.PathLike[str]) -> Flatbuffer:
    """A program or a system description, told apart by the file's identifier."""
    data = file_bytes(path)
    kind = SystemDesc if identify(data) == "TTSY" else Binary
    return kind(file_path=path, capsule=bytes(data))


def load_binary_from_path(path: str | os.PathLike[str]) -> Binary:
    """A `.ttnn` file."""
    return Binary(file_path=path)


def load_binary_from_capsule(capsule: bytes) -> Binary:
    """A `.ttnn` file from its bytes."""
    return Binary(capsule=capsule)


def load_system_desc_from_path(path: str | os.PathLike[str]) -> SystemDesc:
    """A `.ttsys` file."""
    return SystemDesc(file_path=path)


def as_dict(flatbuffer: Flatbuffer) -> dict[str, Any]:
    """The whole file as plain values."""
    return flatbuffer.fbb_dict
