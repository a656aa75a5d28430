"""Files of weights as bytes: GGUF, safetensors, and folders of adapters."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

_KINDS = {"float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "uint8": "U8"}


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    return struct.pack("<II", 4, value)


def gguf(
    tensors: Mapping[str, tuple[tuple[int, ...], int, bytes]], metadata: Mapping[str, Any]
) -> bytes:
    """A file of version 3; tensors are shapes, numbers of types, and bytes."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(_text(name) + _value(value) for name, value in metadata.items())
    data = b""
    for name, (shape, kind, numbers) in tensors.items():
        data += bytes(-len(data) % 32)
        head += _text(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", kind, len(data))
        data += numbers
    return head + bytes(-len(head) % 32) + data


def safetensors(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """A file of arrays."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, array in tensors.items():
        end = len(data) + array.nbytes
        header[name] = {
            "dtype": _KINDS[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [len(data), end],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def adapter(folder: Path, tensors: Mapping[str, NDArray[Any]], **config: Any) -> Path:
    """A folder as peft writes it."""
    folder.mkdir()
    said = {"peft_type": "LORA", "r": 2, "lora_alpha": 6, **config}
    (folder / "adapter_config.json").write_text(json.dumps(said))
    (folder / "adapter_model.safetensors").write_bytes(
        safetensors({f"base_model.model.{name}": each for name, each in tensors.items()})
    )
    return folder
