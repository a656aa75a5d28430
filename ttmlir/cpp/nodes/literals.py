"""What literals mean."""

from __future__ import annotations

import math


def read_fraction(text: str) -> float:
    """The value of a floating-point literal, in double precision whatever its suffix."""
    digits = text.replace("'", "").rstrip("fFlL")
    if digits[:2] not in ("0x", "0X"):
        return float(digits)
    try:
        return float.fromhex(digits)
    except OverflowError:  # of decimal digits, `float` makes an infinity
        return math.inf
