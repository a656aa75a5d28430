"""Arguments of calls by the names of parameters: `compiled(images=x)` is `compiled(x)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ttmlir.runtime.errors import InputError

CallArguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments by position and by name."""

_MANY = 8


@dataclass(frozen=True)
class Binding:
    """The form of the call that a model was compiled for: which arguments have which place."""

    signature: inspect.Signature | None
    """Of the function; None if Python does not know it."""
    positions: tuple[str, ...]
    """Names of the arguments by position; `argument 0` where there is none."""
    keywords: tuple[str, ...]
    """Names of the arguments by name, in the order of the example."""
    given: frozenset[str]
    """The parameters that have an argument."""

    @classmethod
    def of(cls, function: Callable[..., Any] | None, arguments: CallArguments) -> Binding:
        """The form of a call of a function, or of one whose parameters are not known."""
        args, kwargs = arguments
        signature = None if function is None else _signature_of(function)
        positions = [f"argument {index}" for index in range(len(args))]
        given = frozenset[str]()
        if signature is not None:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                # What the framework says of this call is better.
                signature = None
            else:
                given = frozenset(bound.arguments)
                positions = _names_of_positions(signature, len(args))
        return cls(signature, tuple(positions), tuple(kwargs), given)

    def arrange(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> CallArguments:
        """The arguments of a call in the places of the example's; InputError if they do not fit."""
        if len(args) == len(self.positions) and set(kwargs) == set(self.keywords):
            return args, {name: kwargs[name] for name in self.keywords}
        if self.signature is None:
            raise self._refuse(args, kwargs)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise self._refuse(args, kwargs) from error
        parameters = self.signature.parameters
        for name, value in bound.arguments.items():
            if name not in self.given and value is not parameters[name].default:
                raise self._refuse(args, kwargs)
        if any(
            name not in bound.arguments and parameters[name].default is inspect.Parameter.empty
            for name in self.given
        ):
            raise self._refuse(args, kwargs)
        bound.apply_defaults()
        return self._place(bound.arguments, args, kwargs)

    def _place(
        self, values: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> CallArguments:
        """The bound values, by the names of parameters, in the places of the example's."""
        assert self.signature is not None, "there are names"
        parameters = self.signature.parameters.values()
        kinds = {each.kind: each.name for each in parameters}
        rest = values.get(kinds.get(inspect.Parameter.VAR_POSITIONAL, ""), ())
        others = values.get(kinds.get(inspect.Parameter.VAR_KEYWORD, ""), {})
        named = {**values, **others}
        single = [name for name in self.positions if name in named]
        keywords = {name: named[name] for name in self.keywords if name in named}
        if (len(single) + len(rest), len(keywords)) != (len(self.positions), len(self.keywords)):
            raise self._refuse(args, kwargs)
        return (*(named[name] for name in single), *rest), keywords

    def _refuse(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> InputError:
        takes = [*self.positions, *(f"{name}=" for name in self.keywords)]
        got = [f"{len(args)} by position"] if args else []
        got += [f"{name}=" for name in kwargs]
        return InputError(f"takes {_join(takes)}; got {_join(got)}")


def _join(names: list[str]) -> str:
    return ", ".join(names[:_MANY]) + (", ..." if len(names) > _MANY else "") or "no arguments"


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _names_of_positions(signature: inspect.Signature, count: int) -> list[str]:
    names: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            first = len(names)
            names += [f"{parameter.name}[{index - first}]" for index in range(first, count)]
        elif parameter.kind in _BY_POSITION:
            names.append(parameter.name)
    return names[:count]


_BY_POSITION = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
