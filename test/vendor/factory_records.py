"""Operations of ttnn on Tenstorrent's simulator, recorded for `factory_replays.py`.

    TTSIM_HOST_LOG=NAME.bin TT_METAL_LOG_KERNELS_COMPILE_COMMANDS=1 TT_METAL_CACHE=FOLDER/ \\
        ref ttnn sim factory_records.py NAME >> LOG

The simulator is one that writes the accesses of the host to the file in TTSIM_HOST_LOG; NAME is one
of the functions with results below. They run with the real library, in a Python without torch. What
NumPy says goes to the device at the end, in the layout and memory of what was computed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

ttnn: Any = importlib.import_module("ttnn")
Array = NDArray[np.float32]
Case = tuple[Any, Array]
"""What was computed on the device, and what NumPy says."""


@cache
def generator() -> np.random.Generator:
    """The numbers of all operations, the same in each run."""
    return np.random.default_rng(7)


DEVICE = ttnn.open_device(device_id=0, l1_small_size=16384)
BLOCK, HEIGHT, WIDTH = (
    getattr(ttnn.TensorMemoryLayout, f"{each}_SHARDED") for each in ("BLOCK", "HEIGHT", "WIDTH")
)
EXACT = ttnn.init_device_compute_kernel_config(
    DEVICE.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False,
    fp32_dest_acc_en=True, packer_l1_acc=False,
)  # fmt: skip


def draw(*shape: int) -> Array:
    """Numbers of a normal distribution."""
    return generator().standard_normal(shape).astype(np.float32)


def send(x: Array, *, rows: bool = False, memory: Any = None, device: Any = DEVICE) -> Any:
    """A tensor in bf16: in tiles, or as rows of numbers; on the host without a device."""
    layout = ttnn.ROW_MAJOR_LAYOUT if rows else ttnn.TILE_LAYOUT
    numbers = x.astype(np.float32).reshape(-1).tolist()
    where = () if device is None else (device,)
    tensor = ttnn.Tensor(numbers, list(x.shape), ttnn.bfloat16, layout, *where)
    return tensor if memory is None else ttnn.to_memory_config(tensor, memory)


def shard(layout: Any, columns: int, rows: int, shape: Sequence[int]) -> Any:
    """Shards of a shape on a rectangle of cores."""
    last = ttnn.CoreCoord(columns - 1, rows - 1)
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), last)})
    spec = ttnn.ShardSpec(cores, list(shape), ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, spec)


def normalize(x: Array, epsilon: float, axes: tuple[int, ...] = (-1,)) -> Array:
    """Numbers with mean 0 and deviation 1 along axes."""
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)


def soften(x: Array) -> Array:
    """Softmax of rows."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def matmul_2d() -> Case:
    """Rows and columns of cores multicast blocks of both factors."""
    a, b = draw(1, 1, 128, 192), draw(1, 1, 192, 160)
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(5, 4), in0_block_w=2, out_subblock_h=1,
        out_subblock_w=1, per_core_M=1, per_core_N=1, transpose_mcast=False, fused_activation=None,
    )  # fmt: skip
    return ttnn.matmul(send(a), send(b), program_config=config), a @ b


def matmul_1d() -> Case:
    """A row of cores, of which one multicasts the first factor."""
    a, b = draw(1, 1, 64, 192), draw(1, 1, 192, 256)
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(4, 1), in0_block_w=2, out_subblock_h=1,
        out_subblock_w=2, per_core_M=2, per_core_N=2, fuse_batch=True, fused_activation=None,
        mcast_in0=True,
    )  # fmt: skip
    return ttnn.matmul(send(a), send(b), program_config=config), a @ b


def linear_relu() -> Case:
    """A product with a bias and ReLU."""
    a, b, bias = draw(1, 1, 128, 96), draw(1, 1, 96, 160), draw(1, 1, 1, 160)
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(5, 2), in0_block_w=1, out_subblock_h=2,
        out_subblock_w=1, per_core_M=2, per_core_N=1, transpose_mcast=False,
        fused_activation=ttnn.UnaryOpType.RELU,
    )  # fmt: skip
    found = ttnn.linear(
        send(a), send(b), bias=send(bias), program_config=config, compute_kernel_config=EXACT
    )
    return found, np.maximum(a @ b + bias, 0)


def layer_norm() -> Case:
    """Each row of tiles on a core of its own."""
    x = draw(1, 1, 64, 96)
    return ttnn.layer_norm(send(x), epsilon=1e-5), normalize(x, 1e-5)


def rms_norm() -> Case:
    """Likewise, without a mean."""
    x = draw(1, 1, 64, 96)
    return ttnn.rms_norm(send(x)), x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12)


def softmax() -> Case:
    """Likewise."""
    x = draw(1, 1, 64, 96)
    return ttnn.softmax(send(x), dim=-1), soften(x)


def layer_norm_sharded() -> Case:
    """Blocks on 2x3 cores, which exchange their statistics."""
    x, weight, bias = draw(1, 1, 192, 128) * 3 + 1, draw(1, 1, 1, 128), draw(1, 1, 1, 128)
    there = send(x, memory=shard(BLOCK, 2, 3, (64, 64)))
    config = ttnn.LayerNormShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=[2, 3], subblock_w=2, block_h=2, block_w=2, inplace=False
    )
    found = ttnn.layer_norm(
        there, weight=send(weight), bias=send(bias), epsilon=1e-5, program_config=config,
        memory_config=there.memory_config(),
    )  # fmt: skip
    return found, normalize(x, 1e-5) * weight + bias


def softmax_sharded() -> Case:
    """Rows on four cores, in place."""
    x = draw(1, 1, 128, 96)
    config = ttnn.SoftmaxShardedMultiCoreProgramConfig(
        compute_with_storage_grid_size=[4, 1], subblock_w=3, block_h=1, block_w=3
    )
    there = send(x, memory=shard(HEIGHT, 4, 1, (32, 96)))
    return ttnn.softmax_in_place(there, program_config=config), soften(x)


def attention() -> Case:
    """Causal flash attention of two heads on 4x2 cores."""
    q, k, v = (draw(1, 2, 128, 64) for _ in range(3))
    config = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=[4, 2], q_chunk_size=32, k_chunk_size=64,
        exp_approx_mode=False,
    )  # fmt: skip
    found = ttnn.transformer.scaled_dot_product_attention(
        send(q), send(k), send(v), is_causal=True, program_config=config,
        compute_kernel_config=EXACT,
    )  # fmt: skip
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(64) + np.triu(np.full((128, 128), -np.inf), 1)
    return found, soften(scores) @ v


def _attend_in_stream(*, is_causal: bool) -> Case:
    """Attention whose products, exponentials and sums of two heads overlap on 4x2 cores."""
    q, k, v = (draw(1, 2, 256, 64) for _ in range(3))
    config = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=[4, 2], q_chunk_size=64, k_chunk_size=128,
        exp_approx_mode=False,
    )  # fmt: skip
    kernel = ttnn.init_device_compute_kernel_config(
        DEVICE.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False,
        fp32_dest_acc_en=False, packer_l1_acc=False,
    )  # fmt: skip
    found = ttnn.transformer.scaled_dot_product_attention(
        send(q), send(k), send(v), is_causal=is_causal, program_config=config,
        compute_kernel_config=kernel,
    )  # fmt: skip
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(64)
    if is_causal:
        scores = scores + np.triu(np.full((256, 256), -np.inf), 1)
    return found, soften(scores) @ v


def attention_stream() -> Case:
    """Of all keys."""
    return _attend_in_stream(is_causal=False)


def attention_stream_causal() -> Case:
    """Of the keys before."""
    return _attend_in_stream(is_causal=True)


def attention_of_one() -> Case:
    """Attention of one query of two heads, of which each core takes keys: tiles of 16 rows."""
    q, k, v = draw(1, 1, 2, 64), draw(1, 1, 128, 64), draw(1, 1, 128, 64)
    config = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=[4, 2], q_chunk_size=32, k_chunk_size=32,
        exp_approx_mode=False,
    )  # fmt: skip
    found = ttnn.transformer.scaled_dot_product_attention_decode(
        send(q), send(k), send(v), cur_pos=[77], program_config=config,
        compute_kernel_config=EXACT,
    )  # fmt: skip
    scores = (q @ k.swapaxes(-1, -2) / np.sqrt(64))[..., :78]
    # What is in the rows of tiles that are no heads does not matter.
    return ttnn.to_layout(found, ttnn.ROW_MAJOR_LAYOUT), soften(scores) @ v[:, :, :78]


def group_norm() -> Case:
    """Two groups of channels; rows on four cores."""
    x = draw(1, 1, 128, 64)
    there = send(x, rows=True, memory=shard(HEIGHT, 4, 1, (32, 64)))
    mask = ttnn.create_group_norm_input_mask(64, 2, 1, ttnn.bfloat16)
    found = ttnn.group_norm(
        there, num_groups=2, input_mask=ttnn.to_device(mask, DEVICE), inplace=False,
        memory_config=there.memory_config(), core_grid=ttnn.CoreGrid(y=1, x=4),
        output_layout=ttnn.TILE_LAYOUT,
    )  # fmt: skip
    return found, normalize(x.reshape(128, 2, 32), 1e-12, (0, 2)).reshape(x.shape)


def _convolve(shape: Sequence[int], channels: int, stride: int, layout: Any) -> Case:
    """A convolution of 3x3 with padding 1."""
    n, height, width, depth = shape
    x, weight = draw(*shape), draw(channels, depth, 3, 3)
    found = ttnn.conv2d(
        input_tensor=send(x.reshape(1, 1, -1, depth), rows=True), device=DEVICE,
        weight_tensor=send(weight, rows=True, device=None), in_channels=depth,
        out_channels=channels, batch_size=n, input_height=height, input_width=width,
        kernel_size=(3, 3), stride=(stride, stride), padding=(1, 1), dtype=ttnn.bfloat16,
        conv_config=ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, shard_layout=layout),
    )  # fmt: skip
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    parts = (
        padded[:, row : row + height : stride, column : column + width : stride]
        @ weight[:, :, row, column].T
        for row in range(3)
        for column in range(3)
    )
    return found, sum(parts, np.float32(0)).reshape(1, 1, -1, channels)


def convolution_height() -> Case:
    """Shards of rows."""
    return _convolve((1, 8, 8, 32), 32, 1, HEIGHT)


def convolution_block() -> Case:
    """Shards of rows and channels, with a stride."""
    return _convolve((1, 8, 16, 64), 64, 2, BLOCK)


def convolution_width() -> Case:
    """Shards of channels."""
    return _convolve((1, 8, 8, 64), 64, 1, WIDTH)


def _windows(x: Array, fill: float) -> Array:
    """Windows of 3x3 with a stride of 2 and a padding of 1: the numbers of each, in front."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=fill)
    height, width = (extent + 1 for extent in x.shape[1:3])
    parts = [padded[:, row:height:2, at:width:2] for row in range(3) for at in range(3)]
    return np.stack([each[:, : height // 2, : width // 2] for each in parts])


def pool_maximum() -> Case:
    """The largest numbers of windows, 64 channels."""
    x = draw(1, 8, 10, 64)
    found = ttnn.max_pool2d(
        send(x.reshape(1, 1, -1, 64), rows=True), 1, 8, 10, 64, [3, 3], [2, 2], [1, 1], [1, 1],
        applied_shard_scheme=HEIGHT,
    )  # fmt: skip
    return found, _windows(x, -np.inf).max(0).reshape(1, 1, -1, 64)


def pool_average() -> Case:
    """Means of windows, with the zeros around them, 96 channels."""
    x = draw(1, 8, 10, 96)
    found = ttnn.avg_pool2d(
        send(x.reshape(1, 1, -1, 96), rows=True), 1, 8, 10, 96, [3, 3], [2, 2], [1, 1],
        applied_shard_scheme=HEIGHT,
    )  # fmt: skip
    return found, _windows(x, 0).mean(0).reshape(1, 1, -1, 96)


def embedding() -> Case:
    """Rows of a table, in tiles."""
    table, rows = draw(50, 64), generator().integers(0, 50, (2, 32))
    where = ttnn.Tensor(
        rows.reshape(-1).tolist(), [2, 32], ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, DEVICE
    )
    found = ttnn.embedding(where, send(table, rows=True), layout=ttnn.TILE_LAYOUT)
    return found, table[rows]


def largest() -> Case:
    """The 32 largest numbers of rows, in order."""
    x = draw(1, 1, 32, 128)
    return ttnn.topk(send(x), 32, dim=-1)[0], -np.sort(-x, -1)[..., :32]


def sort() -> Case:
    """The numbers of rows in order."""
    x = draw(1, 1, 32, 256)
    return ttnn.sort(send(x), dim=-1)[0], np.sort(x, -1)


def argmax() -> Case:
    """Where the largest numbers of rows are."""
    rows = [generator().permutation(96) for _ in range(32)]
    x = np.stack(rows).reshape(1, 1, 32, 96).astype(np.float32)
    return ttnn.argmax(send(x, rows=True), dim=-1, keepdim=True), x.argmax(-1, keepdims=True)


def untilize() -> Case:
    """Tiles as rows of numbers."""
    x = draw(1, 1, 96, 96)
    return ttnn.untilize(send(x), use_multicore=False), x


def main(name: str) -> None:
    """Compute, read the result, and write what it should be."""
    found, expected = globals()[name]()
    found.cpu()
    numbers = expected.reshape(-1).tolist()
    there = ttnn.Tensor(numbers, list(expected.shape), found.dtype, found.layout)
    there.to(DEVICE, found.memory_config())
    ttnn.close_device(DEVICE)


if __name__ == "__main__":
    main(sys.argv[1])
