"""Tensors in files: what is written is read again, and other files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from ttmlir import ttnn


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        *(("bfloat16", "TILE_LAYOUT"), ("float32", "ROW_MAJOR_LAYOUT")),
        *(("bfloat8_b", "TILE_LAYOUT"), ("uint16", "ROW_MAJOR_LAYOUT"), ("int32", "TILE_LAYOUT")),
    ],
)
@pytest.mark.parametrize("shape", [(3, 33, 7), (5,), (), (0, 4)])
def test_files(name: str, layout: str, shape: Any, device: Any, tmp_path: Path) -> None:
    """Numbers, data type and layout; onto a device on request."""
    values = (torch.arange(1000.0)[: torch.Size(shape).numel()] - 3).reshape(shape).abs()
    x = ttnn.from_torch(values, getattr(ttnn, name), layout=getattr(ttnn, layout))
    path = tmp_path / "x.tensorbin"
    ttnn.dump_tensor(path, x)
    first = path.read_bytes()
    ttnn.dump_tensor(str(path), x)
    assert path.read_bytes() == first
    for target in (None, device):
        found = ttnn.load_tensor(path, device=target)
        assert (found.dtype, found.layout, found.shape) == (x.dtype, x.layout, x.shape)
        assert found.device() is target
        assert found.to_list() == x.to_list()


def test_files_that_are_refused(tmp_path: Path) -> None:
    """Other extensions, other files, and headers that do not fit the file."""
    x = ttnn.from_torch(torch.zeros(2, 3))
    for name in ("x.bin", "x"):
        with pytest.raises(RuntimeError, match=r"names of files with tensors end in \.tensorbin"):
            ttnn.dump_tensor(tmp_path / name, x)
    path = tmp_path / "x.tensorbin"
    with pytest.raises(RuntimeError, match=r"x\.tensorbin: No such file or directory"):
        ttnn.load_tensor(path)

    def write(header: bytes, data: bytes = b"", length: int | None = None) -> None:
        size = len(header) if length is None else length
        path.write_bytes(b"ttmlirT1" + size.to_bytes(4, "little") + header + data)

    def facts(**others: Any) -> bytes:
        known = {"dtype": "FLOAT32", "layout": "TILE", "shape": [2, 3], **others}
        return json.dumps(known).encode()

    for header, data, length, message in (
        (facts(), bytes(23), None, "has .* bytes, its header says "),
        (facts(), bytes(25), None, "has .* bytes, its header says "),
        (facts(shape=[1 << 30, 1 << 30, 1 << 30]), b"", None, "has .* bytes, its header says "),
        (facts(shape=[-1]), b"", None, "the header's shape is none of a tensor"),
        (facts(shape=[1] * 9), bytes(4), None, "the header's shape is none of a tensor"),
        (facts(shape=[True]), bytes(4), None, "the header's shape is none of a tensor"),
        (facts(dtype="INVALID"), bytes(24), None, "the header is none of a tensor"),
        (facts(dtype="FLOAT64"), bytes(24), None, "the header is none of a tensor"),
        (b"[" * 4000, b"", None, "the header is none of a tensor"),
        (b"{", b"", 1 << 31, "a header of 2147483648 bytes is too long"),
    ):
        write(header, data, length)
        with pytest.raises(RuntimeError, match=message):
            ttnn.load_tensor(path)
    for content in (b"", b"ttmlirT1", b"\x00" * 100):
        path.write_bytes(content)
        with pytest.raises(RuntimeError, match="was not written by dump_tensor of this package"):
            ttnn.load_tensor(path)


def test_caches_of_as_tensor(device: Any, tmp_path: Path) -> None:
    """The second call takes the file; data type and layout are part of its name."""
    calls: list[int] = []

    def double(values: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return values * 2

    for _ in range(2):
        x = ttnn.as_tensor(
            torch.ones(3, 5),
            ttnn.bfloat16,
            layout=ttnn.TILE_LAYOUT,
            device=device,
            memory_config=ttnn.L1_MEMORY_CONFIG,
            cache_file_name=tmp_path / "weights" / "w",
            preprocess=double,
        )
        assert x.memory_config() == ttnn.L1_MEMORY_CONFIG
        assert x.to_list() == [[2.0] * 5] * 3
    assert calls == [1]
    [file] = (tmp_path / "weights").iterdir()
    assert file.name == "w_dtype_BFLOAT16_layout_TILE.tensorbin"
