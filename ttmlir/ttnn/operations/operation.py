"""Operations as objects that can be called, and what all families do alike.

A family makes a `Call` of the arguments, computes an array, and stores it by the rules for the
results: the memory, data type and layout that were asked for, those of `output_tensor`, or those of
the first operand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ttmlir.layout.errors import LayoutError
from ttmlir.metalium.errors import MetaliumError
from ttmlir.runtime.element import Array, Numerics, convert
from ttmlir.runtime.errors import RuntimeFailure
from ttmlir.sim.errors import SimError
from ttmlir.ttnn.errors import place_error, place_type_error, signature_of
from ttmlir.ttnn.operations.signature import Signature
from ttmlir.ttnn.tensor.formats import compute_type, round_to
from ttmlir.ttnn.tensor.storage import DeviceStorage
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig, without_shards

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice

REFUSALS = (RuntimeError, RuntimeFailure, SimError, MetaliumError, LayoutError, ValueError)
"""What says that a call cannot be."""


class Operation:
    """A function of ttnn; `python_fully_qualified_name` is `ttnn.` and its name."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        signature: str | None = None,
        entry: object = None,
    ) -> None:
        """With a signature, `function` takes the dictionary of arguments; without, all of them.

        `entry` is what the family's table says.
        """
        self.python_fully_qualified_name = self.__name__ = f"ttnn.{name}"
        self.name = name
        self.function = function
        self.entry = entry
        self.is_experimental = name.startswith("experimental.")
        self._text = signature
        # What a notebook shows for `ttnn.exp?`.
        self.__doc__ = function.__doc__ if signature is None else f"{self.__name__}({signature})"

    @property
    def has_signature(self) -> bool:
        """Whether the arguments are those of a text, and not of the function."""
        return self._text is not None

    @cached_property
    def signature(self) -> Signature:
        """The arguments of an operation of a table."""
        assert self._text is not None, "functions know their arguments themselves"
        return Signature(self.__name__, self._text)

    @property
    def __signature__(self) -> inspect.Signature:
        """The arguments, for `inspect.signature` and what uses it, such as notebooks."""
        if self._text is None:
            return inspect.signature(self.function)
        return self.signature.describe()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute; RuntimeError at the caller's line for what cannot be."""
        try:
            return self._watch(args, kwargs) if OBSERVERS else self._compute(args, kwargs)
        except REFUSALS as error:
            raise place_error(error, self.__name__) from None
        except (TypeError, AttributeError) as error:
            wrong = self._find_misuse(error, args, kwargs)
            if not wrong and isinstance(error, AttributeError):
                raise
            raise place_type_error(error, self.__name__, wrong) from None

    def _find_misuse(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """What is wrong with the arguments, where that can be said better than by the error."""
        from ttmlir.ttnn.operations.misuse import find_misuse, find_wrong_argument

        if self._text is not None:
            try:
                return find_wrong_argument(self.signature.bind(args, kwargs), {})
            except TypeError:
                return ""
        if str(error).startswith(f"{self.function.__name__}()"):
            return f"{error}; it takes {signature_of(self.function)}"
        return find_misuse(self.function, args, kwargs)

    def _watch(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute with observers, who see nothing of the calls that this one makes."""
        observers = list(OBSERVERS)
        OBSERVERS.clear()
        try:
            for each in observers:
                each.begin(self, args, kwargs)
            call = Call(self, args, kwargs, self._compute(args, dict(kwargs)))
            for each in observers:
                each.end(call)
        finally:
            OBSERVERS[:0] = observers
        return call.result

    def _compute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._text is not None:
            return self.function(self.signature.bind(args, kwargs))
        kwargs.pop("queue_id", None)
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"Operation(python_fully_qualified_name='{self.__name__}')"

    def __lt__(self, other: Operation) -> bool:
        """By name."""
        return self.name < other.name


@dataclass(frozen=True)
class Call:
    """A call of an operation, and what it returned."""

    operation: Operation
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any

    def repeat(self) -> Any:
        """The result of the same call now."""
        return self.operation(*self.args, **self.kwargs)


class Observer:
    """Sees the calls of a program; not those that operations make of each other."""

    def begin(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """See a call before it is computed."""

    def end(self, call: Call) -> None:
        """See a call that was computed."""


class Recorder(Observer):
    """Keeps all calls."""

    def __init__(self) -> None:
        """Begin without calls."""
        self.calls: list[Call] = []

    def end(self, call: Call) -> None:
        """Keep a call."""
        self.calls.append(call)


Seen = TypeVar("Seen", bound=Observer)

OBSERVERS: list[Observer] = []
"""Who sees calls now: traces, graphs, hooks."""


@contextmanager
def observe(observer: Seen) -> Generator[Seen, None, None]:
    """Let an observer see the calls within a `with` block."""
    OBSERVERS.append(observer)
    try:
        yield observer
    finally:
        OBSERVERS.remove(observer)


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors of an argument or a result, which may be one, several or none."""
    listed: list[Any] = [*value] if isinstance(value, list | tuple) else [value]
    return [each for each in listed if isinstance(each, Tensor)]


def table_of(*operations: Operation | Iterable[Operation]) -> dict[str, Operation]:
    """Operations by name."""
    listed = [
        each
        for entry in operations
        for each in ((entry,) if isinstance(entry, Operation) else entry)
    ]
    return {operation.name: operation for operation in listed}


def operations_of(*functions: Callable[..., Any], prefix: str = "") -> dict[str, Operation]:
    """Operations by name, of functions that have signatures of their own."""
    return table_of(Operation(prefix + each.__name__, each) for each in functions)


def require_tensor(value: Any, name: str) -> Tensor:
    """The value; TypeError if it is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{name} is a ttnn.Tensor, not {spell_type(value)}; "
            "ttnn.from_torch and ttnn.Tensor make tensors of arrays"
        )
    return value


def spell_type(value: object) -> str:
    """The type of a value, as a program says it."""
    kind: type[object] = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def common_device(*tensors: Tensor) -> MeshDevice:
    """The device of all operands; RuntimeError if one is on the host or elsewhere."""
    device: MeshDevice | None = None
    for tensor in tensors:
        storage = tensor.storage
        if not isinstance(storage, DeviceStorage):
            raise RuntimeError(
                "operands must be on device: the tensor of "
                f"{tensor.shape} is on the host; move it with ttnn.to_device(tensor, device)"
            )
        if device is not None and storage.device is not device:
            raise RuntimeError("operands are on different devices; move one of them")
        device = storage.device
    assert device is not None, "there is an operand"
    device.check_open()
    return device


def store(
    array: Array,
    operands: tuple[Tensor, ...],
    *,
    device: MeshDevice | None,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    exact: bool = False,
) -> Tensor:
    """The result of an operation; `exact` where its numbers are the operands' and need no rounding.

    RuntimeError for an output tensor of another shape or data type.
    """
    first = operands[0]
    if output_tensor is not None:
        return _store_in(output_tensor, array, operands, dtype, exact=exact)
    spec = first.spec
    dtype = spec.dtype if dtype is None else dtype
    array = _rounded(array, operands, dtype, device, exact=exact)
    layout = spec.layout if layout is None else layout
    config = spec.memory_config if memory_config is None else memory_config
    if (
        config is not spec.memory_config
        or dtype is not spec.dtype
        or layout is not spec.layout
        or array.shape != spec.shape
    ):
        if memory_config is None and config.is_sharded() and array.shape != spec.shape:
            # Shards of an operand do not fit a result of another shape.
            config = without_shards(config)
        spec = spec.replace(shape=array.shape, dtype=dtype, layout=layout, memory_config=config)
    return Tensor.on(device, spec, array)


def _store_in(
    output: Tensor,
    array: Array,
    operands: tuple[Tensor, ...],
    dtype: DataType | None,
    *,
    exact: bool,
) -> Tensor:
    if dtype is not None and dtype != output.dtype:
        raise RuntimeError(
            f"If both output dtype and output tensor provided dtype should match: {dtype} and "
            f"{output.dtype}"
        )
    if array.shape != output.shape:
        raise RuntimeError(
            f"output_tensor has {output.shape}, the result Shape({list(array.shape)})"
        )
    storage = output.storage
    device = storage.device if isinstance(storage, DeviceStorage) else None
    storage.array = _rounded(array, operands, output.dtype, device, exact=exact)
    return output


def _rounded(
    array: Array,
    operands: tuple[Tensor, ...],
    dtype: DataType,
    device: MeshDevice | None,
    *,
    exact: bool,
) -> Array:
    array = np.asarray(array)
    # Numbers that move into other blocks get the exponents of those.
    if (exact and not dtype.facts.is_block) or (
        device is not None and device.numerics is Numerics.EXACT
    ):
        return convert(array, compute_type(dtype))
    # Arrays that nobody else has are rounded in place.
    own = array.base is None and all(array is not operand.array for operand in operands)
    return round_to(array, dtype, own=own)


def common_layout(*tensors: Tensor) -> Layout:
    """Rows if all operands are kept so, else tiles."""
    rows = all(tensor.spec.layout is Layout.ROW_MAJOR for tensor in tensors)
    return Layout.ROW_MAJOR if rows else Layout.TILE


def remember_program(device: MeshDevice, key: tuple[Any, ...]) -> None:
    """Count a program by what tells it apart."""
    if device.caches_programs:
        device.program_cache.add(key)
