"""Attributes and types that have parts in common: shared in the text, shared in memory.

Each alias of a text may use the one before it twice, so that forty lines spell an attribute with
2^40 parts. As objects these are forty, if the readers make equal parts one object (`Interner`), and
if hashing and comparing look at each object once (`memoize_comparison`).

Importing this module also replaces xDSL's `Attribute.__str__`, which messages use: it spells out
what is shared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute

AttributeT = TypeVar("AttributeT", bound=Attribute)

_CONTAINERS: tuple[type[Attribute], ...] = (ParametrizedAttribute, ArrayAttr, DictionaryAttr)
_WITHOUT_PARTS: frozenset[type[Attribute]] = frozenset(
    (DenseIntOrFPElementsAttr, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr)
)
"""Frequent or large attributes that hold no others but a type; hashing them takes time."""
_HASH = "_known_hash"
_EQUAL = "_known_equal"
"""Where an attribute holds another that it was found to equal."""


def memoize_comparison(classes: Iterable[type[Attribute]]) -> None:
    """Have attributes of these classes, if they may hold others, be hashed and compared once."""
    for each in classes:
        if issubclass(each, _CONTAINERS) and not hasattr(each.__hash__, _HASH):
            _memoize_hash(each)
            _memoize_equality(each)


def _memoize_hash(attribute_class: type[Attribute]) -> None:
    compute = attribute_class.__hash__

    def hash_once(self: Attribute) -> int:
        known: int | None = self.__dict__.get(_HASH)
        if known is None:
            known = compute(self)
            object.__setattr__(self, _HASH, known)
        return known

    setattr(hash_once, _HASH, True)
    attribute_class.__hash__ = hash_once


def _memoize_equality(attribute_class: type[Attribute]) -> None:
    compare = attribute_class.__eq__

    def equal_once(self: Attribute, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return compare(self, other)
        if hash(self) != hash(other):
            return False
        ours, theirs = _representative(self), _representative(other)
        if ours is theirs:
            return True
        is_equal = compare(self, other)
        if is_equal is True:
            # The order keeps threads that find this at the same time from making a circle.
            first, last = sorted((ours, theirs), key=id)
            object.__setattr__(last, _EQUAL, first)
        return is_equal

    attribute_class.__eq__ = equal_once


def _representative(attribute: Attribute) -> Attribute:
    """The one of the attributes that are known to be equal to this that stands for all of them."""
    first = attribute.__dict__.get(_EQUAL)
    if first is None:
        return attribute
    last = first
    while (other := last.__dict__.get(_EQUAL)) is not None:
        last = other
    # Short ways keep long chains of equal attributes from being climbed again and again. The next
    # attribute of a way always has a lower address, so that threads make no circle of them.
    while first is not last:
        object.__setattr__(attribute, _EQUAL, last)
        attribute, first = first, first.__dict__[_EQUAL]
    return last


class Interner:
    """One object for equal attributes."""

    def __init__(self) -> None:
        """No attribute is known."""
        self._known: dict[Attribute, Attribute] = {}

    def intern(self, attribute: AttributeT) -> AttributeT:
        """The first of the attributes that were given and equal this one."""
        if type(attribute) in _WITHOUT_PARTS:
            return attribute
        known: Any = self._known.setdefault(attribute, attribute)
        return known


def _text(self: Attribute) -> str:
    from ttmlir.mlir.printing import show_attribute

    return show_attribute(self)


Attribute.__str__ = _text
