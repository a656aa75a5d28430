"""The layer that an operation belongs to."""

from __future__ import annotations

import pytest

from ttmlir.runtime.locations import layer_of

LINE = '"models/net.py":22:10'


@pytest.mark.parametrize(
    ("location", "layer"),
    [
        (f'"jit(f)/block0/attention/dot_general"({LINE})', "block0/attention"),
        (f'"jit(f)/block0/jit(relu)/max"({LINE})', "block0"),
        (f'callsite("max" at "jit(f)/block0/jit(relu)"({LINE}))', "block0"),
        (f'"jit(f)/add"(callsite("f"({LINE}) at "<module>"("main.py":1:1)))', "net.py:22"),
        (f'"linear"({LINE})', "linear"),
        (f'"jit(f)"({LINE})', "f"),
        (f'"encoder/0/linear"({LINE})', "encoder/0"),
        (LINE, "net.py:22"),
        (r'"C:\\net\\a.py":3:4', "a.py:3"),
        ('"name"', "name"),
        (f"callsite({LINE} at {LINE})", "net.py:22"),
        ("", "main"),
        ("fused[", "main"),
    ],
)
def test_layers(location: str, layer: str) -> None:
    """Scopes of JAX, modules and operations of torch, or lines."""
    assert layer_of(location) == layer
