"""Long hexadecimal strings are taken out of texts, and nothing else changes."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttmlir.compiler import parse
from ttmlir.mlir.attributes import LARGE
from ttmlir.mlir.long_strings import LONG, CompactText, compact, read_compact
from ttmlir.mlir.module_printer import print_module, printed_text
from ttmlir.mlir.printing import PrintOptions
from ttmlir.mlir.reporting import DiagnosticError

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


@pytest.mark.parametrize("text", [LONG_CONSTANT, RESOURCE], ids=["dense", "resource"])
def test_printed_texts_keep_constants_as_bytes_until_they_are_written(text: str) -> None:
    """No part of a printed text has the digits, and what is written has them in their place."""
    printed = printed_text(parse(text))
    assert [bytes(part) for part in printed.parts if not isinstance(part, str)] == [DATA]
    assert all(DIGITS[:99] not in part for part in printed.parts if isinstance(part, str))
    written = b"".join(printed.chunks()).decode()
    assert written == str(printed) == print_module(parse(text))
    assert f'0000{DIGITS}"' in written if "resource" in text else f'"0x{DIGITS}"' in written


def test_bits_are_packed_and_lists_stay() -> None:
    """What stands between the quotes is what mlir-opt writes."""
    bits = f'dense<"0x{DIGITS}">'
    printed = printed_text(parse(module(bits, f"tensor<{8 * LONG}xi1>")))
    assert b"".join(printed.chunks()).decode().count(bits) == 1
    listed = printed_text(parse(LONG_CONSTANT), PrintOptions(hex_larger_than=-1))
    assert str([value - 256 * (value > 127) for value in DATA]) in str(listed)


def test_nothing_in_a_module_is_taken_for_a_printers_mark() -> None:
    """Zeros in strings and names are escaped."""
    names = """{"tt.\\000\\00" = "0x@0", tt.a = "\\000\\00", tt.b = @"\\000\\00"}"""
    text = f"module attributes {names} {{ {LONG_CONSTANT} }}"
    written = b"".join(printed_text(parse(text)).chunks()).decode()
    assert written.count(DIGITS) == 1
    assert names in written


PEAK = """
import sys
from ttmlir.tools.opt.driver import run_opt
assert run_opt(sys.argv[1:]) == 0
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) / 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's figures")
def test_constants_are_in_memory_once_while_they_are_read_and_printed(tmp_path: Path) -> None:
    """A process with 16 MiB of constants takes less than twice that more than one with few."""
    peaks: list[float] = []
    for mebibytes in (0, 16):
        path = tmp_path / "constants.mlir"
        digits = np.random.default_rng(5).bytes(LARGE + (mebibytes << 20)).hex().upper()
        path.write_text(module(f'dense<"0x{digits}">', f"tensor<{len(digits) // 2}xi8>"))
        command = [sys.executable, "-c", PEAK, str(path), "-o", str(tmp_path / "out.mlir")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(float(done.stdout))
        assert digits in (tmp_path / "out.mlir").read_text()
    assert peaks[1] - peaks[0] < 2 * 16


def test_strings_elsewhere_stay() -> None:
    """Only constants and resources are taken out, not the values of other attributes."""
    text = f'module attributes {{tt.a = "0x{DIGITS}", tt.b = [#tt.arch<wormhole_b0>]}} {{}}'
    assert compact(text).contents == ()
    assert DIGITS in print_module(parse(text))
