"""Texts that are refused: message and place, as mlir-opt has them where its words are ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.mlir_opt import FILE, mlir_opt, ours

INPUTS = Path(__file__).parents[1] / "Inputs"


def cases(name: str) -> list[tuple[str, str]]:
    """Pairs of a one-line module and the start of its first diagnostic."""
    lines = (INPUTS / name).read_text().splitlines()
    return [(text, error.strip()) for text, error in zip(lines[::2], lines[1::2], strict=True)]


SAME = cases("refused_as_by_mlir_opt.txt")
OTHER = cases("refused_in_other_words.txt")


@pytest.mark.parametrize(("text", "error"), SAME + OTHER)
def test_refused_text(text: str, error: str) -> None:
    """A wrong text is refused where and in the words that the table says."""
    assert ours(text + "\n").split("\n")[0].rstrip() == f"{FILE}:{error}"


@pytest.mark.parametrize(("text", "error"), SAME)
def test_table_is_what_mlir_opt_says(text: str, error: str) -> None:
    """The first table is mlir-opt's own answers."""
    assert mlir_opt(text + "\n").split("\n")[0].rstrip() == f"{FILE}:{error}"


def nested(opening: str, middle: str, closing: str, depth: int) -> str:
    """An attribute with deeply nested brackets."""
    return f'"a.b"() {{x = {opening * depth}{middle}{closing * depth}}} : () -> ()'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (nested("[", "1", "]", 5000), "nested more than 256 levels deep"),
        (nested("{x = ", "1", "}", 5000), "nested more than 256 levels deep"),
        (nested("tuple<", "", ">", 5000), "nested more than 256 levels deep"),
        ('"a.b"() ({' * 5000, "nested more than 256 levels deep"),
        ('"a.b"() : () -> () loc(' + '"a"(' * 5000, "nested more than 256 levels deep"),
        ('"a.b"() {x = dense<' + "[" * 5000, "expected at most 64 nested lists"),
        ('"a.b"() {x = affine_map<() -> (' + "(" * 5000, "expected at most 100 nested parentheses"),
        ('"a.b"() {x = affine_set<() : (' + "(" * 50000, "nested more than 256 levels deep"),
        (f'"a.b"() {{x = {"9" * 5000}}} : () -> ()', "integer literal has more than 1000 digits"),
        ('#a = [#b]\n#b = [#a]\n"a.b"() {x = #a} : () -> ()', "undefined symbol alias id 'a'"),
    ],
)
def test_excessive_text_is_refused(text: str, message: str) -> None:
    """Nesting without end gets an error that says so, in no time."""
    assert f"error: {message}" in ours(text).split("\n")[0]


def test_accepted_nesting_survives_every_step() -> None:
    """What is just within the limit is read, verified, printed and read again."""
    regions = '"a.b"() ({' * 250 + "}) : () -> ()" * 250
    text = nested("[", "1", "]", 250) + "\n" + regions
    assert ours(ours(text)) == ours(text)
    assert "error" not in ours(text)


def test_all_undeclared_values_are_reported() -> None:
    """Uses of names that are never defined are all reported, in the order of the text."""
    text = '"a.b"(%b) : (i8) -> ()\nfunc.func @f() {\n  "a.b"(%c, %a) : (i8, i8) -> ()\n  return\n}'
    places = [line.split(": ")[0] for line in ours(text).split("\n") if "error" in line]
    assert places == [f"{FILE}:1:7", f"{FILE}:3:9", f"{FILE}:3:13"]


def test_columns_count_bytes() -> None:
    """Columns count bytes, as MLIR's do, and the caret still stands under the place."""
    error = ours('"a.b"() {x = "é", y = ?} : () -> ()').split("\n")
    assert error[0].startswith(f"{FILE}:1:23: error: expected attribute value")
    assert error[2] == " " * 21 + "^"
