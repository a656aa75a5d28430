"""The project's version and the tt-mlir release whose formats it follows."""

VERSION = "0.1.0"
TTNN_VERSION = "0.81.1"
"""Of the ttnn library, whose functions scripts of models call."""

# tt-mlir stamps binaries with <tag major>.<tag minor>.<commits since the tag>; 0.0.227 is commit
# 880154e3c2, whose textual forms and flatbuffer schemas this project is compatible with.
EMULATED_TTMLIR_VERSION = (0, 0, 227)
EMULATED_TTMLIR_HASH = "880154e3c2ef87aea0ba1568a8ef214fc7ef6cec"

SPELLING_VARIABLE = "TTMLIR_SPELLING"
"""The environment variable that says the year whose text is written, where nothing else does."""


def version_text(program: str) -> str:
    """What a tool prints for `--version`: its version, and the tt-mlir that it follows."""
    emulated = ".".join(map(str, EMULATED_TTMLIR_VERSION))
    return f"{program} {VERSION}\ncompatible with tt-mlir {emulated} ({EMULATED_TTMLIR_HASH})\n"
