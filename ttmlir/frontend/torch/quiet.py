"""Tracing without torch's own reports: what fails is told in one message, at the user's line."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ttmlir.frontend.torch.rules import RULES
from ttmlir.frontend.torch.support import near


@contextmanager
def quiet() -> Generator[None]:
    """Keep back logs and dumps of graphs; all of them if TORCH_LOGS asks for none."""
    if os.environ.get("TORCH_LOGS"):
        yield
        return
    trace: Any = import_module("torch.export._trace")
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    # What was traced before an error goes to the terminal by this name.
    trace.print = _print_nothing
    try:
        yield
    finally:
        logging.disable(before)
        del trace.print


def _print_nothing(*_: object, **__: object) -> None:
    pass


_REASONS = (
    (
        r"Could not (guard on|extract specialized integer from) data-dependent expression",
        "Python asks here for a number in a tensor, which is known only when the program runs; "
        "torch.where(condition, a, b) chooses between tensors, and what does not depend on the "
        "arguments can be computed before",
    ),
    (
        r"Found <class '([^']*)'> in output, which is not a known type",
        r"an object of the class \1 is returned, in which no tensors are found; return tensors, "
        "or tuples, dictionaries or dataclasses of them",
    ),
)
"""What torch says in its own terms, and in those of the user."""


def reason_of(error: Exception) -> str:
    """Why torch cannot trace, in one line."""
    line = str(error).strip().partition("\n")[0]
    for pattern, reason in _REASONS:
        if match := re.search(pattern, line):
            return match.expand(reason)
    if re.fullmatch(r"aten\.\w+\.\w+", line):
        # All that torch says of an operation of which it does not know the shape of the result.
        return f"'{line}': {near(line, RULES)}"
    return line or type(error).__name__
