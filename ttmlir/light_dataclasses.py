"""Dataclasses of which a compiler makes many: those that are frozen are so for the type checker.

Python sets each field of a frozen dataclass by a call, which takes several times as long as to set
an attribute. Instances of `@dataclass(frozen=True)` of this module are compared and hashed as
frozen ones are, and only the type checker keeps their fields from being set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses

    def dataclass(cls=None, /, *, frozen=False, **options):
        """What `dataclasses.dataclass` makes of a class, but for refusing to set fields."""
        if frozen and options.get("eq", True):
            options["unsafe_hash"] = True
        return dataclasses.dataclass(cls, **options)
