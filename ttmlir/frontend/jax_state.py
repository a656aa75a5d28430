"""Functions of JAX some of whose arguments stay on the device, as state of the compiled program.

    [(imported, examples)] = import_keeping([(step, (tokens, place, cache), {})], ["cache"])

A call then passes the other arguments, and gets what else the function returns. New values are the
last results, one for each kept argument in the order of the parameters: `return result, cache`; or
they have the names of the arguments: `return {"result": result, "cache": cache}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from inspect import BoundArguments, Parameter, Signature
from typing import Any, cast

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.frontend.calls import OPENER, CallArguments, jax_array_of, read_call, read_layout
from ttmlir.frontend.compiled import ImportedModel
from ttmlir.frontend.jax import import_model
from ttmlir.frontend.kept import Beginning, KeptArguments
from ttmlir.runtime.signature import tuple_of
from ttmlir.runtime.tensor import Array

_SMALL = 4096
"""Bytes up to which an array of state is handed to JAX, which then drops it."""
_KEPT = "kept"
"""What JAX calls the first argument, which holds all state."""


def import_keeping(
    calls: Sequence[tuple[Any, tuple[Any, ...], dict[str, Any]]],
    names: Sequence[str],
    programs: Sequence[str] = (),
) -> list[tuple[ImportedModel, CallArguments]]:
    """Functions with examples of their arguments, those of these names being state of them all.

    Each comes with the examples of what calls pass.

    The state begins with the numbers of the examples, or with zeros if they have none. A function
    that returns one value, which is like no kept argument, only reads; what other functions return
    ends with new values of all of them, alike in containers, shapes and types. `programs` are names
    for messages. ArgumentError for names that are not arguments, for functions that return other
    values, and for examples that differ from program to program.
    """
    beginning = Beginning()
    titles = programs or [""] * len(calls)
    models = [_Keeping(*call, names, title) for call, title in zip(calls, titles, strict=True)]
    found = [(each.imported(beginning), each.examples) for each in models]
    if not any(each.writes for each in models):
        raise models[0].refused("no new value of what is kept")
    return found


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
        jax: Any = import_module("jax")
        stages: Any = jax.stages
        traced = (
            stages.Traced,
            stages.Lowered,
            stages.Compiled,
            import_module("jax.export").Exported,
        )
        if isinstance(model, traced):
            raise ArgumentError(
                f"keep: {type(model).__name__} objects have no names of arguments; give the "
                "function itself, or what jax.jit returns, and examples of its arguments"
            )
        super().__init__(model, model, args, kwargs, names, program, OPENER)
        # JAX sorts the keys of dictionaries.
        examples = {name: self.kept[name] for name in sorted(self.kept)}
        self._has_numbers = not any(
            isinstance(each, jax.ShapeDtypeStruct) for each in read_layout(examples, OPENER)[1]
        )
        self.kept = {name: _with_numbers(each) for name, each in examples.items()}
        self._last: Any = None

    def imported(self, beginning: Beginning) -> ImportedModel:
        """The model, whose state is in a store that other programs may have, too."""
        store = beginning.store
        args, kwargs = self.examples
        imported = import_model(self._function(), (self.kept, *args), kwargs)
        positions, by_name = imported.signature.arguments.children
        count = positions.children[0].leaf_count
        numbers = [_with_numbers(each) for each in args]
        named = {name: _with_numbers(each) for name, each in kwargs.items()}
        first = imported.flatten((self.kept, *numbers), named)[:count]
        beginning.fill(
            [np.array(each) for each in first], self.owner, has_numbers=self._has_numbers
        )
        names = [
            re.sub(rf"^{_KEPT}\['(\w+)'\]", r"\1", name) for name in imported.signature.input_names
        ]
        call, _ = read_call(self.title, self._described(self.rest), self.examples, OPENER)

        def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
            args, kwargs = call.unflatten(call.flatten(args, kwargs))
            return imported.flatten((self.kept, *args), kwargs)[count:]

        def unflatten(results: Sequence[Array]) -> Any:
            store.update(enumerate(results[:count]))
            left = [each if each.nbytes <= _SMALL else each[:0] for each in results[:count]]
            return imported.unflatten([*left, *results[count:]])[1]

        def reference(*args: Any, **kwargs: Any) -> Any:
            assert imported.reference is not None, "JAX computes its functions"
            self._last, shown = imported.reference(self._current(store), *args, **kwargs)
            return shown

        def flatten_results(results: Any) -> Sequence[Array]:
            assert imported.flatten_results is not None, "results of JAX are arrays"
            return imported.flatten_results((self._last, results))

        return replace(
            imported,
            input_names=names[count:],
            flatten=flatten,
            unflatten=unflatten,
            reference=reference,
            flatten_results=flatten_results,
            signature=replace(
                imported.signature,
                input_names=tuple(names),
                arguments=tuple_of(tuple_of(*positions.children[1:]), by_name),
                results=imported.signature.results.children[1],
                bound=tuple(range(count)),
                state=count,
            ),
            bound=store,
            state=range(count),
        )

    def _function(self) -> Callable[..., tuple[Any, Any]]:
        """Of the kept arguments and the others: their new values, and what a call returns."""

        def run(kept: Mapping[str, Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
            given = self.rest.bind(*args, **kwargs).arguments
            whole = BoundArguments(self.whole, cast("Any", {**given, **kept}))
            return self._divide(self.model(*whole.args, **whole.kwargs), kept)

        first = Parameter(_KEPT, Parameter.POSITIONAL_ONLY)
        return self._described(Signature([first, *self.rest.parameters.values()]), run)

    def _described(self, form: Signature, function: Any = None) -> Any:
        """A function of this form."""

        def takes(*_: Any, **__: Any) -> None:
            """Nothing."""

        described: Any = takes if function is None else function
        described.__name__ = described.__qualname__ = self.title
        described.__signature__ = form
        return described

    def _divide(self, result: Any, kept: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The new values of what is kept, and the rest of a result."""
        new, rest = self.split(result)
        if new is None:
            return self._only_read(result, kept), result
        if found := self.mismatch(new):
            raise self.refused(found)
        self.writes = True
        return {name: new[name] for name in self.kept}, rest

    def _only_read(self, result: Any, kept: Mapping[str, Any]) -> dict[str, Any]:
        """State as it was, for a result no part of which may be a new value of it."""
        parts: list[Any] = [result]
        if isinstance(result, Mapping):
            parts += cast("Mapping[Any, Any]", result).values()
        elif isinstance(result, tuple):
            parts += cast("tuple[Any, ...]", result)
        found = [self.describe(each) for each in parts]
        for name, value in self.kept.items():
            if self.describe(value) in found:
                raise self.refused(f"what may be a result or a new value of '{name}'")
        return {**kept}

    def _current(self, store: Mapping[int, Array]) -> dict[str, Any]:
        """The state as the function takes it."""
        layout, leaves = read_layout(self.kept, OPENER)
        if len(leaves) != len(store):
            raise ArgumentError(f"'{self.title}' keeps complex numbers: JAX does not compute it")
        return layout.unflatten(iter([jax_array_of(store[number]) for number in range(len(store))]))


def _with_numbers(value: Any) -> Any:
    """A value of arrays of JAX, with zeros where an example has a shape alone."""
    jax: Any = import_module("jax")
    layout, leaves = read_layout(value, OPENER)
    arrays = [
        jax.numpy.zeros(each.shape, each.dtype)
        if isinstance(each, jax.ShapeDtypeStruct)
        else each
        if isinstance(each, jax.Array)
        else jax.numpy.asarray(each)
        for each in leaves
    ]
    return layout.unflatten(iter(arrays))
