"""The server of `examples/serving`: what it writes, and what it refuses."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

torch: Any = import_module("torch")

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "serving"
PROMPT = "def "
COUNT = 9


@pytest.fixture(scope="module", name="trained")
def trained_fixture() -> Iterator[Any]:
    """The example's modules, a model after three steps, and the losses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        characters, server = import_module("characters"), import_module("server")
        yield characters, server, *characters.train(3, batch=2, length=16)


@pytest.fixture(scope="module", name="address")
def address_fixture(trained: Any) -> Iterator[tuple[str, int]]:
    """Where the server listens."""
    characters, server, model = trained[:3]
    generator = characters.make_generator(model, prompt_lengths=(8,))
    with server.TextServer(("127.0.0.1", 0), "characters", generator) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running.server_address
        running.shutdown()
        thread.join()


def ask(address: tuple[str, int], path: str, body: Any = None, **headers: str) -> tuple[int, str]:
    """Status and text of an answer; a body that is no text is sent as JSON."""
    connection = HTTPConnection(*address, timeout=60)
    if body is None:
        connection.request("GET", path)
    else:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        connection.request("POST", path, text, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def write_with_torch(model: Any, count: int) -> str:
    """What the model writes after the prompt, reading the text anew for each character."""
    tokens = list(map(ord, PROMPT))
    with torch.no_grad():
        for _ in range(count):
            tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
    return "".join(map(chr, tokens[len(PROMPT) :]))


def test_losses_are_those_of_torch(trained: Any) -> None:
    """Step by step."""
    losses, wanted = trained[3:]
    assert losses == pytest.approx(wanted, rel=1e-4)
    assert losses[-1] < losses[0]


def test_a_text(trained: Any, address: tuple[str, int]) -> None:
    """As a whole, in the form of OpenAI's API."""
    asked = {"prompt": PROMPT, "max_tokens": COUNT, "temperature": 0, "model": "characters"}
    status, text = ask(address, "/v1/completions", asked)
    found = json.loads(text)
    assert (status, found["object"], found["model"]) == (200, "text_completion", "characters")
    wanted = write_with_torch(trained[2], COUNT)
    assert found["choices"] == [
        {"index": 0, "text": wanted, "finish_reason": "length", "logprobs": None}
    ]
    assert found["usage"] == {"prompt_tokens": 4, "completion_tokens": 9, "total_tokens": 13}


def test_a_stream(trained: Any, address: tuple[str, int]) -> None:
    """An event for each character, of texts and of chats; stop strings end it."""
    wanted = write_with_torch(trained[2], COUNT)
    asked = {"prompt": PROMPT, "max_tokens": COUNT, "temperature": 0, "stream": True}
    usage = {"stream_options": {"include_usage": True}}
    status, text = ask(address, "/v1/completions", {**asked, **usage})
    *events, end = text.removesuffix("\n\n").split("\n\n")
    assert (status, end) == (200, "data: [DONE]")
    *parts, last = [json.loads(each.removeprefix("data: ")) for each in events]
    assert [each["choices"][0]["text"] for each in parts] == list(wanted)
    assert [each["choices"][0]["finish_reason"] for each in parts] == [None] * 8 + ["length"]
    assert last["usage"]["completion_tokens"] == COUNT
    messages = [{"role": "user", "content": [{"type": "text", "text": "x"}]}]
    asked = {"messages": messages, "max_tokens": 5, "seed": 3, "stream": True}
    status, text = ask(address, "/v1/chat/completions", asked)
    first = json.loads(text.partition("\n\n")[0].removeprefix("data: "))
    assert (status, first["object"]) == (200, "chat.completion.chunk")
    assert set(first["choices"][0]["delta"]) == {"role", "content"}


def test_stop_strings_and_several_prompts(trained: Any, address: tuple[str, int]) -> None:
    """A text ends before the string; prompts are answered in their order."""
    wanted = write_with_torch(trained[2], COUNT)
    asked = {"prompt": ["x", PROMPT], "max_tokens": COUNT, "temperature": 0, "stop": wanted[-2:]}
    choices = json.loads(ask(address, "/v1/completions", asked)[1])["choices"]
    assert [each["index"] for each in choices] == [0, 1]
    assert choices[1]["text"] == wanted[: wanted.index(wanted[-2:])]
    assert choices[1]["finish_reason"] == "stop"


def test_the_model(address: tuple[str, int]) -> None:
    """There is one."""
    status, text = ask(address, "/v1/models")
    assert (status, [each["id"] for each in json.loads(text)["data"]]) == (200, ["characters"])
    assert ask(address, "/v1/models/characters")[0] == 200
    assert ask(address, "/v1/models/other")[0] == 404


WRONG: list[tuple[Any, int, str]] = [
    ("{", 400, "the body is no JSON"),
    ("[]", 400, "the body is not an object of JSON"),
    (b"\xff\xfe", 400, "the body is no JSON"),
    ("[" * 100_000, 400, "the body is nested too deeply"),
    ('{"prompt": "a", "seed": NaN}', 400, "NaN is no number of JSON"),
    ('{"prompt": "\\ud800"}', 400, "the body is no JSON"),
    ('{"prompt": "a", "seed": ' + "9" * 5000 + "}", 400, "the body is no JSON"),
    ('{"prompt": "a", "seed": ' + "9" * 4000 + "}", 400, "'seed' is a whole number from 0 to"),
    ('{"prompt": "a", "temperature": 1e999}', 400, "'temperature' is a number from 0 to 2"),
    ({}, 400, "'prompt' is missing"),
    ({"prompt": ""}, 400, "prompt 0 has 0 tokens; it may have 1 to 127"),
    ({"prompt": "a" * 128}, 400, "prompt 0 has 128 tokens"),
    ({"prompt": [500]}, 400, "prompt 0 has a token that is not from 0 to 127"),
    ({"prompt": [[1], {}]}, 400, "'prompt' is a text, a list of tokens, or a list of at most 16"),
    ({"prompt": ["a"] * 17}, 400, "there are 17"),
    ({"prompt": "a", "max_tokens": 10**9}, 400, "'max_tokens' is a whole number from 1 to 127"),
    ({"prompt": "a", "max_tokens": True}, 400, "'max_tokens' is a whole number"),
    ({"prompt": "a", "temperature": "warm"}, 400, "'temperature' is a number from 0 to 2"),
    ({"prompt": "a", "top_p": 0}, 400, "'top_p' is a number from 0.0001 to 1, not 0"),
    ({"prompt": "a", "stop": ["a"] * 5}, 400, "at most 4 of them"),
    ({"prompt": "a", "stop": [""]}, 400, "of 1 to 100 characters"),
    ({"prompt": "a", "stop": "a" * 101}, 400, "of 1 to 100 characters"),
    ({"prompt": "a", "stream": "yes"}, 400, "'stream' is true or false"),
    ({"prompt": "a", "stream_options": {"include_usage": True}}, 400, "are for 'stream': true"),
    ({"prompt": "a", "n": 2}, 400, "'n' is 1; others are not here"),
    ({"prompt": "a", "tools": []}, 400, "'tools' is not supported"),
    ({"prompt": "a", "model": "gpt"}, 404, "there is no model"),
]


@pytest.mark.parametrize(("body", "status", "message"), WRONG)
def test_wrong_requests(
    address: tuple[str, int],
    capfd: pytest.CaptureFixture[str],
    body: Any,
    status: int,
    message: str,
) -> None:
    """Each is told what is wrong, and nothing is printed."""
    found, text = ask(address, "/v1/completions", body)
    assert found == status, text
    error = json.loads(text)["error"]
    assert message in error["message"]
    assert error["type"] == "invalid_request_error"
    assert capfd.readouterr().err == ""


def test_wrong_messages(address: tuple[str, int]) -> None:
    """Of a chat."""
    for messages in ([], [{}], ["a"], [{"role": "user", "content": [{"type": "image"}]}]):
        status, text = ask(address, "/v1/chat/completions", {"messages": messages})
        assert status == 400
        assert "message" in json.loads(text)["error"]["message"]


def test_broken_requests(address: tuple[str, int], capfd: pytest.CaptureFixture[str]) -> None:
    """Paths, types, sizes and methods that there are not; a client that goes away."""
    plain = {"Content-Type": "text/plain"}
    assert ask(address, "/v1/completions", "{}", **plain)[0] == 415
    assert ask(address, "/v1/embeddings", "{}")[0] == 404
    assert ask(address, "/etc/passwd")[0] == 404
    for length, status in (("99999999999999", 413), ("2000000", 413), ("-1", 411), ("two", 411)):
        assert ask(address, "/v1/completions", "", **{"Content-Length": length})[0] == status
    with socket.create_connection(address) as connection:
        connection.sendall(b"DELETE /v1/models HTTP/1.1\r\n\r\n")
        assert b" 501 " in connection.recv(1000)
    with socket.create_connection(address) as connection:
        connection.sendall(b"POST /v1/completions HTTP/1.1\r\n")
    assert ask(address, "/v1/models")[0] == 200
    assert capfd.readouterr().err == ""
