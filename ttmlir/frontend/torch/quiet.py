"""Tracing without torch's own reports: what fails is told in one message, at the user's line."""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ttmlir.frontend.torch.rules import RULES
from ttmlir.frontend.torch.support import EAGER_QUANTIZATION, near


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
        r"Found <class '([^']*)'> in output, which is not a known type",
        r"an object of the class \1 is returned, in which no tensors are found; return tensors, "
        "or tuples, dictionaries or dataclasses of them",
    ),
    (r"torch\.classes\.quantized|quantized nyi|aten::_empty_affine_quantized", EAGER_QUANTIZATION),
)
"""What torch says in its own terms, and in those of the user."""


CHOICES = (
    "torch.where(condition, a, b) chooses between tensors, torch.cond(condition, f, g, args) "
    "between functions"
)
COUNTING_NORM = "give BatchNorm a momentum, or compile it after .eval()"
"""What to do instead of a mean over as many batches as there have been."""
_DATA_DEPENDENT = "data-dependent"
"""How torch says that it would have to know numbers that only a run has."""


def reason_of(error: Exception) -> str:
    """Why torch cannot trace, in one line."""
    line = str(error).strip().partition("\n")[0]
    if _DATA_DEPENDENT in line:
        return f"what it does depends on the numbers in a tensor; {_remedy(error)}"
    for pattern, reason in _REASONS:
        if match := re.search(pattern, line):
            return match.expand(reason)
    if re.fullmatch(r"aten\.\w+\.\w+", line):
        # All that torch says of an operation of which it does not know the shape of the result.
        return f"'{line}': {near(line, RULES)}"
    return line or type(error).__name__


def _remedy(error: BaseException) -> str:
    """What to do instead of looking at numbers, by the function of torch that did."""
    names = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    if "_detect_is_causal_mask" in names:
        return (
            "say which masks are causal, so that torch does not look at them: tgt_is_causal=True or"
            " False (nn.Transformer), is_causal=... (encoders and decoders)"
        )
    if any(file.endswith("batchnorm.py") for file in files):
        return COUNTING_NORM
    return CHOICES + (
        ", and torch._higher_order_ops.while_loop repeats one; Python may decide by a tensor that "
        "the model closes over instead of taking it as an argument"
    )
