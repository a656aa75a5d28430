"""Whole models as lists of ttnn's operations and shapes, for `cost_report.py`.

Shapes are those of the published architectures; formats, and where tensors lie, are those of
tt-metal's implementations as far as its documents say them: block floats of 8 bits and LoFi or
HiFi2, activations in shards in L1, weights of decoders sharded over the channels of DRAM.
"""

from __future__ import annotations

import math

from ttmlir.cost.work import Work, make_desc
from ttmlir.layout.enums import DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.runtime.tensor import TensorDesc

BF16, BFP8, BFP4 = DataType.BF16, DataType.BFP_BF8, DataType.BFP_BF4
L1, DRAM = MemorySpace.DEVICE_L1, MemorySpace.DEVICE_DRAM
BLOCK, HEIGHT = TensorMemoryLayout.BLOCK_SHARDED, TensorMemoryLayout.HEIGHT_SHARDED
WIDTH = TensorMemoryLayout.WIDTH_SHARDED
LOFI, HIFI2 = MathFidelity.LOFI, MathFidelity.HIFI2
GRID = (8, 8)


def sharded(
    shape: tuple[int, ...],
    data_type: DataType,
    layout: TensorMemoryLayout = BLOCK,
    grid: tuple[int, int] = GRID,
) -> TensorDesc:
    """A tensor in shards in L1."""
    return make_desc(shape, data_type, L1, layout=layout, grid=grid)


def product(
    rows: int,
    inner: int,
    columns: int,
    *,
    weights: DataType = BFP8,
    activations: DataType = BFP8,
    fidelity: MathFidelity = LOFI,
    placed: bool = False,
) -> Work:
    """Sharded activations times weights in DRAM."""
    layout = WIDTH if placed else TensorMemoryLayout.INTERLEAVED
    # A single row of tiles is divided along its columns.
    spread = BLOCK if rows > 32 else WIDTH
    return Work(
        mnemonic="matmul",
        operands=(
            sharded((rows, inner), activations, spread),
            make_desc((inner, columns), weights, layout=layout),
        ),
        output=sharded((rows, columns), activations, spread),
        fidelity=fidelity,
    )


def elementwise(mnemonic: str, shape: tuple[int, ...], data_type: DataType, operands: int) -> Work:
    """An operation on shards."""
    desc = sharded(shape, data_type)
    return Work(mnemonic=mnemonic, operands=(desc,) * operands, output=desc)


def norm(mnemonic: str, shape: tuple[int, ...], data_type: DataType) -> Work:
    """A normalization of shards."""
    desc = sharded(shape, data_type)
    return Work(mnemonic=mnemonic, operands=(desc,), output=desc, fidelity=HIFI2)


def moves(count: int, shape: tuple[int, ...], data_type: DataType) -> list[Work]:
    """Operations that only give shards another order or other cores."""
    desc = make_desc(shape, data_type, L1)
    work = Work(mnemonic="slice", operands=(desc,), output=desc, parameters=_WHOLE)
    return [work] * count


_WHOLE = {"begins": (0, 0), "step": (1, 1)}


def decoder(
    *,
    width: int,
    heads: int,
    kv_heads: int,
    head_width: int,
    hidden: int,
    gated: bool,
    layers: int,
    words: int,
    wide_weights: DataType,
    placed: bool,
    context: int,
) -> list[Work]:
    """One token of each of 32 users through a decoder."""
    users = 32
    row = (users, width)
    qkv = (heads + 2 * kv_heads) * head_width
    # The heads of a group share a tile of q.
    q = make_desc((users, kv_heads, 32, head_width), BF16, L1)
    cache = make_desc((users, kv_heads, context, head_width), BFP8)
    attention = Work(
        mnemonic="scaled_dot_product_attention",
        operands=(q, cache, cache),
        output=q,
        parameters={"q_chunk": 32, "k_chunk": min(context, 256)},
        fidelity=HIFI2,
    )

    def weights(inner: int, columns: int, data_type: DataType = BFP8) -> Work:
        return product(
            users,
            inner,
            columns,
            weights=data_type,
            activations=BF16,
            fidelity=HIFI2,
            placed=placed,
        )

    layer = [
        norm("rms_norm", row, BF16),
        weights(width, qkv),
        *moves(6, (users * heads, head_width), BF16),  # heads, rotary embeddings, caches
        attention,
        *moves(2, row, BF16),
        weights(heads * head_width, width),
        elementwise("add", row, BF16, 2),
        norm("rms_norm", row, BF16),
        *([weights(width, hidden, wide_weights)] * (2 if gated else 1)),
        elementwise("multiply" if gated else "gelu", (users, hidden), BFP8, 2 if gated else 1),
        weights(hidden, width),
        elementwise("add", row, BF16, 2),
    ]
    return [*layer * layers, norm("rms_norm", row, BF16), weights(width, words)]


def llama_8b() -> list[Work]:
    """Llama 3.1 8B: one token of 32 users, 128 to 256 of context."""
    return decoder(
        width=4096,
        heads=32,
        kv_heads=8,
        head_width=128,
        hidden=14336,
        gated=True,
        layers=32,
        words=128256,
        wide_weights=BFP4,
        placed=True,
        context=256,
    )


def falcon_7b() -> list[Work]:
    """Falcon 7B: one token of 32 users; weights are interleaved."""
    return decoder(
        width=4544,
        heads=71,
        kv_heads=1,
        head_width=64,
        hidden=18176,
        gated=False,
        layers=32,
        words=65024,
        wide_weights=BFP8,
        placed=False,
        context=256,
    )


def encoder(
    *, batch: int, rows: int, width: int, heads: int, hidden: int, layers: int
) -> list[Work]:
    """Layers of attention and feed-forward on whole sequences."""
    every, head = batch * rows, width // heads
    q = sharded((batch, heads, rows, head), BFP8, HEIGHT)
    k = sharded((batch, heads, head, rows), BFP8, HEIGHT)
    scores = sharded((batch, heads, rows, rows), BFP8, HEIGHT)
    layer = [
        product(every, width, 3 * width),
        *moves(1, (every, 3 * width), BFP8),
        Work(mnemonic="matmul", operands=(q, k), output=scores, fidelity=LOFI),
        Work(mnemonic="softmax", operands=(scores,), output=scores, fidelity=LOFI),
        Work(mnemonic="matmul", operands=(scores, q), output=q, fidelity=LOFI),
        *moves(1, (every, width), BFP8),
        product(every, width, width),
        elementwise("add", (every, width), BFP8, 2),
        norm("layer_norm", (every, width), BFP8),
        product(every, width, hidden),
        product(every, hidden, width),
        elementwise("add", (every, width), BFP8, 2),
        norm("layer_norm", (every, width), BFP8),
    ]
    return layer * layers


def bert_large() -> list[Work]:
    """BERT-large, 8 sentences of 384 words."""
    return encoder(batch=8, rows=384, width=1024, heads=16, hidden=4096, layers=24)


def vit_base() -> list[Work]:
    """ViT-base, 8 images of 224x224: 197 tokens, padded to 224."""
    return encoder(batch=8, rows=224, width=768, heads=12, hidden=3072, layers=12)


def _largest_divisor(extent: int, most: int) -> int:
    """The cores that ttnn's convolutions divide so many tiles among."""
    return next(each for each in range(min(extent, most), 0, -1) if extent % each == 0)


def convolution(
    batch: int,
    size: int,
    channels: int,
    filters: int,
    kernel: int,
    stride: int = 1,
    *,
    activations: DataType = BFP8,
    in_dram: bool = False,
    in_rows: bool = False,
    fidelity: MathFidelity = LOFI,
) -> Work:
    """A convolution of square images, whose pixels are tiles or rows."""
    out = size // stride
    pixels = batch * out * out
    # As in tt-metal's ResNet-50, whose first two stages have shards of rows.
    tall = pixels >= 24 * filters
    layout = HEIGHT if tall else BLOCK
    tiles = math.ceil(pixels / 32), math.ceil(filters / 32)
    most = (64, 1) if tall else GRID
    grid = (_largest_divisor(tiles[0], most[0]), _largest_divisor(tiles[1], most[1]))
    place = make_desc if in_dram else sharded
    source = place((1, 1, batch * size * size, channels), activations)
    if in_rows:
        source = make_desc(source.shape, BF16, L1, tiled=False, layout=HEIGHT, grid=(64, 1))
    output = (
        make_desc((1, 1, pixels, filters), activations)
        if in_dram
        else sharded((1, 1, pixels, filters), activations, layout, grid)
    )
    return Work(
        mnemonic="conv2d",
        operands=(source, make_desc((kernel * kernel * channels, filters), BFP8)),
        output=output,
        parameters={
            "kernel_height": kernel,
            "kernel_width": kernel,
            "stride_height": stride,
            "stride_width": stride,
            "input_width": size,
            "in_channels": channels,
            "out_channels": filters,
            "groups": 1,
        },
        fidelity=fidelity,
    )


def resnet_50() -> list[Work]:
    """ResNet-50, 16 images of 224x224."""
    batch = 16
    # The first convolution is folded: 4x4 windows of 16 channels with a stride of 1.
    works = [convolution(batch, 112, 16, 64, 4, in_rows=True)]
    pooled = sharded((1, 1, batch * 56 * 56, 64), BFP8, HEIGHT, (64, 1))
    works.append(
        Work(
            mnemonic="max_pool2d",
            operands=(sharded((1, 1, batch * 112 * 112, 64), BF16, HEIGHT, (64, 1)),),
            output=pooled,
            parameters={"kernel_height": 3, "kernel_width": 3, "input_width": 112},
        )
    )
    channels = 64
    for blocks, width, size in ((3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7)):
        for block in range(blocks):
            stride = 2 if block == 0 and size < 56 else 1
            before = size * stride
            works.append(convolution(batch, before, channels, width, 1))
            works.append(convolution(batch, before, width, width, 3, stride))
            works.append(convolution(batch, size, width, 4 * width, 1))
            if block == 0:
                works.append(convolution(batch, before, channels, 4 * width, 1, stride))
            channels = 4 * width
            works.append(elementwise("add", (1, 1, batch * size * size, channels), BFP8, 2))
    works.append(
        Work(
            mnemonic="avg_pool2d",
            operands=(sharded((1, 1, batch * 49, 2048), BF16),),
            output=sharded((1, 1, batch, 2048), BF16),
            parameters={"kernel_height": 7, "kernel_width": 7, "input_width": 7},
        )
    )
    works.append(product(32, 2048, 1024))
    return works


def vgg_unet() -> list[Work]:
    """UNet with the layers of VGG19 on the way down, an image of 256x256."""
    works: list[Work] = []
    channels = 3
    for count, width, size in (
        (2, 64, 256),
        (2, 128, 128),
        (4, 256, 64),
        (4, 512, 32),
        (4, 512, 16),
    ):
        for _ in range(count):
            works.append(convolution(1, size, max(channels, 16), width, 3))
            channels = width
        pooled = sharded((1, 1, size * size // 4, width), BFP8, HEIGHT, (64, 1))
        works.append(
            Work(
                mnemonic="max_pool2d",
                operands=(sharded((1, 1, size * size, width), BF16, HEIGHT, (64, 1)),),
                output=pooled,
                parameters={"kernel_height": 2, "kernel_width": 2},
            )
        )
    works.pop()  # There is no pooling at the lowest level.
    for width, size in ((512, 32), (256, 64), (128, 128), (64, 256)):
        works.append(convolution(1, size, channels, width, 2))  # transposed, stride 2
        works += moves(1, (size * size, 2 * width), BFP8)
        works.append(convolution(1, size, 2 * width, width, 3))
        works.append(convolution(1, size, width, width, 3))
        channels = width
    works.append(convolution(1, 256, 64, 32, 1))
    return works
