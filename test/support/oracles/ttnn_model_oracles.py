"""What operations compute that single models use, in torch."""

from __future__ import annotations

from typing import Any

import torch
from oracles.ttnn_oracle import Oracle, Shape, between, draw
from torch.nn import functional

_FOURS = ((2, 3, 33, 70), (1, 2, 5, 31))


def _plain(
    expected: Any, *ranges: tuple[float, float], args: tuple[Any, ...] = (), **facts: Any
) -> Oracle:
    given = {"shapes": ((2, 96, 192), (3, 33, 70)), "memories": ("dram", "block"), "room": 2.0}
    return Oracle(
        expected,
        between(*ranges or ((-4, 4),)),
        lambda operation, *tensors: operation(*tensors, *args),
        **{**given, **facts},
    )


def _tiles(expected: Any, drawn: Any, call: Any = None, **facts: Any) -> Oracle:
    given = {
        "dtypes": ("bfloat16", "float32"),
        "layouts": ("TILE_LAYOUT",),
        "memories": ("dram",),
        "shapes": _FOURS,
        "room": 2.0,
    }
    return Oracle(expected, drawn, call, **{**given, **facts})


def _fixed(*shapes: Shape, low: float = -2, high: float = 2) -> Any:
    """Operands of these shapes, whatever the case's."""
    return lambda shape: [draw(each, low, high, i) for i, each in enumerate(shapes)]


def _average(x: torch.Tensor) -> torch.Tensor:
    """Beginning at 0, as on Tenstorrent's simulator."""
    found, before = [], torch.zeros_like(x[..., 0])
    for each in x.unbind(-1):
        before = 0.25 * before + 0.75 * each
        found.append(before)
    return torch.stack(found, -1)


def _images(x: torch.Tensor) -> torch.Tensor:
    return x.var((2, 3), correction=0, keepdim=True)


def _heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    return x.unflatten(-1, (heads, -1)).movedim(-2, 1)


def _boltz(x: torch.Tensor) -> list[torch.Tensor]:
    query, key, value = x[0].unflatten(-1, (3, 2, -1)).permute(2, 3, 0, 1, 4)
    return [query, key.transpose(-1, -2), value]


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v)


def _joint(*given: torch.Tensor) -> list[torch.Tensor]:
    joined = [torch.cat([a, b], 2) for a, b in zip(given[:3], given[3:], strict=True)]
    return list(_attend(*joined).split([given[0].shape[2], given[3].shape[2]], 2))


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * cos[:, :, : x.shape[2]] + torch.cat([-second, first], -1) * sin[:, :, : x.shape[2]]


def _own_matrices(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The formula of ttnn's own documentation."""
    matrices = b.repeat_interleave(a.shape[1] // b.shape[1], 1)
    return torch.matmul(a.transpose(0, 2), matrices).transpose(0, 2)


def _gated(x: torch.Tensor) -> torch.Tensor:
    """In pairs of 32 columns, as on Tenstorrent's simulator."""
    gate, up = x.unflatten(-1, (-1, 2, 32)).unbind(-2)
    return (functional.silu(gate) * up).flatten(-2)


_VOLUME = ((2, 4, 5, 6, 32), (8 * 32, 40), (1, 40))


def _convolved(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    weight = w.reshape(2, 2, 2, 32, 40).permute(4, 3, 0, 1, 2)
    result = functional.conv3d(x.movedim(-1, 1), weight, b[0], (1, 2, 1), (0, 1, 1))
    return result.movedim(1, -1)


MODELS: dict[str, Oracle] = {
    "softcap": _plain(lambda x: 5 * torch.tanh(x / 5), args=(5.0,)),
    "xielu": _plain(
        lambda x: torch.where(x > 0, 0.8 * x * x, 0.8 * (torch.expm1(x) - x)) + 0.5 * x,
        (-4, -0.25),
        # Its terms are larger than their sum.
        room=8.0,
    ),
    "clamped_silu_glu": _plain(
        lambda gate, up: functional.silu(gate.clamp(max=1.25)) * up.clamp(-1.25, 1.25),
        (-4, 4),
        (-4, 4),
        args=(1.25,),
    ),
    "situ_glu": _plain(
        lambda gate, up: 2 * torch.tanh(gate / 2) * gate.sigmoid() * 3 * torch.tanh(up / 3),
        (-4, 4),
        (-4, 4),
        args=(2.0, 3.0),
        room=3.0,
    ),
    "snake_beta": _plain(
        lambda x, a, b: x + torch.sin(a * x) ** 2 / b, (-4, 4), (0.5, 1), (0.5, 2)
    ),
    "logical_not_": _plain(lambda x: (x == 0).double(), exact=True, writes=0, memories=("dram",)),
    "ema": _tiles(
        _average,
        lambda shape: [draw((1, *shape[1:]), -2, 2)],
        lambda operation, x: operation(x, 0.25),
        dtypes=("bfloat16",),
    ),
    "var_hw": _tiles(_images, between((-2, 2))),
    "std_hw": _tiles(lambda x: _images(x).sqrt(), between((-2, 2))),
    "normalize_hw": _tiles(
        lambda x: (x - x.mean((2, 3), keepdim=True)) / _images(x).sqrt(), between((-2, 2))
    ),
    "normalize_global": _tiles(lambda x: (x - x.mean()) / x.std(correction=0), between((-2, 2))),
    "experimental.fast_reduce_nc": _tiles(
        lambda x: x.sum((0, 1), keepdim=True),
        between((0, 2)),
        lambda operation, x, **more: operation(x, dims=[0, 1], **more),
    ),
    "experimental.fast_reduce_nc_split": _tiles(
        lambda x: list(x.sum(1, keepdim=True).split([32, 64], -1)),
        _fixed((2, 3, 33, 96), low=0),
        lambda operation, x: operation(x, dim=1, split_output_width=32),
    ),
    "experimental.hc_sum_reduce": _tiles(
        lambda x: x.unflatten(-1, (-1, 32)).sum(-1), _fixed((1, 1, 32, 2048), low=0)
    ),
    "experimental.repeat_and_interleave_eltwise_mul": _tiles(
        lambda a, b: a.repeat(1, 1, 1, 64) * b.repeat_interleave(32, -1),
        _fixed((1, 1, 33, 32), (1, 1, 33, 64)),
    ),
    "experimental.prefix_scan": _tiles(
        lambda a, bx, h: torch.stack(
            [
                sum(bx[0, 0, i] * a[0, 0, i + 1 : n + 1].prod(0) for i in range(n + 1))
                + h[0, 0, 0] * a[0, 0, : n + 1].prod(0)
                for n in range(a.shape[2])
            ]
        )[None, None],
        lambda shape: [
            draw((1, 1, 9, 64), 0.25, 0.75),
            draw((1, 1, 9, 64), 0, 2, 1),
            draw((1, 1, 1, 64), 0, 2, 2),
        ],
    ),
    "experimental.intimg": _tiles(lambda x: x.cumsum(1).cumsum(2), _fixed((1, 7, 9, 33), low=0)),
    "indexed_fill": Oracle(
        lambda index, x, new: x.index_copy(0, index, new),
        lambda shape: [torch.tensor([2, 0]), draw((3, *shape), -2, 2), draw((2, *shape), -2, 2, 1)],
        shapes=((33, 70), (1, 5, 31)),
        typed_by=1,
        exact=True,
    ),
    "tosa_gather": Oracle(
        lambda x, index: x[torch.arange(2)[:, None], index],
        lambda shape: [draw((2, 5, 33), -2, 2), torch.tensor([[4, 0, 4], [1, 1, 3]])],
        shapes=((1,),),
        memories=("dram",),
        exact=True,
    ),
    "tosa_scatter": Oracle(
        lambda x, index, new: x.scatter(1, index[..., None].expand(-1, -1, 33), new),
        lambda shape: [
            draw((2, 5, 33), -2, 2),
            torch.tensor([[4, 0, 2], [1, 0, 3]]),
            draw((2, 3, 33), -2, 2, 1),
        ],
        shapes=((1,),),
        exact=True,
    ),
    "experimental.transpose_rm": Oracle(
        lambda x: x.transpose(-1, -2),
        between((-2, 2)),
        shapes=((2, 32, 96),),
        layouts=("ROW_MAJOR_LAYOUT",),
        dtypes=("bfloat16", "float32"),
        memories=("dram",),
        exact=True,
    ),
    "fold": Oracle(
        lambda x: (
            functional.pad(x, (0, 0, 1, 1, 2, 2))
            .unflatten(2, (-1, 3))
            .unflatten(1, (-1, 2))
            .transpose(2, 3)
            .flatten(3)
        ),
        lambda shape: [draw((2, 8, 7, 5), -2, 2)],
        lambda operation, x, **more: operation(x, 2, 3, padding=[2, 1], **more),
        shapes=((1,),),
        layouts=("ROW_MAJOR_LAYOUT",),
        dtypes=("bfloat16", "float32"),
        memories=("dram",),
        exact=True,
    ),
    "experimental.typecast": Oracle(
        lambda x: x,
        between((-2, 2)),
        lambda operation, x: operation(x, x.dtype),
        shapes=((33, 70),),
        exact=True,
    ),
    "experimental.minimal_matmul": _tiles(
        lambda x, w, b: _gated(x @ w + b),
        _fixed((2, 33, 70), (70, 128), (1, 128), low=0),
        lambda operation, x, w, b, **more: operation(x, w, bias_tensor=b, fuse_swiglu=True, **more),
        memory=None,
    ),
    "experimental.minimal_matmul_split": _tiles(
        lambda x, w: list((x @ w).chunk(2, -1)),
        _fixed((33, 70), (70, 128), low=0),
        lambda operation, x, w, **more: operation(x, w, chunks=2, **more),
    ),
    "experimental.dit_minimal_matmul_addcmul_fused": _tiles(
        lambda x, w, first, second: first + 0.5 * (x @ w) * second,
        _fixed((33, 70), (70, 40), (33, 40), (1, 40), low=0),
        lambda operation, x, w, *more, **others: operation(x, w, 0.5, *more, **others),
    ),
    "experimental.attn_matmul": _tiles(_own_matrices, _fixed((1, 4, 3, 70), (3, 1, 70, 40), low=0)),
    "experimental.group_attn_matmul": _tiles(
        _own_matrices, _fixed((1, 4, 3, 70), (3, 2, 70, 40), low=0)
    ),
    "experimental.attn_matmul_from_cache": _tiles(
        lambda a, b: _own_matrices(a, b[:, :, :64].transpose(-1, -2)),
        _fixed((1, 4, 3, 70), (3, 1, 96, 70), low=0),
        lambda operation, a, b, **more: operation(a, b, num_tokens=40, transpose_hw=True, **more),
    ),
    "experimental.nlp_create_qkv_heads_falcon7b": _tiles(
        lambda x: list(_heads(x[:, 0], 73).split([71, 1, 1], 1)),
        _fixed((2, 1, 5, 4672)),
        exact=True,
    ),
    "experimental.nlp_create_qkv_heads_vit": _tiles(
        lambda x: [_heads(each, 12) for each in x[:, 0].chunk(3, -1)],
        _fixed((2, 1, 5, 2304)),
        exact=True,
    ),
    "experimental.nlp_create_qkv_heads_segformer": _tiles(
        lambda x: [_heads(x[:, 0], 2)] * 3, _fixed((2, 1, 5, 64)), exact=True
    ),
    "experimental.nlp_create_qkv_heads_boltz": _tiles(
        _boltz,
        _fixed((1, 5, 5, 66)),
        lambda operation, x, **more: operation(x, num_heads=2, **more),
        exact=True,
    ),
    "experimental.nlp_concat_heads_boltz": _tiles(
        lambda x: x.permute(1, 2, 0, 3).flatten(2)[None], _fixed((2, 5, 5, 33)), exact=True
    ),
    "experimental.nlp_create_q_heads_split": _tiles(
        lambda x: list(_heads(x[:, 0], 2).split([32, 38], -1)),
        _fixed((2, 1, 5, 140)),
        lambda operation, x, **more: operation(x, num_heads=2, split_head_dim=32, **more),
        exact=True,
    ),
    "experimental.rotary_embedding_hf": _tiles(
        _rotated, _fixed((1, 3, 33, 64), (1, 1, 64, 64), (1, 1, 64, 64))
    ),
    "transformer.flash_mla_prefill": _tiles(
        lambda q, k: functional.scaled_dot_product_attention(
            q, k.expand(-1, 4, -1, -1), k[..., :40].expand(-1, 4, -1, -1), is_causal=True
        ),
        _fixed((2, 4, 33, 70), (2, 1, 33, 70)),
        lambda operation, q, k, **more: operation(q, k, 40, **more),
        room=4.0,
    ),
    "transformer.joint_scaled_dot_product_attention": _tiles(
        _joint,
        _fixed(*[(2, 3, 33, 40)] * 3, *[(2, 3, 9, 40)] * 3),
        lambda operation, *given, **more: operation(*given, joint_strategy="rear", **more),
        room=4.0,
    ),
    "experimental.conv3d": _tiles(
        _convolved,
        _fixed(*_VOLUME, low=0),
        lambda operation, x, w, b, **more: operation(
            input_tensor=x,
            weight_tensor=w,
            bias_tensor=b,
            output_channels=40,
            kernel_size=[2, 2, 2],
            stride=[1, 2, 1],
            padding=[0, 1, 1],
            **more,
        ),
        layouts=("ROW_MAJOR_LAYOUT",),
    ),
    "experimental.complex_mul": _tiles(
        lambda a, b, c, d: [a * c - b * d, a * d + b * c],
        between((1, 2), (-2, -1), (1, 2), (1, 2)),
        layouts=("ROW_MAJOR_LAYOUT",),
    ),
    "experimental.fft": _tiles(
        lambda a, b: list(torch.view_as_real(torch.fft.fft(torch.complex(a, b))).unbind(-1)),
        between((-2, 2), (-2, 2)),
        layouts=("ROW_MAJOR_LAYOUT",),
        shapes=((3, 60), (2, 3, 7)),
    ),
    "experimental.ifft": _tiles(
        lambda a, b: list(torch.view_as_real(torch.fft.ifft(torch.complex(a, b))).unbind(-1)),
        between((-2, 2), (-2, 2)),
        layouts=("ROW_MAJOR_LAYOUT",),
        shapes=((3, 60), (2, 3, 7)),
    ),
}
