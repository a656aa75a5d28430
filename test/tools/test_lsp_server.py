"""`ttmlir-lsp-server`, as an editor talks to it: by the protocol, over its input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = "import sys; from ttmlir.tools.ttmlir_lsp_server import main; sys.exit(main([]))"
URI = "file:///model.mlir"
TEXT = """// RUN: ttmlir-opt --ttir-to-t
#any = #tt.operand_constraint<any_device_tile>
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> (tensor<3x2xf32>, tensor<4xf32>) {
  %0 = tensor.empty() : tensor<3x2xf32>
  %pair:2 = "ttir.transpose"(%x, %0) <{dim0 = 0 : si32, dim1 = 1 : si32}> : () -> ()
  %é = func.call @helper(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<4xf32>
}
"""
RIGHT = TEXT.replace("%pair:2", "%t").replace(
    "1 : si32}> : () -> ()",
    "1 : si32, operand_constraints = [#any, #any]}> : "
    "(tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>",
)
RIGHT = RIGHT.replace("%é", "%1")


class Editor:
    """A client that sends messages and waits for answers."""

    def __init__(self) -> None:
        """Start a server and greet it."""
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )
        self.number = 0
        self.version = 0
        self.diagnostics: dict[int | None, list[Any]] = {}
        self.capabilities = self.ask("initialize", processId=None, rootUri=None, capabilities={})
        self.tell("initialized")

    def send(self, message: dict[str, Any] | bytes) -> None:
        """Send a message, or bytes that are none."""
        assert self.process.stdin is not None
        if isinstance(message, dict):
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            message = b"Content-Length: %d\r\n\r\n" % len(body) + body
        self.process.stdin.write(message)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message of the server."""
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the server has ended"
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            parameters = message["params"]
            self.diagnostics[parameters.get("version")] = parameters["diagnostics"]
        return message

    def answer(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The whole answer to a request."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        while (message := self.receive()).get("id") != self.number:
            pass
        return message

    def ask(self, method: str, **parameters: Any) -> Any:
        """The result of a request."""
        message = self.answer(method, parameters)
        assert "error" not in message, message
        return message["result"]

    def tell(self, method: str, **parameters: Any) -> None:
        """Send a notification."""
        self.send({"method": method, "params": parameters})

    def open(self, text: str) -> list[Any]:
        """Open a document, or change all of it; its diagnostics."""
        self.version += 1
        document = {"uri": URI, "version": self.version}
        if self.version == 1:
            item = {**document, "languageId": "mlir", "text": text}
            self.tell("textDocument/didOpen", textDocument=item)
        else:
            changes = [{"text": text}]
            self.tell("textDocument/didChange", textDocument=document, contentChanges=changes)
        while self.version not in self.diagnostics:
            self.receive()
        return self.diagnostics[self.version]

    def at(self, method: str, text: str, word: str, occurrence: int = 1, shift: int = 0) -> Any:
        """What the server says of the start of an occurrence of a word."""
        offset = -1
        for _ in range(occurrence):
            offset = text.index(word, offset + 1)
        before = text[: offset + shift]
        line = before.count("\n")
        character = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        place = {"line": line, "character": character}
        document = {"uri": URI}
        return self.ask(f"textDocument/{method}", textDocument=document, position=place)


@pytest.fixture(name="editor")
def start() -> Iterator[Editor]:
    """An editor with a server of its own."""
    editor = Editor()
    yield editor
    if editor.process.poll() is None:
        editor.ask("shutdown")
        editor.tell("exit")
    with editor.process as process:
        assert process.wait(20) == 0


def lines(found: list[Any]) -> list[tuple[int, int, int]]:
    """Line, first and last character of the ranges of diagnostics."""
    ranges = [each["range"] for each in found]
    assert all(each["start"]["line"] == each["end"]["line"] for each in ranges)
    return [(r["start"]["line"], r["start"]["character"], r["end"]["character"]) for r in ranges]


def test_faults_of_reading_and_of_verifying(editor: Editor) -> None:
    """Each with the range of a word; they vanish when they are mended."""
    assert editor.capabilities["serverInfo"]["name"] == "ttmlir-lsp-server"
    (fault,) = editor.open("func.func @f() {\n  wrong.op\n  return\n}\n")
    assert fault["severity"] == 1
    assert lines([fault]) == [(1, 2, 10)]
    found = editor.open(RIGHT.replace("dim1 = 1", "dim1 = 7"))
    assert lines(found) == [(5, 7, 23)]
    assert "dim" in found[0]["message"].lower()
    assert editor.open(RIGHT) == []
    # Parts of a file are modules of their own; characters are counted as the protocol does.
    found = editor.open(f"{RIGHT}// -----\nfunc.func @\U0001d53d() {{ return }}\n/**/ oops\n")
    assert found[0]["range"]["start"]["line"] >= RIGHT.count("\n")


def test_what_names_are(editor: Editor) -> None:
    """Types of values and documentation of operations."""
    assert editor.open(RIGHT) == []

    def hover(word: str, occurrence: int = 1) -> str:
        found = editor.at("hover", RIGHT, word, occurrence, shift=1)
        return "" if found is None else found["contents"]["value"]

    assert hover("%t =") == "```mlir\n%t : tensor<3x2xf32>\n```"
    assert hover("%x, %0") == "```mlir\n%x : tensor<2x3xf32>\n```"
    assert hover("%y)") == "```mlir\n%y : tensor<4xf32>\n```"
    assert hover("%1 :") == "```mlir\n%1 : tensor<4xf32>\n```"
    assert "`dim0`" in hover("ttir.transpose")
    assert "**func.return**" in hover("return %0")
    assert "operand_constraint<any_device_tile>" in hover("#any, #any")
    assert "func.func private @helper" in hover("@helper", 2)
    assert hover("dim0") == ""


def test_where_names_are_defined(editor: Editor) -> None:
    """While the text is wrong, too; values are those of their own function."""
    assert editor.open(TEXT) != []

    def line_of(word: str, occurrence: int = 1) -> tuple[int, int] | None:
        found = editor.at("definition", TEXT, word, occurrence, shift=1)
        if found is None:
            return None
        start = found["range"]["start"]
        return start["line"], start["character"]

    assert line_of("%x, %0") == (3, 16)
    assert line_of("%0, %1") == (4, 2)
    assert line_of("@helper", 2) == (2, 18)
    assert line_of("#any") == (1, 0)
    assert line_of("%1 :") is None
    branch = "func.func @f() {\n  cf.br ^end\n^end:\n  return\n}\n"
    editor.open(branch)
    found = editor.at("definition", branch, "^end")
    assert found["range"]["start"]["line"] == 2


def test_what_may_be_written(editor: Editor) -> None:
    """Operations of a dialect, values in sight, symbols, and passes in RUN lines."""
    text = f"{TEXT[: TEXT.index('  return')]}  ttir.soft\n  %pa\n  @h\n  ttk\n}}\n"
    editor.open(text)

    def completed(word: str, occurrence: int = 1) -> list[str]:
        found = editor.at("completion", text, word, occurrence, shift=len(word))
        return [item["label"] for item in found]

    assert completed("  ttir.soft") == ["ttir.softmax", "ttir.softsign"]
    assert completed("%pa", 2) == ["%pair"]
    assert completed("  @h") == ["@helper"]
    assert completed("  ttk") == ["ttkernel"]
    assert "ttir-to-ttnn-backend-pipeline" in completed("--ttir-to-t")


HOSTILE = [
    "",
    "\x00\ufeff\r\n%",
    "{" * 200_000,
    "module {" * 3000,
    '"' * 5000,
    "%a" * 100_000,
    "%a, " * 50_000,
    "tensor<" * 5000,
    "%x = arith.constant dense<0> : tensor<99999999999999999999xi32>",
    "%0:99999999999 = tensor.empty() : tensor<1xf32>\n%0#99999999",
    "// -----\n" * 500,
    "\U0001f600" * 300 + " %x = ",
]


def test_hostile_texts_and_a_clumsy_client(editor: Editor) -> None:
    """Neither ends the server, and it answers the next question."""
    for text in HOSTILE:
        editor.open(text)
        editor.at("hover", f"{text} ", " ")
        editor.at("completion", f"{text} ", " ")
    editor.open("x" * (4 << 20) + "x")
    assert editor.diagnostics[editor.version][0]["message"].startswith("texts of more than")
    editor.tell("textDocument/nonsense", what=1)
    editor.tell("textDocument/didChange", textDocument={}, contentChanges=[])
    editor.tell("textDocument/didClose", textDocument={"uri": "file:///never-opened.mlir"})
    assert "error" in editor.answer("textDocument/nonsense", {})
    # -32602 is "Invalid params" in JSON-RPC 2.0.
    for parameters in ({"textDocument": 3}, {}, {"textDocument": {"uri": URI}, "position": None}):
        assert editor.answer("textDocument/hover", parameters)["error"]["code"] == -32602
    far = {"line": 2**31 - 1, "character": 2**31 - 1}
    assert editor.ask("textDocument/hover", textDocument={"uri": URI}, position=far) is None
    assert editor.open(RIGHT) == []


@pytest.mark.parametrize("body", [b"[]", b"3", b"{}", b'[{"id": 7}]'])
def test_json_that_is_no_message(editor: Editor, body: bytes) -> None:
    """The protocol's answer to an invalid request, after which the server goes on."""
    editor.send(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    answer = editor.receive()
    assert answer["error"]["code"] == -32600
    assert answer["error"]["message"] == "Invalid Request"
    assert answer.get("id") is None
    assert editor.open(RIGHT) == []


def test_files_that_the_editor_has_not_opened(editor: Editor, tmp_path: Path) -> None:
    """They are not read, whether there are such files or not."""
    (tmp_path / "there.mlir").write_text("func.func @f() { return }")
    for name in ("there.mlir", "missing.mlir"):
        document = {"uri": (tmp_path / name).as_uri()}
        place = {"line": 0, "character": 3}
        for method in ("hover", "definition", "completion"):
            answer = editor.ask(f"textDocument/{method}", textDocument=document, position=place)
            assert not answer


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [(["--help"], 0, "Language Server"), (["--version"], 0, "ttmlir"), (["--port=1"], 1, "--help")],
)
def test_flags(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Few; others are refused."""
    from ttmlir.tools.ttmlir_lsp_server import main

    assert main(arguments) == status
    captured = capsys.readouterr()
    assert message in captured.out + captured.err
