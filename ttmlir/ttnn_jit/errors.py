"""What goes wrong when functions are compiled, at the user's line."""

from __future__ import annotations

from ttmlir.errors import CompilationError
from ttmlir.ttnn.errors import join_location, locate_call


class UnsupportedFunctionError(CompilationError, AssertionError):
    """A function of ttnn that is not compiled; the text is that of ttnn_jit's guide."""

    def __init__(self, name: str, remedy: str, place: str | None = None) -> None:
        """`name` is that of the function, without `ttnn.`; the place is that of the call."""
        place = locate_call() if place is None else place
        super().__init__(join_location(f"Function {name} not supported; {remedy}", place))


class JitError(CompilationError, RuntimeError):
    """A function that cannot be compiled."""

    def __init__(self, message: str) -> None:
        """What is wrong, at the call that is traced now."""
        super().__init__(join_location(message, locate_call()))


class PassManagerError(CompilationError, RuntimeError):
    """Passes that failed on what a function called."""

    def __init__(self, diagnostic: str) -> None:
        """`diagnostic` has the user's line, as all messages of passes have."""
        super().__init__(f"Failed to run pass manager\n{diagnostic}")
