"""What texts of programs say beside their statements: comments, and names of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue


class Notes:
    """What a text says beside the statements; this says nothing."""

    reserved: frozenset[str] = frozenset()
    """Names that no variable gets."""

    def before(self, op: Operation) -> str:
        """A comment for the line before a statement; the same one is not repeated."""
        return ""

    def after(self, op: Operation) -> str:
        """A comment at the end of a statement."""
        return ""

    def stem(self, op: Operation) -> str:
        """What a variable is called, if not after its function."""
        return ""

    def stem_of_argument(self, value: SSAValue) -> str:
        """What an argument of a function is called, if its operation does not say it."""
        return ""
