"""Kernels that hold the text of their headers mean what they mean with the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.cpp.include_path import IncludePath
from ttmlir.metalium import (
    CreateDevice,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    ReaderDataMovementConfig,
    detail,
)
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import inline_headers

KERNEL = """#include "api/debug/dprint.h"
/* #include "missing.hpp" */
#include "lib/first.hpp"
#if ROLE == 1
#include <second.hpp>
#endif
# include "lib/first.hpp" // again
#include "nowhere.hpp"
const char* text = "\\
#include \\"lib/first.hpp\\"";
void kernel_main() {
    DPRINT << twice(FACTOR) + offset << ENDL();
}
"""
FILES = {
    "kernel.cpp": KERNEL,
    "lib/first.hpp": '#pragma once\n#include "inner.hpp"\n#include "../second.hpp"\n',
    "lib/inner.hpp": '#ifndef INNER\n#define INNER\n#include "inner.hpp"\n'
    "inline uint32_t twice(uint32_t x) { return 2 * x; }\n#endif\n",
    "second.hpp": "#pragma once\n#define FACTOR 20\nconstexpr uint32_t offset = 2;\n",
}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(kernel: str | Path, **defines: str) -> list[str]:
    """What a kernel in a file or in a text prints."""
    device, program = CreateDevice(0), CreateProgram()
    config = ReaderDataMovementConfig(defines=defines)
    create = CreateKernel if isinstance(kernel, Path) else CreateKernelFromString
    create(program, kernel, (0, 0), config)
    detail.LaunchProgram(device, program)
    return device.printed


def test_meaning_stays(folder: Path) -> None:
    """With headers that are read once, and within conditions; built-in ones stay includes."""
    text = KERNEL.replace('const char* text = "\\\n#include \\"lib/first.hpp\\"";\n', "")
    (folder / "kernel.cpp").write_text(text)
    path = IncludePath.of_kernel(folder / "kernel.cpp")
    inlined = inline_headers(text, "kernel.cpp", path)
    for role in ("0", "1"):
        expected = ["core (0, 0) NCRISC: 42"]
        assert run(folder / "kernel.cpp", ROLE=role) == expected
        assert run(inlined, ROLE=role) == expected
    assert '#include "api/debug/dprint.h"' in inlined
    assert '#include "nowhere.hpp"' in inlined
    assert str(folder) not in inlined


def test_texts_and_comments_are_no_includes(folder: Path) -> None:
    """Nothing is put into them."""
    inlined = inline_headers(KERNEL, "kernel.cpp", IncludePath.of_kernel(folder / "kernel.cpp"))
    assert '/* #include "missing.hpp" */' in inlined
    assert 'const char* text = "\\\n#include \\"lib/first.hpp\\"";' in inlined


def test_headers_outside_of_the_folders_stay_closed(folder: Path) -> None:
    """They are not found, as when the kernel is run."""
    (folder / "secret.hpp").write_text("int secret;\n")
    text = '#include "../secret.hpp"\n#include "/etc/passwd"\n'
    path = IncludePath.of_kernel(folder / "lib" / "kernel.cpp")
    assert inline_headers(text, "kernel.cpp", path) == text


def test_headers_that_grow_without_end_are_refused(folder: Path) -> None:
    """Each of many includes the next one twice."""
    for number in range(40):
        inner = f'#include "h{number + 1}.hpp"\n' * 2 if number < 39 else "// " + "x" * 4000
        (folder / f"h{number}.hpp").write_text(inner)
    path = IncludePath.of_kernel(folder / "kernel.cpp")
    with pytest.raises(SimError, match=r"kernel\.cpp: more than 1000 headers, "):
        inline_headers('#include "h0.hpp"\n', "kernel.cpp", path)
