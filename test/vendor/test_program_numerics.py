"""Programs of files give the bits that a simulated card gives, as `test_numerics.py` for ttnn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import record_numerics
from numerics_cases import CASES, numbers_of
from numerics_programs import Programs, UnsupportedCase

import ttmlir
from ttmlir.runtime.execution import prepare
from ttmlir.sim.machine.card_steps import ALL_STEPS
from ttmlir.sim.options import CARD_BITS

_RECORD: dict[str, Any] = json.loads(record_numerics.RECORD.read_text(encoding="utf-8"))["boards"]
_DIFFERENT: dict[str, dict[str, Any]] = json.loads(
    record_numerics.DIFFERENT.read_text(encoding="utf-8")
)
_ALWAYS = (
    "add bfloat16",
    "layer_norm scaled bfloat16",
    "linear relu bfloat16",
    "matmul HiFi3 float32",
    "matmul transposed bfloat16",
    "maximum bfloat16",
    "mish bfloat16",
    "rms_norm scaled bfloat16",
    "softmax bfloat16",
    "sum columns bfloat16",
    "typecast float32 uint16",
)


def _params() -> Iterator[Any]:
    for board, cases in _RECORD.items():
        for name, entry in cases.items():
            if "hash" in entry and name not in _DIFFERENT[board]:
                marks = [] if name in _ALWAYS else [pytest.mark.exhaustive]
                yield pytest.param(board, name, marks=marks)


@pytest.fixture(autouse=True)
def with_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As who asks for them."""
    monkeypatch.setenv(CARD_BITS, "1")


@pytest.mark.parametrize(("board", "name"), [*_params()])
def test_bits_are_those_of_a_card(board: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of the result of a file with one operation, by its hash."""
    monkeypatch.setattr(prepare, "FEW_STEPS", ALL_STEPS)
    try:
        result = CASES[name](Programs(board), None)
    except UnsupportedCase:
        pytest.skip("no record of a file says what the case asks for")
    found = record_numerics.entry_of(np.asarray(numbers_of(Programs, result)))
    assert found["sample"].split() == _RECORD[board][name]["sample"].split()
    assert found == _RECORD[board][name]


_POWERS = """
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @powers(%x: tensor<ROWSx64xbf16>) -> tensor<ROWSx64xbf16> {
  %0 = tensor.empty() : tensor<ROWSx64xbf16>
  %1 = "ttir.add"(%x, %x, %0) <{operandSegmentSizes = array<i32: 2, 1>,
      operand_constraints = [#any, #any, #any]}>
      : (tensor<ROWSx64xbf16>, tensor<ROWSx64xbf16>, tensor<ROWSx64xbf16>) -> tensor<ROWSx64xbf16>
  %2 = tensor.empty() : tensor<ROWSx64xbf16>
  %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>,
      operand_constraints = [#any, #any]}>
      : (tensor<ROWSx64xbf16>, tensor<ROWSx64xbf16>) -> tensor<ROWSx64xbf16>
  return %3 : tensor<ROWSx64xbf16>
}
"""


@pytest.mark.parametrize(("rows", "expected"), [(96, 0.99609375), (9600, 1.0)])
def test_only_programs_of_few_steps_have_the_bits(
    rows: int, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card's exp(-0.001) is one unit below 1; of large programs it is the nearest number."""
    text = _POWERS.replace("ROWS", str(rows))
    model = ttmlir.compile(text, numerics="device", spelling="2024")
    x = np.full((rows, 64), -0.0005, ml_dtypes.bfloat16)
    assert np.unique(np.asarray(model(x), np.float32)).tolist() == [expected]
    assert np.unique(np.asarray(model(x, numerics="exact"), np.float32)).tolist() == [1.0]
    monkeypatch.delenv(CARD_BITS)
    assert np.unique(np.asarray(model(x), np.float32)).tolist() == [1.0]
