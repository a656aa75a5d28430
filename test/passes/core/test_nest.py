"""Nests of passes: their text, what goes where, and values from the environment."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.mlir.option_values import OptionError
from ttmlir.passes.core.manager import (
    Nest,
    make_items,
    nest_implicitly,
    parse_passes,
    parse_pipeline,
    with_environment,
)
from ttmlir.passes.core.registry import (
    ALIASES,
    ELSEWHERE,
    HIDDEN,
    PASSES,
    PIPELINES,
    lookup,
    names,
)
from ttmlir.tools.opt.driver import run_opt


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("builtin.module()", "builtin.module()"),
        (" builtin.module( cse ) ", "builtin.module(cse)"),
        ("any(func.func(cse),cse)", "any(func.func(cse),cse)"),
        ("builtin.module(func.func())", "builtin.module(func.func())"),
        ("builtin.module(func.func(cse),func.func(cse))", "builtin.module(func.func(cse,cse))"),
        ("builtin.module(print-ir{label='a,b (c)'})", 'builtin.module(print-ir{label="a,b (c)"})'),
        ("builtin.module(print-ir{label='}'},cse)", 'builtin.module(print-ir{label="}"},cse)'),
        ("builtin.module(print-ir{label={a b}})", 'builtin.module(print-ir{label="a b"})'),
        ("builtin.module(print-ir{ label=x })", "builtin.module(print-ir{label=x})"),
        ("builtin.module(cse{})", "builtin.module(cse)"),
    ],
)
def test_pipeline_text(text: str, canonical: str) -> None:
    """Blanks are free, options may hold anything, neighbouring nests become one."""
    assert str(parse_pipeline(text)) == canonical
    assert str(parse_pipeline(canonical)) == canonical


@pytest.mark.parametrize("name", names())
def test_every_registered_name_has_a_class(name: str) -> None:
    """The registry points at classes that carry the name and a line of description."""
    cls = lookup(name)
    assert cls is not None
    assert cls.name == name
    assert (cls.__doc__ or "").strip()


@pytest.mark.parametrize("name", names())
def test_default_options_read_back(name: str) -> None:
    """What --dump-pass-pipeline prints for a pass or pipeline is a pipeline."""
    nest = Nest("builtin.module", make_items(name, "", "builtin.module"))
    text = str(nest_implicitly("builtin.module", nest.items))
    assert str(parse_pipeline(text)) == text


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("ttir-to-ttnn", "ttir-to-ttnn-backend-pipeline"),
        ("ttir-to-ttmetal", "ttir-to-ttmetal-pipeline"),
        ("stablehlo-to-ttir", "stablehlo-to-ttir-pipeline"),
        ("ttir-flatten-sliding-window", "ttir-sliding-window-2d-fix-shapes"),
        ("d2m-to-ttkernel-pipeline", "convert-d2m-to-ttkernel"),
        ("ttir-bufferization-pipeline", "ttcore-one-shot-bufferize"),
    ],
)
def test_other_names(short: str, name: str) -> None:
    """Short names, and those of later versions, are taken on the command line and in pipelines."""
    assert run_opt([f"--{short}", "--dump-pass-pipeline", "/dev/null", "-o", "/dev/null"]) == 0
    assert str(parse_pipeline(f"builtin.module({short})")) == str(
        parse_pipeline(f"builtin.module({name})")
    )
    assert all(lookup(each) for each in ALIASES.values())
    assert not {*ALIASES, *ELSEWHERE} & {*PASSES, *PIPELINES}
    assert not {*ALIASES} & {*ELSEWHERE}


def test_names_of_what_is_not_here(capsys: pytest.CaptureFixture[str]) -> None:
    """The error says what to use."""
    remedy = "use d2m-mask-padding"
    assert run_opt(["--d2m-decompose-masking", "/dev/null"]) == 1
    assert remedy in capsys.readouterr().err
    with pytest.raises(OptionError, match=remedy):
        parse_pipeline("builtin.module(d2m-decompose-masking)")
    # Every pass that a remedy names is one.
    for text in ELSEWHERE.values():
        for word in re.findall(r"use ([a-z]+-[a-z0-9-]+)", text):
            assert lookup(word) is not None or word in ("ttmlir-translate",), word


def test_registry_is_sorted() -> None:
    """One line per pass, in the order in which it is looked for."""
    assert list(PASSES) == sorted(PASSES)
    assert list(PIPELINES) == sorted(PIPELINES)
    assert HIDDEN < PASSES.keys()
    # Names of pipelines come between those of passes.
    assert list(names()) == sorted({*PASSES, *PIPELINES}) != [*PASSES, *PIPELINES]


def test_environment_fills_what_is_not_given() -> None:
    """A variable takes the place of a default, not of a value that is given."""
    nest = parse_pipeline(
        "any(builtin.module(ttir-load-system-desc{path=given},ttir-load-system-desc))"
    )
    filled = with_environment(nest, {"SYSTEM_DESC_PATH": "of.ttsys"})
    assert [item.path for item in filled.passes()] == ["given", "of.ttsys"]
    assert with_environment(nest, {"SYSTEM_DESC_PATH": ""}) == nest


@given(st.text("cse,(){}any= \"'", max_size=30))
def test_any_text_is_a_pipeline_or_refused(text: str) -> None:
    """No text makes the reader fail in another way than by a message."""
    try:
        nest = parse_passes(text, "any")
    except OptionError:
        return
    assert str(parse_passes(str(nest)[4:-1], "any")) == str(nest)


def test_deep_nesting_is_refused() -> None:
    """A text that nests without end is refused before Python's stack ends."""
    with pytest.raises(OptionError, match="nesting is deeper than 100 levels"):
        parse_passes("any(" * 100_000, "any")
