"""Steps of torch modules that read and write a cache of keys and values.

A module of one's own is called with tokens and a `KeyValueCache`; models of transformers are called
with the same cache in the place of theirs, and with masks that it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import MethodType
from typing import Any

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.frontend.torch.distributed.placing import is_distributed
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.model import import_models
from ttmlir.generation.stepping import CacheSize, Pages, Step, SteppingModel, check_call

_ROWS = 32
"""Caches have a multiple of so many positions: the device writes single ones in place then."""


class KeyValueCache:
    """What a module sees of the cache while it computes one step.

    Prompts are rows; `positions` are those of the tokens, prompts x tokens. A module is called as
    `module(tokens, cache)` and returns scores, prompts x tokens x vocabulary.
    """

    is_compileable = True

    def __init__(
        self,
        module: Any,
        starts: Any,
        tokens: int,
        capacity: int,
        last: Any,
        table: Any = None,
        page_size: int = 1,
    ) -> None:
        """Begin a step that takes `tokens` of each prompt from `starts` on.

        With a table of pages, prompts x pages, rows of the caches are positions.
        """
        torch = torch_package()
        self._module = module
        self._last = last
        self._table, self._page_size = table, page_size
        self.capacity = capacity
        """How many positions of each prompt are kept."""
        self.positions: Any = starts[:, None] + torch.arange(tokens, dtype=starts.dtype)

    def update(self, keys: Any, values: Any, layer: int, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Write those of this step, prompts x heads x tokens x size; returns all of the layer.

        The results have `capacity` positions; `mask` says which of them count.
        """
        return self._write(f"keys_{layer}", keys), self._write(f"values_{layer}", values)

    def _write(self, name: str, new: Any) -> Any:
        kept = getattr(self._module, name)
        is_divided = is_distributed(kept)
        # Of heads that are divided, those of a device.
        own = kept.to_local() if is_divided else kept
        if self._table is None:
            places = self.positions.long()[:, None, :, None].expand(new.shape)
            written = found = own.scatter(2, places, new)
        else:
            written, found = self._write_pages(own, new)
        if is_divided:
            spread = (kept.device_mesh, kept.placements)
            tensors_of: Any = import_module("torch.distributed.tensor")
            written = tensors_of.DTensor.from_local(written, *spread, run_check=False)
        kept.copy_(written)
        return found

    def _write_pages(self, kept: Any, new: Any) -> tuple[Any, Any]:
        """All pages, and the positions of the prompts in them."""
        torch = torch_package()
        prompts, heads, tokens, size = new.shape
        table, page = self._table.long(), self._page_size
        positions = self.positions.long()
        places = table.gather(1, positions // page) * page + positions % page
        rows = new.transpose(1, 2).reshape(prompts * tokens, heads * size)
        written = kept.scatter(0, places.reshape(-1, 1).expand(rows.shape), rows)
        all_places = (table[:, :, None] * page + torch.arange(page)).flatten(1)
        found = torch.nn.functional.embedding(all_places, written)
        return written, found.unflatten(-1, (heads, size)).transpose(1, 2)

    def mask(self, window: int | None = None) -> Any:
        """True where a token (row) attends to a position: prompts x 1 x tokens x capacity.

        That is to its own and all earlier ones, or to the last `window` of them.
        """
        places = self.places
        here = self.positions[:, None, :, None]
        is_seen = places <= here
        return is_seen if window is None else is_seen & (places > here - window)

    @property
    def places(self) -> Any:
        """The positions of the cache, as what is compared with `positions`."""
        torch = torch_package()
        return torch.arange(self.capacity, dtype=self.positions.dtype)[None, None, None, :]

    def select(self, rows: Any) -> Any:
        """Of prompts x tokens x width, what the scores are asked for: often the last token alone.

        A module may call it before it computes scores, which saves those of other tokens.
        """
        if self._last is None:
            return rows
        picked, self._last = self._last, None
        places = picked.long()[:, None, None].expand(-1, 1, rows.shape[-1])
        return rows.gather(1, places)

    # What transformers asks of a cache. Masks know the positions, so none are counted here.

    is_sliding = (False,)

    def get_seq_length(self, *_: Any) -> int:
        """Nothing is counted."""
        return 0

    def get_query_offset(self, *_: Any) -> int:
        """Nothing is counted."""
        return 0

    def get_mask_sizes(self, *_: Any) -> tuple[int, int]:
        """All positions, from the first on."""
        return self.capacity, 0


class _Recorder(KeyValueCache):
    """Notes what is written."""

    def __init__(self) -> None:
        torch = torch_package()
        super().__init__(None, torch.zeros(1, dtype=torch.int32), 1, 1, None)
        self.written: dict[int, tuple[Any, Any]] = {}

    def update(self, keys: Any, values: Any, layer: int, *_: Any, **__: Any) -> tuple[Any, Any]:
        """Note them by layer; ArgumentError for what a cache has no place for."""
        if layer in self.written:
            raise ArgumentError(
                f"cache.update is called twice with the layer {layer!r}; each attention has a "
                "cache of its own, and its own number"
            )
        for kind, tensor in (("keys", keys), ("values", values)):
            shape = tuple(getattr(tensor, "shape", ()))
            if len(shape) != 4 or shape[0] != 1 or shape[2] != 1:
                raise ArgumentError(
                    "cache.update takes prompts x heads x tokens x size; for 1 prompt of 1 token "
                    f"the {kind} of the layer {layer!r} have the shape {shape}"
                )
        self.written[layer] = keys, values
        return keys, values


def is_of_transformers(model: Any) -> bool:
    """Whether a model is called as those of transformers are."""
    is_theirs = any(base.__module__.startswith("transformers.") for base in type(model).__mro__)
    return is_theirs and hasattr(model, "get_output_embeddings")


def read_torch_model(
    model: Any, steps: Sequence[Step], max_length: int, pages: Pages | None, mesh: Any = None
) -> SteppingModel:
    """A module with a cache for the steps; InputError for a module that keeps something else.

    A mesh is that over which the heads of the cache are divided.
    """
    torch = torch_package()
    call = _call_of_transformers if is_of_transformers(model) else _call
    _check_positions(model, max_length)
    with torch.no_grad():
        written = _record(model, call)
    unit = _ROWS if pages is None else pages.size
    capacity = -(-max_length // unit) * unit
    modules: dict[int, Any] = {}
    caches: dict[int, CacheSize] = {}
    for batch in {step.batch: None for step in steps}:
        modules[batch], caches[batch] = _with_buffers(model, written, batch, capacity, pages, mesh)
    calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []
    for step in steps:
        numbers = torch.zeros(step.batch, dtype=torch.int32)
        tokens = torch.zeros(step.batch, step.tokens, dtype=torch.int32)
        module = modules[step.batch]
        function = MethodType(_forward(model, call, capacity, step.scores_all, pages), module)
        arguments = (tokens, numbers) if step.scores_all else (tokens, numbers, numbers)
        if pages is not None:
            table = torch.zeros(step.batch, capacity // pages.size, dtype=torch.int32)
            arguments = (*arguments, table)
        calls.append((function, arguments, {}))
    with torch.no_grad():
        imported = import_models(calls)
    name = type(model).__name__
    return SteppingModel(name, dict(zip(steps, imported, strict=True)), caches)


_Call = Callable[[Any, Any, KeyValueCache], Any]


def _call(model: Any, tokens: Any, cache: KeyValueCache) -> Any:
    return model(tokens, cache)


def _call_of_transformers(model: Any, tokens: Any, cache: KeyValueCache) -> Any:
    with _masks_by_positions(cache), _scores_of_selected(model, cache):
        found = model(
            input_ids=tokens,
            position_ids=cache.positions,
            past_key_values=cache,
            use_cache=True,
            return_dict=True,
        )
    return found.logits


def _forward(
    model: Any, call: _Call, capacity: int, scores_all: bool, pages: Pages | None
) -> Callable[..., Any]:
    size = 1 if pages is None else pages.size

    def forward(module: Any, tokens: Any, starts: Any, last: Any, table: Any = None) -> Any:
        cache = KeyValueCache(module, starts, tokens.shape[1], capacity, last, table, size)
        return cache.select(call(module.model, tokens, cache))[:, 0]

    def forward_all(module: Any, tokens: Any, starts: Any, table: Any = None) -> Any:
        cache = KeyValueCache(module, starts, tokens.shape[1], capacity, None, table, size)
        return call(module.model, tokens, cache)

    function = forward_all if scores_all else forward
    function.__name__ = type(model).__name__
    return function


def _with_buffers(
    model: Any,
    written: dict[int, tuple[Any, Any]],
    batch: int,
    capacity: int,
    pages: Pages | None,
    mesh: Any,
) -> tuple[Any, CacheSize]:
    """A module with a model and buffers for its cache, and their size on all devices."""
    torch = torch_package()
    module = torch.nn.Module()
    module.model = model
    size = 0
    for layer, tensors in sorted(written.items()):
        for kind, tensor in zip(("keys", "values"), tensors, strict=True):
            _, heads, _, width = tensor.shape
            heads *= 1 if mesh is None else mesh.size()
            shape = (batch, heads, capacity, width)
            if pages is not None:
                # The last page is that of nobody: what nobody needs is written there.
                shape = ((pages.count + 1) * pages.size, heads * width)
            buffer = torch.zeros(shape, dtype=tensor.dtype)
            size += buffer.numel() * buffer.element_size()
            if mesh is not None:
                tensors_of: Any = import_module("torch.distributed.tensor")
                buffer = tensors_of.distribute_tensor(buffer, mesh, [tensors_of.Shard(1)])
            module.register_buffer(f"{kind}_{layer}", buffer)
    return module.eval(), CacheSize(2 * len(written), size)


def _record(model: Any, call: _Call) -> dict[int, tuple[Any, Any]]:
    """What a model writes to its cache for one token."""
    torch = torch_package()
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(
            f"a Generator takes torch modules and functions of JAX, not a {type(model).__name__}"
        )
    cache = _Recorder()
    name = type(model).__name__
    if call is _call:
        check_call(name, model.forward, "tokens", "cache")
    try:
        scores = call(model, torch.zeros(1, 1, dtype=torch.int32), cache)
    except AttributeError as error:
        if error.obj is not cache:
            raise
        raise ArgumentTypeError(
            f"'{name}' asks its cache for '{error.name}'; a Generator takes models that keep "
            "nothing but keys and values of attention"
        ) from error
    if not cache.written:
        raise ArgumentTypeError(
            f"'{name}' wrote nothing to its cache; a Generator takes causal language models that "
            "call cache.update(keys, values, layer) in each attention"
        )
    shape = getattr(scores, "shape", None)
    if shape is None or len(shape) != 3 or tuple(shape[:2]) != (1, 1):
        found = f"a {type(scores).__name__}" if shape is None else f"the shape {tuple(shape)}"
        raise ArgumentError(
            f"'{name}' returns {found} for 1 prompt of 1 token; scores are prompts x tokens x "
            "vocabulary"
        )
    return cache.written


def _check_positions(model: Any, max_length: int) -> None:
    most = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    if isinstance(most, int) and max_length > most:
        raise ArgumentError(
            f"'{type(model).__name__}' has {most} positions (max_position_embeddings); "
            f"max_length is {max_length}"
        )


@contextmanager
def _scores_of_selected(model: Any, cache: KeyValueCache) -> Generator[None]:
    """Compute the scores of those tokens alone that are asked for."""

    def select(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        return (cache.select(arguments[0]),)

    head = model.get_output_embeddings()
    handle = None if head is None else head.register_forward_pre_hook(select)
    try:
        yield
    finally:
        if handle is not None:
            handle.remove()


@contextmanager
def _masks_by_positions(cache: KeyValueCache) -> Generator[None]:
    """Let transformers make its masks for positions that differ from prompt to prompt."""
    torch = torch_package()
    masking: Any = import_module("transformers.masking_utils")

    def allow(
        batch_size: int,
        q_length: int,
        kv_length: int,
        mask_function: Any = masking.causal_mask_function,
        **_: Any,
    ) -> Any:
        prompts = torch.arange(batch_size)[:, None, None, None]
        heads = torch.zeros(1, 1, 1, 1, dtype=torch.int64)
        here = cache.positions[:, None, :, None]
        found = mask_function(prompts, heads, here, cache.places)
        return found.expand(batch_size, -1, q_length, kv_length)

    def add(dtype: Any = torch.float32, **given: Any) -> Any:
        least = torch.finfo(dtype).min
        return torch.where(allow(**given), torch.zeros((), dtype=dtype), least)

    table = masking.ALL_MASK_ATTENTION_FUNCTIONS._global_mapping
    with ExitStack() as stack:
        for name, function in (("sdpa", allow), ("eager", add)):
            stack.callback(table.__setitem__, name, table[name])
            table[name] = function
        yield
