"""Models of sound, of images with text, and of time series of transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from model_zoo.entry import Entry, Sample
from model_zoo.transformers_text import SEQ2SEQ, SIZES, batch, create, prompt, tokens
from model_zoo.transformers_vision import VIT, pixels

WAVES: dict[str, Any] = {
    **SIZES,
    "conv_dim": [16, 16],
    "conv_stride": [5, 2],
    "conv_kernel": [10, 3],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 4,
}
"""A tiny transformer over waves."""
TEXT: dict[str, Any] = dict(SIZES)


def wave(length: int) -> Any:
    """What a feature extractor makes of a sound."""
    import torch

    return torch.randn(1, length)


def spectrum(*shape: int) -> Any:
    """What a feature extractor makes of a sound, by frequencies."""
    import torch

    return torch.randn(1, *shape)


def _entry(
    kind: str,
    name: str,
    model: str,
    sizes: dict[str, Any],
    inputs: Callable[[], dict[str, Any]],
) -> Entry:
    def make() -> Sample:
        return Sample(create(name, sizes, model), kwargs=inputs())

    return Entry("transformers", kind, f"{name}{model}", make)


def sounds() -> Iterator[Entry]:
    """Speech and other sounds."""
    for name in ("Wav2Vec2", "Hubert", "WavLM", "UniSpeech", "UniSpeechSat"):
        yield _entry("audio", name, "ForCTC", WAVES, lambda: {"input_values": wave(400)})
    yield _entry(
        "audio",
        "Data2VecAudio",
        "ForCTC",
        {**WAVES, "conv_pos_kernel_size": 3, "num_conv_pos_embeddings": 2},
        lambda: {"input_values": wave(400)},
    )
    yield _entry("audio", "SEW", "ForCTC", WAVES, lambda: {"input_values": wave(400)})
    whisper = {
        **SEQ2SEQ,
        "num_mel_bins": 8,
        "max_source_positions": 16,
        "max_target_positions": 32,
        "max_position_embeddings": None,
        "begin_suppress_tokens": None,
    }
    yield _entry(
        "audio",
        "Whisper",
        "ForConditionalGeneration",
        whisper,
        lambda: {"input_features": spectrum(8, 32), "decoder_input_ids": tokens(1, 4)},
    )
    yield _entry(
        "audio",
        "Speech2Text",
        "ForConditionalGeneration",
        {**SEQ2SEQ, "input_feat_per_channel": 8, "conv_channels": 16},
        lambda: {"input_features": spectrum(24, 8), "decoder_input_ids": tokens(1, 4)},
    )
    yield _entry(
        "audio",
        "AST",
        "ForAudioClassification",
        {**VIT, "patch_size": 4, "max_length": 24, "num_mel_bins": 16},
        lambda: {"input_values": spectrum(24, 16)},
    )
    yield _entry(
        "audio",
        "Moonshine",
        "ForConditionalGeneration",
        {
            **SIZES,
            "encoder_num_hidden_layers": 2,
            "decoder_num_hidden_layers": 2,
            "encoder_num_attention_heads": 4,
            "decoder_num_attention_heads": 4,
            "num_hidden_layers": None,
            "num_attention_heads": None,
        },
        lambda: {"input_values": wave(2000), "decoder_input_ids": tokens(1, 4)},
    )
    codec = {
        "num_filters": 4,
        "hidden_size": 8,
        "codebook_size": 16,
        "codebook_dim": 8,
        "upsampling_ratios": [2, 2],
    }
    yield _entry("audio", "Encodec", "Model", codec, lambda: {"input_values": wave(64)[None]})


def pictures_and_words() -> Iterator[Entry]:
    """Models that take images with text."""

    def both() -> dict[str, Any]:
        return {**batch(), "pixel_values": pixels(32, batch=2)}

    vision: dict[str, Any] = dict(VIT)
    pair = {"text_config": TEXT, "vision_config": vision, "projection_dim": 16}
    for name in ("CLIP", "Siglip", "ChineseCLIP", "AltCLIP", "Blip"):
        yield _entry("image and text", name, "Model", pair, both)
    yield Entry("transformers", "image and text", "ViltModel", lambda: _vilt(both()))
    yield _entry(
        "image and text",
        "GroupViT",
        "Model",
        {
            "text_config": TEXT,
            "vision_config": {**VIT, "depths": [1, 1], "num_group_tokens": [6, 0]},
            "projection_dim": 16,
            "projection_intermediate_dim": 24,
        },
        both,
    )
    yield Entry("transformers", "image and text", "LlavaForConditionalGeneration", _llava)
    yield Entry("transformers", "image and text", "PaliGemmaForConditionalGeneration", _paligemma)
    yield Entry("transformers", "image and text", "VisionEncoderDecoderModel", _caption)
    yield Entry("transformers", "image and text", "OwlViTForObjectDetection", _owl)


def _with_image(count: int) -> dict[str, Any]:
    """A prompt that begins with `count` places of an image's patches."""
    inputs = prompt(count + 5)
    inputs["input_ids"][:, :count] = 96
    inputs["input_ids"][:, count:].clamp_(max=95)
    return {**inputs, "pixel_values": pixels(32)}


def _vilt(inputs: dict[str, Any]) -> Sample:
    """What comes of the whole: the order of the patches is drawn at random."""
    model = create("Vilt", {**SIZES, **VIT}, "Model").eval()

    def pooled(**inputs: Any) -> Any:
        return model(**inputs).pooler_output

    return Sample(pooled, kwargs=inputs)


def _llava() -> Sample:
    import transformers

    config = transformers.LlavaConfig(
        text_config=transformers.LlamaConfig(**SIZES),
        vision_config=transformers.CLIPVisionConfig(**VIT),
        image_token_id=96,
        vision_feature_layer=-1,
    )
    return Sample(transformers.LlavaForConditionalGeneration(config), kwargs=_with_image(16))


def _paligemma() -> Sample:
    import torch
    import transformers

    config = transformers.PaliGemmaConfig(
        text_config=transformers.GemmaConfig(**SIZES, num_key_value_heads=2, head_dim=8),
        vision_config=transformers.SiglipVisionConfig(**VIT, projection_dim=32),
        image_token_id=96,
        projection_dim=32,
    )
    inputs = _with_image(16)
    # As its processor has it: an image and a question are seen from both sides, an answer is not.
    inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
    inputs["token_type_ids"][:, -2:] = 1
    return Sample(transformers.PaliGemmaForConditionalGeneration(config), kwargs=inputs)


def _caption() -> Sample:
    import transformers

    encoder, decoder = transformers.ViTConfig(**VIT), transformers.BertConfig(**SIZES)
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    model = transformers.VisionEncoderDecoderModel(config)
    return Sample(model, kwargs={"pixel_values": pixels(32), "decoder_input_ids": tokens(1, 5)})


def _owl() -> Sample:
    sizes = {"text_config": TEXT, "vision_config": dict(VIT), "projection_dim": 32}
    inputs = {**prompt(), "pixel_values": pixels(32)}
    return Sample(create("OwlViT", sizes, "ForObjectDetection"), kwargs=inputs)


def series() -> Iterator[Entry]:
    """Models of numbers over time."""
    sizes = {
        "num_input_channels": 2,
        "context_length": 32,
        "prediction_length": 4,
        "patch_length": 4,
        "patch_stride": 4,
        "d_model": 16,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "ffn_dim": 24,
        "num_layers": 2,
        "expansion_factor": 2,
        "loss": "mse",
    }
    for name in ("PatchTST", "PatchTSMixer"):
        yield _entry(
            "time series", name, "ForPrediction", sizes, lambda: {"past_values": spectrum(32, 2)}
        )
    yield Entry("transformers", "decisions", "DecisionTransformerModel", _decisions)


def _decisions() -> Sample:
    import torch
    import transformers

    config = transformers.DecisionTransformerConfig(
        state_dim=5, act_dim=3, hidden_size=32, max_ep_len=20, n_layer=2, n_head=4
    )
    inputs = {
        "states": torch.randn(1, 6, 5),
        "actions": torch.randn(1, 6, 3),
        "rewards": torch.randn(1, 6, 1),
        "returns_to_go": torch.randn(1, 6, 1),
        "timesteps": torch.arange(6)[None],
        "attention_mask": torch.ones(1, 6),
    }
    return Sample(transformers.DecisionTransformerModel(config), kwargs=inputs)


def entries() -> Iterator[Entry]:
    """All of them."""
    yield from sounds()
    yield from pictures_and_words()
    yield from series()
