"""Self-attention with several heads, in plain calls of ttnn, against NumPy.

python -m ttmlir examples/ttnn/attention.py
"""

from __future__ import annotations

import numpy as np
import ttnn
from kernel_sum import add_by_kernels

BATCH, TOKENS, HEADS, HEAD_SIZE = 2, 40, 4, 32
WIDTH = HEADS * HEAD_SIZE


def attention(x: ttnn.Tensor, w_qkv: ttnn.Tensor, w_out: ttnn.Tensor) -> ttnn.Tensor:
    """softmax(q @ k / sqrt(d)) @ v for each head, and a product over all of them."""
    qkv = ttnn.reshape(ttnn.linear(x, w_qkv), (BATCH, TOKENS, 3 * HEADS, HEAD_SIZE))
    heads = ttnn.permute(qkv, (0, 2, 1, 3))
    q, k, v = ttnn.split(heads, HEADS, 1)
    scores = ttnn.matmul(q, k, transpose_b=True, memory_config=ttnn.L1_MEMORY_CONFIG)
    mask = ttnn.triu(ttnn.full_like(scores, -1e9), diagonal=1)
    probabilities = ttnn.softmax(scores * HEAD_SIZE**-0.5 + mask, dim=-1)
    mixed = ttnn.permute(ttnn.matmul(probabilities, v), (0, 2, 1, 3))
    return ttnn.linear(ttnn.reshape(mixed, (BATCH, TOKENS, WIDTH)), w_out)


def reference(x: np.ndarray, w_qkv: np.ndarray, w_out: np.ndarray) -> np.ndarray:
    """What NumPy computes."""
    qkv = (x @ w_qkv).reshape(BATCH, TOKENS, 3, HEADS, HEAD_SIZE)
    q, k, v = np.moveaxis(qkv, (2, 3), (0, 2))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(HEAD_SIZE)
    scores = np.where(np.tri(TOKENS), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = powers / powers.sum(-1, keepdims=True) @ v
    return x + np.swapaxes(mixed, 1, 2).reshape(BATCH, TOKENS, WIDTH) @ w_out


def main() -> None:
    """Compute both, and compare."""
    rng = np.random.default_rng(0)
    shapes = (BATCH, TOKENS, WIDTH), (WIDTH, 3 * WIDTH), (WIDTH, WIDTH)
    arrays = [rng.normal(0, 0.1, shape).astype(np.float32) for shape in shapes]

    device = ttnn.open_device(device_id=0)
    x, w_qkv, w_out = (
        ttnn.Tensor(array, ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for array in arrays
    )
    result, cycles = add_by_kernels(x, attention(x, w_qkv, w_out))

    pcc = ttnn.pearson_correlation_coefficient(reference(*arrays), result.cpu().to_numpy())
    print(f"agrees with NumPy: PCC {pcc:.6f}")
    print(f"the residual of {BATCH}x{TOKENS}x{WIDTH} numbers took {cycles} cycles on one core")
    print(f"{device.num_program_cache_entries()} programs")
    ttnn.close_device(device)
    assert pcc > 0.999


if __name__ == "__main__":
    main()
