"""The error that this package raises for input it cannot represent."""

from ttmlir.errors import InputError


class LayoutError(InputError, ValueError):
    """A map, layout, tile or chip description that cannot be built; the text says what can."""
