"""Modules of torch with the weights of files in the places of their own."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import ArgumentError, ArgumentTypeError, FileError, plural
from ttmlir.frontend.weights import modules
from ttmlir.frontend.weights.adapters import CONFIG, Adapter, Product, read_adapter
from ttmlir.frontend.weights.blocks import Parts
from ttmlir.frontend.weights.gguf import read_gguf
from ttmlir.frontend.weights.names import rename
from ttmlir.frontend.weights.safetensors import (
    read_folder,
    read_index,
    read_safetensors,
)
from ttmlir.frontend.weights.sources import Entry

_Read = TypeVar("_Read")
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class WeightFiles:
    """Files of weights, and how a model keeps what they have, for `weights` of `ttmlir.compile`.

        compiled = ttmlir.compile(model, x, weights=ttmlir.WeightFiles("base.gguf", packed=True))

    The fields are arguments of `ttmlir.load_weights`, which says what they do.
    """

    paths: Paths
    _: KW_ONLY
    packed: bool = False
    merge: bool = True

    def __post_init__(self) -> None:
        """ArgumentTypeError for choices that are none."""
        for name, value in (("packed", self.packed), ("merge", self.merge)):
            if not isinstance(cast("Any", value), bool):
                raise ArgumentTypeError(f"{name} is True or False, not {value!r}")


_TIED = {"lm_head.weight": ("model.embed_tokens.weight", "embed_tokens.weight")}
"""Weights that files leave out where they are others' own."""


def load_weights(model: Any, weights: Paths, *, packed: bool = False, merge: bool = True) -> Any:
    """A copy of a torch module with weights of files; the module stays as it is.

    `weights` are paths: of a `.gguf` file, a file of safetensors, a folder with one or with an
    index of several, or a folder with a LoRA or DoRA adapter. Of a tensor that several files have,
    the last one counts; adapters change what files have, wherever these stand. Numbers get the
    types of the module's parameters, which may be on torch's device "meta". Names of llama.cpp
    become those of transformers' Llama, Mistral, Qwen and Gemma models.

    `packed=True` keeps blocks of GGUF files as integers and scales, of which the model makes
    numbers when it runs. Adapters are merged into the weights; with `merge=False` linear layers
    and embeddings add the small products to their results.

    Raises FileError for files that are damaged or not supported, ArgumentError for parameters that
    no file has or that have other shapes. Warns of tensors that the module has no place for.
    """
    return load_files(model, WeightFiles(weights, packed=packed, merge=merge))


def load_files(model: Any, weights: Paths | WeightFiles) -> Any:
    """A copy of a torch module with weights of files, as `load_weights` returns it."""
    if not hasattr(model, "state_dict") or not hasattr(model, "named_parameters"):
        raise ArgumentTypeError(
            f"weights of files are for modules of torch, not for a {type(model).__qualname__}; "
            'other models take weights="constants" or weights="arguments"'
        )
    files = weights if isinstance(weights, WeightFiles) else WeightFiles(weights)
    return _Loader(model, packed=files.packed, merge=files.merge).load(_paths(files.paths))


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

    def __init__(self, model: Any, *, packed: bool, merge: bool) -> None:
        self._torch: Any = import_module("torch")
        self._model = model
        self._packed = packed
        self._merge = merge
        self._own: dict[str, Any] = dict(model.state_dict(keep_vars=True))
        self._new: dict[int, Any] = {}
        """By the identities of the module's tensors: tied ones are one."""
        self._numbers_of: dict[int, Any] = {}
        """What makes numbers of integers that stand for a parameter, by their identities."""
        self._products: list[tuple[str, Any]] = []
        """What is added to results of the modules of weights, by the names of these."""

    def load(self, paths: Sequence[Path]) -> Any:
        """The copy."""
        adapters: list[tuple[Adapter, Path]] = []
        for path in paths:
            found = read_weights(path)
            if isinstance(found, Adapter):
                adapters.append((found, path))
            else:
                self._place(found, path)
        self._tie()
        for adapter, path in adapters:
            # They change what all files have, those that stand behind them, too.
            self._adapt(adapter, path)
        self._require_all(paths, is_whole=len(adapters) < len(paths))
        memo: dict[int, Any] = dict(self._new)
        loaded = copy.deepcopy(self._model, memo)
        for name, product in self._products:
            self._add_to_results(loaded, name, product)
        if self._numbers_of:
            self._make_numbers_in(loaded)
        return loaded

    def _place(self, entries: Mapping[str, Entry], path: Path) -> None:
        unused: list[str] = []
        for name, entry in entries.items():
            target = self._find(name)
            if target is None:
                unused.append(name)
                continue
            self._require_shape(target, entry.shape, name, path)
            if self._packed and self._can_be_packed(target) and entry.parts is not None:
                self._put_parts(target, name, entry.parts, path)
            else:
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
        return self._from_numpy(self._read(name, entry.read, path))

    def _read(self, name: str, read: Callable[[], _Read], path: Path) -> _Read:
        try:
            return read()
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

    def _require_all(self, paths: Sequence[Path], *, is_whole: bool) -> None:
        """Refuse parameters without numbers: adapters alone change those that are there."""
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
            count = f"{plural(len(missing), 'tensor')} of the model"
            are = "is" if len(missing) == 1 else "are"
            raise ArgumentError(f"{', '.join(map(str, paths))}: {count} {are} missing: {names}")

    # -- blocks --------------------------------------------------------------------------------

    def _can_be_packed(self, target: str) -> bool:
        own = self._own[target]
        return isinstance(own, self._torch.nn.Parameter) and own.is_floating_point()

    def _put_parts(self, target: str, name: str, read: Callable[[], Parts], path: Path) -> None:
        """Let integers stand for a parameter."""
        old, parts = self._own[target], self._read(name, read, path)
        integers = self._from_numpy(parts.integers).reshape(old.shape)
        stored = self._torch.nn.Parameter(integers, requires_grad=False)
        self._new[id(old)] = stored
        scales, shifts = (list(map(self._from_numpy, x)) for x in (parts.scales, parts.shifts))
        blocks = tuple(parts.integers.shape)
        self._numbers_of[id(stored)] = modules.numbers_of_blocks(blocks, scales, shifts, old.dtype)

    def _make_numbers_in(self, loaded: Any) -> None:
        parametrize: Any = import_module("torch.nn.utils.parametrize")
        for module in list(loaded.modules()):
            for name, stored in list(module.named_parameters(recurse=False)):
                if (numbers := self._numbers_of.get(id(stored))) is not None:
                    parametrize.register_parametrization(module, name, numbers, unsafe=True)

    def _numbers(self, target: str, path: Path) -> Any:
        """The numbers of a weight as it is loaded so far."""
        found = self._new.get(id(self._own[target]), self._own[target])
        if found.is_meta:
            raise ArgumentError(f"{path}: {target!r} has no numbers that an adapter could change")
        numbers_of = self._numbers_of.get(id(found))
        return (found if numbers_of is None else numbers_of(found)).detach()

    # -- adapters ------------------------------------------------------------------------------

    def _adapt(self, adapter: Adapter, path: Path) -> None:
        self._place(adapter.whole, path)
        for name, product in adapter.products.items():
            target = self._find(name)
            if target is None:
                raise ArgumentError(f"{path}: the model has no {name!r}, which the adapter changes")
            shape = (product.b.shape[0], product.a.shape[1])
            shape = shape[::-1] if product.transposed else shape
            self._require_shape(target, shape, name, path)
            self._change(target, product, path, name)

    def _change(self, target: str, product: Product, path: Path, name: str) -> None:
        """Merge a product into a weight, or keep it for the results."""
        a, b = (self._tensor(name, each, path).float() for each in (product.a, product.b))
        magnitudes: Any = None
        if product.magnitudes is not None:
            magnitudes = self._tensor(name, product.magnitudes, path).float()
        if not self._merge and magnitudes is None:
            self._products.append((target, (path, a, b * product.scale, None)))
            return
        old = self._numbers(target, path).float()
        change = (b @ a) * product.scale
        changed = old + (change.T if product.transposed else change)
        factors: Any = None
        if magnitudes is not None:
            lengths = self._torch.linalg.vector_norm(changed, dim=0 if product.transposed else 1)
            factors = magnitudes / lengths
        if not self._merge:
            self._products.append((target, (path, a, b * product.scale, factors)))
            return
        if factors is not None:
            changed = changed * (factors if product.transposed else factors.unsqueeze(1))
        self._put(target, changed)

    def _add_to_results(self, loaded: Any, name: str, product: Any) -> None:
        owner, _, attribute = name.rpartition(".")
        module, (path, a, b, factors) = loaded.get_submodule(owner), product
        dtype = self._own[name].dtype
        factors = None if factors is None else factors.to(dtype)
        if attribute != "weight" or not modules.takes_product(module):
            raise ArgumentError(
                f"{path}: {name!r} is the weight of a {type(module).__name__}; products apart are "
                "those of Linear, Embedding and Conv1D; leave out merge=False"
            )
        modules.add_product(module, a.to(dtype), b.to(dtype), factors)
