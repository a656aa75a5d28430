"""What docs/cpp.md says is refused, is refused at its place, with the message that it quotes."""

from __future__ import annotations

import pytest
from cpp_page import Refusal, read_refusals
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.kernels import compile_kernel


@pytest.mark.parametrize("refusal", read_refusals(), ids=lambda each: each.feature)
def test_refused_features(refusal: Refusal) -> None:
    """The message names the feature."""
    text = refusal.text
    if "kernel_main" not in text:
        text += "void kernel_main() {}\n"
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi)
    assert str(caught.value).startswith(f"kernel.cpp:{refusal.place}: error: {refusal.message}")
