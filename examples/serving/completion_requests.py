"""Requests of OpenAI's API for texts: what is asked for, checked, and what is not supported."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

MAX_PROMPTS, MAX_STOPS, MAX_STOP_LENGTH, MAX_MESSAGES = 16, 4, 100, 256
DEFAULT_TOKENS = 16
_WITHOUT_EFFECT = ("user", "metadata", "store", "service_tier", "logit_bias")
_ONLY = {
    **dict.fromkeys(("n", "best_of"), 1),
    **dict.fromkeys(("frequency_penalty", "presence_penalty"), 0),
    **dict.fromkeys(("echo", "logprobs"), False),
}
"""What may be said only as it is without saying it."""
_REQUIRED: Any = object()


class RequestError(ValueError):
    """A request that is not answered: why, the HTTP status, and the parameter."""

    def __init__(self, message: str, parameter: str | None = None, status: int = 400) -> None:
        """400 is for what the client has to change."""
        super().__init__(message)
        self.message, self.parameter, self.status = message, parameter, status


@dataclass
class CompletionRequest:
    """Texts that are asked for."""

    prompts: list[list[int]]
    choices: dict[str, Any] = field(default_factory=dict)
    """Arguments of `Generator.generate`."""
    is_streamed: bool = False
    counts_usage: bool = False
    """Whether a stream ends with the numbers of tokens."""


def read_json(body: bytes) -> dict[str, Any]:
    """The object in a body; numbers that JSON does not have are none."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no number of JSON")

    try:
        found = json.loads(body.decode("utf-8"), parse_constant=refuse)
        # Halves of characters may be escaped in JSON, and no tokenizer takes them.
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    except RecursionError as error:
        raise RequestError("the body is nested too deeply") from error
    except ValueError as error:
        raise RequestError(f"the body is no JSON: {str(error)[:200]}") from error
    if not isinstance(found, dict):
        raise RequestError("the body is not an object of JSON")
    return found


class _Reader:
    """Takes parameters of a request one after the other; what is left over is not known."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.left = dict(given)

    def take(self, name: str, kinds: Any, wanted: str, default: Any = None) -> Any:
        """A parameter; null is as if it was not there."""
        value = self.left.pop(name, None)
        if value is None:
            if default is _REQUIRED:
                raise RequestError(f"'{name}' is missing: {wanted}", name)
            return default
        # True is an integer in Python, and not in JSON.
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise RequestError(f"'{name}' is {wanted}, not {_shorten(value)}", name)
        return value

    def number(self, name: str, low: float, high: float, default: Any, *, whole: bool) -> Any:
        """A number within bounds."""
        wanted = f"a {'whole ' * whole}number from {low:g} to {high:g}"
        value = self.take(name, int if whole else (int, float), wanted, default)
        if value is not None and not low <= value <= high:
            raise RequestError(f"'{name}' is {wanted}, not {_shorten(value)}", name)
        return value

    def finish(self) -> None:
        """Refuse what is not supported."""
        for name in _WITHOUT_EFFECT:
            if name != "logit_bias" or not self.left.get(name):
                self.left.pop(name, None)
        for name, only in _ONLY.items():
            value = self.left.pop(name, None)
            if value is not None and value != only:
                raise RequestError(f"'{name}' is {json.dumps(only)}; others are not here", name)
        if self.left:
            name = min(self.left)
            raise RequestError(f"'{_shorten(name)[1:-1]}' is not supported", name[:100])


def _shorten(value: Any) -> str:
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        text = "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:60]}..."


def read_request(
    given: dict[str, Any], model: str, generator: Any, *, is_chat: bool
) -> CompletionRequest:
    """What a body asks a generator for; RequestError for what is wrong."""
    reader = _Reader(given)
    asked = reader.take("model", str, "the name of a model", model)
    if asked != model:
        raise RequestError(
            f"there is no model {_shorten(asked)}; there is '{model}'", "model", status=404
        )
    read = _read_messages if is_chat else _read_prompts
    prompts = read(reader, generator.tokenizer)
    most = generator.max_length - 1
    for number, prompt in enumerate(prompts):
        if not 0 < len(prompt) <= most:
            raise RequestError(
                f"prompt {number} has {len(prompt)} tokens; it may have 1 to {most}",
                "messages" if is_chat else "prompt",
            )
        if not all(0 <= token < generator.vocabulary for token in prompt):
            raise RequestError(
                f"prompt {number} has a token that is not from 0 to {generator.vocabulary - 1}",
                "prompt",
            )
    temperature = reader.number("temperature", 0, 2, 1.0, whole=False)
    top_p = reader.number("top_p", 0.0001, 1, 1.0, whole=False)
    top_k = reader.number("top_k", 1, 1 << 20, None, whole=True)
    choices = {
        "max_new_tokens": _read_length(reader, most, is_chat=is_chat),
        "temperature": float(temperature),
        "repetition_penalty": float(reader.number("repetition_penalty", 0.1, 10, 1, whole=False)),
        "seed": reader.number("seed", 0, (1 << 63) - 1, 0, whole=True),
        "stop_strings": _read_stops(reader),
    }
    if temperature:
        choices |= {"top_k": top_k, "top_p": None if top_p == 1 else float(top_p)}
    is_streamed = reader.take("stream", bool, "true or false", False)
    options = reader.take("stream_options", dict, "an object", {})
    counts = options.get("include_usage", False)
    if not is_streamed and options:
        raise RequestError("'stream_options' are for 'stream': true", "stream_options")
    if not isinstance(counts, bool) or set(options) - {"include_usage"}:
        raise RequestError("'stream_options' has 'include_usage', true or false", "stream_options")
    reader.finish()
    return CompletionRequest(prompts, choices, is_streamed, counts)


def _read_length(reader: _Reader, most: int, *, is_chat: bool) -> int:
    name = "max_tokens"
    if is_chat and "max_completion_tokens" in reader.left:
        name = "max_completion_tokens"
    return reader.number(name, 1, most, min(DEFAULT_TOKENS, most), whole=True)


def _read_stops(reader: _Reader) -> list[str]:
    wanted = f"a text or at most {MAX_STOPS} of them, of 1 to {MAX_STOP_LENGTH} characters"
    stops = reader.take("stop", (str, list), wanted, [])
    listed = [stops] if isinstance(stops, str) else stops
    if len(listed) > MAX_STOPS:
        raise RequestError(f"'stop' is {wanted}; there are {len(listed)}", "stop")
    for each in listed:
        if not isinstance(each, str) or not 1 <= len(each) <= MAX_STOP_LENGTH:
            raise RequestError(f"'stop' is {wanted}, not {_shorten(each)}", "stop")
    return listed


def _read_prompts(reader: _Reader, tokenizer: Any) -> list[list[int]]:
    wanted = f"a text, a list of tokens, or a list of at most {MAX_PROMPTS} of these"
    given = reader.take("prompt", (str, list), wanted, _REQUIRED)
    listed = [given] if isinstance(given, str) or _is_tokens(given) else given
    if not 1 <= len(listed) <= MAX_PROMPTS:
        raise RequestError(f"'prompt' is {wanted}; there are {len(listed)}", "prompt")
    prompts: list[list[int]] = []
    for each in listed:
        if isinstance(each, str):
            prompts.append(list(tokenizer.encode(each)))
        elif _is_tokens(each):
            prompts.append(each)
        else:
            raise RequestError(f"'prompt' is {wanted}, not {_shorten(each)}", "prompt")
    return prompts


def _is_tokens(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, int) and not isinstance(each, bool) for each in value)


def _read_messages(reader: _Reader, tokenizer: Any) -> list[list[int]]:
    wanted = f"a list of 1 to {MAX_MESSAGES} objects with 'role' and 'content'"
    messages = reader.take("messages", list, wanted, _REQUIRED)
    if not 1 <= len(messages) <= MAX_MESSAGES:
        raise RequestError(f"'messages' is {wanted}; there are {len(messages)}", "messages")
    read: list[dict[str, str]] = []
    for each in messages:
        role = each.get("role") if isinstance(each, dict) else None
        content = _text_of(each.get("content")) if isinstance(each, dict) else None
        if role not in ("system", "developer", "user", "assistant") or content is None:
            raise RequestError(
                "a message has a 'role', which is system, developer, user or assistant, and a "
                f"'content', which is text: {_shorten(each)}",
                "messages",
            )
        read.append({"role": role, "content": content})
    if getattr(tokenizer, "chat_template", None):
        return [_apply_template(tokenizer, read)]
    lines = [f"{each['role']}: {each['content']}\n" for each in read]
    return [list(tokenizer.encode("".join([*lines, "assistant: "])))]


def _apply_template(tokenizer: Any, messages: list[dict[str, str]]) -> list[int]:
    try:
        return tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=False
        )
    except Exception as error:
        # Templates are programs, which raise what they like.
        message = f"the model's template refuses the messages: {str(error)[:200]}"
        raise RequestError(message, "messages") from error


def _text_of(content: Any) -> str | None:
    """Content is text, or parts that are."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts: list[str] = []
    for each in content:
        is_text = isinstance(each, dict) and each.get("type") == "text"
        if not is_text or not isinstance(each.get("text"), str):
            return None
        parts.append(each["text"])
    return "".join(parts)
