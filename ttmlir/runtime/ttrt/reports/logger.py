"""Messages of the commands: to the terminal or to a file."""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

from ttmlir.runtime.errors import InputError
from ttmlir.terminal import printable

_LEVEL_VARIABLES = ("TTRT_LOGGER_LEVEL", "LOGGER_LEVEL")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class _AppendingHandler(logging.Handler):
    """Appends each message to a file; between messages the file is closed."""

    def __init__(self, path: str) -> None:
        """Start with an empty file; InputError if it cannot be written."""
        super().__init__()
        self.path = path
        self._instead: logging.StreamHandler[TextIO] | None = None
        try:
            open(path, "w", encoding="utf-8").close()
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message; where that fails, this one and all after it go to standard error."""
        if self._instead is None:
            try:
                with open(self.path, "a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(self.format(record) + "\n")
                return
            except OSError as error:
                self._instead = logging.StreamHandler(sys.stderr)
                self._instead.setFormatter(self.formatter)
                print(
                    f"warning: {self.path}: cannot be written: {error.strerror}; messages follow"
                    " here",
                    file=sys.stderr,
                )
        self._instead.emit(record)


class Logger:
    """Writes messages with their time and level to a file, or to standard error without one.

    The least level shown comes from `TTRT_LOGGER_LEVEL` or `LOGGER_LEVEL`; it is INFO otherwise.
    """

    def __init__(self, file_name: str = "", *, quiet: bool = False) -> None:
        """Open the log; an existing file is replaced."""
        self.file_name = file_name
        # Not registered by name: each instance has its own file and level.
        self._logger = logging.Logger("ttrt", "WARNING" if quiet else _level())
        handler = _AppendingHandler(file_name) if file_name else logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s - %(levelname)s - %(message)s"))
        self._logger.addHandler(handler)

    def get_logger(self) -> logging.Logger:
        """The standard library's logger behind it."""
        return self._logger

    def debug(self, message: str) -> None:
        """Log at DEBUG."""
        self._logger.debug(printable(message))

    def info(self, message: str) -> None:
        """Log at INFO."""
        self._logger.info(printable(message))

    def warning(self, message: str) -> None:
        """Log at WARNING."""
        self._logger.warning(printable(message))

    def error(self, message: str) -> None:
        """Log at ERROR."""
        self._logger.error(printable(message))

    def output(self, text: str) -> None:
        """Show what was asked for: to the log file if there is one, else to standard output."""
        if self.file_name:
            self._logger.info(text)
        else:
            text = printable(text)
            sys.stdout.write(text if text.endswith("\n") else text + "\n")


def _level() -> str:
    for variable in _LEVEL_VARIABLES:
        level = os.environ.get(variable, "").upper()
        if level in _LEVELS:
            return level
    return "INFO"
