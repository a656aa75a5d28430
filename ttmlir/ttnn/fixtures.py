"""Fixtures of pytest for tests of ttnn, by the names that tt-metal's own tests use.

    pytest -p ttmlir.ttnn.fixtures --board n150 --board p150

or `pytest_plugins = ["ttmlir.ttnn.fixtures"]` in the uppermost `conftest.py`. A test that takes
`device` or `mesh_device` runs once for each board. `import ttnn` is this package, as with
`ttmlir.ttnn.activate`, unless ttnn is installed.

Source: tt-metal, conftest.py: `device`, `device_params`, `mesh_device`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ttmlir.errors import plural
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.ttnn import activate as activate  # for its effect
from ttmlir.ttnn.device.mesh import MeshDevice, num_chips
from ttmlir.ttnn.device.opening import close_device, open_device, open_mesh_device

DEFAULT = "n150"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the boards."""
    parser.addoption(
        "--board",
        action="append",
        choices=BOARD_NAMES,
        help=f"open devices of this board; again for others, on which tests run too ({DEFAULT})",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs a board on each of them."""
    if "board" in metafunc.fixturenames:
        boards: list[str] | None = metafunc.config.getoption("--board")
        metafunc.parametrize("board", list(dict.fromkeys(boards or [DEFAULT])))


@pytest.fixture
def device_params(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """Arguments of `open_device`, by `parametrize("device_params", [{...}], indirect=True)`."""
    return getattr(request, "param", {})


@pytest.fixture
def device(board: str, device_params: Mapping[str, Any]) -> Iterator[MeshDevice]:
    """A chip of a board, which is closed after the test."""
    opened = open_device(board=board, **device_params)
    yield opened
    close_device(opened)


@pytest.fixture
def mesh_device(
    request: pytest.FixtureRequest, board: str, device_params: Mapping[str, Any]
) -> Iterator[MeshDevice]:
    """The chips of a board as a mesh, which is closed after the test.

    `parametrize("mesh_device", [(2, 4)], indirect=True)` gives its rows and columns, or how many
    devices there are in one row. A test is skipped on a board that has fewer.
    """
    asked: Any = getattr(request, "param", None)
    shape = (1, asked) if isinstance(asked, int) else asked
    chips = num_chips(board)
    if shape is not None and math.prod(shape) > chips:
        pytest.skip(f"{board} has {plural(chips, 'chip')}, and the mesh {math.prod(shape)} devices")
    opened = open_mesh_device(shape, board=board, **device_params)
    yield opened
    close_device(opened)
