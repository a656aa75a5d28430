"""Environment variables as ttrt's users know them."""

from __future__ import annotations

import os

from ttmlir.runtime.errors import InputError
from ttmlir.runtime.ttrt.reports.logger import Logger


class Globals:
    """Named values that start as the environment and can be changed without changing it."""

    def __init__(self, logger: Logger | None = None) -> None:
        """Start from the environment."""
        self.logger = logger or Logger()
        self.globals = dict(os.environ)

    def add_global_env(self, key: str, value: str) -> None:
        """Set a value."""
        self.globals[key] = value

    def remove_global_env(self, key: str) -> None:
        """Remove a value; InputError if there is none."""
        if key not in self.globals:
            raise InputError(f"there is no global '{key}'")
        del self.globals[key]

    def get_globals(self) -> dict[str, str]:
        """All values."""
        return self.globals

    def print_globals(self) -> None:
        """Log all values at INFO."""
        for key, value in self.globals.items():
            self.logger.info(f"{key}={value}")

    def check_global_exists(self, key: str) -> bool:
        """True if there is such a value."""
        return key in self.globals

    def get_ld_path(self, path: str) -> str:
        """A library search path with a folder in front."""
        old = self.globals.get("LD_LIBRARY_PATH", "")
        return f"{path}:{old}" if old else path

    @staticmethod
    def get_ttmetal_home_path() -> str:
        """The `TT_METAL_HOME` variable; empty if it is not set, which is fine here."""
        return os.environ.get("TT_METAL_HOME", "")
