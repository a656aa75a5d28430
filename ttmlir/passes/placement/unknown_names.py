"""Names in options that no operation has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp, NameLoc
from xdsl.ir import Operation

from ttmlir.mlir.reporting.diagnostics import op_diagnostic, warn
from ttmlir.mlir.reporting.locations import override_name


def warn_of_unknown_names(
    option_name: str, module: ModuleOp, ops: Sequence[Operation], overridden: Iterable[str]
) -> None:
    """Say which names in an option are no operation's, with those that are like them.

    That is no error: the text may be one of several that are compiled with the same options.
    """
    missing = dict.fromkeys(overridden)
    if not missing:
        return
    names = dict.fromkeys(filter(None, (override_name(op.location) for op in ops)))
    named = [override_name(op.location) for op in ops if isinstance(op.location, NameLoc)]
    for name in missing:
        if name in names:
            continue
        near = difflib.get_close_matches(name, names)
        remedy = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        if not named and not near:
            remedy = '; no operation here has a name: give it one, as in loc("add_1")'
        text = f"{option_name}: no operation has the location '{name}'{remedy}"
        warn(op_diagnostic(module, text, severity="warning", with_name=False))
