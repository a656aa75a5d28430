"""Operations as people write them give what NumPy computes."""

from __future__ import annotations

import numpy as np
import pytest
from samples.pykernel_cases import Case, cases, operation

import ttmlir.ttnn as ttnn


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_operation(case: Case) -> None:
    """Broadcast rows, reductions, fused products, indices, multicasts; nothing is found."""
    device = ttnn.open_device(device_id=0)
    profiles = list[object]()
    try:
        result = case.run(
            operation(case.name),
            device,
            lambda op, *tensors, **options: profiles.append(op.profile(*tensors, **options)),
        )
    finally:
        ttnn.close_device(device)
    assert np.array_equal(result, case.expected)
    assert [each.rule for each in profiles[0].findings] in ([], ["atomic-open"])
