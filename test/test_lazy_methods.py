"""Dataclasses whose methods wait to be called are like all others."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import types
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest

from ttmlir.lazy_methods import defer_methods

defer_methods()

SOURCE = """
from dataclasses import dataclass, field

@dataclass(frozen=True, order=True)
class Pair:
    first: int
    second: object = field(default="b", compare=False)

@dataclass(frozen=True)
class Triple(Pair):
    third: tuple = ()

@dataclass(frozen=True, slots=True)
class Narrow:
    only: int
"""


def classes(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The classes as a module of that name defines them."""
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(SOURCE, module.__dict__)
    return module.__dict__


@pytest.mark.parametrize("module", ["ttmlir.sample", "xdsl.sample", "user"])
def test_methods(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing, hashing, printing and refusing changes, at the first call and after it."""
    names = classes(module, monkeypatch)
    Pair, Triple, Narrow = names["Pair"], names["Triple"], names["Narrow"]
    for _ in range(2):
        assert Pair(1) == Pair(1, "c")
        assert Pair(1) != Pair(2)
        assert Pair(1) != Triple(1)
        assert (Pair(1) == 1) is False
        assert Pair(1) < Pair(2) <= Pair(2)
        assert hash(Pair(1)) == hash(Pair(1, "c"))
        assert {Triple(1, 2, (3,)), Triple(1, 4, (3,))} == {Triple(1, 5, (3,))}
        assert repr(Triple(1, 2, (3,))) == "Triple(first=1, second=2, third=(3,))"
        assert Narrow(3) == Narrow(3)
        for each, name in ((Pair(1), "first"), (Triple(1), "third"), (Narrow(1), "only")):
            with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(each, name, 5)
            with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
                delattr(each, name)
        assert dataclasses.replace(Pair(1), first=4) == Pair(4)
    assert list(inspect.signature(Pair).parameters) == ["first", "second"]
    assert Triple.__eq__.__name__ == "__eq__"
    assert Triple.__eq__.__qualname__ == "Triple.__eq__"


DEFINITIONS = """
from ttmlir.lazy_methods import defer_methods
defer_methods()
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import IntegerType, f32
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, IRDLOperation, ParametrizedAttribute
from xdsl.utils.exceptions import PyRDLAttrDefinitionError, PyRDLOpDefinitionError

assert [name for name, _ in IntegerType.get_irdl_definition().parameters] == ["width", "signedness"]
assert IntegerType.get_irdl_definition().name == "integer_type"

for define, base, wrong, error in (
    (irdl_attr_definition, ParametrizedAttribute, {"x": 3}, PyRDLAttrDefinitionError),
    (irdl_op_definition, IRDLOperation, {"assembly_format": "$x"}, PyRDLOpDefinitionError),
):
    try:
        define(type("Wrong", (base,), {"name": "mine.wrong", "__module__": "__main__", **wrong}))
    except error:
        continue
    raise AssertionError("a definition of others is not checked at once")
"""


def test_definitions_wait() -> None:
    """Those of xDSL are what they were; those of others are checked when they are made."""
    subprocess.run([sys.executable, "-c", DEFINITIONS], check=True)


def test_classes_of_others_are_made_as_ever() -> None:
    """Their methods are there from the start."""

    @dataclass
    class Own:
        x: int

    assert list(inspect.signature(Own.__eq__).parameters) == ["self", "other"]
