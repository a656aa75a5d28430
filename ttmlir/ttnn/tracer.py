"""The operations that a result comes from, as a picture: `ttnn.tracer`."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ttmlir.errors import UsageError
from ttmlir.files import write_file
from ttmlir.metalium.enums import NamedNumber
from ttmlir.ttnn.operations.operation import Call, Observer, observe, tensors_of
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG, MemoryConfig

_MEMORIES = (("DRAM_MEMORY_CONFIG", DRAM_MEMORY_CONFIG), ("L1_MEMORY_CONFIG", L1_MEMORY_CONFIG))

_PICTURES = (".svg", ".png", ".pdf")


class _Tracer(Observer):
    """Notes by which call each tensor was made."""

    def __init__(self, made: dict[int, Call]) -> None:
        self._made = made

    def end(self, call: Call) -> None:
        for tensor in tensors_of(call.result):
            self._made[tensor.tensor_id] = call


_made: ContextVar[Mapping[int, Call]] = ContextVar("traced_calls", default=MappingProxyType({}))
"""The calls of the last block that this thread traced, by the tensors that they returned."""


@contextmanager
def trace() -> Generator[None, None, None]:
    """Keep the operations of a `with` block, for `visualize`."""
    made: dict[int, Call] = {}
    _made.set(made)
    with observe(_Tracer(made)):
        yield


def visualize(output: Tensor | list[Tensor], *, file_name: str | None = None) -> str:
    """The operations that results come from, as text of Graphviz' `dot`.

    It is written to the file, whose ending becomes `.dot` if it is that of a picture.
    """
    lines = ["digraph {", "  node [shape=box];"]
    known: set[int] = set()
    waiting = tensors_of(output)
    if not waiting:
        raise UsageError("output is a ttnn.Tensor, or a list of them")
    numbers: dict[int, int] = {}
    while waiting:
        tensor = waiting.pop()
        if tensor.tensor_id in known:
            continue
        known.add(tensor.tensor_id)
        node = numbers.setdefault(tensor.tensor_id, len(numbers))
        call = _made.get().get(tensor.tensor_id)
        name = "ttnn.Tensor" if call is None else call.operation.__name__
        facts = f"{list(tensor.shape)} {tensor.dtype.name}"
        lines.append(f'  t{node} [label="{name}\\n{facts}"];')
        for operand in _operands(call):
            if operand is not tensor:
                other = numbers.setdefault(operand.tensor_id, len(numbers))
                lines.append(f"  t{other} -> t{node};")
                waiting.append(operand)
    return write_picture(lines, file_name)


def write_picture(lines: list[str], file_name: str | Path | None) -> str:
    """A graph in the language of `dot`, which is ended here, and written to a file if one is named.

    The ending of a picture becomes `.dot`.
    """
    text = "\n".join([*lines, "}"]) + "\n"
    if file_name is not None:
        path = Path(file_name)
        path = path.with_suffix(".dot") if path.suffix in _PICTURES else path
        write_file(path, text.encode())
    return text


def codegen(output: Tensor | list[Tensor]) -> str:
    """The text of a function that makes the calls results come from, in their order.

    Its arguments are the tensors that no traced call made. Values that Python cannot read back from
    their text stand as it.
    """
    results = tensors_of(output)
    if not results:
        raise UsageError("output is a ttnn.Tensor, or a list of them")
    names: dict[int, str] = {}
    arguments: list[str] = []
    lines: list[str] = []
    # A call follows those of its operands: the second visit of a tensor is behind them.
    waiting = [(tensor, False) for tensor in reversed(results)]
    while waiting:
        tensor, is_ready = waiting.pop()
        if tensor.tensor_id in names:
            continue
        call = _made.get().get(tensor.tensor_id)
        if call is None:
            arguments.append(f"tensor_{len(arguments)}")
            names[tensor.tensor_id] = arguments[-1]
        elif is_ready:
            made = tensors_of(call.result)
            for each in made:
                names[each.tensor_id] = f"variable_{len(names) - len(arguments)}"
            targets = ", ".join(names[each.tensor_id] for each in made)
            lines.append(f"    {targets} = {_text_of(call, names)}")
        else:
            waiting.append((tensor, True))
            inner = [each for each in _operands(call) if each.tensor_id != tensor.tensor_id]
            waiting += [(each, False) for each in reversed(inner)]
    found = ", ".join(names[each.tensor_id] for each in results)
    head = f"def top_level_module({', '.join(arguments)}):"
    return "\n".join([head, *lines, f"    return {found}"]) + "\n"


def _text_of(call: Call, names: Mapping[int, str]) -> str:
    def spell(value: Any) -> str:
        if isinstance(value, Tensor):
            return names[value.tensor_id]
        if isinstance(value, list | tuple):
            listed: list[Any] = [*value]
            inner = ", ".join(map(spell, listed))
            return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
        if isinstance(value, MemoryConfig):
            return next((f"ttnn.{name}" for name, each in _MEMORIES if each == value), str(value))
        if isinstance(value, NamedNumber):
            return f"ttnn.{value}"
        return repr(value) if isinstance(value, str) else str(value)

    given = [spell(each) for each in call.args]
    given += [f"{name}={spell(each)}" for name, each in call.kwargs.items()]
    return f"{call.operation.__name__}({', '.join(given)})"


def _operands(call: Call | None) -> list[Tensor]:
    given: list[Any] = [] if call is None else [*call.args, *call.kwargs.values()]
    return [each for value in given for each in tensors_of(value)]
