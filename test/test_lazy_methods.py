"""Dataclasses whose methods wait to be called are like all others."""

from __future__ import annotations

import dataclasses
import inspect
import os
import subprocess
import sys
import types
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
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

@dataclass
class Parts:
    first: list = field(default_factory=list)
    second: int = field(default=3, init=False)
    third: str = field(default="", kw_only=True)

    def __post_init__(self):
        self.first = [*self.first, self.second, self.third]
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
    # The first calls find their fields one by one.
    for _ in range(20):
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


@pytest.mark.parametrize("module", ["ttmlir.sample", "user"])
@pytest.mark.parametrize("before", [0, 20])
def test_initializers(module: str, before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults, factories, keywords and mistakes are those of Python at any call."""
    names = classes(module, monkeypatch)
    Pair, Parts = names["Pair"], names["Parts"]
    for _ in range(before):
        assert (Pair(1).first, Parts().second) == (1, 3)
    assert Parts().first == [3, ""]
    assert Parts([1], third="x").first == [1, 3, "x"]
    assert Parts().first is not Parts().first
    assert (Pair(second=4, first=1).first, Pair(1).second) == (1, "b")
    for make, message in (
        (lambda: Pair(), "missing 1 required positional argument: 'first'"),
        (lambda: Pair(1, 2, 3), "takes from 2 to 3 positional arguments but 4 were given"),
        (lambda: Pair(1, first=2), "got multiple values for argument 'first'"),
        (lambda: Pair(1, other=2), "got an unexpected keyword argument 'other'"),
        (lambda: Parts([1], "x"), "takes from 1 to 2 positional arguments but 3 were given"),
        (lambda: Parts(second=1), "got an unexpected keyword argument 'second'"),
    ):
        with pytest.raises(TypeError, match=message):
            make()


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


THREADS = """
import sys
from threading import Barrier, Thread
from ttmlir.lazy_methods import defer_methods
defer_methods()
from xdsl.dialects.builtin import IntegerType
from xdsl.irdl.attributes import ParamAttrDef

sys.setswitchinterval(1e-6)
found, start = [], Barrier(8)
later = ParamAttrDef.from_pyrdl(IntegerType)
assert type(later) is not ParamAttrDef

def ask():
    start.wait()
    found.append((later.name, [name for name, _ in later.parameters]))

threads = [Thread(target=ask) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
assert found == [("integer_type", ["width", "signedness"])] * 8, found
assert type(later) is ParamAttrDef
"""


def test_definitions_are_made_in_threads() -> None:
    """One asks for a definition while another makes it, and then it is like all others."""
    subprocess.run([sys.executable, "-c", THREADS], check=True)


IRDL = """
builtin.module {
  irdl.dialect @sample {
    irdl.type @box
  }
}
"""
FINDING = """
from ttmlir.lazy_methods import defer_methods
defer_methods()
import xdsl.dialects
try:
    import sample
except ModuleNotFoundError:
    from folder import sample
    print(sample.Sample.name)
"""


def test_dialects_in_irdl(tmp_path: Path) -> None:
    """xDSL finds them in packages, but not in the current folder."""
    for folder in (tmp_path, tmp_path / "folder"):
        folder.mkdir(exist_ok=True)
        (folder / "sample.irdl").write_text(IRDL)
    (tmp_path / "folder" / "__init__.py").touch()
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-c", FINDING]
    run = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **path}, capture_output=True, text=True
    )
    assert (run.stdout, run.stderr) == ("sample\n", "")


def test_classes_of_others_are_made_as_ever() -> None:
    """Their methods are there from the start."""

    @dataclass
    class Own:
        x: int

    assert list(inspect.signature(Own.__eq__).parameters) == ["self", "other"]


def test_classes_of_others_call_class_variables_as_they_want(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With `Shared = ClassVar`, what is shared is no field."""
    module = types.ModuleType("user")
    monkeypatch.setitem(sys.modules, "user", module)
    source = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar as Shared

@dataclass
class Own:
    x: int
    y: Shared[int] = 3
"""
    exec(source, module.__dict__)
    assert [each.name for each in dataclasses.fields(module.Own)] == ["x"]
