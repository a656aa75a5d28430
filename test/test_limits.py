"""The limit of memory, and what it is set by."""

from __future__ import annotations

import pytest

from ttmlir.limits import memory_advice, memory_limit


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [
        (None, 8 * 2**30),
        ("", 8 * 2**30),
        ("0.5", 2**29),
        ("3", 3 * 2**30),
        ("1048575", 1048575 * 2**30),
        *((text, 8 * 2**30) for text in ("0", "-1", "1048576", "inf", "nan", "much")),
    ],
)
def test_memory_limit(given: str | None, bytes_: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In GiB; what is no sensible number means the default of 8."""
    monkeypatch.delenv("TTMLIR_MEMORY_GIB", raising=False)
    if given is not None:
        monkeypatch.setenv("TTMLIR_MEMORY_GIB", given)
    assert memory_limit() == bytes_
    assert memory_advice() == (
        f"at most {bytes_ / 2**30:g} GiB are taken; the environment variable TTMLIR_MEMORY_GIB "
        "sets another limit"
    )
