"""What several operations take is moved to the device once."""

from __future__ import annotations

import numpy as np
from running.pass_runner import TTNN_PIPELINE, executed, lowered
from samples.ttir_text import FunctionText

from ttmlir.dialects import ttnn

PIPELINE = f"{TTNN_PIPELINE}=share-transfers=true"
TYPE = "tensor<3x70xf32>"
FIRST = np.linspace(-2, 2, 210, dtype=np.float32).reshape(3, 70)
SECOND = FIRST[::-1, ::-1] + np.float32(0.25)


def count_transfers(source: str, pipeline: str = PIPELINE) -> int:
    """Moves to the device."""
    return sum(isinstance(op, ttnn.ToDeviceOp) for op in lowered(source, pipeline).walk())


def test_an_argument_is_transferred_once() -> None:
    """However often it is used, by one operation or by several."""
    text = FunctionText([TYPE, TYPE])
    square = text.op("multiply", ["%arg0", "%arg0"], TYPE)
    total = text.op("add", [square, "%arg1"], TYPE)
    source = text.returning(text.op("subtract", [total, "%arg1"], TYPE), square)
    assert count_transfers(source) == 2
    assert count_transfers(source, TTNN_PIPELINE) == 4
    found = executed(source, [FIRST, SECOND], PIPELINE)
    np.testing.assert_allclose(found[0], FIRST * FIRST, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], FIRST * FIRST, rtol=1e-6)


def test_an_argument_that_is_written_to_is_not_shared() -> None:
    """Its copy holds something else then, before or after it is read elsewhere."""
    for order in ((0, 1), (1, 0)):
        text = FunctionText([TYPE, TYPE])
        results = ["", ""]
        for each in order:
            if each == 0:
                results[0] = text.op("exp", ["%arg0"], TYPE, out="%arg1")
            else:
                results[1] = text.op("neg", ["%arg1"], TYPE)
        source = text.returning(*results, text.op("add", ["%arg0", "%arg1"], TYPE))
        found = executed(source, [FIRST, SECOND], PIPELINE)
        np.testing.assert_allclose(found[0], np.exp(FIRST), rtol=1e-6)
        np.testing.assert_array_equal(found[1], -SECOND)
        np.testing.assert_allclose(found[2], FIRST + SECOND, rtol=1e-6)


def test_what_is_copied_to_l1_is_not_shared() -> None:
    """It would take room there between its uses."""
    type_ = "tensor<64x64xf32>"
    text = FunctionText([type_], constraint="#l1")
    source = text.returning(text.op("exp", ["%arg0"], type_), text.op("neg", ["%arg0"], type_))
    assert count_transfers(f"#l1 = #tt.operand_constraint<l1|tile|any_layout>\n{source}") == 2
