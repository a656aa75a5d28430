"""Every node of a tree says where it stands in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from ttmlir.cpp import tree
from ttmlir.cpp.parse import parse

KERNEL = """#include <cstdint>
#define LIMIT 3
#pragma once
using namespace std;
enum class Mode : uint8_t { FAST, SLOW = 2 };
static_assert(sizeof(int) == 4);
namespace NAMESPACE {
template <int N>
inline int add(const int a, int b = 1) {
  return a + b * N;
}
void MAIN {
  using word = uint32_t;
  int values[2] = {1, -2};
  float x = 1.5f;
  if constexpr (LIMIT > 2) { x += 2.0f; } else if (x > 1) x = -x; else { }
  for (int i = 0; i < 3; ++i) { values[i] = add<2>(i); if (i == 2) break; continue; }
  while (x < 3.0f) x++;
  do { x = x ? x : 0.5f; } while (false);
  switch (values[0]) { case 1: x = 2; break; default: break; }
  int* p = &values[1];
  *p = static_cast<int>(x);
  bool done = p == nullptr || !true;
#undef LIMIT
}
}
"""


def nodes(value: object) -> Iterator[tree.Node]:
    """A node and all below it."""
    if isinstance(value, tree.Node):
        yield value
        for field in fields(value):
            yield from nodes(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from nodes(each)


def test_every_node_has_a_position() -> None:
    """Apart from the whole."""
    whole, *rest = nodes(parse(KERNEL))
    assert isinstance(whole, tree.TranslationUnit)
    without = {type(node).__name__ for node in rest if node.position is None}
    assert without == set()
    found = {type(node) for node in rest}
    for kind in (tree.If, tree.Undefine, tree.Define, tree.Enumeration, tree.For, tree.Function):
        assert kind in found


def test_statements_stand_where_they_begin() -> None:
    """Line and column of each kind's first."""
    places: dict[str, tuple[int, int]] = {}
    for node in nodes(parse(KERNEL)):
        if node.position is not None:
            place = (node.position.line, node.position.column)
            places.setdefault(type(node).__name__, place)
    lines = KERNEL.splitlines()
    for kind, word in (
        ("Include", "#include"),
        ("Define", "#define"),
        ("Undefine", "#undef"),
        ("Pragma", "#pragma"),
        ("UsingNamespace", "using"),
        ("Enumeration", "enum"),
        ("StaticAssert", "static_assert"),
        ("Namespace", "namespace"),
        ("Return", "return"),
        ("Alias", "using"),
        ("If", "if"),
        ("For", "for"),
        ("While", "while"),
        ("DoWhile", "do"),
        ("Switch", "switch"),
        ("Break", "break"),
        ("Continue", "continue"),
    ):
        line, column = places[kind]
        assert lines[line - 1][column - 1 :].startswith(word), kind
