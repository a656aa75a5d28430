"""How MLIR is coloured."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, Punctuation, String, Text, Token

from ttmlir.mlir.pygments_lexer import MLIRLexer

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("// a comment", Comment.Single),
        ("%arg0", Name.Variable),
        ("%0#1", Name.Variable),
        ("^bb0", Name.Label),
        ("@main", Name.Function.Magic),
        ('@"a b"', Name.Function.Magic),
        ("#layout", Name.Attribute),
        ("!tt.device", Keyword.Type),
        ("ttir.add", Name.Function),
        ("func.func", Keyword.Declaration),
        ("bf16", Keyword.Type),
        ("si32", Keyword.Type),
        ("-1.5e-3", Number.Float),
        ("0xFF", Number.Hex),
        ('"text \\" text"', String.Double),
        ("{", Punctuation),
    ],
)
def test_words(text: str, kind: object) -> None:
    """Each is one word of its kind."""
    assert list(MLIRLexer().get_tokens(text)) == [(kind, text), (Token.Text.Whitespace, "\n")]


def test_types_and_generic_operations() -> None:
    """The extents of a tensor, and the name of an operation in quotes."""
    tokens = dict.fromkeys(MLIRLexer().get_tokens('%0 = "ttir.neg"(%x) : tensor<3x?xf32>'))
    assert (Name.Function, '"ttir.neg"') in tokens
    assert (Keyword.Type, "tensor") in tokens
    assert (Number.Integer, "3x?x") in tokens
    assert (Keyword.Type, "f32") in tokens


def test_every_model_of_the_tests_is_read() -> None:
    """Nothing is left over, and nothing is changed."""
    for path in sorted((ROOT / "test" / "models").glob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        tokens = list(MLIRLexer(stripnl=False, ensurenl=False).get_tokens(text))
        assert "".join(value for _, value in tokens) == text
        assert not [value for kind, value in tokens if kind in (Error, Text)]


def test_pygments_finds_it() -> None:
    """By its name, which the package declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    value = project["entry-points"]["pygments.lexers"]["mlir"]
    assert EntryPoint("mlir", value, "pygments.lexers").load() is MLIRLexer
