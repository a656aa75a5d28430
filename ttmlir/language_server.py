"""What an editor shows of MLIR: diagnostics, documentation, definitions and completions.

`MLIRDocument` answers for one text. Names are found in the text itself, so that they are found
while it is wrong, too; types of values come from reading it. `make_server` speaks the Language
Server Protocol for it, by pygls, which only the extra `lsp` installs.

Offsets count characters of the text from 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from ttmlir.dialects import DIALECTS
from ttmlir.errors import show_cause
from ttmlir.mlir.context import make_context
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import (
    Diagnostic,
    DiagnosticError,
    file_line_col,
    file_location,
    internal_error,
)
from ttmlir.mlir.verifier import verify_module
from ttmlir.version import VERSION

if TYPE_CHECKING:
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer
    from xdsl.ir import Operation

LARGEST = 4 << 20
"""Characters of a text that is looked at: reading a larger one takes longer than typing does."""
_FILE = "<editor>"
_SPLIT = re.compile(r"^// -----.*$", re.M)
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)
    |(?P<string>"(?:\\.|[^"\\\n])*")
    |(?P<value>%[\w$.-]+)(?P<number>\#\d+)?
    |(?P<block>\^[\w$.-]+)
    |(?P<symbol>@(?:"(?:\\.|[^"\\\n])*"|[\w$.-]+))
    |(?P<alias>[\#!][A-Za-z_][\w$.-]*)
    |(?P<arrow>->)
    |(?P<word>[A-Za-z_][\w$.]*)
    |(?P<count>\d+)
    |(?P<mark>[-(){}\[\]<>=:,])""",
    re.X,
)
_RESULT = re.compile(r"(%[\w$.-]+)(?::(\d{1,6}))?")
_RESULTS = re.compile(
    rf"{_RESULT.pattern}(?:\s*,\s*{_RESULT.pattern})*\s*=(?!=)\s*".replace("(%", "(?:%")
)
_OPERATION = re.compile(r'"\w+(?:\.[\w$]+)+"')
_BLANKS = re.compile(r"\s*")
_DEEPEST = 256
"""Braces around a name that are told apart."""
_DECLARING = re.compile(r"(?:\w+\.)*(?:func|module|global|subgraph|mesh|program)$")
"""Operations whose symbol is their name; others refer to one."""
_VISIBILITIES = {"private", "public", "nested"}
_SHORT = {"module": "builtin.module", "return": "func.return", "call": "func.call"}
"""Operations that may be written without their dialect."""


class Token(NamedTuple):
    """A word of the text that may be asked about."""

    kind: str
    text: str
    start: int
    end: int
    scope: tuple[int, ...]
    """Numbers of the braces that it is in, outermost first."""
    defines: bool = False
    operation: int = -1
    """Of a value that an operation defines: where the operation's name begins."""
    result: int = 0
    """Of such a value: how many results of the operation are in front of it."""


class Problem(NamedTuple):
    """A message about a range of the text."""

    start: int
    end: int
    message: str
    severity: str
    """`error`, `warning` or `remark`."""


@dataclass
class MLIRDocument:
    """One version of a text."""

    text: str
    _types: dict[int, Sequence[str]] = field(default_factory=dict[int, "Sequence[str]"])
    """Of the results of operations, by where their names begin."""

    @cached_property
    def problems(self) -> list[Problem]:
        """What is wrong with the text, in the parts that `// -----` divides it into."""
        if len(self.text) > LARGEST:
            message = f"texts of more than {LARGEST} characters are not checked here"
            return [Problem(0, 0, message, "remark")]
        found: list[Problem] = []
        first_line, start = 1, 0
        for end in (*(match.start() for match in _SPLIT.finditer(self.text)), len(self.text)):
            part = self.text[start:end]
            found += map(self._problem, self._check(part, first_line))
            first_line, start = first_line + part.count("\n"), end
        return found

    def _check(self, text: str, first_line: int) -> Sequence[Diagnostic]:
        try:
            module = parse_module(text, _FILE, make_context(DIALECTS), first_line=first_line)
            diagnostics = verify_module(module)
            for op in module.walk():
                self._note_types(op)
            return diagnostics
        except DiagnosticError as error:
            return error.diagnostics
        except OptionError as error:
            return [Diagnostic("error", file_location(_FILE, first_line, 1), str(error))]
        except Exception as error:
            place = file_location(_FILE, first_line, 1)
            show_cause(error)
            return internal_error(place, "while reading", error).diagnostics

    def _note_types(self, op: Operation) -> None:
        place = file_line_col(op.location)
        if place is not None and place.file == _FILE and op.results:
            types = [str(result.type) for result in op.results]
            self._types[self._offset(place.line, place.column)] = types

    def _problem(self, diagnostic: Diagnostic) -> Problem:
        place = file_line_col(diagnostic.location)
        start = 0
        if place is not None and place.file == _FILE:
            start = self._offset(place.line, place.column)
        token = self.token_at(start)
        end = token.end if token is not None and token.start <= start < token.end else start + 1
        notes = (note.message for note in diagnostic.without_operation().notes)
        message = "\n".join((diagnostic.message, *notes))
        return Problem(start, min(end, len(self.text)), message, diagnostic.severity)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def _offset(self, line: int, column: int) -> int:
        """Of a place as diagnostics have it: from 1, columns in bytes."""
        if not 0 < line <= len(self._line_starts):
            return len(self.text)
        start = self._line_starts[line - 1]
        end = self.text.find("\n", start)
        shown = self.text[start : len(self.text) if end < 0 else end]
        before = shown.encode("utf-8", "replace")[: max(column - 1, 0)]
        return start + len(before.decode("utf-8", "ignore"))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and character of an offset, from 0."""
        from bisect import bisect_right

        line = bisect_right(self._line_starts, offset) - 1
        return line, offset - self._line_starts[line]

    def offset(self, line: int, character: int) -> int:
        """Where a line's character is; the nearest place there is for others."""
        if line >= len(self._line_starts):
            return len(self.text)
        end = self.text.find("\n", self._line_starts[line])
        return min(self._line_starts[line] + character, len(self.text) if end < 0 else end)

    @cached_property
    def lines(self) -> list[str]:
        """The lines, each with its end."""
        return [f"{line}\n" for line in self.text.split("\n")]

    # -- names in the text ---------------------------------------------------------------------

    @cached_property
    def tokens(self) -> list[Token]:
        """All names, in order."""
        return [] if len(self.text) > LARGEST else list(_Scanner(self.text).tokens())

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    def token_at(self, offset: int) -> Token | None:
        """The name that covers an offset, or ends there."""
        from bisect import bisect_right

        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return None
        token = self.tokens[number]
        if offset == token.start and number and self.tokens[number - 1].end == offset:
            return token
        return token if offset <= token.end else None

    def definition(self, offset: int) -> Token | None:
        """Where the name at an offset is defined; None if it is not, or is no such name."""
        asked = self.token_at(offset)
        if asked is None or asked.kind not in ("value", "block", "symbol", "alias"):
            return None
        same = [
            token
            for token in self._definitions.get((asked.kind, asked.text), ())
            if asked.kind in ("symbol", "alias") or token.scope == asked.scope[: len(token.scope)]
        ]
        before = [token for token in same if token.start <= asked.start]
        # Symbols and blocks may be used first; the innermost of several is nearest before.
        return before[-1] if before else next(iter(same), None)

    @cached_property
    def _definitions(self) -> dict[tuple[str, str], list[Token]]:
        found: dict[tuple[str, str], list[Token]] = {}
        for token in self.tokens:
            if token.defines:
                found.setdefault((token.kind, token.text), []).append(token)
        return found

    def hover(self, offset: int) -> str | None:
        """What there is to say about the name at an offset, in Markdown."""
        token = self.token_at(offset)
        if token is None:
            return None
        if token.kind == "value":
            definition = self.definition(offset)
            type_ = None if definition is None else self._type_of(definition, token)
            return None if type_ is None else f"```mlir\n{token.text} : {type_}\n```"
        if token.kind in ("symbol", "alias"):
            definition = self.definition(offset)
            if definition is None:
                return None
            line = self.position(definition.start)[0]
            start = self._line_starts[line]
            shown = self.text[start : start + 500].partition("\n")[0].strip()
            return f"```mlir\n{shown}\n```"
        return _documentation(token.text.strip('"')) if token.kind == "word" else None

    def _type_of(self, definition: Token, use: Token) -> str | None:
        if definition.operation >= 0:
            _ = self.problems
            types = self._types.get(definition.operation, ())
            number = definition.result
            if (match := re.match(r"#(\d{1,4})", self.text[use.end : use.end + 6])) is not None:
                number += int(match[1])
            return types[number] if number < len(types) else None
        after = self.text[definition.end : definition.end + 2000].lstrip()
        return _first_type(after[1:]) if after.startswith(":") else None

    def complete(self, offset: int) -> list[str]:
        """What may stand at an offset, given what stands in front of it on the line."""
        line = self.text[self._line_starts[self.position(offset)[0]] : offset]
        if (match := re.search(r"//.*--([\w-]*)$", line)) is not None:
            from ttmlir.passes.core.registry import HIDDEN, names

            return [name for name in names() if name.startswith(match[1]) and name not in HIDDEN]
        if "//" in line:
            return []
        if (match := re.search(r"[%@#!^][\w$.-]*$", line)) is not None:
            return self._names(match[0], offset - len(match[0]))
        if (match := re.search(r'(?:^|[\s"=])([A-Za-z_]\w*)\.([\w.]*)$', line)) is not None:
            begin = f"{match[1]}.{match[2]}"
            return [name for name in _operations(match[1]) if name.startswith(begin)]
        if (match := re.search(r'^\s*(?:%.*=\s*)?"?([A-Za-z_]\w*)?$', line)) is not None:
            return [name for name in sorted(DIALECTS) if name.startswith(match[1] or "")]
        return []

    def _names(self, begin: str, start: int) -> list[str]:
        """The names with a beginning that may stand at an offset."""
        kind = {"%": "value", "@": "symbol", "^": "block"}.get(begin[0], "alias")
        here = next((token for token in self.tokens if token.start == start), None)
        scope = self._scope_at(start) if here is None else here.scope
        found = dict.fromkeys(
            token.text
            for token in self.tokens
            if token.kind == kind and token.defines and token.text.startswith(begin)
            if kind in ("symbol", "alias") or token.scope == scope[: len(token.scope)]
            if kind != "value" or token.start < start
        )
        return list(found)

    def _scope_at(self, offset: int) -> tuple[int, ...]:
        before = [token for token in self.tokens if token.start < offset]
        return before[-1].scope if before else ()


class _Scanner:
    """Finds names in a text, whether it is right or not, in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._scope: tuple[int, ...] = ()
        self._too_deep = 0
        """Open braces that are no scopes of their own."""
        self._count = 0
        self._previous = ""
        self._word = ""
        self._arguments = 0
        """Open parentheses of a list of arguments, which define values."""
        self._has_defined = False
        """True behind a symbol or a block that is defined, whose arguments may follow."""
        self._declares = False
        """True where a symbol that follows is the name of the operation."""

    def tokens(self) -> Iterator[Token]:
        """The names, in order."""
        position = 0
        while (match := _TOKEN.search(self._text, position)) is not None:
            kind = "value" if match.lastgroup == "number" else match.lastgroup or ""
            position = match.end()
            results = None
            if kind == "value" and self._is_first_on_line(match.start()):
                results = _RESULTS.match(self._text, match.start())
            if results is not None:
                yield from self._results(results)
                position, self._previous = results.end(), "="
            elif kind != "comment":
                text, start = match[kind], match.start()
                defines = self._defines(kind, text, start, position)
                yield from self._named(kind, text, start, defines=defines)
                self._previous = text
                self._has_defined = defines and kind in ("symbol", "block")

    def _results(self, statement: re.Match[str]) -> Iterator[Token]:
        """The values that an operation defines."""
        first = 0
        for match in _RESULT.finditer(statement[0]):
            start = statement.start() + match.start()
            end = start + len(match[1])
            yield Token("value", match[1], start, end, self._scope, True, statement.end(), first)
            first += int(match[2] or 1)

    def _named(self, kind: str, text: str, start: int, *, defines: bool) -> Iterator[Token]:
        """The token of a name; words and braces say what is around those that follow."""
        if kind == "mark":
            self._nest(text)
            return
        if kind == "string":
            if _OPERATION.fullmatch(text):
                kind = "word"
            elif defines:
                kind, text, start = "symbol", f"@{text[1:-1]}", start
        if kind in ("word", "value", "block", "symbol", "alias"):
            yield Token(kind, text, start, start + len(text), self._scope, defines)
        if kind == "word":
            self._word = text
            if text not in _VISIBILITIES:
                self._declares = _DECLARING.match(text.strip('"')) is not None

    def _defines(self, kind: str, text: str, start: int, end: int) -> bool:
        match kind:
            case "value":
                is_argument = self._follows(end).startswith(":") and self._arguments > 0
                return is_argument or re.match(r"=(?!=)", self._follows(end)) is not None
            case "block":
                return self._is_first_on_line(start)
            case "alias":
                return self._is_first_on_line(start) and self._follows(end).startswith("=")
            case "symbol":
                return self._declares
            case "string":
                return self._previous == "=" and self._word == "sym_name"
            case _:
                return False

    def _nest(self, mark: str) -> None:
        if mark == "(":
            self._arguments += self._arguments > 0 or self._has_defined
        elif mark == ")":
            self._arguments -= self._arguments > 0
        elif mark == "{":
            self._count += 1
            if len(self._scope) < _DEEPEST:
                self._scope = (*self._scope, self._count)
            else:
                self._too_deep += 1
        elif mark == "}" and self._too_deep:
            self._too_deep -= 1
        elif mark == "}":
            self._scope = self._scope[:-1]

    def _is_first_on_line(self, offset: int) -> bool:
        while offset and self._text[offset - 1] in " \t":
            offset -= 1
        return offset == 0 or self._text[offset - 1] in "\n{"

    def _follows(self, offset: int) -> str:
        match = _BLANKS.match(self._text, offset)
        assert match is not None, "there may be none"
        return self._text[match.end() : match.end() + 2]


def _first_type(text: str) -> str:
    """The type that a text begins with."""
    depth = 0
    for number, letter in enumerate(text):
        depth += (letter in "<([{") - (letter in ">)]}")
        is_end = letter in ",=\n" and not depth
        if depth < 0 or is_end or (letter in " {" and not depth and text[:number].strip()):
            return text[:number].strip()
    return text.strip()


def _documentation(name: str) -> str | None:
    """What an operation does, in Markdown; None if there is none of the name."""
    name = _SHORT.get(name, name)
    try:
        found = make_context(DIALECTS).get_optional_op(name) if "." in name else None
    except OptionError:
        return None
    if found is None:
        return None
    return f"**{found.name}**\n\n{cleandoc(found.__doc__ or '')}".rstrip()


def _operations(dialect: str) -> list[str]:
    """The operations of a dialect, sorted."""
    found = make_context(DIALECTS).get_optional_dialect(dialect)
    return [] if found is None else sorted(op.name for op in found.operations)


def make_server() -> LanguageServer:
    """A server that waits for `start_io` or one of its siblings.

    Raises ImportError if pygls is not installed.
    """
    from lsprotocol import types
    from pygls.exceptions import JsonRpcException
    from pygls.lsp.server import LanguageServer
    from pygls.protocol import LanguageServerProtocol

    class Protocol(LanguageServerProtocol):
        """Replies to requests with invalid parameters, for whose reply editors wait for ever."""

        def structure_message(self, data: dict[str, Any]) -> Any:
            """Convert a JSON message to its class.

            pygls drops what it cannot convert, with the request's id.
            """
            try:
                return super().structure_message(data)
            except JsonRpcException as error:
                if "method" in data and isinstance(data.get("id"), int | str):
                    self._send_response(data["id"], None, error.to_response_error())
                raise

        def handle_message(self, message: Any) -> None:
            """Handle a message; JSON that is none gets the protocol's answer to that."""
            if not hasattr(message, "jsonrpc"):
                code = types.ErrorCodes.InvalidRequest
                # There is no request whose number the answer could have.
                number: Any = None
                self._send_response(number, None, types.ResponseError(code, "Invalid Request"))
                return
            super().handle_message(message)

    server = LanguageServer("ttmlir-lsp-server", VERSION, protocol_cls=Protocol)
    session = _Session(server)
    triggers = types.CompletionOptions(trigger_characters=[".", "%", "@", "#", "!", "^", "-"])
    for method, answer, options in (
        (types.TEXT_DOCUMENT_DID_OPEN, session.publish, None),
        (types.TEXT_DOCUMENT_DID_CHANGE, session.publish, None),
        (types.TEXT_DOCUMENT_DID_CLOSE, session.close, None),
        (types.TEXT_DOCUMENT_HOVER, session.hover, None),
        (types.TEXT_DOCUMENT_DEFINITION, session.define, None),
        (types.TEXT_DOCUMENT_COMPLETION, session.complete, triggers),
    ):
        server.feature(method, options)(_function_of(answer))
    return server


def _function_of(method: Callable[[Any], object]) -> Callable[[Any], object]:
    """A function, on which pygls may set attributes, that calls a method."""

    def answer(parameters: Any) -> object:
        return method(parameters)

    return answer


class _Session:
    """The documents that an editor has open, and its questions about them."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._documents: dict[str, MLIRDocument] = {}

    def publish(
        self, parameters: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams
    ) -> None:
        """Tell what is wrong with a document that was opened or changed."""
        from lsprotocol import types

        uri = parameters.text_document.uri
        if not self._is_open(uri):
            return
        document = self._document(uri)
        severities = {
            "error": types.DiagnosticSeverity.Error,
            "warning": types.DiagnosticSeverity.Warning,
        }
        diagnostics = [
            types.Diagnostic(
                range=self._range(document, each.start, each.end),
                message=each.message,
                severity=severities.get(each.severity, types.DiagnosticSeverity.Information),
                source="ttmlir",
            )
            for each in document.problems
        ]
        version = self._server.workspace.get_text_document(uri).version
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        )

    def close(self, parameters: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        from lsprotocol import types

        uri = parameters.text_document.uri
        self._documents.pop(uri, None)
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
        )

    def hover(self, parameters: types.HoverParams) -> types.Hover | None:
        """What there is to say about a name."""
        from lsprotocol import types

        if not self._is_open(parameters.text_document.uri):
            return None
        document, offset = self._place(parameters)
        found = document.hover(offset)
        if found is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, found))

    def define(self, parameters: types.DefinitionParams) -> types.Location | None:
        """Where a name is defined."""
        from lsprotocol import types

        if not self._is_open(parameters.text_document.uri):
            return None
        document, offset = self._place(parameters)
        found = document.definition(offset)
        if found is None:
            return None
        place = self._range(document, found.start, found.end)
        return types.Location(parameters.text_document.uri, place)

    def complete(self, parameters: types.CompletionParams) -> list[types.CompletionItem]:
        """Names that may be meant."""
        from lsprotocol import types

        if not self._is_open(parameters.text_document.uri):
            return []
        document, offset = self._place(parameters)
        start = offset
        while start and re.match(r"[\w$.%@#!^-]", document.text[start - 1]):
            start -= 1
        if document.text[start:offset].startswith("--"):
            start += 2
        replaced = self._range(document, start, offset)
        return [
            types.CompletionItem(label=name, text_edit=types.TextEdit(replaced, name))
            for name in document.complete(offset)
        ]

    def _is_open(self, uri: str) -> bool:
        """Whether the editor has opened a document; pygls reads the file of any other one."""
        return unquote(uri) in self._server.workspace.text_documents

    def _document(self, uri: str) -> MLIRDocument:
        text = self._server.workspace.get_text_document(uri).source.replace("\r\n", "\n")
        found = self._documents.get(uri)
        if found is None or found.text != text:
            found = self._documents[uri] = MLIRDocument(text)
        return found

    def _place(
        self, parameters: types.HoverParams | types.DefinitionParams | types.CompletionParams
    ) -> tuple[MLIRDocument, int]:
        document = self._document(parameters.text_document.uri)
        lines = document.lines
        if parameters.position.line >= len(lines):
            return document, len(document.text)
        codec = self._server.workspace.position_codec
        found = codec.position_from_client_units(lines, parameters.position)
        return document, document.offset(found.line, found.character)

    def _range(self, document: MLIRDocument, start: int, end: int) -> types.Range:
        from lsprotocol import types

        first, last = (types.Position(*document.position(each)) for each in (start, end))
        codec = self._server.workspace.position_codec
        return codec.range_to_client_units(document.lines, types.Range(first, last))
