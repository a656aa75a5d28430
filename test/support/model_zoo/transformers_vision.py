"""Models of images and videos of transformers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model_zoo.entry import Entry, Sample
from model_zoo.transformers_text import GPT, create, tokens

VIT: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 32,
    "patch_size": 8,
    "initializer_range": 0.2,
}
"""A tiny transformer over patches."""
STAGES: dict[str, Any] = {
    "hidden_sizes": [8, 16, 24, 32],
    "depths": [1, 1, 1, 1],
    "image_size": 64,
    "initializer_range": 0.2,
}
"""A tiny network of four stages."""
SWIN: dict[str, Any] = {
    "image_size": 32,
    "patch_size": 4,
    "embed_dim": 16,
    "depths": [2, 2],
    "num_heads": [2, 4],
    "window_size": 4,
    "initializer_range": 0.2,
}


def pixels(size: int, batch: int = 1, channels: int = 3) -> Any:
    """What an image processor makes of images."""
    import torch

    return torch.randn(batch, channels, size, size)


def frames(count: int, size: int) -> Any:
    """What a video processor makes of a video."""
    import torch

    return torch.randn(1, count, 3, size, size)


def _image(
    name: str,
    sizes: dict[str, Any],
    /,
    model: str = "ForImageClassification",
    size: int | None = None,
    kind: str = "image",
    **more: Any,
) -> Entry:
    """A model of images; `size` if the image is larger than the configuration says."""

    def make() -> Sample:
        config = {**sizes, **more}
        shown = size or config["image_size"]
        return Sample(create(name, config, model), kwargs={"pixel_values": pixels(shown, batch=2)})

    return Entry("transformers", kind, f"{name}{model}", make)


def _video(name: str, sizes: dict[str, Any], /, model: str = "Model", **more: Any) -> Entry:
    def make() -> Sample:
        config = {**sizes, "num_frames": 4, **more}
        return Sample(create(name, config, model), kwargs={"pixel_values": frames(4, 32)})

    return Entry("transformers", "video", f"{name}{model}", make)


def transformers_of_patches() -> Iterator[Entry]:
    """ViT and its kin."""
    yield _image("ViT", VIT)
    yield _image("DeiT", VIT)
    yield _image("Beit", VIT, use_relative_position_bias=True, out_indices=[1, 2])
    yield _image("Data2VecVision", VIT, use_relative_position_bias=True, out_indices=[1, 2])
    yield _image("Dinov2", VIT)
    yield _image("Dinov2WithRegisters", VIT, num_register_tokens=2)
    yield _image("DINOv3ViT", VIT, model="Model", num_register_tokens=2)
    yield _image("IJepa", VIT)
    yield _image("ViTMSN", VIT)
    yield Entry("transformers", "image", "ViTMAEModel", _vit_mae)
    yield _image("Hiera", VIT, embed_dim=16, depths=[1, 1], num_heads=[2, 4], **_HIERA)
    yield _image("Yolos", VIT, model="ForObjectDetection", image_size=[32, 32], size=32, **_QUERIES)
    yield _image("VitDet", VIT, model="Model")
    yield Entry("transformers", "image", "ImageGPTForCausalImageModeling", _image_gpt)


def _vit_mae() -> Sample:
    import torch

    # Without it the model draws numbers by itself, which are others than ours.
    inputs = {"pixel_values": pixels(32, batch=2), "noise": torch.rand(2, 16)}
    return Sample(create("ViTMAE", VIT, "Model"), kwargs=inputs)


def _image_gpt() -> Sample:
    sizes = {**GPT, "vocab_size": 17, "n_positions": 16}
    return Sample(create("ImageGPT", sizes, "ForCausalImageModeling"), (tokens(2, 12, 16),))


_HIERA: dict[str, Any] = {
    "image_size": [32, 32],
    "patch_stride": [4, 4],
    "patch_size": [7, 7],
    "patch_padding": [3, 3],
    "masked_unit_size": [4, 4],
    "num_query_pool": 1,
    "query_stride": [2, 2],
    "size": 32,
}
_QUERIES = {"num_detection_tokens": 5}


def networks_of_stages() -> Iterator[Entry]:
    """Convolutions, and attention in windows."""
    yield _image("Swin", SWIN)
    yield _image("Swinv2", SWIN)
    yield _image("DonutSwin", SWIN)
    yield _image("MaskFormerSwin", SWIN, model="Model")
    yield _image("Swin2SR", SWIN, model="ForImageSuperResolution", patch_size=1, window_size=8)
    yield _image("ConvNext", STAGES)
    yield _image("ConvNextV2", STAGES)
    yield _image("DINOv3ConvNext", STAGES, model="Model")
    yield _image("FocalNet", SWIN, focal_levels=[2, 2], focal_windows=[3, 3])
    yield _image("PoolFormer", STAGES)
    yield _image("Pvt", STAGES, num_attention_heads=[1, 2, 3, 4])
    yield _image("PvtV2", STAGES, num_attention_heads=[1, 2, 3, 4])
    yield _image("Segformer", STAGES, model="ForSemanticSegmentation", **_SEGFORMER)
    yield _image("GLPN", STAGES, model="ForDepthEstimation", **_SEGFORMER)
    yield _image("ResNet", STAGES, embedding_size=8)
    yield _image("RegNet", STAGES, embedding_size=8, groups_width=4)
    yield _image("Bit", STAGES, embedding_size=8, num_groups=4)
    yield _image("MobileNetV1", {"image_size": 32, "depth_multiplier": 0.25})
    yield _image("MobileNetV2", {"image_size": 32, "depth_multiplier": 0.25})
    yield _image("MobileViT", {"image_size": 64, "hidden_sizes": [24, 32, 40], **_MOBILE_VIT})
    yield _image("MobileViTV2", {"image_size": 64, "width_multiplier": 0.25})
    yield _image("EfficientNet", {"image_size": 64, "width_coefficient": 0.25, "hidden_dim": 320})
    yield _image("Levit", _LEVIT)
    yield _image("HGNetV2", _HGNET)
    yield _image("SwiftFormer", _SWIFT)
    yield _image("TextNet", {"image_size": 64})


_SEGFORMER = {"num_attention_heads": [1, 2, 3, 4], "decoder_hidden_size": 16}
_MOBILE_VIT = {"neck_hidden_sizes": [8, 8, 16, 24, 32, 40, 48], "num_attention_heads": 4}
_LEVIT: dict[str, Any] = {
    "image_size": 64,
    "hidden_sizes": [16, 24, 32],
    "num_attention_heads": [2, 3, 4],
    "depths": [1, 1, 1],
    "key_dim": [8, 8, 8],
    "initializer_range": 0.2,
}
_HGNET: dict[str, Any] = {
    "image_size": 64,
    "embedding_size": 8,
    "stem_channels": [3, 8, 8],
    "hidden_sizes": [8, 16, 24, 32],
    "depths": [1, 1, 1, 1],
    "stage_in_channels": [8, 8, 16, 24],
    "stage_mid_channels": [4, 8, 8, 8],
    "stage_out_channels": [8, 16, 24, 32],
}
_SWIFT: dict[str, Any] = {"image_size": 64, "embed_dims": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}


def detectors() -> Iterator[Entry]:
    """Objects, segments and depth in images, with transformers that ask for them."""
    for name in ("Detr", "ConditionalDetr", "DabDetr", "TableTransformer"):
        yield _image(name, _DETR, model="ForObjectDetection", size=64, kind="detection")
    yield _image(
        "DeformableDetr",
        _DETR,
        model="ForObjectDetection",
        size=64,
        kind="detection",
        num_feature_levels=3,
        encoder_n_points=2,
        decoder_n_points=2,
    )
    for name in ("RTDetr", "RTDetrV2", "DFine"):
        yield _image(name, _RT_DETR, model="ForObjectDetection", size=64, kind="detection")
    yield _image("MaskFormer", _MASKS, model="ForInstanceSegmentation", size=64, kind="detection")
    yield _image("Mask2Former", _MASKS, model="ForUniversalSegmentation", size=64, kind="detection")
    yield _image("UperNet", _UPERNET, model="ForSemanticSegmentation", size=64, kind="detection")
    yield _image("DepthAnything", _DEPTH, model="ForDepthEstimation", size=56, kind="detection")
    yield Entry("transformers", "detection", "SamModel", _sam)


def _resnet() -> Any:
    import transformers

    sizes = {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1]}
    stages = ["stage2", "stage3", "stage4"]
    return transformers.ResNetConfig(**sizes, layer_type="basic", out_features=stages)


def _swin() -> Any:
    import transformers

    sizes = {**SWIN, "image_size": 64, "depths": [1, 1, 1, 1], "num_heads": [2, 2, 4, 4]}
    stages = ["stage1", "stage2", "stage3", "stage4"]
    return transformers.SwinConfig(**sizes, out_features=stages)


def _detr_decoder() -> Any:
    import transformers

    return transformers.DetrConfig(**{**_DETR, "backbone_config": _resnet()})


def _dinov2() -> Any:
    import transformers

    sizes = {**VIT, "num_hidden_layers": 4, "image_size": 56, "patch_size": 14}
    stages = ["stage1", "stage2", "stage3", "stage4"]
    return transformers.Dinov2Config(**sizes, out_features=stages, reshape_hidden_states=False)


_DETR: dict[str, Any] = {
    "backbone_config": _resnet,
    "use_timm_backbone": False,
    "use_pretrained_backbone": False,
    "backbone": None,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "num_queries": 5,
    "init_std": 0.2,
}
_RT_DETR: dict[str, Any] = {
    "backbone_config": _resnet,
    "d_model": 32,
    "encoder_hidden_dim": 32,
    "encoder_in_channels": [16, 24, 32],
    "encoder_layers": 1,
    "encoder_ffn_dim": 48,
    "encoder_attention_heads": 4,
    "decoder_in_channels": [32, 32, 32],
    "decoder_layers": 2,
    "decoder_ffn_dim": 48,
    "decoder_attention_heads": 4,
    "decoder_n_points": 2,
    "num_queries": 5,
    "num_labels": 7,
}
_MASKS: dict[str, Any] = {
    "backbone_config": _swin,
    "fpn_feature_size": 32,
    "mask_feature_size": 32,
    "feature_size": 32,
    "hidden_dim": 32,
    "encoder_feedforward_dim": 48,
    "dim_feedforward": 48,
    "encoder_layers": 1,
    "decoder_layers": 3,
    "num_attention_heads": 4,
    "num_queries": 5,
    "decoder_config": _detr_decoder,
}
_UPERNET: dict[str, Any] = {"backbone_config": _swin, "hidden_size": 16, "pool_scales": [1, 2]}
_DEPTH: dict[str, Any] = {
    "backbone_config": _dinov2,
    "patch_size": 14,
    "reassemble_hidden_size": 32,
    "neck_hidden_sizes": [8, 8, 16, 16],
    "fusion_hidden_size": 8,
    "head_hidden_size": 8,
}


def _sam() -> Sample:
    import torch
    import transformers

    vision = {
        "hidden_size": 32,
        "output_channels": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": 32,
        "patch_size": 8,
        "mlp_dim": 48,
        "window_size": 2,
        "global_attn_indexes": [1],
        "num_pos_feats": 8,
    }
    asked = {"hidden_size": 16, "image_embedding_size": 4, "image_size": 32, "patch_size": 8}
    decoder = {
        "hidden_size": 16,
        "mlp_dim": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "iou_head_hidden_dim": 16,
    }
    config = transformers.SamConfig(
        vision_config=vision, prompt_encoder_config=asked, mask_decoder_config=decoder
    )
    points = torch.rand(1, 1, 2, 2) * 32
    inputs = {"pixel_values": pixels(32), "input_points": points}
    return Sample(transformers.SamModel(config), kwargs=inputs)


def videos() -> Iterator[Entry]:
    """Models of videos."""
    yield _video("VideoMAE", VIT, model="ForVideoClassification", tubelet_size=2)
    yield _video("Vivit", VIT, model="ForVideoClassification", tubelet_size=[2, 8, 8])
    yield _video("Timesformer", VIT, model="ForVideoClassification")


def entries() -> Iterator[Entry]:
    """All of them."""
    yield from transformers_of_patches()
    yield from networks_of_stages()
    yield from detectors()
    yield from videos()
