"""Functions of JAX some of whose arguments stay on the device, as state of the compiled program.

    [(imported, examples)] = import_keeping([(step, (tokens, place, cache), {})], ["cache"])

A call then passes the other arguments, and gets what else the function returns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from inspect import BoundArguments, Parameter, Signature, signature
from typing import Any, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.frontend.calls import OPENER, CallArguments, read_call, read_layout
from ttmlir.frontend.compiled import ImportedModel
from ttmlir.frontend.jax import import_model
from ttmlir.runtime.signature import tuple_of
from ttmlir.runtime.tensor import Array

_SMALL = 4096
"""Bytes up to which an array of state is handed to JAX, which then drops it."""
_KEPT = "kept"
"""What JAX calls the first argument, which holds all state."""
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def import_keeping(
    calls: Sequence[tuple[Any, tuple[Any, ...], dict[str, Any]]], names: Sequence[str]
) -> list[tuple[ImportedModel, CallArguments]]:
    """Functions with examples of their arguments, those of these names being state of them all.

    Each comes with the examples of what calls pass.

    The state begins with the numbers of the first examples, or with zeros if they have none. A
    function returns the new value of each, alike in containers, shapes and types, by itself or as
    a part of a tuple, list or dictionary. ArgumentError for names that are not arguments, for
    functions that return no new value, and for examples that differ from program to program.
    """
    store: dict[int, Array] = {}
    models = [_Keeping(*call, names) for call in calls]
    return [(each.imported(store), each.examples) for each in models]


class _Keeping:
    """A function without the arguments that are kept."""

    def __init__(
        self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: Sequence[str]
    ) -> None:
        self._model = model
        self._title = getattr(model, "__name__", type(model).__name__)
        try:
            self._whole = signature(model)
            given = self._whole.bind(*args, **kwargs).arguments
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"keep: '{self._title}': {error}") from error
        parameters = self._whole.parameters
        known = [each for each in given if parameters[each].kind not in _VARIADIC]
        for name in names:
            if name not in known:
                raise ArgumentError(
                    f"keep: no argument is named '{name}'; arguments are {', '.join(known)}"
                )
        self._kept = {name: _with_numbers(given[name]) for name in sorted({*names})}
        rest = [each for name, each in parameters.items() if name not in self._kept]
        self._rest = Signature(rest)
        by_position = list(parameters)[: len(args)]
        by_position += [""] * (len(args) - len(by_position))
        self.examples: CallArguments = (
            tuple(
                value
                for name, value in zip(by_position, args, strict=True)
                if name not in self._kept
            ),
            {name: value for name, value in kwargs.items() if name not in self._kept},
        )
        self._last: Any = None

    def imported(self, store: dict[int, Array]) -> ImportedModel:
        """The model, whose state is in a store that other programs may have, too."""
        args, kwargs = self.examples
        imported = import_model(self._function(), (self._kept, *args), kwargs)
        positions, by_name = imported.signature.arguments.children
        count = positions.children[0].leaf_count
        numbers = [_with_numbers(each) for each in args]
        named = {name: _with_numbers(each) for name, each in kwargs.items()}
        first = imported.flatten((self._kept, *numbers), named)[:count]
        self._fill(store, [np.array(each) for each in first])
        names = [
            re.sub(rf"^{_KEPT}\['(\w+)'\]", r"\1", name) for name in imported.signature.input_names
        ]
        call, _ = read_call(self._title, self._described(self._rest), self.examples, OPENER)

        def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
            args, kwargs = call.unflatten(call.flatten(args, kwargs))
            return imported.flatten((self._kept, *args), kwargs)[count:]

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
            given = self._rest.bind(*args, **kwargs).arguments
            whole = BoundArguments(self._whole, cast("Any", {**given, **kept}))
            return self._divide(self._model(*whole.args, **whole.kwargs))

        first = Parameter(_KEPT, Parameter.POSITIONAL_ONLY)
        return self._described(Signature([first, *self._rest.parameters.values()]), run)

    def _described(self, form: Signature, function: Any = None) -> Any:
        """A function of this form."""

        def takes(*_: Any, **__: Any) -> None:
            """Nothing."""

        described: Any = takes if function is None else function
        described.__name__ = described.__qualname__ = self._title
        described.__signature__ = form
        return described

    def _divide(self, result: Any) -> tuple[dict[str, Any], Any]:
        """The new values of what is kept, and the rest of a result."""
        items: dict[Any, Any] = {None: result}
        if type(result) in (tuple, list):
            items = dict(enumerate(cast("Sequence[Any]", result)))
        elif isinstance(result, Mapping):
            items = dict(cast("Mapping[Any, Any]", result))
        new: dict[str, Any] = {}
        for name, value in self._kept.items():
            wanted = _describe(value)
            order = sorted(items, key=lambda key, name=name: key != name)
            found = [key for key in order if _describe(items[key]) == wanted]
            if not found:
                held = ", ".join(f"{kind}[{','.join(map(str, size))}]" for _, size, kind in wanted)
                raise ArgumentError(
                    f"keep: '{self._title}' returns no new value of '{name}' that is like it "
                    f"({held}); return it beside the result, as in JAX: return result, {name}"
                )
            new[name] = items.pop(found[0])
        if isinstance(result, Mapping):
            return new, items
        rest = tuple(items.values())
        return new, rest[0] if len(rest) == 1 else rest or None

    def _fill(self, store: dict[int, Array], arrays: Sequence[Array]) -> None:
        """Begin with these arrays, if no other program has."""
        if not store:
            store.update(enumerate(arrays))
        shapes, others = (
            [(each.shape, each.dtype) for each in given] for given in (arrays, store.values())
        )
        if shapes != others:
            raise ArgumentError(
                f"keep: examples of {', '.join(self._kept)} for '{self._title}' have other shapes "
                "or types than those of the programs before; what programs keep is the same"
            )

    def _current(self, store: Mapping[int, Array]) -> dict[str, Any]:
        """The state as the function takes it."""
        jnp: Any = import_module("jax.numpy")
        layout, leaves = read_layout(self._kept, OPENER)
        if len(leaves) != len(store):
            raise ArgumentError(f"'{self._title}' keeps complex numbers: JAX does not compute it")
        return layout.unflatten(iter([jnp.asarray(store[number]) for number in range(len(store))]))


def _describe(value: Any) -> list[tuple[str, tuple[int, ...], str]]:
    """Names, shapes and types of the arrays in a value."""
    layout, leaves = read_layout(value, OPENER)
    names = layout.name_leaves("")
    arrays = [(np.shape(each), str(getattr(each, "dtype", ""))) for each in leaves]
    return [(name, *each) for name, each in zip(names, arrays, strict=True)]


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
