"""Modules of torch with the weights of files in the places of their own."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import ArgumentError, ArgumentTypeError, FileError
from ttmlir.frontend.weights.adapters import CONFIG, Adapter, Product, read_adapter
from ttmlir.frontend.weights.gguf import read_gguf
from ttmlir.frontend.weights.names import rename
from ttmlir.frontend.weights.safetensors import (
    read_folder,
    read_index,
    read_safetensors,
)
from ttmlir.frontend.weights.sources import Entry

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_TIED = {"lm_head.weight": ("model.embed_tokens.weight", "embed_tokens.weight")}
"""Weights that files leave out where they are others' own."""


def load_weights(model: Any, weights: Paths) -> Any:
    """A copy of a torch module with weights of files; the module stays as it is.

    `weights` are paths, later ones for what earlier ones leave: of a `.gguf` file, a file of
    safetensors, a folder with one or with an index of several, or a folder with a LoRA adapter,
    which is merged into the weights. Numbers get the types of the module's parameters, which may be
    on torch's device "meta". Names of llama.cpp become those of transformers' Llama, Mistral, Qwen
    and Gemma models.

    Raises FileError for files that are damaged or not supported, ArgumentError for parameters that
    no file has or that have other shapes. Warns of tensors that the module has no place for.
    """
    if not hasattr(model, "state_dict") or not hasattr(model, "named_parameters"):
        raise ArgumentTypeError(
            f"weights of files are for modules of torch, not for a {type(model).__qualname__}; "
            'other models take weights="constants" or weights="arguments"'
        )
    return _Loader(model).load(_paths(weights))


def _paths(weights: Paths) -> list[Path]:
    listed: list[Any] = []
    if isinstance(weights, str | os.PathLike):
        listed = [weights]
    elif hasattr(weights, "__iter__"):
        listed = list(weights)
    if not listed or not all(isinstance(each, str | os.PathLike) for each in listed):
        raise ArgumentTypeError("weights are paths of files, or a list of them")
    return [Path(each) for each in listed]


def read_weights(path: Path) -> dict[str, Entry] | Adapter:
    """What the files of a path have, by name; FileError for those that are damaged or of no kind
    that is supported."""
    if path.is_dir():
        return read_adapter(path) if (path / CONFIG).is_file() else read_folder(path)
    if path.suffix == ".gguf":
        return rename(read_gguf(path), path)
    if path.suffix == ".json":
        return read_index(path)
    if path.suffix == ".safetensors":
        return read_safetensors(path)
    raise FileError(
        f"{path}: weights are files named .gguf or .safetensors, or folders of safetensors and "
        "adapters"
    )


class _Loader:
    """New tensors for those of a module."""

    def __init__(self, model: Any) -> None:
        self._torch: Any = import_module("torch")
        self._model = model
        self._own: dict[str, Any] = dict(model.state_dict(keep_vars=True))
        self._new: dict[int, Any] = {}
        """By the identities of the module's tensors: tied ones are one."""

    def load(self, paths: Sequence[Path]) -> Any:
        """The copy."""
        for path in paths:
            found = read_weights(path)
            if isinstance(found, Adapter):
                self._adapt(found, path)
            else:
                self._place(found, path)
        self._tie()
        self._require_all(paths)
        memo: dict[int, Any] = dict(self._new)
        return copy.deepcopy(self._model, memo)

    def _place(self, entries: Mapping[str, Entry], path: Path) -> None:
        unused: list[str] = []
        for name, entry in entries.items():
            target = self._find(name)
            if target is None:
                unused.append(name)
                continue
            self._require_shape(target, entry.shape, name, path)
            self._put(target, self._tensor(name, entry, path))
        if unused:
            names = ", ".join(unused[:3]) + (", ..." if len(unused) > 3 else "")
            warnings.warn(
                f"{path}: the model has no place for {len(unused)} of its tensors: {names}",
                stacklevel=5,
            )

    def _find(self, name: str) -> str | None:
        """The module's name of a tensor, which may be one for the module around it or inside."""
        prefix = str(getattr(self._model, "base_model_prefix", "") or "model") + "."
        for each in (name, name.removeprefix(prefix), prefix + name):
            if each in self._own:
                return each
        return None

    def _tensor(self, name: str, entry: Entry, path: Path) -> Any:
        try:
            return self._from_numpy(entry.read())
        except MemoryError as error:
            raise FileError(f"{path}: there is no memory for {name!r}") from error

    def _from_numpy(self, numbers: NDArray[Any]) -> Any:
        kinds = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
        name = numbers.dtype.name
        numbers = np.ascontiguousarray(numbers)
        if name in kinds:
            bits = self._torch.from_numpy(numbers.view(kinds[name]))
            return bits.view(getattr(self._torch, name))
        if name in ("uint16", "uint32", "uint64"):
            numbers = numbers.astype(np.int64)
        return self._torch.from_numpy(numbers)

    def _require_shape(self, target: str, shape: Sequence[int], name: str, path: Path) -> None:
        own = self._own[target].shape
        if tuple(shape) != tuple(own):
            raise ArgumentError(
                f"{path}: {name!r} has the shape {list(shape)}, and {target!r} of the model "
                f"{list(own)}"
            )

    def _put(self, target: str, tensor: Any) -> None:
        old = self._own[target]
        new = tensor.to(old.dtype)
        if isinstance(old, self._torch.nn.Parameter):
            new = self._torch.nn.Parameter(new, requires_grad=old.requires_grad)
        self._new[id(old)] = new

    def _tie(self) -> None:
        for name, others in _TIED.items():
            own = self._own.get(name)
            if own is None or id(own) in self._new:
                continue
            for other in others:
                source = self._new.get(id(self._own.get(other)))
                if source is not None and tuple(source.shape) == tuple(own.shape):
                    self._new[id(own)] = source

    def _require_all(self, paths: Sequence[Path]) -> None:
        """Refuse parameters without numbers: adapters alone change those that are there."""
        is_whole = any(not (path / CONFIG).is_file() for path in paths)
        parameters = {id(each) for each in self._model.parameters()}
        missing = [
            name
            for name, own in self._own.items()
            if id(own) not in self._new and (own.is_meta or (is_whole and id(own) in parameters))
        ]
        missing += [
            name
            for name, own in self._model.named_buffers()
            if own.is_meta and id(own) not in self._new and name not in missing
        ]
        if missing:
            names = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
            raise ArgumentError(
                f"{', '.join(map(str, paths))}: {len(missing)} tensors of the model are missing: "
                f"{names}"
            )

    # -- adapters ------------------------------------------------------------------------------

    def _adapt(self, adapter: Adapter, path: Path) -> None:
        self._place(adapter.whole, path)
        for name, product in adapter.products.items():
            target = self._find(name)
            if target is None:
                raise ArgumentError(f"{path}: the model has no {name!r}, which the adapter changes")
            old = self._new.get(id(self._own[target]), self._own[target])
            if old.is_meta:
                raise ArgumentError(
                    f"{path}: {target!r} has no numbers that an adapter could change"
                )
            shape = (product.b.shape[0], product.a.shape[1])
            shape = shape[::-1] if product.transposed else shape
            self._require_shape(target, shape, name, path)
            change = self._multiply(product, path, name)
            self._put(target, old.detach().to(change.dtype) + change)

    def _multiply(self, product: Product, path: Path, name: str) -> Any:
        a, b = (
            self._tensor(name, each, path).to(self._torch.float32)
            for each in (product.a, product.b)
        )
        found = (b @ a) * product.scale
        return found.T if product.transposed else found
