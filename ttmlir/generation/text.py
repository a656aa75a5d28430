"""The text of tokens as they come, and the strings at which it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Decode = Callable[[list[int]], str]
"""From tokens to text, such as `tokenizer.decode`."""

_INCOMPLETE = "\ufffd"
"""What tokenizers write for the first bytes of a character whose others are not there yet."""


class TextReader:
    """Turns tokens into text, one by one, up to the first of some strings.

    Text is given out when no later token can change it or make it the beginning of such a string.
    """

    def __init__(self, decode: Decode, stop_strings: Sequence[str]) -> None:
        """Begin without tokens."""
        self._decode = decode
        self._stops = stop_strings
        self._tokens: list[int] = []
        # What a token reads as may depend on those before it: the last ones are read again.
        self._begin, self._end = 0, 0
        self._held: str = ""
        self.text: str = ""
        """All that was given out."""
        self.is_stopped = False
        """Whether one of the strings came; the text ends before it."""

    def add(self, token: int) -> str:
        """The text that a token completes."""
        self._tokens.append(token)
        return self._give(self._read(), is_last=False)

    def finish(self) -> str:
        """The text that was held back, when no token follows."""
        if self.is_stopped:
            return ""
        seen = self._decode(self._tokens[self._begin : self._end])
        rest = self._decode(self._tokens[self._begin :])[len(seen) :]
        self._end = len(self._tokens)
        return self._give(rest, is_last=True)

    def _read(self) -> str:
        seen = self._decode(self._tokens[self._begin : self._end])
        now = self._decode(self._tokens[self._begin :])
        if len(now) <= len(seen) or now.endswith(_INCOMPLETE):
            return ""
        self._begin, self._end = self._end, len(self._tokens)
        return now[len(seen) :]

    def _give(self, new: str, *, is_last: bool) -> str:
        text = self._held + new
        ends = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        if ends:
            self.is_stopped = True
            given, self._held = text[: min(ends)], ""
        else:
            kept = 0 if is_last else self._begun(text)
            given, self._held = text[: len(text) - kept], text[len(text) - kept :]
        self.text += given
        return given

    def _begun(self, text: str) -> int:
        """How many characters at the end may be the beginning of a string to stop at."""
        longest = max(map(len, self._stops), default=1) - 1
        for length in range(min(longest, len(text)), 0, -1):
            if any(stop.startswith(text[-length:]) for stop in self._stops):
                return length
        return 0
