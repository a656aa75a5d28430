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
from inspect import BoundArguments, Parameter, Signature, signature
from typing import Any, NoReturn, cast

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
    beginning = _Beginning()
    titles = programs or [""] * len(calls)
    models = [_Keeping(*call, names, title) for call, title in zip(calls, titles, strict=True)]
    found = [(each.imported(beginning), each.examples) for each in models]
    if not any(each.writes for each in models):
        raise models[0].refused("no new value of what is kept")
    return found


class _Beginning:
    """The numbers that state begins with, which several programs give examples of."""

    def __init__(self) -> None:
        self.store: dict[int, Array] = {}
        self._first = ""
        self._has_numbers = False

    def fill(self, arrays: Sequence[Array], owner: str, *, has_numbers: bool) -> None:
        """Begin with these arrays of a program, if no other program has numbers."""
        kept = list(self.store.values()) or arrays
        if [(each.shape, each.dtype) for each in kept] != [(a.shape, a.dtype) for a in arrays]:
            self._refuse(owner, "shapes or types")
        if has_numbers and self._has_numbers and not all(map(_are_same_bits, kept, arrays)):
            self._refuse(owner, "numbers")
        if not self.store or (has_numbers and not self._has_numbers):
            self.store.update(enumerate(arrays))
            self._first, self._has_numbers = owner, has_numbers

    def _refuse(self, owner: str, what: str) -> NoReturn:
        raise ArgumentError(
            f"keep: examples of {owner} have other {what} than those of {self._first}; what "
            "programs keep is the same: give each of them the same example"
        )


def _are_same_bits(a: Array, b: Array) -> bool:
    return np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8))


class _Keeping:
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
        self._model = model
        self._title = getattr(model, "__name__", type(model).__name__)
        try:
            self._whole = signature(model)
            given = self._whole.bind(*args, **kwargs).arguments
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"keep: '{self._title}': {error}") from error
        parameters = self._whole.parameters
        known = [each for each in given if parameters[each].kind not in _VARIADIC]
        self._owner = f"program '{program}'" if program else f"'{self._title}'"
        for name in names:
            if name not in known:
                raise ArgumentError(
                    f"keep: no argument of {self._owner} is named '{name}'; {_name(known, name)}"
                )
        # JAX sorts the keys of dictionaries; new values are in the order of the parameters.
        self._order = [name for name in parameters if name in names]
        examples = {name: given[name] for name in sorted({*names})}
        self._has_numbers = not any(
            isinstance(each, jax.ShapeDtypeStruct) for each in read_layout(examples, OPENER)[1]
        )
        self._kept = {name: _with_numbers(each) for name, each in examples.items()}
        self.writes = False
        """Whether the function returns new values of what is kept."""
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

    def imported(self, beginning: _Beginning) -> ImportedModel:
        """The model, whose state is in a store that other programs may have, too."""
        store = beginning.store
        args, kwargs = self.examples
        imported = import_model(self._function(), (self._kept, *args), kwargs)
        positions, by_name = imported.signature.arguments.children
        count = positions.children[0].leaf_count
        numbers = [_with_numbers(each) for each in args]
        named = {name: _with_numbers(each) for name, each in kwargs.items()}
        first = imported.flatten((self._kept, *numbers), named)[:count]
        beginning.fill(
            [np.array(each) for each in first], self._owner, has_numbers=self._has_numbers
        )
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
            return self._divide(self._model(*whole.args, **whole.kwargs), kept)

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

    def _divide(self, result: Any, kept: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        """The new values of what is kept, and the rest of a result."""
        if isinstance(result, Mapping):
            items = dict(cast("Mapping[Any, Any]", result))
            if not items.keys() & kept.keys():
                return self._only_read(result, [result, *items.values()], kept)
            new = {name: items.pop(name, None) for name in self._order}
            rest: Any = items
        elif type(result) in (tuple, list):
            values = tuple(cast("Sequence[Any]", result))
            count = len(self._order)
            new = dict(zip(self._order, values[-count:], strict=False))
            others = values[:-count]
            rest = others[0] if len(others) == 1 else others or None
        else:
            parts = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else ()
            return self._only_read(result, [result, *parts], kept)
        for name, value in self._kept.items():
            wanted, found = _describe(value), _describe(new.get(name))
            if found != wanted:
                raise self.refused(
                    f"{_spell(found)} in place of '{name}', which is {_spell(wanted)}"
                )
        self.writes = True
        return {name: new[name] for name in self._kept}, rest

    def _only_read(
        self, result: Any, parts: Sequence[Any], kept: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Any]:
        """State as it was, and a result that has no part which may be a new value of it."""
        found = [_describe(each) for each in parts]
        for name, value in self._kept.items():
            if _describe(value) in found:
                raise self.refused(f"what may be a result or a new value of '{name}'")
        return {**kept}, result

    def refused(self, what: str) -> ArgumentError:
        """The error for what the function returns, with what it is to return."""
        held = ", ".join(self._order)
        return ArgumentError(
            f"keep: '{self._title}' returns {what}; the new values come last, in the order of the "
            f"parameters: return result, {held} (or return None, {held})"
        )

    def _current(self, store: Mapping[int, Array]) -> dict[str, Any]:
        """The state as the function takes it."""
        jnp: Any = import_module("jax.numpy")
        layout, leaves = read_layout(self._kept, OPENER)
        if len(leaves) != len(store):
            raise ArgumentError(f"'{self._title}' keeps complex numbers: JAX does not compute it")
        return layout.unflatten(iter([jnp.asarray(store[number]) for number in range(len(store))]))


def _name(known: Sequence[str], name: Any) -> str:
    """Which names there are in place of one that is none."""
    if not known:
        return "the function takes any number of them; name them: def step(x, cache)"
    whole = re.match(r"\w*", str(name))
    if whole is not None and whole[0] in known:
        return f"the whole argument stays: keep=['{whole[0]}']"
    return f"arguments are {', '.join(known)}"


def _spell(arrays: Sequence[tuple[str, tuple[int, ...], str]]) -> str:
    shown = ", ".join(f"{kind}[{','.join(map(str, size))}]" for _, size, kind in arrays)
    return f"({shown})" if shown else "nothing"


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
