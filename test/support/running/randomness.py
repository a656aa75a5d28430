"""Random numbers that do not depend on which tests ran before, and a random order of tests.

A test gets the same numbers alone, in any order and in any worker. `--data-seed` gives other
numbers to all tests: a tolerance that follows from a number format holds for them, too.
"""

from __future__ import annotations

import random
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import numpy as np
import pytest


@dataclass
class _Scope:
    """What numbers are drawn for: the import of a file, a test, an example of one, or a fixture."""

    name: str
    generators: dict[str, np.random.Generator] = field(default_factory=dict)


_scope = _Scope("")
_data_seed = 0


class TestGenerator:
    """A NumPy generator for a module: it starts anew for each test that draws from it."""

    __test__ = False  # no test, although its name starts like one

    def __init__(self, name: str) -> None:
        """Draw other numbers than the generators of other names; take `__name__`."""
        self._name = name

    def __getattr__(self, method: str) -> Any:
        """The method of the generator for what runs now."""
        generator = _scope.generators.get(self._name)
        if generator is None:
            generator = np.random.default_rng(_seeds(self._name))
            _scope.generators[self._name] = generator
        return getattr(generator, method)


def _seeds(name: str = "") -> list[int]:
    return [_data_seed, zlib.crc32(_scope.name.encode()), zlib.crc32(name.encode())]


class _Examples:
    """Lets hypothesis draw the same numbers each time that it tries the same example."""

    def seed(self, value: int) -> None:
        """Start anew for an example."""
        _enter(_Scope(f"{_scope.name} {value}"))

    def getstate(self) -> _Scope:
        """What numbers are drawn for."""
        return _scope

    def setstate(self, scope: _Scope) -> None:
        """Go on with what was left."""
        _enter(scope)


_examples = _Examples()
hypothesis.register_random(_examples)


def _enter(scope: _Scope) -> _Scope:
    global _scope
    left, _scope = _scope, scope
    return left


class Randomness:
    """A plugin of pytest: gives each test its numbers, and shuffles the tests if asked to."""

    def __init__(self, config: pytest.Config) -> None:
        """Take the options of `add_options`."""
        global _data_seed
        _data_seed = config.getoption("data_seed")
        self._order: int | None = config.getoption("shuffle")

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Give each file of tests numbers of its own for its constants."""
        _enter(_Scope(collector.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Shuffle files, and the tests in each: neighbours share what was compiled for a file."""
        if self._order is None:
            return
        files: dict[str, list[pytest.Item]] = {}
        for item in items:
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        order = random.Random(self._order)
        names = sorted(files)
        order.shuffle(names)
        for tests in files.values():
            order.shuffle(tests)
        items[:] = [item for name in names for item in files[name]]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Start all generators anew, those that libraries share as well."""
        left = _enter(_Scope(item.nodeid))
        seed = zlib.crc32(repr(_seeds()).encode())
        random.seed(seed)
        np.random.seed(seed)
        if "torch" in sys.modules:
            # All tensors are on the CPU; for other devices torch keeps a stack trace of each seed.
            sys.modules["torch"].default_generator.manual_seed(seed)
        try:
            return (yield)
        finally:
            _enter(left)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """Give what tests share numbers that do not depend on which of them comes first."""
        if fixturedef.scope == "function":
            return (yield)
        left = _enter(_Scope(f"{request.node.nodeid} {fixturedef.argname}"))
        try:
            return (yield)
        finally:
            _enter(left)


def add_options(parser: pytest.Parser) -> None:
    """Add the options that `Randomness` takes."""
    group = parser.getgroup("randomness")
    group.addoption(
        "--shuffle", type=int, metavar="SEED", help="run tests in the random order of this seed"
    )
    group.addoption(
        "--data-seed", type=int, default=0, metavar="SEED", help="give tests other random numbers"
    )
