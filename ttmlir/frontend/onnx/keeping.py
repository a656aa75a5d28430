"""Models of ONNX some of whose inputs stay in the compiled model, as state.

    [(imported, examples)] = import_keeping([("step.onnx", (x, state), {})], ["state"])

A call then passes the other inputs, and gets the other outputs. New values are the last outputs,
one for each kept input in the order of the inputs, as exporters write recurrent states and caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr

from ttmlir.errors import ArgumentError
from ttmlir.frontend.calls import CallArguments, Number
from ttmlir.frontend.compiled import ImportedModel, public_function
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.frontend.kept import Beginning, spell_arrays, unknown_name
from ttmlir.frontend.onnx.elements import Tensor, held, require_onnx
from ttmlir.frontend.onnx.model import Door
from ttmlir.frontend.onnx.program import Weights
from ttmlir.frontend.onnx.reading import BYTES, read_model
from ttmlir.frontend.residents import is_part
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import NOTHING, Structure, tuple_of
from ttmlir.runtime.tensor import Array

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def import_keeping(
    calls: Sequence[tuple[Any, tuple[Any, ...], dict[str, Any]]],
    names: Sequence[str],
    programs: Sequence[str] = (),
    *,
    weights: Weights = "constants",
) -> list[tuple[ImportedModel, CallArguments]]:
    """Models with examples of their inputs, those of these names being state of them all.

    A name stands for the inputs that begin with it and a dot, too: `past` for `past.0.key`. Each
    model comes with the examples of what calls pass. The state begins with the numbers of the
    examples, or with zeros; `programs` are names for messages. ArgumentError for names that no
    input has, and for models whose last outputs are not alike.
    """
    require_onnx()
    beginning = Beginning()
    found: list[tuple[ImportedModel, CallArguments]] = []
    for (given, args, kwargs), title in zip(calls, programs or [""] * len(calls), strict=True):
        with in_terms_of_the_user("the model", file=BYTES):
            model = read_model(given)
        with in_terms_of_the_user(model.name, file=model.file):
            keeping = _Keeping(model, args, kwargs, weights)
            found.append(keeping.keep(names, beginning, title, args, kwargs))
    return found


class _Keeping(Door):
    """A model without the inputs that are kept."""

    def keep(
        self,
        names: Sequence[str],
        beginning: Beginning,
        title: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[ImportedModel, CallArguments]:
        """The model whose inputs of these names are state, and examples of the others."""
        owner = f"program '{title}'" if title else f"'{self.model.name}'"
        known = [each.name for each in self.inputs]
        for name in names:
            if not any(is_part(each, name) for each in known):
                raise unknown_name(owner, known, name)
        whole = super().imported()
        examples = self._examples(args, kwargs) if args or kwargs else {}
        taken = [each for each in known if any(is_part(each, name) for name in names)]
        self._check(whole, taken)
        types = {each.name: each.type for each in self.inputs}
        shapes = {name: shape for name, shape, _ in self._arrays_taken(whole)}
        arrays = [
            held(examples[name] if name in examples else np.zeros(shapes[name]), types[name])
            for name in taken
        ]
        beginning.fill([np.array(each) for each in arrays], owner, has_numbers=bool(examples))
        self._store, self._whole, self._last = beginning.store, whole, list[Array]()
        passed = [value for name, value in zip(known, args, strict=False) if name not in taken]
        named = {name: value for name, value in kwargs.items() if name not in taken}
        self.kept, self.by_position, self.by_name = taken, len(passed), list(named)
        return self._without(whole), (tuple(passed), named)

    def _arrays_taken(self, whole: ImportedModel) -> list[tuple[str, tuple[int, ...], str]]:
        """Names, shapes and types of the arrays that a call of the whole model passes."""
        block = public_function(whole.module).body.block
        types = [value.type for value in block.args][len(self.graph.weights) :]
        return [
            (name, *_describe(type_)) for name, type_ in zip(whole.input_names, types, strict=True)
        ]

    def _check(self, whole: ImportedModel, taken: Sequence[str]) -> None:
        """ArgumentError unless the last outputs are like these inputs."""
        inputs = {name: (shape, kind) for name, shape, kind in self._arrays_taken(whole)}
        for name in taken:
            if name not in inputs:
                raise ArgumentError(
                    f"keep: '{name}' of '{self.model.name}' is no tensor whose numbers calls "
                    "decide; what is kept are tensors"
                )
        end = public_function(whole.module).body.block.last_op
        assert end is not None, "a function returns something"
        last = self.graph.results[-len(taken) :]
        if not all(isinstance(value, Tensor) for _, value in last):
            last = []
        types = [_describe(value.type) for value in end.operands][-len(taken) :]
        for place, name in enumerate(taken):
            wanted = inputs[name]
            found = types[place] if len(last) == len(taken) else None
            if found != wanted:
                shown = spell_arrays([("", *found)]) if found else "nothing"
                raise ArgumentError(
                    f"keep: '{self.model.name}' returns {shown} in place of '{name}', which is "
                    f"{spell_arrays([('', *wanted)])}; the new values are the last outputs, one "
                    "for each kept input in the order of the inputs"
                )

    def _without(self, whole: ImportedModel) -> ImportedModel:
        count, weights = len(self.kept), len(self.graph.weights)
        names = list(whole.input_names)
        first = [names.index(name) for name in self.kept]
        rest = [place for place in range(len(names)) if place not in first]
        # Of one result there may be several arrays.
        outputs = len(public_function(whole.module).function_type.outputs)
        new, others = range(outputs - count, outputs), range(outputs - count)
        order = [*range(weights), *(weights + place for place in (*first, *rest))]
        _reorder(whole.module, order, [*new, *others])
        input_names = [names[place] for place in rest]
        signature = replace(
            whole.signature,
            input_names=(*whole.signature.input_names[:weights], *self.kept, *input_names),
            arguments=self._structure_of_arguments(),
            results=self._structure_of_results(),
            bound=tuple(range(weights + count)),
            state=count,
        )
        return replace(
            whole,
            signature=signature,
            input_names=input_names,
            bound=_Bound(whole.bound, self._store),
            state=self._state,
            flatten=self.flatten,
            unflatten=self.unflatten,
            flatten_results=self.flatten_results,
            reference=self.reference,
        )

    @property
    def _state(self) -> range:
        first = len(self.graph.weights)
        return range(first, first + len(self.kept))

    # -- calls -------------------------------------------------------------------------------------

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The values of a call, and those that are kept, by the names of inputs."""
        rest = [each.name for each in self.inputs if each.name not in self.kept]
        for name in kwargs:
            if name in self.kept:
                raise InputError(
                    f"'{self.model.name}' keeps '{name}', which a call does not pass; inputs are "
                    f"{', '.join(rest)}"
                )
        if len(args) > len(rest):
            raise InputError(
                f"'{self.model.name}' takes {len(rest)} inputs ({', '.join(rest)}), got "
                f"{len(args)} by position"
            )
        by_position = dict(zip(rest, args, strict=False))
        if twice := by_position.keys() & kwargs.keys():
            raise InputError(f"'{self.model.name}': '{min(twice)}' is given by position, too")
        return {**by_position, **kwargs, **dict(zip(self.kept, self._store.values(), strict=True))}

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        """The arrays of a call."""
        found = super().flatten((), self._named(args, kwargs))
        names = zip(self._whole.input_names, found, strict=True)
        return [array for name, array in names if name not in self.kept]

    def _divide(self, found: Any) -> Any:
        """What a call returns of all outputs; the others are those of the last call."""
        values: tuple[Any, ...] = found if len(self.graph.results) > 1 else (found,)
        count = len(values) - len(self.kept)
        self._last = list(values[count:])
        rest = values[:count]
        return rest[0] if count == 1 else rest or None

    def unflatten(self, results: Sequence[Array]) -> Any:
        """What a call returns; new values are kept."""
        count = len(self.kept)
        self._store.update(enumerate(results[:count]))
        return self._divide(super().unflatten([*results[count:], *results[:count]]))

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What the reference implementation of ONNX computes, as the next call."""
        return self._divide(super().reference(**self._named(args, kwargs)))

    def flatten_results(self, found: Any) -> list[Array]:
        """The arrays of the last call's results: new values, and what it returned."""
        count = len(self.graph.results) - len(self.kept)
        shown: Iterable[Any] = (found,) if count == 1 else found or ()
        values: list[Any] = [*shown, *self._last]
        arrays = super().flatten_results(values if len(values) > 1 else values[0])
        first = len(arrays) - len(self.kept)
        return [*arrays[first:], *arrays[:first]]

    def _structure_of_results(self) -> Structure:
        whole = super()._structure_of_results()
        if not self.kept:
            return whole
        children = list(whole.children[: len(self.graph.results) - len(self.kept)])
        if len(children) == 1:
            return children[0]
        return tuple_of(*children) if children else NOTHING


class _Bound(MutableMapping[int, Array]):
    """Weights of one program by the number of the input, and after them what several programs
    keep."""

    def __init__(self, weights: Mapping[int, Array], kept: dict[int, Array]) -> None:
        self._weights, self._kept = weights, kept

    def __getitem__(self, index: int) -> Array:
        """The array of an input."""
        return self._weights[index] if index in self._weights else self._kept[self._place(index)]

    def __setitem__(self, index: int, array: Array) -> None:
        """Replace what is kept, for all programs."""
        self._kept[self._place(index)] = array

    def _place(self, index: int) -> int:
        return index - len(self._weights)

    def __delitem__(self, index: int) -> None:
        """Not possible."""
        raise TypeError("inputs of a program stay")

    def __iter__(self) -> Iterator[int]:
        """The numbers of the inputs."""
        return iter(range(len(self)))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._weights) + len(self._kept)


def _describe(type_: Any) -> tuple[tuple[int, ...], str]:
    """Shape and element type."""
    return tuple(type_.get_shape()), str(type_.element_type)


def _reorder(module: ModuleOp, arguments: Sequence[int], results: Sequence[int]) -> None:
    """Let the function of a module take and return what it does in another order, by numbers."""
    function = public_function(module)
    block = function.body.block
    old = list(block.args)
    for number in arguments:
        argument = block.insert_arg(old[number].type, len(block.args))
        argument.name_hint = old[number].name_hint
        argument.location = old[number].location
        old[number].replace_all_uses_with(argument)
    for argument in old:
        block.erase_arg(argument)
    end = block.last_op
    assert end is not None, "a function returns something"
    end.operands = [end.operands[number] for number in results]
    function.update_function_type()
    if function.arg_attrs is not None:
        said = list(function.arg_attrs)
        function.arg_attrs = ArrayAttr([said[number] for number in arguments])
    if function.res_attrs is not None:
        said = list(function.res_attrs)
        function.res_attrs = ArrayAttr([said[number] for number in results])
