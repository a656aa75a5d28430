"""LoRA and DoRA adapters in folders as peft writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ttmlir.errors import FileError
from ttmlir.frontend.weights.safetensors import read_json, read_safetensors
from ttmlir.frontend.weights.sources import Entry

CONFIG = "adapter_config.json"
_TENSORS = "adapter_model.safetensors"
_PREFIX = "base_model.model."
_UNSUPPORTED = ("use_qalora", "lora_bias", "trainable_token_indices")


@dataclass(frozen=True)
class Product:
    """What is added to a weight: `scale * b @ a`, or its transposed for `transposed` ones."""

    a: Entry
    b: Entry
    scale: float
    transposed: bool
    magnitudes: Entry | None = None
    """Of DoRA: the lengths that the rows of the sum are given, columns of `transposed` ones."""


@dataclass(frozen=True)
class Adapter:
    """What an adapter does, by the names of weights."""

    products: Mapping[str, Product]
    whole: Mapping[str, Entry]
    """Weights that it has instead of the model's."""


def read_adapter(folder: Path) -> Adapter:
    """The adapter in a folder; FileError for damaged ones and for kinds that are not supported."""
    config = read_json(folder / CONFIG)
    if config.get("peft_type") != "LORA":
        raise FileError(
            f"{folder / CONFIG}: adapters of the kind {config.get('peft_type')!r} are not "
            "supported; those of LORA are"
        )
    for name in _UNSUPPORTED:
        if config.get(name):
            raise FileError(f"{folder / CONFIG}: {name!r} is not supported")
    rank = config.get("r", 1)
    if type(rank) is not int or rank < 1:
        raise FileError(f"{folder / CONFIG}: r is {rank!r}, which is no whole number from 1 on")
    tensors = read_safetensors(folder / _TENSORS)
    pairs: dict[str, dict[str, Entry]] = {}
    whole: dict[str, Entry] = {}
    for name, entry in tensors.items():
        own = name.removeprefix(_PREFIX)
        found = re.fullmatch(
            r"(.+)\.lora_(embedding_)?(A|B|magnitude_vector)(\.(weight|default))*", own
        )
        if found is not None:
            key = f"{found[1]}.weight"
            pairs.setdefault(key, {})[f"{found[3]}{found[2] or ''}"] = entry
        else:
            whole[own.replace(".base_layer.", ".").replace(".modules_to_save.", ".")] = entry
    return Adapter(dict(_products(folder, config, pairs)), whole)


def _products(
    folder: Path, config: Mapping[str, Any], pairs: Mapping[str, Mapping[str, Entry]]
) -> Iterator[tuple[str, Product]]:
    for name, parts in pairs.items():
        is_table = "Aembedding_" in parts
        a, b = (parts.get(f"{each}{'embedding_' if is_table else ''}") for each in "AB")
        if a is None or b is None or len(a.shape) != 2 or len(b.shape) != 2:
            raise FileError(f"{folder}: {name!r} has to have two matrices, lora_A and lora_B")
        rank = a.shape[0]
        if not rank or b.shape[1] != rank:
            raise FileError(
                f"{folder}: the matrices of {name!r} have the shapes {list(a.shape)} and "
                f"{list(b.shape)}, which are not those of a product"
            )
        magnitudes = parts.get("magnitude_vector")
        if magnitudes is not None and magnitudes.shape != b.shape[:1]:
            raise FileError(
                f"{folder}: the magnitudes of {name!r} have the shape {list(magnitudes.shape)}; "
                f"there have to be {b.shape[0]}"
            )
        module = name.removesuffix(".weight")
        alpha = _alpha_of(folder / CONFIG, config, module)
        if type(alpha) not in (int, float) or not math.isfinite(alpha):
            raise FileError(f"{folder / CONFIG}: lora_alpha is {alpha!r}, which is no number")
        scale = float(alpha) / (math.sqrt(rank) if config.get("use_rslora") else rank)
        transposed = is_table or bool(config.get("fan_in_fan_out"))
        yield name, Product(a, b, scale, transposed, magnitudes)


def _alpha_of(path: Path, config: Mapping[str, Any], module: str) -> Any:
    """The number of the first pattern that a module's name ends in; peft has expressions there,
    which are names in nearly all files."""
    patterns: Any = config.get("alpha_pattern") or {}
    if not isinstance(patterns, dict):
        raise FileError(f"{path}: alpha_pattern is no object of JSON")
    for pattern, number in cast("dict[str, Any]", patterns).items():
        if not re.fullmatch(r"[\w.]+", pattern):
            raise FileError(
                f"{path}: alpha_pattern has {pattern[:99]!r}; names of modules are supported"
            )
        if module == pattern or module.endswith(f".{pattern}"):
            return number
    return config.get("lora_alpha", 8)
