"""What `#if` decides, held against the preprocessor of g++."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.preprocess import preprocess
from ttmlir.cpp.tokens import SourceText

CONDITIONS = {
    "1 || 0 && 0": True,
    "(1 || 0) && 0": False,
    "0 || 0": False,
    "2 && 4": True,
    "(2 && 4) == 1": True,
    "(2 || 4) == 1": True,
    "1 | 2 ^ 3 & 2": True,
    "(5 ^ 3) == 6": True,
    "(5 & 3) == 1": True,
    "(5 | 3) == 7": True,
    "5 & 3 == 1": False,
    "1 == 1 == 1": True,
    "2 == 2 == 2": False,
    "3 != 3": False,
    "1 < 2 == 1": True,
    "3 < 3": False,
    "3 <= 3": True,
    "3 > 3": False,
    "3 >= 3": True,
    "2 >= 3": False,
    "1 << 2 + 1 == 8": True,
    "1 << 62 > 0": True,
    "1 << 63 < 0": True,
    "-8 >> 1 == -4": True,
    "256 >> 4 == 16": True,
    "10 - 4 - 3 == 3": True,
    "2 + 3 * 4 == 14": True,
    "100 / 10 / 5 == 2": True,
    "7 / 2 == 3": True,
    "-7 / 2 == -3": True,
    "7 / -2 == -3": True,
    "-7 / -2 == 3": True,
    "7 % 3 == 1": True,
    "-7 % 3 == -1": True,
    "7 % -3 == 1": True,
    "-7 % -3 == -1": True,
    "!0": True,
    "!5": False,
    "!!5 == 1": True,
    "~0 == -1": True,
    "~5 == -6": True,
    "- -3 == 3": True,
    "+3 == 3": True,
    "-2 * 3 == -6": True,
    "0x7fffffffffffffff + 1 < 0": True,
    "-1 < 0u": False,
    "-1 > 0u": True,
    "-1 == 0xffffffffffffffff": True,
    "0xffffffffffffffff > 0": True,
    "18446744073709551615 > 0": True,
    "9223372036854775807 + 1 < 0": True,
    "9223372036854775807u + 1 < 0": False,
    "-1 / 2u == 9223372036854775807": True,
    "-3 % 2u == 1": True,
    "-7 / 2u < 0": False,
    "-1 * 1u > 0": True,
    "0u - 1 > 0": True,
    "~0u > 0": True,
    "-1u > 0": True,
    "!0u - 2 < 0": True,
    "(1u < 2) - 2 < 0": True,
    "(1u == 1u) - 2 < 0": True,
    "(1u && 1u) - 2 < 0": True,
    "-1 >> 1u < 0": True,
    "-1u >> 1 == 0x7fffffffffffffff": True,
    "1u << 63 > 0": True,
    "1 << 64 == 0": True,
    "-1 >> 64 == -1": True,
    "-1u >> 64 == 0": True,
    "1 << -1 == 0": True,
    "4 >> -1 == 8": True,
    "(-1 | 0u) > 0": True,
    "(-1 & 0u) == 0": True,
    "(-1 ^ 0u) < 0": False,
    "-1 <= 1U": False,
    "2ull >= -1": False,
    "(0 && -1 < 0u) || -1 < 0": True,
    "0 && 1 / 0": False,
    "1 || 1 % 0": True,
    "1 || (0 && 2 / 0) || 3 / 0": True,
    "0x10 == 16 && 010 == 8 && 0b101 == 5": True,
    "true": True,
    "false": False,
    "unknown == 0": True,
    "defined(A)": True,
    "defined B": False,
    "A == 4 && B == 0": True,
    "!defined(B) && defined A": True,
}
"""Conditions where A is 4 and B is not defined, and whether they are met."""


def is_met(condition: str) -> bool:
    """Whether the lines between `#if` and `#endif` stay."""
    text = f"#if {condition}\nkept\n#endif\n"
    return "kept" in preprocess(SourceText(text, "k.cpp"), {"A": "4"}).text


@pytest.mark.parametrize(("condition", "met"), CONDITIONS.items())
def test_conditions(condition: str, met: bool) -> None:
    """Operators bind and compute as in C++, in 64 bits."""
    assert is_met(condition) is met


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is missing")
def test_gxx_decides_the_same() -> None:
    """The expected outcomes above are those of g++."""
    text = "".join(
        f"#if {condition}\nmet{number};\n#endif\n" for number, condition in enumerate(CONDITIONS)
    )
    command = ["g++", "-E", "-P", "-w", "-DA=4", "-x", "c++", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    met = [f"met{number};" for number, expected in enumerate(CONDITIONS.values()) if expected]
    assert run.stdout.split() == met


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("!", ""), ("-", ""), ("~", "")])
def test_nesting_has_a_limit(opening: str, closing: str) -> None:
    """64 levels are read, one more is refused where it would be."""
    is_met(" ".join([*[opening] * 64, "1", *[closing] * 64]))
    with pytest.raises(CppSyntaxError, match="conditions nest up to 64 levels deep") as error:
        is_met(" ".join([*[opening] * 65, "1", *[closing] * 65]))
    assert error.value.position.column == len("#if ") + 65 * len("( ") + 1


def test_many_levels_are_no_deep_recursion() -> None:
    """Brackets that follow each other do not add up."""
    assert is_met(" + ".join(["(!0)"] * 500) + " == 500")
