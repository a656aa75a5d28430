"""Arrays of `.npz` files become inputs in an order that people expect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running.confinement import confined

from ttmlir.limits import MEMORY_VARIABLE
from ttmlir.runtime import InputError
from ttmlir.runtime.ttrt.running import load_inputs


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["x", "w", "b"], ["x", "w", "b"]),
        (["input_10", "input_9", "input_0"], ["input_0", "input_9", "input_10"]),
        (["x", "w2", "b2", "w1", "b1"], ["x", "w1", "b1", "w2", "b2"]),
    ],
)
def test_entries_are_ordered_by_number_then_as_saved(
    tmp_path: Path, names: list[str], expected: list[str]
) -> None:
    """Names without a number keep the order in which they were saved."""
    path = tmp_path / "inputs.npz"
    np.savez(path, **{name: np.array([names.index(name)]) for name in names})
    loaded = [names[int(array[0])] for array in load_inputs([str(path)])]
    assert loaded == expected


def npy_header(shape: str, descr: str = "<f4") -> bytes:
    """The head of a `.npy` file of that shape."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("huge.npy", npy_header("(1099511627776,)")),
        ("huge_in_all.npy", npy_header("(1048576, 1048576, 1048576)")),
        ("negative.npy", npy_header("(-4,)") + bytes(16)),
        ("objects.npy", npy_header("(1,)", "|O") + b"cos\nsystem\n(S'touch escaped'\ntR."),
        ("pickle.npy", b"cos\nsystem\n(S'touch escaped'\ntR."),
        ("code.npy", npy_header("__import__('os').system('touch escaped')")),
        ("cut.npz", b"PK\x03\x04" + bytes(26)),
    ],
)
def test_hostile_arrays_are_refused(
    name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headers that promise too much, objects and code end in one sentence, and do nothing."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    with (
        confined(megabytes=200, cpu_seconds=10),
        pytest.raises(InputError, match=r"not a \.npy or \.npz file of numbers"),
    ):
        load_inputs([name])
    assert not Path("escaped").exists()


def test_arrays_that_unpack_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes of compressed zeros do not become gigabytes."""
    monkeypatch.setenv(MEMORY_VARIABLE, "0.05")
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros(100 << 18, np.float32))
    assert path.stat().st_size < 200_000
    with (
        confined(megabytes=80, cpu_seconds=10),
        pytest.raises(InputError, match=r"its arrays have 104857\d\d\d bytes; at most 0.05 GiB"),
    ):
        load_inputs([str(path)])
