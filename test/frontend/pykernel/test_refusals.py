"""What a core does not have is refused at its line and column, with what it has instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from running.python_source import load_module

from ttmlir.frontend.pykernel.builder import (
    CircularBuffer,
    CompileTimeValue,
    KernelTypeError,
    KernelValueError,
    PyKernelError,
)
from ttmlir.frontend.pykernel.compilation import (
    KernelFunction,
    compute_thread,
    reader_thread,
    ttkernel_compile,
)
from ttmlir.mlir.reporting import DiagnosticError

HEAD = """import math
T = (1, 2)
S = {1: 2}
def rec(n):
    return rec(n)
def two(a, b):
    return a
def some(a):
    if a:
        return 1
@compute_thread()
def k(cb: CircularBuffer, p, q, c: CompileTimeValue = 4):
"""


NAMES: dict[str, object] = {
    "CircularBuffer": CircularBuffer,
    "CompileTimeValue": CompileTimeValue,
    "compute_thread": compute_thread,
    "reader_thread": reader_thread,
    "ttkernel_compile": ttkernel_compile,
}


def kernel(text: str) -> KernelFunction:
    """The kernel `k` of a text."""
    return load_module(text, "kernel.py", **NAMES)["k"]


def refusals() -> list[tuple[str, str]]:
    """Bodies and whole messages, which a line `=>` separates."""
    text = (Path(__file__).parent / "Inputs" / "refusals.txt").read_text(encoding="utf-8")
    pairs = (each.split("=>\n") for each in text.split("----\n"))
    return [(body, message.rstrip("\n")) for body, message in pairs]


@pytest.mark.parametrize(("body", "message"), refusals(), ids=lambda value: value[:30].strip())
def test_refusal(body: str, message: str) -> None:
    """The whole message: place, reason, line, caret."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(PyKernelError) as error:
        kernel(HEAD + lines)(CircularBuffer(0), 1, 2)
    assert str(error.value) == message
    assert isinstance(error.value.__cause__, DiagnosticError | None)


CALLS = [
    ((1, 2, 3), {}, KernelTypeError, "needs a circular buffer for 'cb', not 1; create_cb makes"),
    ((CircularBuffer(0), 2, 3), {"c": "4"}, KernelTypeError, "must be int or bool, and 'c' is '4'"),
    ((CircularBuffer(0), 2, 3), {"d": 4}, KernelValueError, "has no parameter 'd'; it has cb, p,"),
    ((), {}, KernelValueError, "needs 'cb', which was not provided into the kernel call"),
    ((CircularBuffer(0), 2, 3, 4, 5), {}, KernelValueError, "takes 4 arguments, not 5"),
    ((CircularBuffer(0), 2, 3), {"p": 4}, KernelValueError, "gets 'p' twice"),
]


@pytest.mark.parametrize(("args", "constants", "kind", "message"), CALLS)
def test_wrong_calls(
    args: tuple[object, ...], constants: dict[str, object], kind: type[Exception], message: str
) -> None:
    """A call that does not match the parameters is an error at the kernel's `def`."""
    with pytest.raises(kind) as error:
        kernel(f"{HEAD}    pass\n")(*args, **constants)
    assert str(error.value).startswith("kernel.py:12:1: error: kernel 'k' ")
    assert message in str(error.value)


def test_unknown_annotations_and_kernel_types() -> None:
    """They are TypeError and ValueError, as in tt-mlir."""
    text = "@compute_thread()\ndef k(x: float):\n    pass\n"
    with pytest.raises(TypeError, match=r"kernel.py:2:1: error: kernel 'k' has the annotation"):
        kernel(text)(1)
    with pytest.raises(ValueError, match="Invalid kernel type 'computer'; known are 'noc'"):
        ttkernel_compile("computer")
    with pytest.raises(TypeError, match="is no function; a kernel is a 'def'"):
        ttkernel_compile()(len)
    with pytest.raises(TypeError, match="write the decorator with parentheses"):
        kernel("@reader_thread(len)\ndef k(n):\n    pass\n")


@pytest.mark.parametrize("decorator", ["compute_thread", "reader_thread", "ttkernel_compile"])
def test_a_decorator_without_parentheses(decorator: str) -> None:
    """It gets the function as its first option."""
    with pytest.raises(PyKernelError) as error:
        kernel(f"@{decorator}\ndef k(n):\n    pass\n")
    assert str(error.value) == (
        "kernel.py:2:1: error: the decorator of 'k' lacks its (): write the decorator with "
        "parentheses, such as @reader_thread()\ndef k(n):\n^"
    )


def test_a_kernel_gets_no_self() -> None:
    """Kernels in a class are no methods; else the circular buffer would be taken for `self`."""
    text = "class Op:\n    @compute_thread()\n    def k(self, cb: CircularBuffer):\n        pass\n"
    with pytest.raises(PyKernelError, match=r"kernel.py:3:5: error: a kernel gets no 'self'"):
        load_module(text, "kernel.py", **NAMES)["Op"].k(CircularBuffer(0))


def test_a_function_without_source() -> None:
    """One that was made by `exec` has no text to compile."""
    module: dict[str, object] = {}
    exec("def k(n):\n    pass\n", module)
    function = module["k"]
    assert callable(function)
    with pytest.raises(PyKernelError, match="'k' has no source; a kernel is a plain 'def' in a"):
        compute_thread()(function)(1)


def test_coroutines_are_refused() -> None:
    """An `async def` has a source, and is no kernel."""
    text = "@reader_thread()\nasync def k(n):\n    pass\n"
    with pytest.raises(PyKernelError, match=r"kernel.py:1:1: error: 'k' is an 'async def'; a ke"):
        kernel(text)(1)
