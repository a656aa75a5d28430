"""Arguments of functions that stay in the compiled model: what all frameworks have in common.

A function takes them as arguments, as a cache of keys and values; a call of the compiled model does
not pass them. What the function returns may end with their new values, one for each in the order of
the parameters, `return result, cache`, or name them: `return {"result": result, "cache": cache}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, NoReturn, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.frontend.calls import CallArguments, Opener, read_layout
from ttmlir.runtime.tensor import Array

_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class Beginning:
    """The numbers that state begins with, which several programs give examples of."""

    def __init__(self) -> None:
        """None yet."""
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


class KeptArguments:
    """Those arguments of a function that are kept, and the others, which calls pass."""

    def __init__(
        self,
        model: Any,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        names: Sequence[str],
        program: str,
        opener: Opener,
    ) -> None:
        """Divide examples of a model's arguments; `function` has the names of its parameters, and
        `program` is that of the model in messages. ArgumentError for names that none has."""
        self.model = model
        self.title: str = getattr(model, "__name__", type(model).__name__)
        self._opener = opener
        try:
            self.whole = signature(function)
            given = self.whole.bind(*args, **kwargs).arguments
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"keep: '{self.title}': {error}") from error
        parameters = self.whole.parameters
        known = [each for each in given if parameters[each].kind not in _VARIADIC]
        self.owner = f"program '{program}'" if program else f"'{self.title}'"
        for name in names:
            if name not in known:
                raise unknown_name(self.owner, known, name)
        # New values are in the order of the parameters.
        self.order = [name for name in parameters if name in names]
        self.kept: Mapping[str, Any] = {name: given[name] for name in self.order}
        """Their examples."""
        self.writes = False
        """Whether the function makes new values of what is kept."""
        self.rest = Signature([each for name, each in parameters.items() if name not in self.kept])
        by_position = list(parameters)[: len(args)]
        by_position += [""] * (len(args) - len(by_position))
        self.examples: CallArguments = (
            tuple(
                value
                for name, value in zip(by_position, args, strict=True)
                if name not in self.kept
            ),
            {name: value for name, value in kwargs.items() if name not in self.kept},
        )

    def split(self, result: Any) -> tuple[dict[str, Any] | None, Any]:
        """What stands in a result where new values do, by name, and the rest; None if nothing
        does."""
        if isinstance(result, Mapping):
            items = dict(cast("Mapping[Any, Any]", result))
            if not items.keys() & self.kept.keys():
                return None, items
            return {name: items.pop(name, None) for name in self.order}, items
        if type(result) not in (tuple, list):
            return None, result
        values = tuple(cast("Sequence[Any]", result))
        count = len(self.order)
        others = values[:-count]
        new = dict(zip(self.order, values[-count:], strict=False))
        return new, others[0] if len(others) == 1 else others or None

    def mismatch(self, new: Mapping[str, Any]) -> str:
        """What is said of values that are not like those that are kept; empty if they are."""
        for name, value in self.kept.items():
            wanted, found = self.describe(value), self.describe(new.get(name))
            if found != wanted:
                return (
                    f"{spell_arrays(found)} in place of '{name}', which is {spell_arrays(wanted)}"
                )
        return ""

    def describe(self, value: Any) -> list[tuple[str, tuple[int, ...], str]]:
        """Names, shapes and types of the arrays in a value."""
        layout, leaves = read_layout(value, self._opener)
        names = layout.name_leaves("")
        arrays = [(np.shape(each), str(getattr(each, "dtype", ""))) for each in leaves]
        return [(name, *each) for name, each in zip(names, arrays, strict=True)]

    def refused(self, what: str) -> ArgumentError:
        """The error for what the function returns, with what it is to return."""
        held = ", ".join(self.order)
        return ArgumentError(
            f"keep: '{self.title}' returns {what}; the new values come last, in the order of the "
            f"parameters: return result, {held} (or return None, {held})"
        )


def unknown_name(owner: str, known: Sequence[str], name: Any) -> ArgumentError:
    """The error for a name that no argument has."""
    return ArgumentError(f"keep: no argument of {owner} is named '{name}'; {_name(known, name)}")


def _name(known: Sequence[str], name: Any) -> str:
    """Which names there are in place of one that is none."""
    if not known:
        return "the function takes any number of them; name them: def step(x, cache)"
    whole = re.match(r"\w*", str(name))
    if whole is not None and whole[0] in known:
        return f"the whole argument stays: keep=['{whole[0]}']"
    return f"arguments are {', '.join(known)}"


def spell_arrays(arrays: Sequence[tuple[str, tuple[int, ...], str]]) -> str:
    """Types and shapes, from names, shapes and types."""
    shown = ", ".join(
        f"{kind.removeprefix('torch.')}[{','.join(map(str, size))}]" for _, size, kind in arrays
    )
    return f"({shown})" if shown else "nothing"
