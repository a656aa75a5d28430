"""How Pygments colours MLIR: `pygmentize -l mlir FILE`, Sphinx, and what else uses Pygments."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

_ELEMENT = (
    r"(?:[su]?i\d+|b?f16|tf32|f(?:32|64|80|128)|f[468]E\d+M\d+\w*|index|none|bfp_b?f[248]|token)"
)


class MLIRLexer(RegexLexer):
    """MLIR in the textual form, custom and generic."""

    name = "MLIR"
    url = "https://mlir.llvm.org/docs/LangRef/"
    aliases = ("mlir",)
    filenames = ("*.mlir",)
    mimetypes = ("text/x-mlir",)
    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"//[^\n]*", Comment.Single),
            (r'"[A-Za-z_]\w*(?:\.[\w.$]+)+"(?=\s*\()', Name.Function),
            (r'"(?:\\.|[^"\\\n])*"', String.Double),
            (r"%(?:\d+|[A-Za-z_$.-][\w$.-]*)(?:#\d+)?", Name.Variable),
            (r"\^[\w$.-]+", Name.Label),
            (r'@(?:"(?:\\.|[^"\\\n])*"|[A-Za-z_][\w$.]*)', Name.Function.Magic),
            (r"#[A-Za-z_][\w$.-]*", Name.Attribute),
            (r"![A-Za-z_][\w$.-]*", Keyword.Type),
            (r"0x[0-9A-Fa-f]+(?![\w.])", Number.Hex),
            (r"((?:\?|\d+)x)+(?=[\w!?*<])", Number.Integer),
            (r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?", Number.Float),
            (r"-?\d+", Number.Integer),
            (rf"{_ELEMENT}\b", Keyword.Type),
            (r"(?:tensor|memref|vector|complex|tuple)(?=<)", Keyword.Type),
            (
                r"(?:true|false|unit|dense|dense_resource|array|affine_map|affine_set|loc)\b",
                Keyword.Constant,
            ),
            (r"(?:func\.func|module|builtin\.module)\b", Keyword.Declaration),
            (r"(?:private|public|nested|attributes|return)\b", Keyword),
            (r"[A-Za-z_]\w*(?:\.[\w$]+)+", Name.Function),
            (r"[A-Za-z_][\w$]*", Name),
            (r"->|::|==|>=|<=|[=+*/-]", Operator),
            (r"[()\[\]{}<>,:;?|]", Punctuation),
            (r".", Text),
        ]
    }
