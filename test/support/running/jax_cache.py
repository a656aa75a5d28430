"""Keeps what JAX compiles for tests in pytest's cache, for the other workers and the next run.

Programs of JAX are what results are compared with; to compile them takes longer than to run them.
JAX names each by the program, the compiler and its options. `pytest --cache-clear` forgets them.
"""

from __future__ import annotations

import os
import platform
import shutil
import zlib
from pathlib import Path

import pytest

MOST_BYTES = 256 << 20
"""Of compiled programs that are kept; with more, all start anew."""


def register(config: pytest.Config) -> None:
    """Let JAX use the cache, in this process and those that tests start."""
    if not config.pluginmanager.hasplugin("cacheprovider"):
        return
    folder = config.cache.mkdir(f"jax-{_name_of_processor()}")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        limit(folder, MOST_BYTES)
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    # An entry that is read while it is written is compiled instead.
    config.addinivalue_line("filterwarnings", "ignore:Error reading persistent compilation cache")


def limit(folder: Path, most: int) -> None:
    """Empty a folder that has more bytes than that."""
    with os.scandir(folder) as entries:
        size = sum(entry.stat().st_size for entry in entries)
    if size > most:
        shutil.rmtree(folder)
        folder.mkdir()


def _name_of_processor() -> str:
    """Other for machines that have other instructions, which JAX does not look at."""
    described = platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        lines = facts.read_text(encoding="utf-8").splitlines()
        described += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{zlib.crc32(described.encode()):08x}"
