"""What is read of reproducers, those of `mlir-opt` and hostile ones included."""

from __future__ import annotations

import time

import pytest

from ttmlir.mlir.option_values import OptionError
from ttmlir.passes.core.manager import parse_pipeline, read_reproducer, reproducer_text

SECTION = """
{-#
  external_resources: {
    mlir_reproducer: {
      %s
    }
  }
#-}
"""
START = "{-# external_resources: { mlir_reproducer: {"


def pipeline_of(entries: str) -> str:
    """The pipeline that a section asks for."""
    return read_reproducer("module {}" + SECTION % entries).pipeline


def test_a_reproducer_comes_back() -> None:
    """What is written is read, a section that is there already is replaced."""
    nest = parse_pipeline('builtin.module(ttir-layout{init-memory-space="dram"})')
    text = reproducer_text("module {\n}\n", nest, verify_each=False)
    text = reproducer_text(text, nest, verify_each=False)
    assert text.count("mlir_reproducer") == 1
    read = read_reproducer(text)
    assert (read.pipeline, read.verify_each) == (str(nest), False)
    assert read.text.rstrip() == "module {\n}"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ('pipeline: "builtin.module(cse)", disable_threading: true', "builtin.module(cse)"),
        # As mlir-opt writes quotes and what is not ASCII.
        (r'verify_each: true, pipeline: "a{b=\22c\22 d=\C3\A4}"', 'a{b="c" d=ä}'),
        (r'pipeline: "a\"b\\c\td"', 'a"b\\c\td'),
        ('pipeline: "a}}#-"', "a}}#-"),
        (r'pipeline: "\FF"', "\ufffd"),
    ],
)
def test_strings_are_those_of_mlir(entries: str, expected: str) -> None:
    """Escapes are two hexadecimal digits, or a quote, a backslash, n or t."""
    assert pipeline_of(entries) == expected


@pytest.mark.parametrize(
    "entries", ["pipeline: true", 'pipeline: "a\nb"', 'pipelines: "a"', 'pipeline: "a', ""]
)
def test_a_section_without_a_pipeline_is_refused(entries: str) -> None:
    """A pipeline is a string on one line."""
    with pytest.raises(OptionError, match="the input is no reproducer"):
        pipeline_of(entries)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "text",
    [
        START * 20_000,
        START + "a" * 200_000 + "}}#-}",
        START + 'a: "' + "\\a" * 200_000 + "}}#-}",
        START + 'a: "b' * 100_000 + "}}#-}",
        (START + "}" * 100 + " " * 1000) * 1000,
        START + "a" + " " * 300_000 + "}}#-}",
        "{-#" + " " * 300_000 + "x",
        START + ("}" + " " * 50) * 20_000,
    ],
    ids=["starts", "word", "escapes", "quotes", "braces", "blanks", "blank start", "apart"],
)
def test_hostile_sections_take_linear_time(text: str) -> None:
    """A megabyte that almost is a section is looked at a few times."""
    start = time.process_time()
    with pytest.raises(OptionError, match="the input is no reproducer"):
        read_reproducer(text)
    assert time.process_time() - start < 2
