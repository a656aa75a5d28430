"""Networks of diffusers: denoisers of images, videos and sounds, and coders of images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
CODER: dict[str, Any] = {
    **STAGES,
    "down_block_types": ["DownEncoderBlock2D"] * 2,
    "up_block_types": ["UpDecoderBlock2D"] * 2,
}
CROSSED: dict[str, Any] = {
    **STAGES,
    "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
    "cross_attention_dim": TEXT,
    "attention_head_dim": 8,
}


def _entry(
    kind: str, name: str, sizes: dict[str, Any], inputs: Callable[[], dict[str, Any]]
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


def _words(count: int = 5) -> Any:
    """What a text encoder makes of a text."""
    return _numbers(1, count, TEXT)


def _ones(*shape: int) -> Any:
    import torch

    return torch.ones(shape, dtype=torch.int64)


def _picture(size: int = 16, channels: int = 4) -> dict[str, Any]:
    return {"sample": _numbers(1, channels, size, size)}


def _noisy(size: int = 16, channels: int = 4) -> dict[str, Any]:
    return {**_picture(size, channels), "timestep": _time()}


def _told(size: int = 16, channels: int = 4) -> dict[str, Any]:
    return {**_noisy(size, channels), "encoder_hidden_states": _words()}


def _hidden(*shape: int) -> dict[str, Any]:
    return {
        "hidden_states": _numbers(*shape),
        "timestep": _time(),
        "encoder_hidden_states": _words(),
    }


def convolutional() -> Iterator[Entry]:
    """Denoisers of stages."""
    stages = {
        **STAGES,
        "down_block_types": ["DownBlock2D", "AttnDownBlock2D"],
        "up_block_types": ["AttnUpBlock2D", "UpBlock2D"],
    }
    yield _entry("denoiser", "UNet2DModel", stages, lambda: _noisy(16, 3))
    yield _entry("denoiser", "UNet2DConditionModel", CROSSED, _told)
    waves = {
        "block_out_channels": [32, 32, 64],
        "sample_size": 64,
        "extra_in_channels": 64,
    }
    yield _entry(
        "denoiser",
        "UNet1DModel",
        waves,
        lambda: {"sample": _numbers(1, 2, 64), "timestep": _time()},
    )
    videos = {
        **CROSSED,
        "down_block_types": ["CrossAttnDownBlock3D", "DownBlock3D"],
        "up_block_types": ["UpBlock3D", "CrossAttnUpBlock3D"],
    }
    yield _entry(
        "denoiser",
        "UNet3DConditionModel",
        videos,
        lambda: {**_told(), "sample": _numbers(1, 4, 3, 16, 16)},
    )
    frames = {
        "block_out_channels": [32, 64],
        "layers_per_block": 1,
        "down_block_types": ["CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"],
        "up_block_types": ["UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"],
        "cross_attention_dim": TEXT,
        "num_attention_heads": [2, 4],
        "projection_class_embeddings_input_dim": 24,
        "addition_time_embed_dim": 8,
    }
    yield _entry(
        "denoiser",
        "UNetSpatioTemporalConditionModel",
        frames,
        lambda: {
            **_told(),
            "sample": _numbers(1, 3, 8, 16, 16),
            "added_time_ids": _numbers(1, 3),
        },
    )
    control = {name: value for name, value in CROSSED.items() if name != "up_block_types"}
    yield _entry(
        "denoiser",
        "ControlNetModel",
        {**control, "conditioning_embedding_out_channels": [8, 16]},
        lambda: {**_told(), "controlnet_cond": _numbers(1, 3, 32, 32)},
    )


def coders() -> Iterator[Entry]:
    """What makes small numbers of images and sounds, and images and sounds of these."""

    def image() -> dict[str, Any]:
        return _picture(32, 3)

    yield _entry("image coder", "AutoencoderKL", CODER, image)
    yield _entry("image coder", "VQModel", {**CODER, "num_vq_embeddings": 17}, image)
    asymmetric = {
        "down_block_types": ["DownEncoderBlock2D"] * 2,
        "up_block_types": ["UpDecoderBlock2D"] * 2,
        "down_block_out_channels": [16, 32],
        "up_block_out_channels": [16, 32],
        "norm_num_groups": 4,
    }
    yield _entry("image coder", "AsymmetricAutoencoderKL", asymmetric, image)
    tiny = {
        "encoder_block_out_channels": [16, 16],
        "decoder_block_out_channels": [16, 16],
        "num_encoder_blocks": [1, 1],
        "num_decoder_blocks": [1, 1],
    }
    yield _entry("image coder", "AutoencoderTiny", tiny, image)
    deep = {
        "latent_channels": 4,
        "attention_head_dim": 8,
        "encoder_block_types": ["ResBlock", "EfficientViTBlock"],
        "decoder_block_types": ["ResBlock", "EfficientViTBlock"],
        "encoder_block_out_channels": [16, 32],
        "decoder_block_out_channels": [16, 32],
        "encoder_layers_per_block": [1, 1],
        "decoder_layers_per_block": [1, 1],
        "encoder_qkv_multiscales": [[], [5]],
        "decoder_qkv_multiscales": [[], [5]],
    }
    yield _entry("image coder", "AutoencoderDC", deep, image)
    sounds = {
        "encoder_hidden_size": 8,
        "downsampling_ratios": [2, 4],
        "channel_multiples": [1, 2],
        "decoder_channels": 8,
        "decoder_input_channels": 4,
    }
    yield _entry(
        "audio coder", "AutoencoderOobleck", sounds, lambda: {"sample": _numbers(1, 2, 64)}
    )


def transformers_of_pictures() -> Iterator[Entry]:
    """Denoisers that are transformers over patches."""

    def classes() -> dict[str, Any]:
        import torch

        given = {"hidden_states": _numbers(1, 4, 8, 8), "timestep": _time()}
        return {**given, "class_labels": torch.tensor([3])}

    yield _entry(
        "denoiser",
        "DiTTransformer2DModel",
        {**HEADS, "sample_size": 8, "num_embeds_ada_norm": 10},
        classes,
    )
    yield _entry(
        "denoiser",
        "PixArtTransformer2DModel",
        {**HEADS, "sample_size": 8, "cross_attention_dim": 32, "caption_channels": TEXT},
        lambda: _hidden(1, 4, 8, 8),
    )
    yield _entry(
        "denoiser",
        "Transformer2DModel",
        {**HEADS, "in_channels": 16, "norm_num_groups": 4, "cross_attention_dim": TEXT},
        lambda: _hidden(1, 16, 8, 8),
    )
    pooled = {"pooled_projection_dim": 20}
    yield _entry(
        "denoiser",
        "SD3Transformer2DModel",
        {**JOINT, **pooled, "sample_size": 8, "in_channels": 4, "caption_projection_dim": 32},
        lambda: {**_hidden(1, 4, 8, 8), "pooled_projections": _numbers(1, 20)},
    )

    def places(*, pooled: bool) -> dict[str, Any]:
        made = {
            **_hidden(1, 16, 8),
            "timestep": _time(0.7),
            "img_ids": _grid(),
            "txt_ids": _numbers(5, 3) * 0,
        }
        return {**made, "pooled_projections": _numbers(1, 20)} if pooled else made

    axes = {"in_channels": 8, "num_single_layers": 2, "axes_dims_rope": [4, 6, 6]}
    yield _entry(
        "denoiser",
        "FluxTransformer2DModel",
        {**JOINT, **pooled, **axes},
        lambda: places(pooled=True),
    )
    approximator = {
        "approximator_num_channels": 8,
        "approximator_hidden_dim": 32,
        "approximator_layers": 1,
    }
    yield _entry(
        "denoiser",
        "ChromaTransformer2DModel",
        {**JOINT, **axes, **approximator},
        lambda: places(pooled=False),
    )
    yield _entry(
        "denoiser",
        "SanaTransformer2DModel",
        {
            **HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "sample_size": 8,
            "num_cross_attention_heads": 2,
            "cross_attention_head_dim": 16,
            "cross_attention_dim": 32,
            "caption_channels": TEXT,
        },
        lambda: _hidden(1, 4, 8, 8),
    )
    yield _entry(
        "denoiser",
        "AuraFlowTransformer2DModel",
        {
            "num_attention_heads": 2,
            "attention_head_dim": 16,
            "sample_size": 8,
            "num_mmdit_layers": 1,
            "num_single_dit_layers": 1,
            "joint_attention_dim": TEXT,
            "caption_projection_dim": 32,
            "pos_embed_max_size": 16,
        },
        lambda: {**_hidden(1, 4, 8, 8), "timestep": _time(0.7)},
    )
    yield _entry(
        "denoiser",
        "CogView3PlusTransformer2DModel",
        {
            **HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "text_embed_dim": TEXT,
            "time_embed_dim": 16,
            "condition_dim": 8,
            "pos_embed_max_size": 8,
            "sample_size": 8,
        },
        lambda: {
            **_hidden(1, 4, 8, 8),
            "original_size": _numbers(1, 2),
            "target_size": _numbers(1, 2),
            "crop_coords": _numbers(1, 2),
        },
    )
    yield _entry(
        "denoiser",
        "PriorTransformer",
        {**HEADS, "embedding_dim": 12, "num_embeddings": 5, "additional_embeddings": 4},
        lambda: {
            "hidden_states": _numbers(1, 12),
            "timestep": _time(),
            "proj_embedding": _numbers(1, 12),
            "encoder_hidden_states": _numbers(1, 5, 12),
        },
    )


def _grid() -> Any:
    """The rows and columns of 16 patches."""
    import torch

    rows, columns = torch.meshgrid(torch.arange(4.0), torch.arange(4.0), indexing="ij")
    return torch.stack([torch.zeros(4, 4), rows, columns], -1).reshape(16, 3)


def transformers_of_videos() -> Iterator[Entry]:
    """Denoisers of frames, and of sounds."""
    yield _entry(
        "denoiser",
        "CogVideoXTransformer3DModel",
        {
            **HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "time_embed_dim": 12,
            "text_embed_dim": TEXT,
            "sample_width": 8,
            "sample_height": 8,
            "sample_frames": 5,
            "max_text_seq_length": 5,
        },
        lambda: _hidden(1, 2, 4, 8, 8),
    )
    yield _entry(
        "denoiser",
        "LatteTransformer3DModel",
        {
            **HEADS,
            "in_channels": 4,
            "sample_size": 8,
            "patch_size": 2,
            "cross_attention_dim": 32,
            "caption_channels": TEXT,
            "num_embeds_ada_norm": 1000,
            "norm_type": "ada_norm_single",
            "norm_elementwise_affine": False,
            "video_length": 3,
        },
        lambda: _hidden(1, 4, 3, 8, 8),
    )
    yield _entry(
        "denoiser",
        "WanTransformer3DModel",
        {
            **HEADS,
            "in_channels": 4,
            "out_channels": 4,
            "text_dim": TEXT,
            "freq_dim": 16,
            "ffn_dim": 48,
            "rope_max_seq_len": 32,
        },
        lambda: _hidden(1, 4, 3, 8, 8),
    )
    yield _entry(
        "denoiser",
        "LTXVideoTransformer3DModel",
        {
            **HEADS,
            "in_channels": 8,
            "out_channels": 8,
            "cross_attention_dim": 32,
            "caption_channels": TEXT,
        },
        lambda: {
            **_hidden(1, 24, 8),
            "encoder_attention_mask": _ones(1, 5),
            "num_frames": 2,
            "height": 3,
            "width": 4,
        },
    )
    yield _entry(
        "denoiser",
        "MochiTransformer3DModel",
        {
            **HEADS,
            "pooled_projection_dim": 16,
            "in_channels": 4,
            "text_embed_dim": TEXT,
            "time_embed_dim": 8,
            "max_sequence_length": 5,
        },
        lambda: {**_hidden(1, 4, 2, 8, 8), "encoder_attention_mask": _ones(1, 5) == 1},
    )


def entries() -> Iterator[Entry]:
    """All of them."""
    yield from convolutional()
    yield from coders()
    yield from transformers_of_pictures()
    yield from transformers_of_videos()
