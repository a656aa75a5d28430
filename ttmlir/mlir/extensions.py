"""Dialects, passes and pipelines of other packages, which declare them as entry points.

    [project.entry-points."ttmlir.passes"]
    poly-horner = "ttmlir_poly.passes:PolyHornerPass"

Installed packages are looked through when a name is met that is not one of ttmlir's own, or when
all names are asked for; start-up does not pay for it. Nothing of a package is imported before one
of its names is used. Names of ttmlir's own cannot be taken by others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Literal

from ttmlir.mlir.option_values import OptionError

Group = Literal["ttmlir.dialects", "ttmlir.passes", "ttmlir.pipelines"]


@cache
def declared(group: Group) -> Mapping[str, str]:
    """What installed packages declare: `module:attribute` by name, sorted by name.

    Of two packages that declare one name, the first on `sys.path` has it, as for modules.
    """
    from importlib.metadata import entry_points

    found: dict[str, str] = {}
    for point in entry_points(group=group):
        found.setdefault(point.name, point.value)
    return dict(sorted(found.items()))


def source_of(cls: type) -> str | None:
    """The entry point of an installed package that a class of a pass is from; None for ttmlir's."""
    package = cls.__module__.partition(".")[0]
    if package == "ttmlir":
        return None
    groups: tuple[Group, ...] = ("ttmlir.passes", "ttmlir.pipelines")
    found = [location for group in groups for location in declared(group).values()]
    exact = f"{cls.__module__}:{cls.__qualname__}"
    near = [each for each in found if each.partition(":")[0].partition(".")[0] == package]
    return exact if exact in found else next(iter(near), None)


def load(group: Group, name: str) -> object | None:
    """What a name stands for; None if no package declares it.

    Raises OptionError for a package that does not have what it declares, or that fails when it is
    imported.
    """
    location = declared(group).get(name)
    if location is None:
        return None
    module, _, attribute = location.partition(":")
    try:
        found: object = import_module(module)
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except Exception as error:
        raise OptionError(
            f"'{name}' is the entry point {location} of the group {group}, which cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error
    return found
