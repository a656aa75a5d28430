"""Which ATen operations can be imported: for messages and for the documentation."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.rules import rule_of


@dataclass(frozen=True)
class Support:
    """What becomes of an ATen overload."""

    name: str
    """Such as `aten.add.Tensor`."""
    core: bool
    """True for members of torch's core operator set."""
    state: str
    """`rule`, `decomposed` or `refused`."""


def supported() -> list[Support]:
    """Every overload of the core operator set and every other one that has a rule."""
    table = {str(key) for key in torch_package().export.default_decompositions()}
    found: list[Support] = []
    for name, core in _overloads():
        if rule_of(name) is not None:
            state = "rule"
        elif not core:
            continue
        else:
            state = "decomposed" if name in table else "refused"
        found.append(Support(name, core, state))
    return sorted(found, key=lambda support: support.name)


def _overloads() -> Iterable[tuple[str, bool]]:
    torch = torch_package()
    seen: set[str] = set()
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, base = schema.name.partition("::")
        overload = schema.overload_name or "default"
        name = f"aten.{base}.{overload}"
        writes = any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
        if namespace != "aten" or name in seen or writes or not hasattr(torch.ops.aten, base):
            continue
        seen.add(name)
        operation: Any = getattr(getattr(torch.ops.aten, base), overload, None)
        if operation is not None:
            yield name, torch.Tag.core in operation.tags


def near(name: str, names: Iterable[str]) -> str:
    """Why an operation is refused: there is no rule, but there are others of a similar name."""
    base = name.removeprefix("aten.").partition(".")[0]
    similar = difflib.get_close_matches(base, sorted(names), n=4, cutoff=0.6)
    nearest = f"; the nearest supported ones are {', '.join(similar)}" if similar else ""
    return f"this operation is not supported{nearest}"
