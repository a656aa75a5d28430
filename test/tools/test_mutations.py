"""Damaged input is refused with a message: no traceback, no internal error, no output."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttmlir.tools.opt.driver import run_opt

SOURCE = (Path(__file__).parent / "Inputs" / "wheel.mlir").read_text()
PIECES = st.sampled_from(
    (
        *("", "%x", "%9", "tensor<", "5x33xf32", "!tt.", "#tt.tile<", "(", ")", "{", "}", "<", ">"),
        *("->", "0x", "-1", "9999999999999", '"', "loc(", "func.func", "// -----\n", "\x00", "é"),
    )
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """The source with a few places replaced, doubled or left out."""
    text = SOURCE
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(PIECES) + text[end:]
    return text


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(damaged())
def test_damaged_text_is_compiled_or_refused(tmp_path: Path, text: str) -> None:
    """A tool either succeeds or says where and why not."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(text)
    output.unlink(missing_ok=True)
    errors = io.StringIO()
    with redirect_stderr(errors):
        status = run_opt(["--ttir-to-ttnn-backend-pipeline", str(source), "-o", str(output)], {})
    assert "internal error" not in errors.getvalue()
    assert "mistake in ttmlir" not in errors.getvalue()
    assert output.exists() == (status == 0)
    if status:
        assert "error: " in errors.getvalue()


@pytest.mark.parametrize("text", ["(" * 5000, "tensor<" * 3000, "module {" * 3000, "[" * 9000])
def test_deep_nesting_is_refused(text: str, tmp_path: Path) -> None:
    """Nesting without end is a message, not the end of Python's stack."""
    source = tmp_path / "deep.mlir"
    source.write_text(f"func.func @f(%x: {text}")
    errors = io.StringIO()
    with redirect_stderr(errors):
        assert run_opt([str(source)], {}) == 1
    assert "error: " in errors.getvalue()
    assert "internal error" not in errors.getvalue()
