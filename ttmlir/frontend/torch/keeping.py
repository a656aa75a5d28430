"""Functions of torch some of whose arguments stay in the compiled model.

    [(imported, examples)] = import_keeping([(step, (token, place, cache), {})], ["cache"])

They become buffers of the module while it is traced, and so state of the program. A function that
writes to them in place returns what a call does; of one that does not, the last results are their
new values (see `ttmlir.frontend.kept`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from inspect import BoundArguments, Parameter, Signature
from types import MethodType
from typing import Any, cast

import numpy as np

from ttmlir.frontend.calls import CallArguments, Layout, read_layout
from ttmlir.frontend.compiled import ImportedModel
from ttmlir.frontend.kept import Beginning, KeptArguments
from ttmlir.frontend.torch.containers import OPENER
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.model import array_of, forward_of, import_models, tensor_of
from ttmlir.frontend.torch.program import Weights
from ttmlir.frontend.torch.replacing import attributes_replaced, own_attributes
from ttmlir.runtime.session import has_numbers


def import_keeping(
    calls: Sequence[tuple[Any, tuple[Any, ...], dict[str, Any]]],
    names: Sequence[str],
    programs: Sequence[str] = (),
    *,
    weights: Weights = "constants",
) -> list[tuple[ImportedModel, CallArguments]]:
    """Modules, methods and functions with examples, arguments of these names being state of all.

    Each comes with the examples of what calls pass. The state begins with the numbers of the
    examples, or with zeros if they have none; `programs` are names for messages. ArgumentError for
    names that are not arguments, for functions that make no new values, and for examples that
    differ from program to program.
    """
    beginning = Beginning()
    titles = programs or [""] * len(calls)
    models = [_Keeping(*call, names, title) for call, title in zip(calls, titles, strict=True)]
    for each in models:
        each.begin(beginning)
    # Programs of one owner, and others, share these tensors.
    buffers = [tensor_of(np.array(array)) for array in beginning.store.values()]
    with ExitStack() as stack:
        places: dict[int, list[str]] = {}
        methods = [(each.method(buffers, places, stack), *each.examples) for each in models]
        found = import_models(methods, weights=weights)
    if not any(each.writes for each in models):
        raise models[0].refused(models[0].found or "no new value of what is kept")
    return [
        (each.named(imported), each.examples) for each, imported in zip(models, found, strict=True)
    ]


class _Keeping(KeptArguments):
    """A function without the arguments that are kept."""

    def __init__(
        self,
        model: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        names: Sequence[str],
        program: str,
    ) -> None:
        model = getattr(model, "_orig_mod", model)
        function = forward_of(model)
        super().__init__(model, function, args, kwargs, names, program, OPENER)
        module = torch_package().nn.Module
        owner: Any = getattr(function, "__self__", None)
        self._is_module = isinstance(model, module)
        self._owner: Any = owner if isinstance(owner, module) else module()
        self._layouts = {name: read_layout(self.kept[name], OPENER) for name in self.order}
        self._places: list[str] = []
        self.found = ""
        """What the function returns in place of a new value."""

    def begin(self, beginning: Beginning) -> None:
        """Give the examples of what is kept."""
        torch = torch_package()
        tensors = [torch.as_tensor(each) for _, found in self._layouts.values() for each in found]
        known = all(map(has_numbers, tensors))
        arrays = [
            array_of(each if known else torch.zeros(each.shape, dtype=each.dtype))
            for each in tensors
        ]
        beginning.fill(arrays, self.owner, has_numbers=known)

    @property
    def _names(self) -> list[str]:
        """The user's names of all tensors that are kept."""
        layouts = self._layouts.items()
        return [leaf for name, (layout, _) in layouts for leaf in layout.name_leaves(name)]

    def method(self, buffers: Sequence[Any], places: dict[int, list[str]], stack: ExitStack) -> Any:
        """A method of the owner, which has these buffers until the stack is left."""
        owner = self._owner
        if id(owner) not in places:
            places[id(owner)] = []
            for name, buffer in zip(self._names, buffers, strict=True):
                place = re.sub(r"\W+", "_", name).strip("_")
                while hasattr(owner, place):
                    place += "_"
                owner.register_buffer(place, buffer)
                stack.callback(owner._buffers.pop, place)
                places[id(owner)].append(place)
        self._places = places[id(owner)]
        # What is traced takes the place of the owner's call.
        own = own_attributes(owner, _CALLED)

        def run(module: Any, *args: Any, **kwargs: Any) -> Any:
            given = self.rest.bind(*args, **kwargs).arguments
            tensors = [getattr(owner, place) for place in self._places]
            left = iter(tensors)
            kept = {name: each.unflatten(left) for name, (each, _) in self._layouts.items()}
            versions = [each._version for each in tensors]
            whole = BoundArguments(self.whole, cast("Any", {**given, **kept}))
            with attributes_replaced(owner, own):
                result = self.model(*whole.args, **whole.kwargs)
            return self._divide(result, kept, tensors, versions)

        first = Parameter("self", Parameter.POSITIONAL_ONLY)
        described: Any = run
        described.__name__ = self.title
        described.__signature__ = Signature([first, *self.rest.parameters.values()])
        return MethodType(described, owner)

    def _divide(
        self, result: Any, kept: Mapping[str, Any], before: list[Any], versions: list[int]
    ) -> Any:
        """What a call returns; new values are written to the buffers."""
        torch = torch_package()
        # A container may hold other tensors than before.
        after = [leaf for value in kept.values() for leaf in read_layout(value, OPENER)[1]]
        places = [each is old for each, old in zip(after, before, strict=False)]
        is_written = [each._version != old for each, old in zip(before, versions, strict=True)]
        if len(after) != len(before) or not all(places):
            if found := self.mismatch(kept):
                raise self.refused(found)
            result = _copied(self._without(result, after))
            self._write(before, [each.clone() for each in after])
            return result
        if any(is_written):
            self.writes = True
            return self._without(result, before)
        new, rest = self.split(result)
        if new is None:
            return result
        if found := self.mismatch(new):
            self.found = self.found or found
            return result
        values = [leaf for name in self.order for leaf in read_layout(new[name], OPENER)[1]]
        # What is returned, or the value of another one, may be a part of what is written to.
        rest, values = _copied(rest), [torch.as_tensor(each).clone() for each in values]
        self._write(before, values)
        return rest

    def _write(self, tensors: Sequence[Any], values: Sequence[Any]) -> None:
        self.writes = True
        for tensor, value in zip(tensors, values, strict=True):
            tensor.copy_(value.detach())

    def _without(self, result: Any, tensors: Sequence[Any]) -> Any:
        """A result of a function that writes in place, without the kept arguments themselves."""
        known = set(map(id, tensors))

        def is_kept(value: Any) -> bool:
            leaves = read_layout(value, OPENER)[1]
            return bool(leaves) and all(id(leaf) in known for leaf in leaves)

        if is_kept(result):
            return None
        new, rest = self.split(result)
        return rest if new is not None and all(map(is_kept, new.values())) else result

    def named(self, imported: ImportedModel) -> ImportedModel:
        """The model, with the user's names of what is kept."""
        names = dict(zip(self._places, self._names, strict=True))
        signature = imported.signature
        whole = tuple(names.get(name, name) for name in signature.input_names)
        return replace(imported, signature=replace(signature, input_names=whole))


_CALLED = ("forward", "_forward_hooks", "_forward_pre_hooks")


def _copied(value: Any) -> Any:
    """A value of copies of its tensors."""
    layout: Layout
    layout, leaves = read_layout(value, OPENER)
    tensor = torch_package().Tensor
    return layout.unflatten(
        iter([each.clone() if isinstance(each, tensor) else each for each in leaves])
    )
