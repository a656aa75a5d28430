"""Collects the kernels that tests emit, in the form of 2026: a plugin of pytest.

    PYTHONPATH=.:test/vendor python -m pytest -p collect_kernels --kernels FOLDER test/...

Each kernel becomes `FOLDER/HASH.ROLE.cpp`; compiling them with tt-metal says which are right. Those
that call what is for the other processors, which tests put together by chance, are none.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from ttmlir.cpp.render import render
from ttmlir.layout.enums import ThreadType
from ttmlir.target.cpp import from_ttkernel
from ttmlir.target.cpp.kernel_api import KernelApi

ROLES = {ThreadType.NOC: "reader", ThreadType.TENSIX: "compute"}
_OF_OTHERS = {"reader": '"api/compute/', "compute": "noc_async_"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the folder that kernels are written to."""
    parser.addoption("--kernels", required=True, help="folder for the kernels that tests emit")


def pytest_configure(config: pytest.Config) -> None:
    """Write each kernel that is made from now on to the folder."""
    folder = Path(str(config.getoption("--kernels")))
    folder.mkdir(parents=True, exist_ok=True)
    write = from_ttkernel._KernelWriter.body  # pyright: ignore
    made = from_ttkernel.kernel_tree
    busy: list[bool] = []

    def body(writer: Any, owner: Any, block: Any) -> Any:
        found = write(writer, owner, block)
        thread = writer.thread
        if not busy and thread in ROLES:
            busy.append(True)
            try:
                text = render(made(owner, block.parent, thread, KernelApi.OF_2026))
                if _OF_OTHERS[ROLES[thread]] in text:
                    return found
                name = hashlib.sha256(text.encode()).hexdigest()[:16]
                (folder / f"{name}.{ROLES[thread]}.cpp").write_text(text)
            finally:
                busy.clear()
        return found

    from_ttkernel._KernelWriter.body = body  # pyright: ignore
