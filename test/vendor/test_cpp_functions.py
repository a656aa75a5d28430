"""What `ttnn-precompiled.hpp` composes of the library's functions, with numbers of NumPy."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from signatures import COMPILER, HEADER, definitions, write_headers

_LIBRARY = Path(__file__).parent / "Inputs" / "host_library.cpp"
_FUNCTIONS = {
    **dict.fromkeys(
        (
            *("ttnn::add", "ttnn::multiply", "ttnn::minimum", "ttnn::maximum", "ttnn::ge"),
            *("ttnn::le", "ttnn::logical_and", "ttnn::typecast", "ttnn::reshape", "ttnn::repeat"),
            *("ttnn::to_layout", "ttnn::concat", "ttnn::zeros"),
        ),
        2,
    ),
    "ttnn::operations::core::to_device": 2,
    "ttnn::where": 3,
    "ttnn::gather": 4,
    "ttnn::scatter": 6,
}
_X = np.arange(2 * 5 * 7 * 3, dtype=float).reshape(2, 5, 7, 3)
_INDEX = np.array([[[0, 3, 9, 1], [6, -2, 1, 5]], [[4, 0, 2, 2], [0, 5, 6, 3]]], float)
_UPDATES = 1000.0 + np.arange(2 * 4 * 2 * 1 * 3, dtype=float)


def _slices(take: Callable[[int, int, int, int], Any], clamp: bool) -> None:
    """Visit each slice of 2x1 rows; those over the border are moved, or left out."""
    for batch in range(2):
        for number in range(4):
            a, b = (int(each) for each in _INDEX[batch, :, number])
            if clamp:
                a, b = min(max(a, 0), 3), min(max(b, 0), 6)
            elif not (0 <= a <= 3 and 0 <= b <= 6):
                continue
            take(batch, number, a, b)


def _gathered() -> np.ndarray:
    found = np.zeros((2, 8, 3))

    def take(batch: int, number: int, a: int, b: int) -> None:
        found[batch, 2 * number : 2 * number + 2] = _X[batch, a : a + 2, b]

    _slices(take, clamp=True)
    return found


def _scattered() -> np.ndarray:
    found, updates = _X.copy(), _UPDATES.reshape(2, 8, 3)

    def write(batch: int, number: int, a: int, b: int) -> None:
        found[batch, a : a + 2, b] += updates[batch, 2 * number : 2 * number + 2]

    _slices(write, clamp=False)
    return found


def _values(array: np.ndarray) -> str:
    shape = ", ".join(map(str, array.shape))
    return f"host::make({{{shape}}}, {{{', '.join(map(str, array.reshape(-1)))}}})"


@pytest.mark.exhaustive
@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_slices_at_places_of_an_index(tmp_path: Path) -> None:
    """Rows and columns, looked up and added to; those over the border as the compiler says."""
    table, rows = np.arange(33.0 * 5).reshape(33, 5), np.array([[3.0, 32.0], [0.0, 7.0]])
    line, chosen = np.arange(9.0)[None], np.array([[[8.0, 0.0, 5.0]]])
    results = {
        f"utils::rows_gather({_values(_X)}, {_values(_INDEX)}, {{5, 7}}, {{2, 1}})": _gathered(),
        f"utils::rows_scatter({_values(_X)}, {_values(_INDEX)}, "
        f'{_values(_UPDATES.reshape(2, 8, 3))}, {{5, 7}}, {{2, 1}}, false, "add")': _scattered(),
        f"utils::rows_gather({_values(line)}, {_values(chosen)}, {{9}}, {{1}}, true)": (
            line[:, [8, 0, 5]]
        ),
        f"utils::embedding_of_rows({_values(rows)}, {_values(table)}, std::nullopt, "
        "ttnn::Layout::TILE, ttnn::prim::EmbeddingsType::GENERIC)": table[rows.astype(int)],
    }
    write_headers(tmp_path)
    shown = "".join(f"  show({call});\n" for call in results)
    (tmp_path / "check.cpp").write_text(
        f'#include "{HEADER}"\n{_LIBRARY.read_text(encoding="utf-8")}\n{definitions(_FUNCTIONS)}\n'
        "void show(const ttnn::Tensor &tensor) {\n"
        "  for (int32_t each : tensor.content->shape) std::cout << each << ' ';\n"
        "  std::cout << ':';\n"
        "  for (double each : tensor.content->numbers) std::cout << ' ' << each;\n"
        "  std::cout << '\\n';\n}\n"
        f"int main() {{\n{shown}}}\n",
        encoding="utf-8",
    )
    options = ["-std=c++20", "-I.", "-no-pie", "-Wl,--unresolved-symbols=ignore-all"]
    command = [str(COMPILER), *options, "check.cpp", "-o", "check"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(
        [tmp_path / "check"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for line_, expected in zip(done.stdout.splitlines(), results.values(), strict=True):
        shape, _, numbers = line_.partition(":")
        assert tuple(map(int, shape.split())) == expected.shape
        np.testing.assert_array_equal(
            np.array(numbers.split(), float).reshape(expected.shape), expected
        )
