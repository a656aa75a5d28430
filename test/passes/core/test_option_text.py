"""Options of passes as text: what is read, what is written, what is refused."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.option_values import FLOAT, STRINGS, OptionError, option
from ttmlir.passes.core.manager import format_options, parse_options, split_entries
from ttmlir.passes.placement.layout_overrides import GRID_OVERRIDES, GridOverrides


@dataclass(frozen=True)
class Options:
    """One option of every type."""

    flag: bool = option(False, "a switch")
    count: int = option(3, "a number")
    scale: float = option(0.5, "a fraction", type=FLOAT)
    system_desc_path: str = option("", "a file")
    mesh_shape: tuple[int, ...] = option((), "extents")
    exclude: tuple[str, ...] = option((), "names", type=STRINGS)
    space: MemorySpace = option(MemorySpace.SYSTEM, "a place")
    grids: GridOverrides = option((), "grids", type=GRID_OVERRIDES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Options()),
        ("flag", Options(flag=True)),
        ("flag=", Options(flag=True)),
        ("flag=TRUE", Options(flag=True)),
        ("flag=1 flag=false", Options(flag=False)),
        ("  count=-4   scale=2e3 ", Options(count=-4, scale=2000.0)),
        ("count=0x1f", Options(count=31)),
        ("system-desc-path=/a/b.c:d", Options(system_desc_path="/a/b.c:d")),
        ("system_desc_path='a b'", Options(system_desc_path="a b")),
        ('system-desc-path="x y" flag', Options(system_desc_path="x y", flag=True)),
        ("system-desc-path={x {y} 'z w'} flag", Options(system_desc_path="x {y} 'z w'", flag=True)),
        ("system-desc-path=key=value", Options(system_desc_path="key=value")),
        ("mesh-shape=2,1 exclude=a,b", Options(mesh_shape=(2, 1), exclude=("a", "b"))),
        ("mesh-shape=", Options()),
        ("space=l1", Options(space=MemorySpace.DEVICE_L1)),
        ("grids=a=2x3,b.c=8x8", Options(grids=(("a", (2, 3)), ("b.c", (8, 8))))),
    ],
)
def test_text_is_read(text: str, expected: Options) -> None:
    """Blanks separate; quotes and braces keep together; names take dashes and underscores."""
    assert parse_options(Options, text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depth=1", "<Pass-Options-Parser>: no such option depth; supported: flag, count,"),
        ("mesh-shap=1", "no such option mesh-shap; did you mean 'mesh-shape'? supported: flag,"),
        ("flag=maybe", "for the --flag option: 'maybe' is invalid value for boolean argument!"),
        ("count=", "for the --count option: '' value invalid for integer argument!"),
        ("count=1.5", "for the --count option: '1.5' value invalid for integer argument!"),
        ("scale=big", "for the --scale option: 'big' value invalid for floating point argument!"),
        ("mesh-shape=1,,2", "for the --mesh-shape option: '' value invalid for integer argument!"),
        ("space=moon", "for the --space option: Cannot find option named 'moon'! Supported: sys"),
        ("grids=a", "for the --grids option: Invalid format for override grid sizes: a"),
        ("grids=a=1x1=2", "Invalid format for override grid sizes: a=1x1=2"),
        ("grids=a=1x-1", "for the --grids option: Invalid grid size: -1"),
        ("grids=a=0x1", "for the --grids option: Invalid grid size: 0"),
        ("grids=a=", "for the --grids option: Invalid grid size: "),
        ("system-desc-path='open", "missing closing ''' in pass options"),
        ("system-desc-path={open", "missing closing '}' in pass options"),
    ],
)
def test_text_is_refused(text: str, message: str) -> None:
    """The message names the option, the value and what is supported."""
    with pytest.raises(OptionError) as error:
        parse_options(Options, text)
    assert message in str(error.value)


_NAMES = st.text("abcdefgh._", min_size=1, max_size=5)
_OPTIONS = st.builds(
    Options,
    flag=st.booleans(),
    count=st.integers(-(2**63), 2**63 - 1),
    scale=st.floats(allow_nan=False),
    system_desc_path=st.text("ab /.:=,\t", max_size=8),
    mesh_shape=st.lists(st.integers(), max_size=3).map(tuple),
    exclude=st.lists(_NAMES, max_size=3).map(tuple),
    space=st.sampled_from(MemorySpace),
    grids=st.lists(
        st.tuples(_NAMES, st.lists(st.integers(1, 64), min_size=1, max_size=3).map(tuple)),
        unique_by=lambda pair: pair[0],
        max_size=2,
    ).map(tuple),
)


@given(_OPTIONS)
def test_written_options_read_back(options: Options) -> None:
    """Text made of an instance, as --dump-pass-pipeline prints it, gives the instance again."""
    assert parse_options(Options, format_options(options)) == options


@given(st.text())
def test_any_text_splits_or_is_refused(text: str) -> None:
    """Splitting loses nothing but blanks, and never fails in another way."""
    try:
        entries = list(split_entries(text))
    except OptionError:
        return
    assert "".join("".join(entries).split()) == "".join(text.split())
