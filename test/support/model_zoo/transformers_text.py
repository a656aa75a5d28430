"""Language models of transformers: decoders, encoders, and both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model_zoo.entry import Entry, Sample

VOCABULARY = 97
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "initializer_range": 0.2,
}
"""Of a tiny configuration, by the names that most have; weights so large that all matters."""
GROUPED: dict[str, Any] = {**SIZES, "num_key_value_heads": 2}
GPT: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 64,
    "initializer_range": 0.2,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
EXPERTS: dict[str, Any] = {
    **GROUPED,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
}
SEQ2SEQ: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "init_std": 0.2,
}
T5: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
    "pad_token_id": 0,
}


def tokens(batch: int, length: int, vocabulary: int = VOCABULARY) -> Any:
    """Numbers of words, none of them special."""
    import torch

    return torch.randint(3, vocabulary, (batch, length))


def prompt(length: int = 7) -> dict[str, Any]:
    """What a tokenizer makes of one text."""
    import torch

    ids = tokens(1, length)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def batch(length: int = 7) -> dict[str, Any]:
    """What a tokenizer makes of two texts, the second of which is shorter."""
    made = {name: value.repeat(2, 1) for name, value in prompt(length).items()}
    made["input_ids"][1] = tokens(1, length)
    made["input_ids"][1, -2:] = 0
    made["attention_mask"][1, -2:] = 0
    return made


def _unmasked(inputs: dict[str, Any]) -> dict[str, Any]:
    """For models whose Python looks at the mask: without one they make their own."""
    return {name: value for name, value in inputs.items() if name != "attention_mask"}


def create(name: str, config: dict[str, Any], model: str) -> Any:
    """A model of the library with random weights.

    Values of the configuration that are None are left to the library; functions are called, as
    those that make configurations of other models, which need the library.
    """
    import transformers

    transformers.logging.set_verbosity_error()
    known = {
        key: value() if callable(value) else value
        for key, value in config.items()
        if value is not None
    }
    kind = f"{name}TextConfig" if model == "ForCausalLM" else ""
    if not hasattr(transformers, kind):
        kind = f"{name}Config"
    return getattr(transformers, f"{name}{model}")(getattr(transformers, kind)(**known))


def _decoder(
    name: str, sizes: dict[str, Any], /, model: str = "ForCausalLM", length: int = 7, **more: Any
) -> Entry:
    def make() -> Sample:
        return Sample(create(name, {**sizes, **more}, model), kwargs=prompt(length))

    return Entry("transformers", "decoder", f"{name}{model}", make)


def _encoder(
    name: str,
    sizes: dict[str, Any],
    /,
    model: str = "Model",
    length: int = 7,
    masked: bool = True,
    **more: Any,
) -> Entry:
    def make() -> Sample:
        inputs = batch(length)
        return Sample(
            create(name, {**sizes, **more}, model), kwargs=inputs if masked else _unmasked(inputs)
        )

    return Entry("transformers", "encoder", f"{name}{model}", make)


def _seq2seq(
    name: str,
    sizes: dict[str, Any],
    /,
    model: str = "ForConditionalGeneration",
    length: int = 7,
    masked: bool = True,
    **more: Any,
) -> Entry:
    def make() -> Sample:
        given = prompt(length) if masked else _unmasked(prompt(length))
        inputs = {**given, "decoder_input_ids": tokens(1, 4)}
        return Sample(create(name, {**sizes, **more}, model), kwargs=inputs)

    return Entry("transformers", "encoder and decoder", f"{name}{model}", make)


def decoders() -> Iterator[Entry]:
    """Models that write text."""
    yield _decoder("Llama", GROUPED)
    yield _decoder("Mistral", GROUPED, sliding_window=4)
    yield _decoder("Ministral", GROUPED, head_dim=8, sliding_window=4)
    yield _decoder("Qwen2", GROUPED)
    yield _decoder("Qwen3", GROUPED, head_dim=8)
    yield _decoder("Gemma", GROUPED, head_dim=8)
    yield _decoder("Gemma2", GROUPED, head_dim=8, sliding_window=4)
    yield _decoder("Gemma3", GROUPED, head_dim=8, sliding_window=4)
    yield _decoder("VaultGemma", GROUPED, head_dim=8, sliding_window=4)
    yield _decoder(
        "RecurrentGemma",
        GROUPED,
        num_hidden_layers=3,
        head_dim=8,
        attention_window_size=4,
        lru_width=32,
    )
    yield _decoder("Phi", SIZES)
    yield _decoder("Phi3", GROUPED)
    yield _decoder("Olmo", GROUPED)
    yield _decoder("Olmo2", GROUPED)
    yield _decoder("Olmo3", GROUPED, sliding_window=4)
    yield _decoder("GPT2", GPT, model="LMHeadModel")
    yield _decoder("OpenAIGPT", GPT, model="LMHeadModel")
    yield _decoder(
        "GPTNeo", SIZES, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]]
    )
    yield _decoder("GPTNeoX", SIZES)
    yield _decoder("GPTNeoXJapanese", SIZES)
    yield _decoder("GPTJ", GPT, rotary_dim=4)
    yield _decoder("GPTBigCode", GPT)
    yield _decoder("CodeGen", GPT, rotary_dim=4)
    yield _decoder("OPT", SIZES, ffn_dim=48, word_embed_proj_dim=32)
    yield _decoder("Bloom", GPT, hidden_size=32)
    yield _decoder("Falcon", SIZES)
    yield _decoder("Mpt", SIZES, d_model=32, n_layers=2, n_heads=4, max_seq_len=64)
    yield _decoder("Persimmon", SIZES)
    yield _decoder("StableLm", GROUPED)
    yield _decoder("Starcoder2", GROUPED)
    yield _decoder("Cohere", GROUPED)
    yield _decoder("Cohere2", GROUPED, head_dim=8, sliding_window=4)
    yield _decoder("Granite", GROUPED)
    yield _decoder("SmolLM3", GROUPED)
    yield _decoder("Helium", GROUPED, head_dim=8)
    yield _decoder("Glm", GROUPED, head_dim=8)
    yield _decoder("Glm4", GROUPED, head_dim=8)
    yield _decoder("Nemotron", GROUPED)
    yield _decoder("Arcee", GROUPED)
    yield _decoder("Apertus", GROUPED)
    yield _decoder("BitNet", GROUPED)
    yield _decoder("DiffLlama", GROUPED)
    yield _decoder("Doge", GROUPED)
    yield _decoder("Ernie4_5", GROUPED, head_dim=8)
    yield _decoder("Exaone4", GROUPED, sliding_window=4)
    yield _decoder("SeedOss", GROUPED, head_dim=8)
    yield _decoder("HunYuanDenseV1", GROUPED, head_dim=8)
    yield _decoder("NanoChat", GROUPED)
    yield _decoder("Lfm2", GROUPED, full_attn_idxs=[1])
    yield _decoder("BioGpt", SIZES)
    yield _decoder("XGLM", SIZES, d_model=32, num_layers=2, attention_heads=4, ffn_dim=48)
    yield _decoder("CTRL", GPT, model="LMHeadModel", dff=48)
    yield _decoder(
        "XLNet",
        SIZES,
        model="LMHeadModel",
        max_position_embeddings=None,
        d_model=32,
        n_layer=2,
        n_head=4,
        d_inner=48,
    )
    yield _decoder("Mamba", SIZES, state_size=4)
    yield _decoder("Mamba2", SIZES, state_size=8, num_heads=8, head_dim=8, n_groups=1, chunk_size=4)
    yield _decoder("FalconMamba", SIZES, state_size=4)
    yield _decoder("Rwkv", SIZES, attention_hidden_size=32, context_length=16)
    yield _decoder(
        "Bamba",
        GROUPED,
        attn_layer_indices=[1],
        mamba_n_heads=8,
        mamba_d_head=8,
        mamba_d_state=8,
        mamba_n_groups=1,
        mamba_chunk_size=4,
    )
    yield _decoder(
        "Zamba2",
        SIZES,
        hybrid_layer_ids=[1],
        layers_block_type=["mamba", "hybrid"],
        n_mamba_heads=8,
        mamba_headdim=8,
        mamba_d_state=8,
        mamba_ngroups=1,
        chunk_size=4,
        adapter_rank=4,
    )
    yield _decoder(
        "FalconH1",
        GROUPED,
        head_dim=8,
        mamba_n_heads=8,
        mamba_d_head=8,
        mamba_d_ssm=64,
        mamba_d_state=8,
        mamba_n_groups=1,
        mamba_chunk_size=4,
    )


def mixtures() -> Iterator[Entry]:
    """Decoders with experts."""
    latent = {
        "kv_lora_rank": 8,
        "q_lora_rank": 8,
        "qk_rope_head_dim": 4,
        "qk_nope_head_dim": 8,
        "v_head_dim": 8,
        "n_routed_experts": 4,
        "n_group": 2,
        "topk_group": 1,
        "first_k_dense_replace": 1,
    }
    yield _decoder("Mixtral", EXPERTS)
    yield _decoder("Qwen2Moe", EXPERTS, shared_expert_intermediate_size=24)
    yield _decoder("Qwen3Moe", EXPERTS, head_dim=8)
    yield _decoder("Qwen3Next", EXPERTS, **_GATED_DELTA, shared_expert_intermediate_size=24)
    yield _decoder("GptOss", EXPERTS, head_dim=8, sliding_window=4)
    yield _decoder("DeepseekV2", EXPERTS, **latent, num_key_value_heads=4)
    yield _decoder("DeepseekV3", EXPERTS, **latent, num_key_value_heads=4)
    yield _decoder("Glm4Moe", EXPERTS, **latent, head_dim=8)
    yield _decoder("Dots1", EXPERTS, **latent, head_dim=8, n_shared_experts=1)
    yield _decoder("Olmoe", EXPERTS)
    yield _decoder("FlexOlmo", EXPERTS)
    yield _decoder("Phimoe", EXPERTS)
    yield _decoder("GraniteMoe", EXPERTS)
    yield _decoder("GraniteMoeShared", EXPERTS, shared_intermediate_size=24)
    yield _decoder("JetMoe", EXPERTS, kv_channels=8)
    yield _decoder("Ernie4_5_Moe", EXPERTS, moe_num_experts=4, moe_k=2, head_dim=8)
    yield _decoder("HunYuanMoEV1", EXPERTS, head_dim=8, moe_topk=2)
    yield _decoder("MiniMax", EXPERTS, head_dim=8, block_size=4)
    yield _decoder(
        "Dbrx",
        GPT,
        d_model=32,
        n_heads=4,
        n_layers=2,
        max_seq_len=64,
        ffn_config=_DBRX,
        attn_config=_DBRX_ATTENTION,
    )
    yield _decoder(
        "Jamba",
        EXPERTS,
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
        mamba_d_state=4,
        mamba_dt_rank=4,
        use_mamba_kernels=False,
    )
    yield _decoder(
        "GraniteMoeHybrid",
        EXPERTS,
        shared_intermediate_size=24,
        layer_types=["mamba", "attention"],
        mamba_n_heads=8,
        mamba_d_head=8,
        mamba_d_state=8,
        mamba_n_groups=1,
        mamba_chunk_size=4,
    )
    yield _decoder("Lfm2Moe", EXPERTS, layer_types=["conv", "full_attention"], num_dense_layers=1)


_DBRX = {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": 32}
_DBRX_ATTENTION = {"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 1e4}
_GATED_DELTA = {
    "head_dim": 8,
    "layer_types": ["linear_attention", "full_attention"],
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}


def encoders() -> Iterator[Entry]:
    """Models that read text."""
    yield _encoder("Bert", SIZES)
    yield _encoder("Bert", SIZES, model="ForSequenceClassification", num_labels=3)
    yield _encoder("Roberta", SIZES, model="ForMaskedLM")
    yield _encoder("RobertaPreLayerNorm", SIZES, model="ForMaskedLM")
    yield _encoder("XLMRoberta", SIZES, model="ForTokenClassification")
    yield _encoder("XLMRobertaXL", SIZES)
    yield _encoder("Xmod", SIZES, default_language="en_XX", adapter_reduction_factor=2)
    yield _encoder(
        "DistilBert",
        SIZES,
        model="ForSequenceClassification",
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=48,
    )
    yield _encoder("Albert", SIZES, model="ForMaskedLM", embedding_size=16)
    yield _encoder("Electra", SIZES, model="ForPreTraining", embedding_size=16)
    yield _encoder("Deberta", SIZES, **_RELATIVE)
    yield _encoder("DebertaV2", SIZES, **_RELATIVE, position_buckets=8)
    yield _encoder("ModernBert", SIZES, model="ForMaskedLM", **_MODERN)
    yield _encoder("ConvBert", SIZES, embedding_size=32)
    yield _encoder(
        "MobileBert", SIZES, embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16
    )
    yield _encoder("SqueezeBert", SIZES, embedding_size=32)
    yield _encoder("MPNet", SIZES, model="ForMaskedLM")
    yield _encoder("Camembert", SIZES, model="ForMaskedLM")
    yield _encoder("Data2VecText", SIZES)
    yield _encoder("Ernie", SIZES)
    yield _encoder("Esm", SIZES, model="ForMaskedLM", mask_token_id=3)
    yield _encoder("MegatronBert", SIZES)
    yield _encoder("Nystromformer", SIZES, num_landmarks=7, segment_means_seq_len=7)
    yield _encoder("RemBert", SIZES, input_embedding_size=16, output_embedding_size=16)
    yield _encoder("RoFormer", SIZES, embedding_size=32)
    yield _encoder("RoCBert", SIZES, **_SOUND_AND_SHAPE)
    yield _encoder("IBert", SIZES)
    yield _encoder("Yoso", SIZES, use_expectation=True)
    yield _encoder("BigBird", SIZES, attention_type="original_full")
    yield _encoder("Longformer", SIZES, attention_window=4, length=8, masked=False)
    yield _encoder(
        "Funnel",
        SIZES,
        num_hidden_layers=None,
        d_model=32,
        n_head=4,
        d_head=8,
        d_inner=48,
        block_sizes=[1, 1],
        length=8,
    )
    yield _encoder(
        "Canine", SIZES, model="Model", downsampling_rate=4, local_transformer_stride=8, length=16
    )
    yield _encoder("XLM", SIZES, emb_dim=32, n_layers=2, n_heads=4)
    yield _encoder("Flaubert", SIZES, emb_dim=32, n_layers=2, n_heads=4)
    yield _encoder("NomicBert", SIZES)
    yield _encoder("EuroBert", GROUPED)
    yield _encoder("Splinter", SIZES)
    yield _encoder("Luke", SIZES, entity_vocab_size=10, entity_emb_size=16)
    yield _encoder("LayoutLM", SIZES)
    yield _encoder("Tapas", SIZES)
    yield Entry("transformers", "encoder", "FNetModel", _fnet)
    yield Entry("transformers", "encoder", "ReformerModel", _reformer)
    yield Entry("transformers", "encoder", "DPRQuestionEncoder", _dpr)
    yield Entry("transformers", "encoder", "PerceiverForMaskedLM", _perceiver)


_RELATIVE = {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "max_relative_positions": 16,
}
_MODERN = {
    "global_attn_every_n_layers": 2,
    "local_attention": 4,
    "cls_token_id": 1,
    "sep_token_id": 2,
}
_SOUND_AND_SHAPE = {
    "pronunciation_embed_dim": 16,
    "shape_embed_dim": 16,
    "pronunciation_vocab_size": VOCABULARY,
    "shape_vocab_size": VOCABULARY,
}


def _fnet() -> Sample:
    return Sample(create("FNet", SIZES, "Model"), (tokens(2, 7),))


def _dpr() -> Sample:
    import transformers

    model = transformers.DPRQuestionEncoder(transformers.DPRConfig(**SIZES, projection_dim=8))
    return Sample(model, kwargs=batch())


def _reformer() -> Sample:
    sizes = {
        **SIZES,
        "attention_head_size": 8,
        "attn_layers": ["local", "local"],
        "axial_pos_shape": [4, 4],
        "axial_pos_embds_dim": [16, 16],
        "local_attn_chunk_length": 4,
        "feed_forward_size": 48,
        "is_decoder": False,
    }
    return Sample(create("Reformer", sizes, "Model"), (tokens(1, 16),))


def _perceiver() -> Sample:
    sizes = {**SIZES, "d_model": 32, "d_latents": 24, "num_latents": 6, "num_blocks": 1}
    heads = {"num_self_attends_per_block": 2, "num_self_attention_heads": 4}
    model = create("Perceiver", {**sizes, **heads, "num_cross_attention_heads": 4}, "ForMaskedLM")
    return Sample(model, kwargs={"inputs": tokens(1, 64)})


def sequence_to_sequence() -> Iterator[Entry]:
    """Models that read a text and write another."""
    yield _seq2seq("T5", T5)
    yield _seq2seq("MT5", T5)
    yield _seq2seq("UMT5", T5)
    yield _seq2seq("LongT5", T5, local_radius=4)
    yield _seq2seq(
        "SwitchTransformers",
        T5,
        num_experts=4,
        num_sparse_encoder_layers=1,
        num_sparse_decoder_layers=1,
    )
    yield _encoder("T5", T5, model="EncoderModel")
    yield _seq2seq("Bart", SEQ2SEQ)
    yield _seq2seq("MBart", SEQ2SEQ)
    yield _seq2seq("Marian", SEQ2SEQ, model="MTModel")
    yield _seq2seq("Pegasus", SEQ2SEQ)
    yield _seq2seq("PegasusX", SEQ2SEQ, block_size=4, num_global_tokens=2, length=8)
    yield _seq2seq("BigBirdPegasus", SEQ2SEQ, attention_type="original_full")
    yield _seq2seq("Blenderbot", SEQ2SEQ)
    yield _seq2seq("BlenderbotSmall", SEQ2SEQ)
    yield _seq2seq("M2M100", SEQ2SEQ)
    yield _seq2seq(
        "NllbMoe",
        SEQ2SEQ,
        num_experts=4,
        encoder_sparse_step=2,
        decoder_sparse_step=2,
        expert_capacity=8,
    )
    yield _seq2seq("Mvp", SEQ2SEQ)
    yield _seq2seq("PLBart", SEQ2SEQ)
    yield _seq2seq("LED", SEQ2SEQ, attention_window=4, length=8, masked=False)
    yield _seq2seq(
        "FSMT", SEQ2SEQ, src_vocab_size=VOCABULARY, tgt_vocab_size=VOCABULARY, langs=["en", "de"]
    )
    yield _seq2seq(
        "ProphetNet",
        SEQ2SEQ,
        hidden_size=32,
        encoder_layers=None,
        decoder_layers=None,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
    )


def entries() -> Iterator[Entry]:
    """All of them."""
    yield from decoders()
    yield from mixtures()
    yield from encoders()
    yield from sequence_to_sequence()
