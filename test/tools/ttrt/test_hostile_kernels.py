"""`ttrt` on `.ttm` files whose kernels try to get out: one error with its place, nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
GOLDEN = Path(__file__).resolve().parents[2] / "golden"

ATTACKS = {
    "globals": (
        "auto t = TensorAccessor(TensorAccessorArgs<0>(), 0, 32);\nauto p = &t.get_noc_addr;\n"
        '(*p).__globals__.get("__builtins__").get("eval").__call__("open(\'escaped\', \'w\')");',
        r":\d+:11: error: 'TensorAccessor' has no member 'get_noc_addr'",
    ),
    "disguise": (
        "uint32_t x = 1; uint32_t* p = nullptr; p = &x;\n"
        "uint32_t a = reinterpret_cast<uint32_t>(p);\nDPRINT << *(float*)a;",
        r":\d+:14: error: the address of a local variable is not known to the simulator",
    ),
    "method": ("counters();", r":\d+:1: error: there is no function 'counters'"),
    "handler": (
        "int _FAULTS = 1; int zero = my_x[0] - my_x[0];\nDPRINT << 1 / zero;",
        r":\d+:11: error: division by zero",
    ),
}


def with_kernel(body: str) -> bytes:
    """A program whose kernels of the data-movement processors all are these statements."""
    data = (GOLDEN / "one_core_to_four.ttm").read_bytes()
    start = rb"(?<!namespace NAMESPACE \{\n)void kernel_main\(\) \{"

    def replaced(match: re.Match[bytes]) -> bytes:
        text = f"void kernel_main() {{\n{body}\n}}\n".encode()
        assert len(text) <= len(match[0])
        return text + b" " * (len(match[0]) - len(text))

    altered, count = re.subn(start + rb"[^\0]*", replaced, data)
    assert count
    return altered


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_file(
    attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Exit status 1, the place in the kernel, no traceback, and no file."""
    body, message = ATTACKS[attack]
    monkeypatch.chdir(tmp_path)
    Path("evil.ttm").write_bytes(with_kernel(body))
    assert main(["run", "evil.ttm"]) == 1
    shown = capsys.readouterr()
    assert re.search(message, shown.err + shown.out)
    assert "Traceback" not in shown.err + shown.out
    assert not Path("escaped").exists()
