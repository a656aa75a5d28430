"""Dictionaries whose keys are attributes, as `ttnn.dot_access`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class DotAccessDict(dict[str, Any]):
    """A dictionary whose keys are attributes, too; KeyError for others, as ttnn has it."""

    __getattr__ = dict[str, Any].__getitem__
    __delattr__ = dict[str, Any].__delitem__


def make_dot_access_dict(
    dictionary: Mapping[str, Any], *, ignore_types: type | tuple[type, ...] | None = None
) -> Any:
    """The same with attributes, dictionaries within it included; not those of `ignore_types`."""
    if isinstance(dictionary, DotAccessDict):
        return dictionary
    if ignore_types is not None and isinstance(dictionary, ignore_types):
        return dictionary
    return DotAccessDict(
        {
            name: make_dot_access_dict({**value}, ignore_types=ignore_types)
            if isinstance(value, dict)
            else value
            for name, value in dictionary.items()
        }
    )
