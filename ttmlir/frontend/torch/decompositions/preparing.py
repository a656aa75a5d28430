"""What torch prepares before it decomposes a program, kept from one program to the next.

`run_decompositions` looks through all operations for those that C++ composes of others, and gives
each of them some twenty kernels in Python, which it takes away again afterwards. It takes longer
than the rest for a small program, and is the same unless operations are registered in between.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.replacing import attributes_replaced

Functions = Mapping[Any, Callable[..., Any]]


@contextmanager
def preparations_kept() -> Generator[None]:
    """Let torch find what it prepared for the program before, while the context lasts."""
    program: Any = import_module("torch.export.exported_program")
    names = ("_split_decomp_table_to_cia_and_python_decomp", "_override_composite_implicit_decomp")
    if not all(hasattr(program, name) for name in names):
        # Another version of torch prepares in its own way.
        yield
        return
    split, override = (getattr(program, name) for name in names)
    kept = zip(names, (_Split(split), _Override(override)), strict=True)
    with attributes_replaced(program, dict(kept)):
        yield


@dataclass(frozen=True)
class _Tables:
    """A table of decompositions in two parts: what C++ composes, and other operations."""

    table: Functions
    composed_in_cpp: list[str]
    parts: tuple[dict[Any, Any], ...]


class _Split:
    """Splits a table as torch does; the same one, with the same operations, only once."""

    _last: _Tables | None = None

    def __init__(self, split: Callable[[dict[Any, Any]], tuple[dict[Any, Any], ...]]) -> None:
        self._split = split

    def __call__(self, table: dict[Any, Any]) -> tuple[dict[Any, Any], ...]:
        composed = torch_package()._C._dispatch_get_registrations_for_dispatch_key(
            "CompositeImplicitAutograd"
        )
        last = _Split._last
        if last is None or last.table != table or last.composed_in_cpp != composed:
            last = _Split._last = _Tables(dict(table), composed, self._split(dict(table)))
        first, *others = map(dict, last.parts)
        return first, *others


@dataclass(frozen=True)
class _Kernels:
    """Kernels of operations before torch overrides them, and while it does."""

    functions: Functions
    before: dict[Any, dict[Any, Any]]
    during: dict[Any, dict[Any, Any]]
    fake: dict[Any, Any]

    def are_those_of(self, functions: Functions, fake: Functions) -> bool:
        """True if torch would arrive at the same kernels, from the same ones."""
        return self.functions == functions and all(
            op.py_kernels == kernels and op not in fake for op, kernels in self.before.items()
        )


class _Override:
    """Overrides kernels as torch does; the same ones, for the same functions, at once."""

    _last: _Kernels | None = None

    def __init__(self, override: Callable[[Functions], AbstractContextManager[None]]) -> None:
        self._override = override

    @contextmanager
    def __call__(self, functions: Functions) -> Generator[None]:
        fake: dict[Any, Any] = import_module("torch._subclasses.fake_impls").op_implementations_dict
        last = _Override._last
        if last is not None and last.are_those_of(functions, fake):
            _set_kernels(last.during)
            fake.update(last.fake)
            try:
                yield
            finally:
                _set_kernels(last.before)
                for op in functions:
                    fake.pop(op, None)
            return
        # torch takes away rules that were there before, so that the next time differs.
        same_next_time = not any(op in fake for op in functions)
        before = {op: dict(op.py_kernels) for op in functions}
        with self._override(functions):
            if same_next_time:
                during = {op: dict(op.py_kernels) for op in functions}
                rules = {op: fake[op] for op in functions}
                _Override._last = _Kernels(dict(functions), before, during, rules)
            yield


def _set_kernels(kernels: dict[Any, dict[Any, Any]]) -> None:
    for op, held in kernels.items():
        op.py_kernels.clear()
        op.py_kernels.update(held)
        op._dispatch_cache.clear()
