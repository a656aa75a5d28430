"""Names of passes and pipelines, and where their classes are.

A name maps to `module:Class`; the module is imported when the name is used. So start-up pays only
for the passes that run.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ttmlir.passes.base import Pass, Pipeline

PASSES: dict[str, str] = {}
"""Every pass by its name on the command line; one line each, sorted by name."""

PIPELINES: dict[str, str] = {}
"""Every pipeline by its name on the command line; one line each, sorted by name."""


def names() -> tuple[str, ...]:
    """The names of all passes and pipelines, sorted."""
    return tuple(sorted((*PASSES, *PIPELINES)))


@cache
def lookup(name: str) -> type[Pass] | type[Pipeline] | None:
    """The class of a pass or pipeline; None if the name is not registered."""
    location = PASSES.get(name) or PIPELINES.get(name)
    if location is None:
        return None
    module, _, attribute = location.partition(":")
    return getattr(import_module(module), attribute)
