"""Weights of language models as llama.cpp names and stores them, in the way of transformers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import FileError
from ttmlir.frontend.weights.gguf import GgufFile
from ttmlir.frontend.weights.sources import Entry

_OUTSIDE = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
_IN_LAYERS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_AROUND_LAYERS = {
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
"""Those of layers whose results are normalized, too."""

_LAYERS: Mapping[str, Mapping[str, str]] = {
    "llama": _IN_LAYERS,
    "mistral3": _IN_LAYERS,
    "qwen2": _IN_LAYERS,
    "qwen3": _IN_LAYERS,
    "gemma": _IN_LAYERS,
    "gemma2": {**_IN_LAYERS, **_AROUND_LAYERS},
    "gemma3": {**_IN_LAYERS, **_AROUND_LAYERS},
}
"""By what a file calls its architecture; Mistral's is that of Llama."""
_NOT_LOADED = {"rope_freqs.weight"}
"""Numbers that models compute by themselves."""
_LAYER = re.compile(r"blk\.(\d{1,5})\.(\w+)\.(weight|bias)")
_OTHER = re.compile(r"(\w+)\.(weight|bias)")


def rename(file: GgufFile, path: Any) -> dict[str, Entry]:
    """The tensors of a file by transformers' names, as transformers stores them.

    FileError for architectures that are not known.
    """
    architecture = file.metadata.get("general.architecture")
    if architecture not in _LAYERS:
        named = "not named" if architecture is None else f"{architecture!r}"
        raise FileError(f"{path}: the architecture is {named}; supported are {', '.join(_LAYERS)}")
    return dict(_renamed(file, str(architecture), path))


def _renamed(file: GgufFile, architecture: str, path: Any) -> Iterator[tuple[str, Entry]]:
    for name, entry in file.tensors.items():
        if name in _NOT_LOADED:
            continue
        if (parts := _LAYER.fullmatch(name)) is not None:
            number, own, kind = parts.groups()
            known = _LAYERS[architecture].get(own)
            new = f"model.layers.{int(number)}.{known}.{kind}"
        else:
            parts = _OTHER.fullmatch(name)
            own, kind = parts.groups() if parts is not None else ("", "")
            known = _OUTSIDE.get(own)
            new = f"{known}.{kind}"
        if known is None:
            # Whoever looks for weights says which of them are not used.
            yield name, entry
            continue
        yield new, _changed(entry, file, architecture, own, path)


def _changed(entry: Entry, file: GgufFile, architecture: str, own: str, path: Any) -> Entry:
    """From llama.cpp's numbers to transformers'."""
    read, parts = entry.read, entry.parts
    if architecture.startswith("gemma") and own.endswith("norm"):

        def without_one() -> NDArray[Any]:
            numbers = read()
            return numbers - np.ones((), numbers.dtype)

        return replace(entry, read=without_one, parts=None)
    if architecture == "llama" and own in ("attn_q", "attn_k"):
        heads = file.metadata.get("llama.attention.head_count")
        if own == "attn_k":
            heads = file.metadata.get("llama.attention.head_count_kv", heads)
        if not isinstance(heads, int) or heads < 1:
            raise FileError(
                f"{path}: the number of heads is {heads!r}; it has to be a whole number"
            )
        number = heads

        def turn(numbers: NDArray[Any]) -> NDArray[Any]:
            return _apart(numbers, number, path)

        turned = None if parts is None else lambda: parts().change(turn)
        return replace(entry, read=lambda: turn(read()), parts=turned)
    return entry


def _apart(numbers: NDArray[Any], heads: int, path: Any) -> NDArray[Any]:
    """Rows of heads, of which llama.cpp has those next to each other that are turned together."""
    rows = numbers.shape[0] if numbers.ndim else 0
    if not rows or rows % (2 * heads):
        raise FileError(f"{path}: {rows} rows are not those of {heads} heads")
    pairs = numbers.reshape((heads, rows // heads // 2, 2, *numbers.shape[1:]))
    return pairs.swapaxes(1, 2).reshape(numbers.shape)
