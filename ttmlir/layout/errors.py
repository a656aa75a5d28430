"""The error that this package raises for input it cannot represent."""


class LayoutError(ValueError):
    """A map, layout, tile or chip description that cannot be built; the text says what can."""
