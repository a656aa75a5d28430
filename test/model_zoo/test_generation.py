"""Generators of models of transformers write the tokens of its own `generate`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import ttmlir

pytestmark = pytest.mark.nightly
torch: Any = import_module("torch")

PROMPTS = [[3, 4, 5, 6, 7, 8, 9], list(range(20, 33)), [5]]
SIZES = {
    "vocab_size": 97,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": None,
}
OWN: dict[str, dict[str, Any]] = {
    "gpt2": {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    "mistral": {"sliding_window": 5},
    "gemma2": {"sliding_window": 5, "query_pre_attn_scalar": 8},
    "gemma3_text": {
        "sliding_window": 5,
        "query_pre_attn_scalar": 8,
        "layer_types": ["sliding_attention", "full_attention"],
    },
}


def make_model(kind: str) -> Any:
    """Random weights, scores that differ clearly."""
    transformers: Any = import_module("transformers")
    sizes = {"initializer_range": 0.3, "eos_token_id": None} if kind == "gpt2" else SIZES
    config = transformers.AutoConfig.for_model(kind, **{**sizes, **OWN.get(kind, {})})
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def write(model: Any, prompts: list[list[int]], count: int, **choices: Any) -> list[list[int]]:
    """What transformers writes after prompts that are padded on the left."""
    length = max(map(len, prompts))
    tokens = torch.zeros(len(prompts), length, dtype=torch.int64)
    mask = torch.zeros_like(tokens)
    for row, prompt in enumerate(prompts):
        tokens[row, length - len(prompt) :] = torch.tensor(prompt)
        mask[row, length - len(prompt) :] = 1
    found = model.generate(
        tokens,
        attention_mask=mask,
        max_new_tokens=count,
        do_sample=False,
        pad_token_id=0,
        **choices,
    )
    return found[:, length:].tolist()


@pytest.mark.parametrize(
    "kind", ["llama", "gpt2", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text"]
)
def test_tokens_are_those_of_transformers(kind: str) -> None:
    """Three prompts of odd lengths at a time and one alone, also with a repetition penalty."""
    model = make_model(kind)
    generator = ttmlir.Generator(
        model, max_length=60, prompt_lengths=(8,), batch_sizes=(1, 3) if kind == "llama" else (3,)
    )
    wanted = write(model, PROMPTS, 20)
    assert [each.tokens for each in generator.generate(PROMPTS)] == wanted
    assert generator.generate(PROMPTS[0]).tokens == write(model, PROMPTS[:1], 20)[0]
    wanted = write(model, PROMPTS, 20, repetition_penalty=1.3)
    found = generator.generate(PROMPTS, repetition_penalty=1.3)
    assert [each.tokens for each in found] == wanted


def test_eager_attention_and_stop_tokens() -> None:
    """Masks that are added, and the stop token of the model's `generation_config`."""
    model = make_model("llama")
    model.set_attn_implementation("eager")
    stop = write(model, PROMPTS[:1], 20)[0][7]
    model.generation_config.eos_token_id = [stop, 96]
    found = ttmlir.generate(model, PROMPTS[0])
    assert found.tokens == write(model, PROMPTS[:1], 20)[0]
    assert found.reason == "stop"


@pytest.mark.parametrize(
    ("implementation", "count", "graphs"), [("static", 6, 2), ("dynamic", 3, 3)]
)
def test_generate_of_transformers(implementation: str, count: int, graphs: int) -> None:
    """`torch.compile` of the model: with a static cache two programs, one for the prompt."""
    model = make_model("llama")
    prompts = [PROMPTS[0], PROMPTS[0][:4]]
    wanted = write(model, prompts, count)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model.forward = torch.compile(model.forward, backend="ttmlir", dynamic=False)
    choices = {"cache_implementation": implementation, "disable_compile": True}
    assert write(model, prompts, count, **choices) == wanted
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == graphs
    assert not torch._dynamo.utils.counters["graph_break"]
    torch._dynamo.reset()


def test_more_positions_than_the_model_has() -> None:
    """GPT-2 has no others."""
    with pytest.raises(ttmlir.InputError, match=r"has 64 positions .* max_length is 100"):
        ttmlir.Generator(make_model("gpt2"), max_length=100)
