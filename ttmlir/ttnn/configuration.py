"""What a program sets for all operations, and functions that see each call."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from ttmlir.errors import ArgumentError, ArgumentTypeError, MissingNameError, UsageError
from ttmlir.files import write_file
from ttmlir.ttnn.operations.golden.functions import (
    attach_golden_function,
    get_golden_function,
    pearson_correlation_coefficient,
)
from ttmlir.ttnn.operations.operation import (
    OBSERVERS,
    Call,
    Observer,
    Operation,
    observe,
    tensors_of,
)
from ttmlir.ttnn.tensor.conversion import to_torch
from ttmlir.ttnn.tensor.tensor import Tensor

# Users of containers may have no home: `Path.home()` would be an error, "~" is a path.
_CACHE = Path(os.path.expanduser("~"), ".cache", "ttnn")
_DEFAULTS: dict[str, Any] = {
    "cache_path": _CACHE,
    "model_cache_path": _CACHE / "models",
    "tmp_dir": Path("/tmp/ttnn"),
    "enable_model_cache": False,
    "enable_fast_runtime_mode": True,
    "throw_exception_on_fallback": False,
    "enable_logging": False,
    "enable_graph_report": False,
    "enable_detailed_buffer_report": False,
    "enable_detailed_tensor_report": False,
    "enable_comparison_mode": False,
    "comparison_mode_should_raise_exception": False,
    "comparison_mode_pcc": 0.9999,
    "root_report_path": Path("generated/ttnn/reports"),
    "report_name": None,
}
"""Settings; those of comparison and of the fast mode, which switches hooks off, have an effect."""


class Config:
    """Settings by name; AttributeError for unknown ones, with the nearest."""

    def __init__(self, changes: dict[str, Any]) -> None:
        """The defaults with some changes; ValueError for unknown names."""
        self._values = dict(_DEFAULTS)
        for name, value in changes.items():
            if name not in _DEFAULTS:
                raise ArgumentError(f"TTNN_CONFIG_OVERRIDES: {_unknown(name)}")
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """The value of a setting."""
        if name == "report_path":
            report = self.report_name
            return None if report is None else Path(self.root_report_path) / str(report)
        if name.startswith("_") or name not in _DEFAULTS:
            raise MissingNameError(_unknown(name))
        return self._values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        """Change a setting; TypeError for a value of another kind."""
        if name == "_values":
            super().__setattr__(name, value)
            return
        if name not in _DEFAULTS:
            raise MissingNameError(_unknown(name))
        default = _DEFAULTS[name]
        expected = _find_other_kind(default, value)
        if expected:
            raise ArgumentTypeError(f"ttnn.CONFIG.{name} is {expected}, not {value!r}")
        self._values[name] = Path(value) if isinstance(default, Path) else value
        if name == "enable_comparison_mode":
            OBSERVERS.switch(_comparison, on=value)

    def __repr__(self) -> str:
        """All settings."""
        listed = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"Config({listed})"


def _find_other_kind(default: object, value: object) -> str:
    """What a setting with this default is, if the value is something else; else nothing."""
    kinds: tuple[type, ...]
    match default:
        case bool():
            return "" if isinstance(value, bool) else "True or False"
        case float():
            kinds, words = (int, float), "a number"
        case Path():
            kinds, words = (str, os.PathLike), "a path"
        case _:
            kinds, words = (str, os.PathLike, type(None)), "a name or None"
    return "" if isinstance(value, kinds) and not isinstance(value, bool) else words


def _unknown(name: str) -> str:
    near = get_close_matches(name, _DEFAULTS, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(_DEFAULTS)}"
    return f"ttnn.CONFIG has no setting {name!r}{hint}"


_expected: ContextVar[list[Any]] = ContextVar("golden_results")
"""The golden results of the call that this thread is in."""


class _Comparison(Observer):
    """Holds each result against the operation's golden function."""

    def begin(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Compute the golden results while the operands are what they were."""
        _expected.set([])
        if any(map(tensors_of, (*args, *kwargs.values()))):
            try:
                golden = get_golden_function(operation)
            except UsageError:
                return
            result: Any = golden(
                *map(_on_host, args), **{k: _on_host(v) for k, v in kwargs.items()}
            )
            _expected.set([*result] if isinstance(result, list | tuple) else [result])

    def end(self, call: Call) -> None:
        """RuntimeError, or a line on stderr, for a result that correlates too little."""
        wanted = CONFIG.comparison_mode_pcc
        for tensor, expected in zip(tensors_of(call.result), _expected.get(), strict=False):
            found = pearson_correlation_coefficient(expected, to_torch(tensor))
            if found < wanted:
                message = (
                    f"{call.operation.__name__}: the result correlates with that of its golden "
                    f"function by {found:.6f}, less than {wanted}"
                )
                if CONFIG.comparison_mode_should_raise_exception:
                    raise UsageError(message)
                print(f"warning: {message}", file=sys.stderr)


def _on_host(value: Any) -> Any:
    if isinstance(value, Tensor):
        return to_torch(value)
    tensors = tensors_of(value)
    return [to_torch(each) for each in tensors] if tensors else value


_comparison = _Comparison()


def _read_overrides() -> dict[str, Any]:
    text = os.environ.get("TTNN_CONFIG_OVERRIDES")
    if not text:
        return {}
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"TTNN_CONFIG_OVERRIDES is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ArgumentError(
            'TTNN_CONFIG_OVERRIDES is a JSON object, such as {"enable_logging": true}'
        )
    return cast(dict[str, Any], found)


CONFIG = Config(_read_overrides())


@contextmanager
def manage_config(name: str, value: Any) -> Generator[None, None, None]:
    """A setting within a `with` block."""
    old = getattr(CONFIG, str(name))
    setattr(CONFIG, name, value)
    try:
        yield
    finally:
        setattr(CONFIG, name, old)


Hook = Callable[..., None]


class _Hook(Observer):
    """A function of the program; it is called unless the fast mode is on."""

    def __init__(self, function: Hook, *, before: bool) -> None:
        self._function = function
        self._before = before

    def begin(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._before:
            self._run(operation, args, kwargs)

    def end(self, call: Call) -> None:
        if not self._before:
            self._run(call.operation, call.args, call.kwargs, call.result)

    def _run(self, *given: Any) -> None:
        if not CONFIG.enable_fast_runtime_mode and self._function(*given) is not None:
            raise UsageError("a hook must return None; its result would be lost")


@contextmanager
def register_pre_operation_hook(hook: Hook) -> Generator[None, None, None]:
    """Call `hook(operation, args, kwargs)` before each operation of a `with` block."""
    with observe(_Hook(hook, before=True)):
        yield


@contextmanager
def register_post_operation_hook(hook: Hook) -> Generator[None, None, None]:
    """Call `hook(operation, args, kwargs, output)` after each operation of a `with` block."""
    with observe(_Hook(hook, before=False)):
        yield


def query_registered_operations(include_experimental: bool = False) -> list[Operation]:
    """All operations, in the order of their names."""
    from ttmlir.ttnn.registry import known_names, operations

    names = set(known_names())
    found = (each for each in operations().values() if isinstance(each, Operation))
    return sorted(
        each
        for each in found
        if each.name in names and (include_experimental or not each.is_experimental)
    )


def dump_operations(csv_file: str, include_experimental: bool = False) -> None:
    """Write the names of all operations to a file of comma-separated values."""
    rows = ["python_fully_qualified_name,is_experimental,has_golden_function"]
    for operation in query_registered_operations(include_experimental):
        try:
            has_golden = bool(get_golden_function(operation))
        except UsageError:
            has_golden = False
        rows.append(f"{operation.__name__},{operation.is_experimental},{has_golden}")
    write_file(csv_file, ("\n".join(rows) + "\n").encode())


def register_python_operation(
    *,
    name: str,
    is_experimental: bool = False,
    is_method: bool = False,
    golden_function: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Operation]:
    """Make a function of the program an operation, `ttnn.NAME`; RuntimeError for a known name."""
    from ttmlir.ttnn.registry import known_names, operations

    def register(function: Callable[..., Any]) -> Operation:
        short = name.removeprefix("ttnn.")
        if short in known_names():
            raise UsageError(f"ttnn.{short} is there already; choose another name")
        operation = Operation(short, function)
        operations()[short] = operation
        attach_golden_function(operation, golden_function)
        return operation

    return register
