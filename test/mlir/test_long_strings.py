"""Long hexadecimal strings are taken out of texts, and nothing else changes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttmlir.compiler import parse
from ttmlir.mlir.diagnostics import DiagnosticError
from ttmlir.mlir.long_strings import LONG, CompactText, compact, place_in_file, read_compact
from ttmlir.mlir.printer import print_module

DATA = np.random.default_rng(3).bytes(LONG)
DIGITS = DATA.hex().upper()


def module(value: str, type_: str, metadata: str = "") -> str:
    """A module with one constant."""
    return f'"ttir.constant"() <{{value = {value} : {type_}}}> : () -> {type_}\n{metadata}'


LONG_CONSTANT = module(f'dense<"0x{DIGITS}">', f"tensor<{LONG}xi8>")
RESOURCE = module(
    "dense_resource<w>",
    f"tensor<{LONG // 4}xf32>",
    f'{{-#\n  dialect_resources: {{\n    builtin: {{\n      w: "0x20000000{DIGITS}"\n'
    "    }\n  }\n#-}",
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    *('dense<"0x', "dense<  ", ': "0x', '"', "\n", "A", "0", "zz", "é", "// "),
                    *(f'dense<"0x{DIGITS[: 2 * n]}"' for n in (1, LONG // 2 - 1, LONG // 2, LONG)),
                    f'dense<"0x{DIGITS[1:]}">',
                    f': "0x{DIGITS}g"',
                ]
            ),
            st.integers(1, 3).map(lambda n: " " * (LONG * n // 2)),
        ),
        max_size=8,
    ),
    st.integers(1, 3 * LONG),
)
def test_a_text_can_be_restored(parts: list[str], chunk: int) -> None:
    """Whatever stands where, and wherever the text is cut into chunks."""
    text = "".join(parts)
    data = text.encode()

    class Slow(io.BytesIO):
        """A file that gives few bytes at a time."""

        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 0, chunk))

    got, contents = read_compact(Slow(data))
    assert CompactText(got.decode(), contents).restored() == text
    assert compact(text).restored() == text
    assert all(len(content) >= LONG // 2 for content in contents)
    assert place_in_file(got, len(got), contents) == len(data)
    assert text.count("\n") == got.count(b"\n")


@pytest.mark.parametrize("text", [LONG_CONSTANT, RESOURCE], ids=["dense", "resource"])
def test_constants_are_read_from_what_was_taken_out(text: str) -> None:
    """The same module, and the same text when it is printed."""
    compacted = compact(text)
    assert len(compacted) < 400
    assert len(compacted.contents) == 1
    read = parse(compacted)
    assert print_module(read) == print_module(parse(text))
    assert DIGITS in print_module(read)


def test_booleans_and_splats() -> None:
    """Bits are unpacked, and a string of one element stands for all."""
    bits = parse(module(f'dense<"0x{DIGITS}">', f"tensor<{8 * LONG}xi1>"))
    assert f'"0x{DIGITS}"' in print_module(bits)
    equal = parse(module(f'dense<"0x{"07" * LONG}">', f"tensor<{LONG}xi8>"))
    assert "dense<7>" in print_module(equal)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (f'dense<"0x{DIGITS}">', "elements hex data size is invalid for provided type"),
        (f'dense<"0x{DIGITS[1:]}">', "expected pairs of hexadecimal digits in elements string"),
        ('dense<"0x@0">', "expected pairs of hexadecimal digits in elements string"),
    ],
)
def test_wrong_strings_are_refused(value: str, message: str) -> None:
    """Messages are those of short strings; marks are no syntax."""
    with pytest.raises(DiagnosticError) as caught:
        parse(module(value, "tensor<3x5xf32>"))
    assert message in str(caught.value)
    assert "<text>:1:" in str(caught.value)


def test_strings_elsewhere_stay() -> None:
    """Only constants and resources are taken out, not the values of other attributes."""
    text = f'module attributes {{tt.a = "0x{DIGITS}", tt.b = [#tt.arch<wormhole_b0>]}} {{}}'
    assert compact(text).contents == ()
    assert DIGITS in print_module(parse(text))
