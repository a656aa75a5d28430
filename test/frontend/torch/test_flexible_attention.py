"""`flex_attention` with functions of scores and masks, against torch itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
flex: Any = import_module("torch.nn.attention.flex_attention")

pytestmark = [
    pytest.mark.filterwarnings("ignore:flex_attention called without"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

SLOPES = torch.tensor([0.5, 0.25, 0.125, 0.0625])
LENGTHS = torch.tensor([7, 3])


def _alibi(score: Any, _: Any, head: Any, row: Any, column: Any) -> Any:
    return score + (column - row) * SLOPES[head]


def _within(batch: Any, _: Any, row: Any, column: Any) -> Any:
    return (column < LENGTHS[batch]) & (row != 2)


def attend(q: Any, k: Any, v: Any) -> Any:
    """Heads that share keys, biases by places, sequences of several lengths, and a hidden row."""
    mask = flex.create_block_mask(_within, 2, None, 5, 7, device="cpu", BLOCK_SIZE=8)
    result, found = flex.flex_attention(
        q, k, v, _alibi, mask, scale=0.3, enable_gqa=True, return_aux=flex.AuxRequest(lse=True)
    )
    return result, found.lse.where(found.lse.isfinite(), 0)


@pytest.mark.exhaustive
def test_functions_of_scores_and_masks() -> None:
    """Compiled, and as a backend of torch's compiler."""
    generator = torch.Generator().manual_seed(3)
    q, k, v = (
        torch.randn(2, heads, rows, 6, generator=generator)
        for heads, rows in ((4, 5), (2, 7), (2, 7))
    )
    expected = attend(q, k, v)
    assert not expected[0][:, :, 2].any()
    compiled = ttmlir.compile(attend, q, k, v)
    torch.testing.assert_close(compiled(q, k, v), expected, atol=1e-5, rtol=1e-5)

    def biased(q: Any, k: Any, v: Any) -> Any:
        return flex.flex_attention(q, k, v, _alibi, enable_gqa=True)

    found = torch.compile(biased, backend="ttmlir")(q, k, v)
    torch.testing.assert_close(found, biased(q, k, v), atol=1e-5, rtol=1e-5)
