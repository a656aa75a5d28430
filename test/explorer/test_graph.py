"""Texts of graphs are safe to show, and graphs have a size."""

from __future__ import annotations

import pytest

from ttmlir.errors import InputError
from ttmlir.explorer.graph import (
    MAX_LABEL,
    MAX_NODES,
    Graph,
    Node,
    check_size,
    clean_name,
    clean_text,
    namespace,
    unique_names,
)


def test_control_and_direction_characters_are_taken_out() -> None:
    """Nothing hides or reorders text."""
    assert clean_text("a\x00b\u202ec\ud800d\ne") == "a\ufffdb\ufffdc\ufffdd e"


def test_long_texts_are_cut() -> None:
    """With a mark at the end."""
    assert clean_text("x" * 10**6, 5) == "xxxx\u2026"
    assert len(clean_name("y" * 10**6)) == MAX_LABEL


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString"])
def test_names_of_javascript_are_changed(name: str) -> None:
    """The page's objects have them by nature."""
    assert clean_name(name) == f"{name}_"


def test_slashes_in_names_make_no_layers() -> None:
    """Only our own slashes do."""
    assert namespace(("a/b", "", "__proto__")) == "a\u2215b/_/__proto___"


def test_unique_names() -> None:
    """Also where a name looks like a numbered one."""
    assert unique_names(["f", "g", "f", "f (2)", "f", ""]) == [
        *("f", "g", "f (2)", "f (2) (2)", "f (3)", "_")
    ]


def test_markup_stays_text() -> None:
    """The page shows it as it is spelled."""
    node = Node(id="op0", label="<b>x</b>", attributes=(("k", '"><script>'),))
    shown = node.as_json()
    assert shown["label"] == "<b>x<\u2215b>"
    assert shown["attrs"] == [{"key": "k", "value": '"><script>'}]


def test_empty_attributes_are_left_out() -> None:
    """What is not known is not shown."""
    graph = Graph(id="g", nodes=[], attributes=(("a", ""), ("b", "1")))
    assert graph.as_json() == {"id": "g", "nodes": [], "groupNodeAttributes": {"": {"b": "1"}}}


def test_too_many_nodes() -> None:
    """One more than are shown is refused."""
    check_size(MAX_NODES)
    with pytest.raises(InputError, match="which no page shows; show a part of it"):
        check_size(MAX_NODES + 1)
