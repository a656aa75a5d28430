"""The decorators."""
