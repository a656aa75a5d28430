"""Networks of diffusers: denoisers of images, videos and sounds, and coders of images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from model_zoo.entry import Entry, Sample

TEXT = 24
"""Numbers that a text encoder makes of a word."""
HEADS: dict[str, Any] = {"num_attention_heads": 2, "attention_head_dim": 16, "num_layers": 2}
"""A tiny transformer, by the names that most have."""
STAGES: dict[str, Any] = {
    "block_out_channels": [16, 32],
    "layers_per_block": 1,
    "norm_num_groups": 4,
}
"""A tiny network of two stages."""
JOINT: dict[str, Any] = {**HEADS, "joint_attention_dim": TEXT}
ENDS: dict[str, Any] = {
    "down_block_types": ["DownEncoderBlock2D"] * 2,
    "up_block_types": ["UpDecoderBlock2D"] * 2,
}
CODER = STAGES | ENDS
CROSSED: dict[str, Any] = {
    **STAGES,
    "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
    "cross_attention_dim": TEXT,
    "attention_head_dim": 8,
}


def _entry(
    name: str, inputs: Callable[[], dict[str, Any]], *, kind: str = "denoiser", **sizes: Any
) -> Entry:
    def make() -> Sample:
        from model_zoo.torchvision_models import import_torchvision

        # Some of transformers' modules, which this library imports, need it.
        import_torchvision()
        import diffusers

        return Sample(getattr(diffusers, name)(**sizes), kwargs=inputs())

    return Entry("diffusers", kind, name, make)


def _numbers(*shape: int) -> Any:
    import torch

    return torch.randn(shape)


def _time(value: float = 7) -> Any:
    import torch

    return torch.tensor([value])


def _ones(*shape: int) -> Any:
    import torch

    return torch.ones(shape, dtype=torch.int64)


def _told() -> dict[str, Any]:
    return {
        "sample": _numbers(1, 4, 16, 16),
        "timestep": _time(),
        "encoder_hidden_states": _numbers(1, 5, TEXT),
    }


def _hidden(*shape: int) -> dict[str, Any]:
    return {
        "hidden_states": _numbers(*shape),
        "timestep": _time(),
        "encoder_hidden_states": _numbers(1, 5, TEXT),
    }


def convolutional() -> Iterator[Entry]:
    """Denoisers of stages."""
    yield _entry(
        "UNet2DModel",
        lambda: {"sample": _numbers(1, 3, 16, 16), "timestep": _time()},
        **STAGES,
        down_block_types=["DownBlock2D", "AttnDownBlock2D"],
        up_block_types=["AttnUpBlock2D", "UpBlock2D"],
    )
    yield _entry("UNet2DConditionModel", _told, **CROSSED)
    yield _entry(
        "UNet1DModel",
        lambda: {"sample": _numbers(1, 2, 64), "timestep": _time()},
        block_out_channels=[32, 32, 64],
        sample_size=64,
        extra_in_channels=64,
    )
    videos: dict[str, Any] = {
        "down_block_types": ["CrossAttnDownBlock3D", "DownBlock3D"],
        "up_block_types": ["UpBlock3D", "CrossAttnUpBlock3D"],
    }
    yield _entry(
        "UNet3DConditionModel",
        lambda: {**_told(), "sample": _numbers(1, 4, 3, 16, 16)},
        **CROSSED | videos,
    )
    yield _entry(
        "UNetSpatioTemporalConditionModel",
        lambda: {**_told(), "sample": _numbers(1, 3, 8, 16, 16), "added_time_ids": _numbers(1, 3)},
        block_out_channels=[32, 64],
        layers_per_block=1,
        down_block_types=["CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"],
        up_block_types=["UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"],
        cross_attention_dim=TEXT,
        num_attention_heads=[2, 4],
        projection_class_embeddings_input_dim=24,
        addition_time_embed_dim=8,
    )
    control = {name: value for name, value in CROSSED.items() if name != "up_block_types"}
    yield _entry(
        "ControlNetModel",
        lambda: {**_told(), "controlnet_cond": _numbers(1, 3, 32, 32)},
        **control,
        conditioning_embedding_out_channels=[8, 16],
    )


def coders() -> Iterator[Entry]:
    """What makes small numbers of images and sounds, and images and sounds of these."""

    image = partial(_entry, inputs=lambda: {"sample": _numbers(1, 3, 32, 32)}, kind="image coder")
    yield image("AutoencoderKL", **CODER)
    yield image("VQModel", **CODER, num_vq_embeddings=17)
    yield image(
        "AsymmetricAutoencoderKL",
        **ENDS,
        down_block_out_channels=[16, 32],
        up_block_out_channels=[16, 32],
        norm_num_groups=4,
    )
    yield image(
        "AutoencoderTiny",
        encoder_block_out_channels=[16, 16],
        decoder_block_out_channels=[16, 16],
        num_encoder_blocks=[1, 1],
        num_decoder_blocks=[1, 1],
    )
    yield image(
        "AutoencoderDC",
        latent_channels=4,
        attention_head_dim=8,
        encoder_block_types=["ResBlock", "EfficientViTBlock"],
        decoder_block_types=["ResBlock", "EfficientViTBlock"],
        encoder_block_out_channels=[16, 32],
        decoder_block_out_channels=[16, 32],
        encoder_layers_per_block=[1, 1],
        decoder_layers_per_block=[1, 1],
        encoder_qkv_multiscales=[[], [5]],
        decoder_qkv_multiscales=[[], [5]],
    )
    yield _entry(
        "AutoencoderOobleck",
        lambda: {"sample": _numbers(1, 2, 64)},
        kind="audio coder",
        encoder_hidden_size=8,
        downsampling_ratios=[2, 4],
        channel_multiples=[1, 2],
        decoder_channels=8,
        decoder_input_channels=4,
    )


def transformers_of_pictures() -> Iterator[Entry]:
    """Denoisers that are transformers over patches."""

    def classes() -> dict[str, Any]:
        import torch

        given = {"hidden_states": _numbers(1, 4, 8, 8), "timestep": _time()}
        return {**given, "class_labels": torch.tensor([3])}

    yield _entry("DiTTransformer2DModel", classes, **HEADS, sample_size=8, num_embeds_ada_norm=10)
    yield _entry(
        "PixArtTransformer2DModel",
        lambda: _hidden(1, 4, 8, 8),
        **HEADS,
        sample_size=8,
        cross_attention_dim=32,
        caption_channels=TEXT,
    )
    yield _entry(
        "Transformer2DModel",
        lambda: _hidden(1, 16, 8, 8),
        **HEADS,
        in_channels=16,
        norm_num_groups=4,
        cross_attention_dim=TEXT,
    )
    yield _entry(
        "SD3Transformer2DModel",
        lambda: {**_hidden(1, 4, 8, 8), "pooled_projections": _numbers(1, 20)},
        **JOINT,
        pooled_projection_dim=20,
        sample_size=8,
        in_channels=4,
        caption_projection_dim=32,
    )

    def places(*, pooled: bool) -> dict[str, Any]:
        made = {
            **_hidden(1, 16, 8),
            "timestep": _time(0.7),
            "img_ids": _grid(),
            "txt_ids": _numbers(5, 3) * 0,
        }
        return {**made, "pooled_projections": _numbers(1, 20)} if pooled else made

    axes: dict[str, Any] = {"in_channels": 8, "num_single_layers": 2, "axes_dims_rope": [4, 6, 6]}
    yield _entry(
        "FluxTransformer2DModel",
        lambda: places(pooled=True),
        **JOINT,
        **axes,
        pooled_projection_dim=20,
    )
    yield _entry(
        "ChromaTransformer2DModel",
        lambda: places(pooled=False),
        **JOINT,
        **axes,
        approximator_num_channels=8,
        approximator_hidden_dim=32,
        approximator_layers=1,
    )
    yield _entry(
        "SanaTransformer2DModel",
        lambda: _hidden(1, 4, 8, 8),
        **HEADS,
        in_channels=4,
        out_channels=4,
        sample_size=8,
        num_cross_attention_heads=2,
        cross_attention_head_dim=16,
        cross_attention_dim=32,
        caption_channels=TEXT,
    )
    yield _entry(
        "AuraFlowTransformer2DModel",
        lambda: {**_hidden(1, 4, 8, 8), "timestep": _time(0.7)},
        num_attention_heads=2,
        attention_head_dim=16,
        sample_size=8,
        num_mmdit_layers=1,
        num_single_dit_layers=1,
        joint_attention_dim=TEXT,
        caption_projection_dim=32,
        pos_embed_max_size=16,
    )
    yield _entry(
        "CogView3PlusTransformer2DModel",
        lambda: {
            **_hidden(1, 4, 8, 8),
            "original_size": _numbers(1, 2),
            "target_size": _numbers(1, 2),
            "crop_coords": _numbers(1, 2),
        },
        **HEADS,
        in_channels=4,
        out_channels=4,
        text_embed_dim=TEXT,
        time_embed_dim=16,
        condition_dim=8,
        pos_embed_max_size=8,
        sample_size=8,
    )
    yield _entry(
        "PriorTransformer",
        lambda: {
            "hidden_states": _numbers(1, 12),
            "timestep": _time(),
            "proj_embedding": _numbers(1, 12),
            "encoder_hidden_states": _numbers(1, 5, 12),
        },
        **HEADS,
        embedding_dim=12,
        num_embeddings=5,
        additional_embeddings=4,
    )


def _grid() -> Any:
    """The rows and columns of 16 patches."""
    import torch

    rows, columns = torch.meshgrid(torch.arange(4.0), torch.arange(4.0), indexing="ij")
    return torch.stack([torch.zeros(4, 4), rows, columns], -1).reshape(16, 3)


def transformers_of_videos() -> Iterator[Entry]:
    """Denoisers of frames, and of sounds."""
    yield _entry(
        "CogVideoXTransformer3DModel",
        lambda: _hidden(1, 2, 4, 8, 8),
        **HEADS,
        in_channels=4,
        out_channels=4,
        time_embed_dim=12,
        text_embed_dim=TEXT,
        sample_width=8,
        sample_height=8,
        sample_frames=5,
        max_text_seq_length=5,
    )
    yield _entry(
        "LatteTransformer3DModel",
        lambda: _hidden(1, 4, 3, 8, 8),
        **HEADS,
        in_channels=4,
        sample_size=8,
        patch_size=2,
        cross_attention_dim=32,
        caption_channels=TEXT,
        num_embeds_ada_norm=1000,
        norm_type="ada_norm_single",
        norm_elementwise_affine=False,
        video_length=3,
    )
    yield _entry(
        "WanTransformer3DModel",
        lambda: _hidden(1, 4, 3, 8, 8),
        **HEADS,
        in_channels=4,
        out_channels=4,
        text_dim=TEXT,
        freq_dim=16,
        ffn_dim=48,
        rope_max_seq_len=32,
    )
    yield _entry(
        "LTXVideoTransformer3DModel",
        lambda: {
            **_hidden(1, 24, 8),
            "encoder_attention_mask": _ones(1, 5),
            "num_frames": 2,
            "height": 3,
            "width": 4,
        },
        **HEADS,
        in_channels=8,
        out_channels=8,
        cross_attention_dim=32,
        caption_channels=TEXT,
    )
    yield _entry(
        "MochiTransformer3DModel",
        lambda: {**_hidden(1, 4, 2, 8, 8), "encoder_attention_mask": _ones(1, 5) == 1},
        **HEADS,
        pooled_projection_dim=16,
        in_channels=4,
        text_embed_dim=TEXT,
        time_embed_dim=8,
        max_sequence_length=5,
    )


def entries() -> Iterator[Entry]:
    """All of them."""
    yield from convolutional()
    yield from coders()
    yield from transformers_of_pictures()
    yield from transformers_of_videos()
