"""Each pass does to the Before of its docstring what its After says.

An After is compared without regard to blanks and line ends; `...` stands for any text. A Before
that begins with `// After a b` is what the passes a and b leave of the rest; `// Options: a=b` in
front of all that gives the pass options.
"""

from __future__ import annotations

import re
from importlib import import_module
from textwrap import dedent

import pytest
from running.pass_runner import printed

from ttmlir.passes.core.registry import HIDDEN, PASSES

_EXAMPLE = re.compile(r"^Before:\n(.*?)^After:\n(.*?)^Requires:", re.DOTALL | re.MULTILINE)
_SECTIONS = ["Before", "After", "Requires", "Ensures", "Options", "Not done here"]
_SHOWN = [name for name in PASSES if name not in HIDDEN]


def _docstring(name: str) -> str:
    module = import_module(PASSES[name].partition(":")[0])
    assert module.__doc__, f"{name} has no docstring"
    return module.__doc__


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _pattern(after: str) -> str:
    parts = _on_one_line(after).split("...")
    return r"\s*" + ".*?".join(re.escape(part) for part in parts) + r"\s*"


@pytest.mark.parametrize("name", _SHOWN)
def test_before_becomes_after(name: str) -> None:
    """The example in the docstring is what the pass does."""
    example = _EXAMPLE.search(_docstring(name))
    assert example is not None, f"{name} shows no Before and After"
    before, after = (dedent(text).strip() for text in example.groups())
    options = re.match(r"// Options: (.*)\n", before)
    if options is not None:
        before = before.removeprefix(options[0])
    earlier = re.match(r"// After (.*)\n", before)
    last = name if options is None else f"{name}={options[1]}"
    passes = [*(earlier[1].split() if earlier else ()), last]
    result = _on_one_line(printed(before, *passes))
    assert re.fullmatch(_pattern(after), result), result


@pytest.mark.parametrize("name", _SHOWN)
def test_docstring_has_all_sections_in_order(name: str) -> None:
    """A reader finds the same things at the same places."""
    headings = re.findall(rf"^({'|'.join(_SECTIONS)}):", _docstring(name), re.MULTILINE)
    assert headings == _SECTIONS
