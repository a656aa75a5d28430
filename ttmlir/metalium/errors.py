"""What the host API raises for calls that cannot be meant."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ttmlir.sim.errors import SimError


class MetaliumError(ValueError):
    """A call of the host API with wrong arguments; the message says which, and what is allowed."""


@contextmanager
def host_call() -> Generator[None, None, None]:
    """Raise what the simulator says about the arguments of a call as an error of the call."""
    try:
        yield
    except SimError as error:
        raise MetaliumError("\n".join((error.message, *error.detail))) from None
