"""The handwritten digits of `examples/digits`, for models of any framework."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def digits() -> tuple[Any, Any]:
    """Training and held-out images (rows of 64 pixels, 0 to 1) with their labels."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "digits"))
    from data import load_digits

    return load_digits()
