"""Layers, names and places in locations."""

from __future__ import annotations

import pytest

from ttmlir.explorer.graph import MAX_LOCATION, Scope, scope_of

JAX = (
    'loc("jit(mlp)/layer1/dot_general"(callsite("mlp"("/tmp/model.py":4:24) at '
    '"<module>"("/tmp/model.py":8:4))))'
)
INLINED = (
    'callsite("max" at "jit(mlp)/layer1/jit(relu)"(callsite("mlp"("/tmp/model.py":4:12) at '
    '"<module>"("/tmp/model.py":8:4))))'
)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (JAX, Scope(("layer1",), "jit(mlp)/layer1/dot_general", "model.py:4:24")),
        (INLINED, Scope(("layer1", "relu"), "jit(mlp)/layer1/jit(relu)/max", "model.py:4:12")),
        ('"a/fc1/linear"("t.py":5:6)', Scope(("a", "fc1"), "a/fc1/linear", "t.py:5:6")),
        ('"C:\\\\net\\\\t.mlir":5:6', Scope((), "", "t.mlir:5:6")),
        ('fused["a/b"("f":1:2), "c/d"]', Scope(("a",), "a/b", "f:1:2")),
        ("loc(unknown)", Scope()),
        ("", Scope()),
        ('"vmap(jit(f))/x"', Scope((), "vmap(jit(f))/x")),
        ('"a/jit(b/c)/d"', Scope(("a", "b/c"), "a/jit(b/c)/d")),
        ('"a\\22b/c"', Scope(('a"b',), 'a"b/c')),
        ('"' + "a/" * 5, Scope()),
    ],
)
def test_scope(location: str, expected: Scope) -> None:
    """Layers, whole name and first place."""
    assert scope_of(location) == expected


def test_an_unnamed_operation_is_called_by_its_line() -> None:
    """Without folders and column."""
    assert scope_of('"dir/net.mlir":12:10').override_name == "net.mlir:12"
    assert scope_of('"fc1"("net.mlir":12:10)').override_name == "fc1"


def test_long_locations_are_cut() -> None:
    """A hostile location costs no more than its first part."""
    assert scope_of("callsite(" * 10**6) == Scope()
    deep = "jit(" * MAX_LOCATION + "x" + ")" * MAX_LOCATION
    assert scope_of(f'"{deep}"') == Scope()
