"""Text as tokens come: characters of several bytes, and strings to stop at."""

from __future__ import annotations

from ttmlir.generation.text import TextReader


def read_bytes(tokens: list[int]) -> str:
    """A tokenizer whose tokens are bytes."""
    return bytes(tokens).decode("utf-8", errors="replace")


def feed(text: str, *stops: str) -> tuple[list[str], TextReader]:
    """What each byte of a text gives, and at last what was held back."""
    reader = TextReader(read_bytes, stops)
    given: list[str] = []
    for token in text.encode():
        given.append(reader.add(token))
        if reader.is_stopped:
            break
    return [*given, reader.finish()], reader


def test_characters_come_whole() -> None:
    """The bytes of a character give nothing before the last one."""
    given, reader = feed("aé€b")
    assert given == ["a", "", "é", "", "", "€", "b", ""]
    assert reader.text == "aé€b"


def test_text_ends_before_a_string() -> None:
    """What may begin one is held back, and given out when it does not."""
    given, reader = feed("one end two END three", "END", "o E")
    assert reader.is_stopped
    assert reader.text == "one end tw"
    assert "".join(given) == reader.text
    given, reader = feed("an EN", "END")
    assert given == ["a", "n", " ", "", "", "EN"]
    assert not reader.is_stopped


def test_broken_bytes_at_the_end() -> None:
    """Bytes that no character has are given out when nothing follows."""
    reader = TextReader(read_bytes, ())
    assert [reader.add(0x61), reader.add(0xE2), reader.finish()] == ["a", "", "\ufffd"]


def test_a_tokenizer_whose_spaces_depend_on_what_is_before() -> None:
    """Some leave the space at the beginning of a text out: tokens are read with those before."""
    words = ["the", "cat", "sat"]
    reader = TextReader(lambda tokens: " ".join(words[each] for each in tokens), ())
    assert [reader.add(0), reader.add(1), reader.add(2)] == ["the", " cat", " sat"]
