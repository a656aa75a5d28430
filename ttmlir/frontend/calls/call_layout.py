"""Where the arrays of a call are: in its arguments by position and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ttmlir.frontend.calls.binding import Binding, CallArguments
from ttmlir.frontend.calls.containers import Layout, Opener, read_layout
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import Structure, dict_of, tuple_of


@dataclass(frozen=True)
class CallLayout:
    """The arguments that a model was compiled for."""

    name: str
    """Of the model, in messages."""
    binding: Binding
    positions: tuple[Layout, ...]
    keywords: tuple[Layout, ...]

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arrays in the arguments of a call; InputError where they do not fit."""
        try:
            args, kwargs = self.binding.arrange(args, kwargs)
            leaves: list[Any] = []
            for what, layout, value in zip(
                self._names, self._layouts, (*args, *kwargs.values()), strict=True
            ):
                leaves += layout.flatten(value, what)
        except InputError as error:
            raise InputError(f"'{self.name}' {error}") from None
        return leaves

    def unflatten(self, leaves: Sequence[Any]) -> CallArguments:
        """The arguments of a call with these arrays."""
        rest: Iterator[Any] = iter(leaves)
        args = tuple(layout.unflatten(rest) for layout in self.positions)
        names = self.binding.keywords
        return args, {
            name: layout.unflatten(rest) for name, layout in zip(names, self.keywords, strict=True)
        }

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.binding.positions, *self.binding.keywords)

    @property
    def _layouts(self) -> tuple[Layout, ...]:
        return (*self.positions, *self.keywords)

    @property
    def leaf_names(self) -> list[str]:
        """The user's names of the arrays: `params['w']`."""
        return [
            leaf
            for what, layout in zip(self._names, self._layouts, strict=True)
            for leaf in layout.name_leaves(what)
        ]

    @property
    def structure(self) -> Structure:
        """How the arguments are described in a file."""
        keywords = zip(self.binding.keywords, self.keywords, strict=True)
        return tuple_of(
            tuple_of(*(layout.structure for layout in self.positions)),
            dict_of({name: layout.structure for name, layout in keywords}),
        )


def read_call(
    name: str, function: Callable[..., Any] | None, arguments: CallArguments, opener: Opener
) -> tuple[CallLayout, list[Any]]:
    """The layout of a call of a function, and the arrays in its arguments.

    `function` gives the names of its parameters; `name` is that of the model in messages.
    """
    args, kwargs = arguments
    read = [read_layout(value, opener) for value in (*args, *kwargs.values())]
    layouts = tuple(layout for layout, _ in read)
    call = CallLayout(
        name, Binding.of(function, arguments), layouts[: len(args)], layouts[len(args) :]
    )
    return call, [leaf for _, leaves in read for leaf in leaves]
