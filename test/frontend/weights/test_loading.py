"""Weights of files in modules of torch, and what is said of files that do not fit."""

from __future__ import annotations

import json
import math
import random
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch", reason="needs torch")

from samples.weight_files import adapter, gguf, safetensors  # noqa: E402

import ttmlir  # noqa: E402
from ttmlir.frontend.weights.blocks import TYPES  # noqa: E402
from ttmlir.frontend.weights.loading import read_weights  # noqa: E402

nn: Any = torch.nn
HEADS, WIDTH, HIDDEN, WORDS = 2, 8, 12, 11
SCALES = {
    **dict.fromkeys(("Q4_1", "Q5_1", "Q4_K", "Q5_K"), (0, 2)),
    **dict.fromkeys(("Q4_0", "Q5_0", "Q8_0"), (0,)),
    "Q6_K": (208,),
}
"""Where the numbers of 16 bits of blocks stand."""


class Layer(nn.Module):
    """What transformers calls a layer of Llama's, as far as its weights go."""

    def __init__(self) -> None:
        """Its layers."""
        super().__init__()
        self.self_attn = nn.Module()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self.self_attn, name, nn.Linear(WIDTH, WIDTH, bias=False))
        self.mlp = nn.Module()
        for name in ("gate_proj", "up_proj"):
            setattr(self.mlp, name, nn.Linear(WIDTH, HIDDEN, bias=False))
        self.mlp.down_proj = nn.Linear(HIDDEN, WIDTH, bias=False)
        self.input_layernorm, self.post_attention_layernorm = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)


class Language(nn.Module):
    """A model that uses some of them."""

    def __init__(self) -> None:
        """Its layers."""
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(WORDS, WIDTH)
        self.model.layers = nn.ModuleList([Layer()])
        self.model.norm = nn.RMSNorm(WIDTH)
        self.lm_head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, tokens: Any) -> Any:
        """What it computes."""
        x = self.model.embed_tokens(tokens)
        layer = self.model.layers[0]
        x = x + layer.self_attn.q_proj(layer.input_layernorm(x))
        return self.lm_head(self.model.norm(x))


def numbers(*shape: int, seed: int = 0) -> Any:
    """Random ones of f32."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape, np.float32)


def weights_of(module: Any, seed: int = 1) -> dict[str, Any]:
    """Other numbers for all weights of a module."""
    pairs = enumerate(module.state_dict().items())
    return {name: numbers(*each.shape, seed=seed + place) for place, (name, each) in pairs}


@pytest.fixture
def module() -> Any:
    """One of a sequence."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 4, bias=False))


def test_safetensors(module: Any, tmp_path: Path) -> None:
    """A file, and a folder of several; the module stays as it is."""
    new, x = weights_of(module), torch.randn(2, 5)
    before = module(x)
    path = tmp_path / "w.safetensors"
    path.write_bytes(safetensors(new))
    hidden = np.tanh(x.numpy() @ new["0.weight"].T + new["0.bias"])
    expected = hidden @ new["2.weight"].T
    found = ttmlir.compile(module, x, weights=path)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert torch.equal(module(x), before)
    folder = tmp_path / "parts"
    folder.mkdir()
    places = {name: f"part-{number}.safetensors" for number, name in enumerate(new)}
    for name, file in places.items():
        (folder / file).write_bytes(safetensors({name: new[name]}))
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    np.testing.assert_array_equal(ttmlir.compile(module, x, weights=str(folder))(x), found)
    with torch.device("meta"):
        empty = nn.Sequential(nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 4, bias=False))
    loaded = ttmlir.load_weights(empty.to(torch.bfloat16), index)
    assert loaded[0].weight.dtype == torch.bfloat16
    assert empty[0].weight.is_meta


def llama_file(new: dict[str, Any], **metadata: Any) -> bytes:
    """The weights of `Language` as llama.cpp stores them, without the head, which is tied."""
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm"}
    for own, other in (
        *(("self_attn.q_proj", "attn_q"), ("self_attn.k_proj", "attn_k")),
        *(("self_attn.v_proj", "attn_v"), ("self_attn.o_proj", "attn_output")),
        *(("mlp.gate_proj", "ffn_gate"), ("mlp.up_proj", "ffn_up"), ("mlp.down_proj", "ffn_down")),
        *(("input_layernorm", "attn_norm"), ("post_attention_layernorm", "ffn_norm")),
    ):
        names[f"model.layers.0.{own}"] = f"blk.0.{other}"
    tensors: dict[str, tuple[tuple[int, ...], int, bytes]] = {}
    for name, array in new.items():
        module = name.removesuffix(".weight")
        if module == "lm_head":
            continue
        if module.endswith(("q_proj", "k_proj")):
            # Row i of half j of a head goes to place 2 i + j.
            order = [
                head * 4 + half * 2 + row
                for head in range(2)
                for row in range(2)
                for half in range(2)
            ]
            array = array[order]
        tensors[f"{names[module]}.weight"] = array.shape, 0, array.tobytes()
    said = {
        "general.architecture": "llama",
        "llama.attention.head_count": HEADS,
        "tokenizer.ggml.tokens": ["a", "bc"] * 3,
        "general.name": "tiny",
    }
    return gguf(tensors, {**said, **metadata})


def test_gguf(tmp_path: Path) -> None:
    """Names and rows of llama.cpp become those of transformers; a head that is left out is tied."""
    module = Language()
    new = weights_of(module)
    path = tmp_path / "tiny.gguf"
    path.write_bytes(llama_file(new))
    loaded = ttmlir.load_weights(module, path).state_dict()
    new["lm_head.weight"] = new["model.embed_tokens.weight"]
    assert loaded.keys() == new.keys()
    for name, expected in new.items():
        np.testing.assert_array_equal(loaded[name].numpy(), expected)
    tokens = torch.tensor([[3, 1, 10]])
    compiled = ttmlir.compile(module, tokens, weights=path)
    expected = ttmlir.load_weights(module, path)(tokens).detach().numpy()
    np.testing.assert_allclose(compiled(tokens), expected, rtol=1e-4, atol=1e-5)


def test_gguf_of_gemma(tmp_path: Path) -> None:
    """Weights of norms are stored with 1 added."""
    module = Language()
    shape, one = (WIDTH,), numbers(WIDTH)
    tensors = {"output_norm.weight": (shape, 0, (one + 1).tobytes())}
    path = tmp_path / "g.gguf"
    path.write_bytes(gguf(tensors, {"general.architecture": "gemma2"}))
    entries: Any = read_weights(path)
    np.testing.assert_array_equal(entries["model.norm.weight"].read(), (one + 1) - 1)
    with pytest.raises(
        ttmlir.InputError, match=r"11 tensors of the model are missing: model\.embed"
    ):
        ttmlir.load_weights(module, path)


def test_adapters(module: Any, tmp_path: Path) -> None:
    """Products are added; whole weights replace the model's."""
    a, b = numbers(2, 5), numbers(3, 2)
    whole = numbers(4, 3)
    given = {"0.lora_A.weight": a, "0.lora_B.weight": b, "2.modules_to_save.weight": whole}
    merged = ttmlir.load_weights(module, adapter(tmp_path / "a", given))
    expected = module[0].weight.detach().numpy() + 3 * b @ a
    np.testing.assert_allclose(merged[0].weight.detach(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(merged[2].weight.detach(), whole)
    # A base changes nothing of an adapter that stands before it.
    new = weights_of(module)
    base = tmp_path / "w.safetensors"
    base.write_bytes(safetensors(new))
    for merge in (True, False):
        both = ttmlir.load_weights(module, [tmp_path / "a", base], merge=merge)
        x = numbers(4, 5)
        expected = x @ (new["0.weight"] + 3 * b @ a).T + new["0.bias"]
        found = both[0](torch.from_numpy(x)).detach()
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(both[2].weight.detach(), whole)
    del given["2.modules_to_save.weight"]
    folder = adapter(tmp_path / "b", given, use_rslora=True, alpha_pattern={"0": 4})
    merged = ttmlir.load_weights(module, folder)
    expected = module[0].weight.detach().numpy() + 4 / math.sqrt(2) * b @ a
    np.testing.assert_allclose(merged[0].weight.detach(), expected, rtol=1e-5, atol=1e-6)


def test_adapters_of_heads_that_are_left_out(tmp_path: Path) -> None:
    """A head that the file ties to the table is changed, and the table is not."""
    module, path = Language(), tmp_path / "tiny.gguf"
    new = weights_of(module)
    path.write_bytes(llama_file(new))
    a, b = numbers(2, WIDTH), numbers(WORDS, 2)
    folder = adapter(tmp_path / "a", {"lm_head.lora_A.weight": a, "lm_head.lora_B.weight": b})
    found = ttmlir.load_weights(module, [path, folder]).state_dict()
    table = new["model.embed_tokens.weight"]
    np.testing.assert_array_equal(found["model.embed_tokens.weight"], table)
    np.testing.assert_allclose(found["lm_head.weight"], table + 3 * b @ a, rtol=1e-5, atol=1e-6)


def test_adapters_of_tables(tmp_path: Path) -> None:
    """Tables of embeddings have the factors the other way around."""
    table = nn.Embedding(7, 5)
    a, b = numbers(2, 7), numbers(5, 2)
    given = {"weight.lora_embedding_A": a, "weight.lora_embedding_B": b}
    holder = nn.Module()
    holder.weight = table
    folder = adapter(tmp_path / "a", given)
    merged = ttmlir.load_weights(holder, folder)
    expected = table.weight.detach().numpy() + 3 * (b @ a).T
    np.testing.assert_allclose(merged.weight.weight.detach(), expected, rtol=1e-5, atol=1e-6)


def test_adapters_with_magnitudes(module: Any, tmp_path: Path) -> None:
    """Rows of the sum of DoRA's weights have the lengths that are given."""
    a, b, lengths = numbers(2, 5), numbers(3, 2), numbers(3) ** 2 + 1
    given = {"0.lora_A.weight": a, "0.lora_B.weight": b, "0.lora_magnitude_vector": lengths}
    folder = adapter(tmp_path / "a", given, use_dora=True)
    found = ttmlir.load_weights(module, folder)[0].weight.detach().numpy()
    directions = module[0].weight.detach().numpy() + 3 * b @ a
    expected = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    given["0.lora_magnitude_vector"] = numbers(4)
    with pytest.raises(ttmlir.FileError, match=r"have the shape \[4\]; there have to be 3"):
        ttmlir.load_weights(module, adapter(tmp_path / "b", given, use_dora=True))


class Conv1D(nn.Module):
    """The linear layer of GPT-2 in transformers, with its weight the other way around."""

    def __init__(self) -> None:
        """From 3 to 4."""
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.randn(4))

    def forward(self, x: Any) -> Any:
        """The product."""
        return x @ self.weight + self.bias


@pytest.mark.parametrize("use_dora", [False, True])
@pytest.mark.parametrize("kind", ["linear", "table", "transposed"])
def test_adapters_apart(kind: str, use_dora: bool, tmp_path: Path) -> None:
    """Two small products give what the merged weight gives; the weight stays as it is."""
    torch.manual_seed(0)
    rows, columns, x = 4, 3, torch.randn(2, 3)
    layer, config, names = nn.Linear(3, 4), {}, ("A.weight", "B.weight")
    if kind == "table":
        layer, columns, x = nn.Embedding(7, 4), 7, torch.tensor([[3, 0, 6]])
        names = "embedding_A", "embedding_B"
    elif kind == "transposed":
        layer, config = Conv1D(), {"fan_in_fan_out": True}
    module = nn.Sequential(layer)
    given = {f"0.lora_{names[0]}": numbers(2, columns), f"0.lora_{names[1]}": numbers(rows, 2)}
    if use_dora:
        given["0.lora_magnitude_vector.weight"] = numbers(rows) ** 2 + 1
    folder = adapter(tmp_path / "a", given, use_dora=use_dora, **config)
    apart = ttmlir.load_weights(module, folder, merge=False)
    assert torch.equal(apart[0].weight, layer.weight)
    expected = ttmlir.load_weights(module, folder)(x).detach()
    torch.testing.assert_close(apart(x), expected, rtol=1e-5, atol=1e-5)
    files = ttmlir.WeightFiles(folder, merge=False)
    compiled = ttmlir.compile(module, x, weights=files)
    torch.testing.assert_close(compiled(x), expected, rtol=1e-5, atol=1e-5)
    assert "4x2xf32" in compiled.text("ttir")
    twice = ttmlir.load_weights(apart, adapter(tmp_path / "b", given, **config), merge=False)
    merged = ttmlir.load_weights(ttmlir.load_weights(module, folder), tmp_path / "b")
    if not use_dora:
        torch.testing.assert_close(twice(x), merged(x), rtol=1e-5, atol=1e-5)


class Packed(nn.Module):
    """A model whose rows are blocks of every kind."""

    def __init__(self) -> None:
        """Its layers."""
        super().__init__()
        parts: Any = nn.Module()
        parts.q_proj = nn.Linear(256, 64, bias=False)
        parts.v_proj = nn.Linear(256, 64, bias=False)
        layer = nn.Module()
        layer.self_attn = parts
        self.model: Any = nn.Module()
        self.model.embed_tokens = nn.Embedding(20, 256)
        self.model.layers = nn.ModuleList([layer])
        self.lm_head = nn.Linear(256, 20, bias=False)

    def forward(self, tokens: Any) -> Any:
        """What it computes."""
        x = self.model.embed_tokens(tokens)
        parts = self.model.layers[0].self_attn
        return self.lm_head(x), parts.q_proj(x) * parts.v_proj(x)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("table", "query", "value", "stored"),
    [
        ("Q8_0", "Q4_0", "Q5_0", "32x8x1x32xui8"),
        ("Q5_1", "Q4_1", "Q8_0", "32x8x1x32xui8"),
        ("Q6_K", "Q4_K", "Q5_K", "32x1x8x32xui8"),
    ],
)
def test_blocks_stay_packed(
    table: str, query: str, value: str, stored: str, tmp_path: Path
) -> None:
    """The same numbers as of a file that is unpacked, tied and turned rows included."""
    random = np.random.default_rng(0)
    codes = {kind.name: (code, kind) for code, kind in TYPES.items()}
    tensors: dict[str, tuple[tuple[int, ...], int, bytes]] = {}
    for name, own, rows in (
        ("token_embd", table, 20),
        ("blk.0.attn_q", query, 64),
        ("blk.0.attn_v", value, 64),
    ):
        code, kind = codes[own]
        blocks = random.integers(0, 256, (rows * 256 // kind.elements, kind.size)).astype(np.uint8)
        for place in SCALES[own]:
            numbers_ = random.standard_normal((len(blocks), 1)).astype(np.float16)
            blocks[:, place : place + 2] = numbers_.view(np.uint8)
        tensors[f"{name}.weight"] = (rows, 256), code, blocks.tobytes()
    path = tmp_path / "tiny.gguf"
    said = {"general.architecture": "llama", "llama.attention.head_count": HEADS}
    path.write_bytes(gguf(tensors, said))
    module, tokens = Packed().eval(), torch.tensor([[3, 11, 0]])
    packed = ttmlir.load_weights(module, path, packed=True)
    with torch.no_grad():
        expected = ttmlir.load_weights(module, path)(tokens)
        for found, wanted in zip(packed(tokens), expected, strict=True):
            assert torch.equal(found, wanted)
    files = ttmlir.WeightFiles(path, packed=True)
    compiled = ttmlir.compile(module, tokens, weights=files)
    for found, wanted in zip(compiled(tokens), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-3 * float(wanted.abs().max()))
    text = compiled.text("ttir", elide_above=16)
    assert f"dense_resource<__elided__> : tensor<{stored}>" in text
    assert "x256xf32>}" not in text
    # An adapter beside packed weights, and one that is merged into them.
    a, b = numbers(2, 256), numbers(64, 2)
    name = "model.layers.0.self_attn.v_proj.lora_"
    folder = adapter(tmp_path / "a", {f"{name}A.weight": a, f"{name}B.weight": b})
    with torch.no_grad():
        wanted = ttmlir.load_weights(module, [path, folder])(tokens)[1]
        for merge in (False, True):
            both = ttmlir.load_weights(module, [path, folder], packed=True, merge=merge)
            torch.testing.assert_close(both(tokens)[1], wanted, rtol=1e-4, atol=1e-2)


# -- what is refused -----------------------------------------------------------------------------


def damaged(change: Callable[[bytearray], object]) -> bytes:
    """The file of a model of Llama's, changed."""
    data = bytearray(llama_file(weights_of(Language())))
    change(data)
    return bytes(data)


REFUSED: dict[str, tuple[str, bytes, str]] = {
    "no gguf": ("x.gguf", b"GGML" + bytes(99), "this is no GGUF file"),
    "version": ("x.gguf", b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "version 9 of GGUF is not"),
    "order": ("x.gguf", b"GGUF" + struct.pack(">IQQ", 3, 0, 0), r"bytes are in the other order"),
    "many": (
        "x.gguf",
        b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0),
        "cannot have 1,152,921,504,606,846,976 tensors",
    ),
    "architecture": (
        "x.gguf",
        gguf({}, {"general.architecture": "bert"}),
        "architecture is 'bert'",
    ),
    "no architecture": (
        "x.gguf",
        gguf({}, {}),
        "architecture is not named; supported are llama",
    ),
    "type": (
        "x.gguf",
        gguf({"a": ((3,), 99, b"")}, {}),
        "the tensor 'a' has the type 99; supported are F32, F16, Q4_0",
    ),
    "size": (
        "x.gguf",
        gguf({"a": ((1 << 40, 1 << 20), 0, bytes(16))}, {}),
        "the tensor 'a' has 4,611,686,018,427,387,904 bytes from byte",
    ),
    "rows": ("x.gguf", gguf({"a": ((4, 33), 2, bytes(99))}, {}), "blocks of Q4_0 have 32"),
    "cut off": ("x.gguf", damaged(lambda data: data.__delitem__(slice(-9, None))), "is cut off"),
    "header": ("x.safetensors", struct.pack("<Q", 1 << 62) + bytes(9), "its header would have"),
    "short": ("x.safetensors", b"abc", "cut off or damaged"),
    "json": ("x.safetensors", struct.pack("<Q", 3) + b"{1}", "this is no JSON"),
    "nested": ("x.safetensors", struct.pack("<Q", 200000) + b"[" * 200000, "this is no JSON"),
    "offsets": (
        "x.safetensors",
        safetensors({"a": numbers(3)}).replace(b"[0, 12]", b"[0, 99]"),
        "the tensor 'a' stands from byte 0 to 99 of 12; F32.3. has 12 bytes",
    ),
    "negative": (
        "x.safetensors",
        safetensors({"a": numbers(3)}).replace(b": [3]", b":[-3]"),
        "has to have dtype, shape and data_offsets",
    ),
    "kind": (
        "x.safetensors",
        safetensors({"a": numbers(3)}).replace(b"F32", b"F31"),
        "the tensor 'a' has the type 'F31'; supported are BOOL",
    ),
    "suffix": ("x.bin", b"", "weights are files named .gguf or .safetensors"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_files(name: str, tmp_path: Path) -> None:
    """The message says the file, and what is wrong."""
    file, data, message = REFUSED[name]
    path = tmp_path / file
    path.write_bytes(data)
    with pytest.raises(ttmlir.FileError, match=message) as caught:
        read_weights(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_weights_that_do_not_fit(module: Any, tmp_path: Path) -> None:
    """Shapes, names that nobody has, and models that are none of torch."""
    new = weights_of(module)
    path = tmp_path / "w.safetensors"
    path.write_bytes(safetensors({**new, "extra": numbers(2)}))
    with pytest.warns(UserWarning, match="has no place for 1 of its tensors: extra"):
        ttmlir.load_weights(module, path)
    path.write_bytes(safetensors({**new, "0.weight": numbers(3, 4)}))
    with pytest.raises(ttmlir.InputError, match=r"'0.weight' has the shape \[3, 4\], and '0.wei"):
        ttmlir.load_weights(module, path)
    with pytest.raises(ttmlir.InputError, match="weights of files are for modules of torch"):
        ttmlir.compile(lambda x: x, np.zeros(3), weights=path)
    with pytest.raises(ttmlir.InputError, match=r"or for one model paths of \.gguf and"):
        ttmlir.compile(module, torch.zeros(5), weights="constant")
    for wrong in (3, None, [], [path, 3]):
        with pytest.raises(ttmlir.InputError, match="weights are paths of files, or a list of"):
            ttmlir.compile(module, torch.zeros(5), weights=wrong)
    with pytest.raises(ttmlir.FileError, match="No such file"):
        ttmlir.load_weights(module, tmp_path / "none.gguf")
    for name in ("packed", "merge"):
        with pytest.raises(ttmlir.InputError, match=f"{name} is True or False, not 'yes'"):
            ttmlir.load_weights(module, path, **{name: "yes"})
    path.write_bytes(safetensors({name: new[name] for name in ("0.weight", "2.weight")}))
    with pytest.raises(ttmlir.InputError, match=r": 1 tensor of the model is missing: 0\.bias"):
        ttmlir.load_weights(module, path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"r": "2"}, "r is '2', which is no whole number from 1 on"),
        ({"r": 0}, "r is 0, which is no whole number from 1 on"),
        ({"alpha_pattern": [1]}, "alpha_pattern is no object of JSON"),
        ({"alpha_pattern": {"0": "4"}}, "lora_alpha is '4', which is no number"),
        ({"lora_alpha": math.nan}, "lora_alpha is nan, which is no number"),
        ([], "this is no object of JSON"),
    ],
)
def test_adapters_that_are_refused(config: Any, message: str, tmp_path: Path) -> None:
    """What their configuration says wrong."""
    given = {"0.lora_A.weight": numbers(2, 5), "0.lora_B.weight": numbers(3, 2)}
    folder = adapter(tmp_path / "a", given, **(config or {}))
    path = folder / "adapter_config.json"
    if not config:
        path.write_text("[]")
    with pytest.raises(ttmlir.FileError) as caught:
        read_weights(folder)
    assert str(caught.value) == f"{path}: {message}"


def test_names_of_strangers(tmp_path: Path) -> None:
    """An index names files in its own folder alone, and patterns of adapters are no expressions."""
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "../../etc/passwd"}}))
    with pytest.raises(ttmlir.FileError, match="no relative path to a file in the same folder"):
        read_weights(tmp_path)
    given = {"0.lora_A.weight": numbers(2, 5), "0.lora_B.weight": numbers(3, 2)}
    folder = adapter(tmp_path / "a", given, alpha_pattern={"(a+)+$": 4})
    with pytest.raises(ttmlir.FileError, match="names of modules are supported"):
        read_weights(folder)
    module = nn.Sequential(nn.Conv2d(1, 2, 1))
    module[0].weight = nn.Parameter(torch.zeros(3, 5))
    folder = adapter(
        tmp_path / "c", {"0.lora_A.weight": numbers(2, 5), "0.lora_B.weight": numbers(3, 2)}
    )
    with pytest.raises(ttmlir.InputError, match=r"is the weight of a Conv2d; .* merge=False"):
        ttmlir.load_weights(module, folder, merge=False)
    folder = adapter(tmp_path / "b", given, peft_type="IA3")
    with pytest.raises(ttmlir.FileError, match="adapters of the kind 'IA3' are not supported"):
        read_weights(folder)


@pytest.mark.parametrize("kind", ["gguf", "safetensors"])
def test_random_damage(kind: str, tmp_path: Path) -> None:
    """Whatever is changed, a file is read or refused."""
    module = Language()
    new = weights_of(module)
    whole = llama_file(new) if kind == "gguf" else safetensors(new)
    path = tmp_path / f"x.{kind}"
    # Most of the file are numbers, which are right whatever they are.
    head = whole.index(b"output_norm") if kind == "gguf" else whole.index(b"}}")
    chance = random.Random(3)
    refused = 0
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(head)] = chance.randrange(256)
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        path.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ttmlir.load_weights(module, path)
        except ttmlir.Error:
            refused += 1
    assert refused > 10
