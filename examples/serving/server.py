"""A server on this computer that speaks OpenAI's API for texts, with Python's own `http.server`.

    python examples/serving/server.py
    curl localhost:8000/v1/completions -H "Content-Type: application/json" \
        -d '{"prompt": "import ", "max_tokens": 40, "temperature": 0}'

`/v1/completions` and `/v1/chat/completions` answer as a whole or, with `"stream": true`, by
server-sent events; `/v1/models` names the model. `--hf FOLDER` serves one of transformers.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from completion_requests import CompletionRequest, RequestError, read_json, read_request

import ttmlir

MAX_BODY = 1 << 20
MAX_WAITING = 8
"""Requests that are answered or wait; further ones are told to come again."""
PATHS = {"/v1/completions": False, "/v1/chat/completions": True}
"""Whether a path is that of a chat."""
REASONS = {"stop": "stop", "length": "length", "full": "length"}


class TextServer(ThreadingHTTPServer):
    """Answers with what a generator writes, one request after the other."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], name: str, generator: ttmlir.Generator) -> None:
        """Listen; `name` is that of the model."""
        super().__init__(address, Handler)
        self.name, self.generator = name, generator
        self.created = int(time.time())
        self._places = threading.Semaphore(MAX_WAITING)
        self._lock = threading.Lock()

    @contextmanager
    def turn(self):
        """Wait for the requests before; RequestError if there are too many."""
        if not self._places.acquire(blocking=False):
            raise RequestError("too many requests wait; come again", status=429)
        try:
            with self._lock:
                yield
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are nothing to report."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: TextServer
    protocol_version = "HTTP/1.1"
    server_version = "ttmlir"
    timeout = 30
    """Seconds that a client may take to send or take anything."""

    def do_GET(self) -> None:
        """The model."""
        model = {"id": self.server.name, "object": "model", "owned_by": "local"}
        model["created"] = self.server.created
        path = self.path.partition("?")[0]
        if path == "/v1/models":
            self.send_json(200, {"object": "list", "data": [model]})
        elif path == f"/v1/models/{self.server.name}":
            self.send_json(200, model)
        else:
            self.send_refusal(RequestError(f"there is nothing at {path[:80]!r}", status=404))

    def do_POST(self) -> None:
        """A text."""
        try:
            self.answer()
        except RequestError as error:
            self.send_refusal(error)
        except ttmlir.InputError as error:
            self.send_refusal(RequestError(str(error)))
        except ttmlir.Error as error:
            self.send_refusal(RequestError(str(error), status=500))

    def answer(self) -> None:
        """Read a request, and write after its prompts."""
        # Whatever is wrong before the body is read, the connection ends with it.
        self.close_connection = True
        path = self.path.partition("?")[0]
        if path not in PATHS:
            raise RequestError(f"there is nothing at {path[:80]!r}", status=404)
        given = read_json(self.read_body())
        self.close_connection = False
        is_chat = PATHS[path]
        request = read_request(given, self.server.name, self.server.generator, is_chat=is_chat)
        form = Form(self.server.name, is_chat)
        with self.server.turn():
            (self.stream if request.is_streamed else self.write)(request, form)

    def read_body(self) -> bytes:
        """The body; RequestError for one that is not JSON, not all there or too large."""
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RequestError("the Content-Type is not application/json", status=415)
        said = self.headers.get("Content-Length", "")
        if not said.isascii() or not said.isdigit():
            raise RequestError("the request has no Content-Length", status=411)
        if len(said) > 10 or int(said) > MAX_BODY:
            raise RequestError(f"the body has more than {MAX_BODY} bytes", status=413)
        body = self.rfile.read(int(said))
        if len(body) < int(said):
            raise RequestError("the body ends before its Content-Length")
        return body

    def write(self, request: CompletionRequest, form: Form) -> None:
        """The whole answer."""
        found = self.server.generator.generate(request.prompts, **request.choices)
        choices = [
            form.choice(number, each.text, REASONS[each.reason])
            for number, each in enumerate(found)
        ]
        usage = count_tokens(request, sum(len(each.tokens) for each in found))
        self.send_json(200, {**form.head(), "choices": choices, "usage": usage})

    def stream(self, request: CompletionRequest, form: Form) -> None:
        """An event for each token."""
        tokens = self.server.generator.stream(request.prompts, **request.choices)
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        written = 0
        try:
            for token in tokens:
                written += 1
                reason = None if token.reason is None else REASONS[token.reason]
                choice = form.choice(token.prompt, token.text or "", reason, is_part=True)
                self.send_event({**form.head(is_part=True), "choices": [choice]})
        except ttmlir.Error as error:
            self.send_event({"error": {"message": str(error), "type": "server_error"}})
        if request.counts_usage:
            usage = count_tokens(request, written)
            self.send_event({**form.head(is_part=True), "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def send_event(self, value: Any) -> None:
        """One event of a stream."""
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def send_json(self, status: int, value: Any) -> None:
        """A whole answer."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def send_refusal(self, error: RequestError) -> None:
        """What is wrong, as OpenAI says it."""
        kind = "invalid_request_error" if error.status < 500 else "server_error"
        said = {"message": error.message, "type": kind, "param": error.parameter, "code": None}
        self.send_json(error.status, {"error": said})

    def send_error(self, code: int, message: str | None = None, explain: Any = None) -> None:
        """What `http.server` itself refuses, such as other methods and broken headers."""
        self.close_connection = True
        self.send_refusal(RequestError(message or "the request is refused", status=code))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: requests are the user's own."""


class Form:
    """How answers to a request look."""

    def __init__(self, model: str, is_chat: bool) -> None:
        """Of a chat, or of plain texts."""
        self.model, self.is_chat = model, is_chat
        self.id = f"{'chatcmpl' if is_chat else 'cmpl'}-{uuid.uuid4().hex}"
        self.created = int(time.time())

    def head(self, *, is_part: bool = False) -> dict[str, Any]:
        """What each answer or event begins with."""
        part = ".chunk" if is_part else ""
        kind = f"chat.completion{part}" if self.is_chat else "text_completion"
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def choice(
        self, index: int, text: str | None, reason: str | None, *, is_part: bool = False
    ) -> dict[str, Any]:
        """The text after one of the prompts, or a part of it."""
        found = {"index": index, "finish_reason": reason, "logprobs": None}
        if not self.is_chat:
            return {**found, "text": text}
        return {**found, "delta" if is_part else "message": {"role": "assistant", "content": text}}


def count_tokens(request: CompletionRequest, written: int) -> dict[str, int]:
    """The usage of a request."""
    read = sum(map(len, request.prompts))
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def read_transformers(folder: str, max_length: int) -> tuple[str, ttmlir.Generator]:
    """A model of transformers in a folder, by its name."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    sizes = {"max_length": max_length, "prompt_lengths": (32, 128)}
    return type(model).__name__, ttmlir.Generator(model, tokenizer=tokenizer, **sizes)


def train_characters(steps: int) -> tuple[str, ttmlir.Generator]:
    """The model of characters of `characters.py`."""
    from characters import make_generator, train

    model = train(steps)[0]
    return "characters", make_generator(model, prompt_lengths=(16, 64))


def main() -> int:
    """Serve until the user stops it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--hf", metavar="FOLDER", help="a model of transformers")
    parser.add_argument(
        "--max-length", type=int, default=512, help="of --hf: most tokens of a text"
    )
    parser.add_argument("--steps", type=int, default=200, help="to train the model of characters")
    asked = parser.parse_args()
    if asked.hf is None:
        name, generator = train_characters(asked.steps)
    else:
        name, generator = read_transformers(asked.hf, asked.max_length)
    print(generator.summary())
    with TextServer((asked.host, asked.port), name, generator) as server:
        print(f"serving {name} at http://{asked.host}:{server.server_port}/v1", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
