"""Operations as objects that can be called, and what all families do alike.

A family makes a `Call` of the arguments, computes an array, and stores it by the rules for the
results: the memory, data type and layout that were asked for, those of `output_tensor`, or those of
the first operand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ttmlir.arrays import array as arrays
from ttmlir.arrays.carriers import NumPyCarrier, array_of, name_of
from ttmlir.errors import ArgumentError, ArgumentTypeError, Error, UsageError
from ttmlir.runtime.execution.kernels import KERNELS
from ttmlir.runtime.tensor import Array, Numerics, convert
from ttmlir.ttnn.errors import (
    EXPLAINERS,
    explain_arguments,
    explain_size,
    find_type,
    is_about,
    raise_refusal,
)
from ttmlir.ttnn.operations.accepted import Accepted, accepted_by
from ttmlir.ttnn.operations.signature import Signature, fits, spell_type, spell_value
from ttmlir.ttnn.tensor.tensor import (
    MeshStorage,
    Tensor,
    compute_type,
    round_to,
)
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig, Shape, without_shards

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ttmlir.ttnn.device.mesh import MeshDevice


class Operation:
    """A function of ttnn; `python_fully_qualified_name` is `ttnn.` and its name."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        signature: str | None = None,
        entry: object = None,
        *,
        crosses_devices: bool = False,
    ) -> None:
        """With a signature, `function` takes the dictionary of arguments; without, all of them.

        `entry` is what the family's table says. Of tensors on several devices, `function` gets the
        parts of one after another, unless it `crosses_devices`: then it gets all.
        """
        self.python_fully_qualified_name = self.__name__ = f"ttnn.{name}"
        self.name = name
        self.function = function
        self.entry = entry
        self.crosses_devices = crosses_devices
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
        """Compute; RuntimeError or TypeError at the caller's line for what is refused.

        What else comes out of a call is a fault of the project, or of the user's own function.
        """
        try:
            observers = OBSERVERS.current
            if not observers:
                return self._compute(args, kwargs)
            return self._watch(observers, args, kwargs)
        except Exception as error:
            raise_refusal(error, self.__name__, partial(self._explain, args, kwargs))

    def _explain(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
    ) -> Error | None:
        """What is wrong with the arguments of a call that failed; None if nothing is."""
        if self._text is None:
            kwargs = {name: each for name, each in kwargs.items() if name != "queue_id"}
            return explain_arguments(self.function, args, kwargs, error)
        try:
            values = self.signature.bind(args, kwargs)
        except ArgumentTypeError:
            return None
        if is_about(error, values):
            return None
        wrong = self.signature.find_wrong(values, find_type, only_common=isinstance(error, Error))
        return ArgumentTypeError(wrong) if wrong else explain_size(values.items(), error)

    def _watch(
        self, observers: Sequence[Observer], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Compute with observers, who see nothing of the calls that this one makes."""
        with OBSERVERS.pause():
            for each in observers:
                each.begin(self, args, kwargs)
            call = Call(self, args, kwargs, self._compute(args, dict(kwargs)))
            for each in observers:
                each.end(call)
        return call.result

    def _compute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if MeshStorage.is_used and not self.crosses_devices:
            from ttmlir.ttnn.operations.meshes.calls import MeshCall

            call = MeshCall.of(args, kwargs)
            if call is not None:
                return call.run(self._compute, args, kwargs)
        if _RUNNING.get() is not None:
            return self._run(args, kwargs)
        steps = None if kwargs else self._steps
        if steps is not None:
            made = steps.repeat(args)
            if made is not None:
                return made
        if self._accepted is not None:
            self._check_first(self._accepted, args, kwargs)
        token = _RUNNING.set((self, args, kwargs))
        try:
            made = self._run(args, kwargs)
        finally:
            _RUNNING.reset(token)
        if steps is not None:
            steps.learn(args, made)
        return made

    @cached_property
    def _steps(self) -> Steps | None:
        """What is known of earlier calls, if the family of the operation keeps that."""
        keep: Callable[[Operation], Steps | None] | None = getattr(self.entry, "steps_of", None)
        return None if keep is None else keep(self)

    @cached_property
    def _accepted(self) -> Accepted | None:
        return accepted_by(self.name.removesuffix("_"))

    @staticmethod
    def _check_first(accepted: Accepted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """ArgumentError for a first operand that a card would refuse."""
        first = args[0] if args else next((kwargs[key] for key in _FIRST if key in kwargs), None)
        if not isinstance(first, Tensor):
            return
        if accepted.needs_device:
            common_device(first)
        if is_strict(first):
            accepted.check(first)
            if accepted.concerns_each:
                for other in (*args, *kwargs.values()):
                    if isinstance(other, Tensor):
                        accepted.check(other)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
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


_FIRST = ("input_tensor", "input_tensor_a", "predicate", "input", "tensor", "input_tensor_q")
"""Names of first operands."""

EXPLAINERS.add(Operation.__call__.__code__)

_RUNNING: ContextVar[tuple[Operation, tuple[Any, ...], dict[str, Any]] | None] = ContextVar(
    "running", default=None
)
"""The call of the program that this thread, or task of asyncio, computes now."""


class Steps(Protocol):
    """What calls of an operation whose operands are alike do each time."""

    def repeat(self, args: tuple[Any, ...]) -> Any:
        """The result of a call of operands alone; None if none like them was learned."""
        ...

    def learn(self, args: tuple[Any, ...], made: Any) -> None:
        """Keep what followed from the specifications of operands, if nothing else told."""
        ...


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


class Observers:
    """Who sees calls: traces, graphs and hooks those of their own context, settings all.

    Each thread is a context, and so is each task of asyncio.
    """

    def __init__(self) -> None:
        """Nobody sees calls yet."""
        self._everywhere: tuple[Observer, ...] = ()
        self._here: ContextVar[tuple[Observer, ...]] = ContextVar("observers", default=())
        self._is_paused: ContextVar[bool] = ContextVar("observers_pause", default=False)

    @property
    def current(self) -> tuple[Observer, ...]:
        """Those who see a call that is made now."""
        return () if self._is_paused.get() else (*self._everywhere, *self._here.get())

    def add(self, observer: Observer) -> None:
        """Let an observer see the calls of this context."""
        self._here.set((*self._here.get(), observer))

    def remove(self, observer: Observer) -> None:
        """Let it see no more of them."""
        self._here.set(tuple(each for each in self._here.get() if each is not observer))

    def switch(self, observer: Observer, *, on: bool) -> None:
        """Let an observer see the calls of all contexts, or no more of them."""
        others = tuple(each for each in self._everywhere if each is not observer)
        self._everywhere = (*others, observer) if on else others

    @contextmanager
    def pause(self) -> Generator[None, None, None]:
        """Nobody sees the calls of this context within a `with` block."""
        token = self._is_paused.set(True)
        try:
            yield
        finally:
            self._is_paused.reset(token)


OBSERVERS = Observers()


@contextmanager
def observe(observer: Seen) -> Generator[Seen, None, None]:
    """Let an observer see the calls within a `with` block."""
    OBSERVERS.add(observer)
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


def operations_of(
    *functions: Callable[..., Any], prefix: str = "", crosses_devices: bool = False
) -> dict[str, Operation]:
    """Operations by name, of functions that have signatures of their own."""
    return table_of(
        Operation(prefix + each.__name__, each, crosses_devices=crosses_devices)
        for each in functions
    )


def is_integer(value: object) -> TypeIs[int]:
    """Whether a value is one integer, of Python or of NumPy."""
    return isinstance(value, int | np.integer)


def as_dimension(dim: Any, rank: int) -> int:
    """A dimension, counted from the front; it may have been counted from the end.

    TypeError for what is no integer, RuntimeError where a tensor of this rank has no such one.
    """
    if not is_integer(dim):
        raise ArgumentTypeError(f"dim is an integer, not {spell_value(dim)}")
    if not -rank <= dim < rank:
        raise ArgumentError(f"dimension {dim} is out of range for a tensor of rank {rank}")
    return int(dim) % rank


def as_flag(value: Any, name: str) -> bool:
    """True or False, of Python or NumPy, or as 1 or 0; TypeError for what is neither."""
    if not fits(value, bool):
        raise ArgumentTypeError(f"{name} is True or False, not {spell_value(value)}")
    return bool(value)


def require_tensor(value: Any, name: str) -> Tensor:
    """The value; TypeError if it is no tensor."""
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(
            f"{name} is a ttnn.Tensor, not {spell_value(value)}; "
            "ttnn.from_torch and ttnn.Tensor make tensors of arrays"
        )
    return value


def as_places(numbers: Array) -> Array:
    """Numbers as places in an array; NaN is before the first."""
    with np.errstate(invalid="ignore"):
        return numbers.astype(np.int64)


def is_strict(tensor: Tensor) -> bool:
    """Whether operations on a tensor take what a card takes, and no more."""
    device = tensor.storage.device
    return device is not None and device.is_strict


def require_floats(*tensors: Tensor) -> None:
    """ValueError for a tensor of integers."""
    for tensor in tensors:
        if not tensor.dtype.facts.is_float:
            raise ArgumentError(
                f"it takes floating point, not {tensor.dtype}; use ttnn.typecast(tensor, "
                "ttnn.float32)"
            )


class _KernelCarrier(NumPyCarrier):
    """Numbers that the runtime's kernels compute with."""

    kernels = KERNELS


_CARRIER = _KernelCarrier()


def array_with_kernels(array: Array) -> arrays.Array:
    """Numbers in their own type, for `ttmlir.composites`."""
    return arrays.Array(_CARRIER, array, array.shape, name_of(array.dtype))


def widen(tensor: Tensor) -> arrays.Array:
    """The numbers of a tensor in f64, for `ttmlir.composites`."""
    return array_of(tensor.array, "f64")


def narrow(array: arrays.Array) -> Array:
    """What was computed so, in f32."""
    return array.cast("f32").value


def common_device(*tensors: Tensor) -> MeshDevice:
    """The device of all operands; RuntimeError if one is on the host or elsewhere."""
    device: MeshDevice | None = None
    for tensor in tensors:
        storage = tensor.storage
        if storage.device is None:
            raise UsageError(
                "operands must be on device: the tensor of "
                f"{tensor.shape} is on the host; move it with ttnn.to_device(tensor, device)"
            )
        if device is not None and storage.device is not device:
            raise UsageError("operands are on different devices; move one of them")
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
    padded_shape: Shape | None = None,
) -> Tensor:
    """The result of an operation; `exact` where its numbers are the operands' and need no rounding.

    RuntimeError for an output tensor of another shape or data type.
    """
    first = operands[0]
    if output_tensor is not None:
        return _store_in(output_tensor, array, operands, dtype, exact=exact)
    spec = first.spec
    dtype = spec.dtype if dtype is None else dtype
    array = rounded(array, operands, dtype, device, exact=exact)
    layout = spec.layout if layout is None else layout
    config = spec.memory_config if memory_config is None else memory_config
    if (
        config is not spec.memory_config
        or dtype is not spec.dtype
        or layout is not spec.layout
        or array.shape != spec.shape
        or padded_shape is not None
    ):
        if memory_config is None and config.is_sharded() and array.shape != spec.shape:
            # Shards of an operand do not fit a result of another shape.
            config = without_shards(config)
        spec = spec.replace(
            shape=None if array.shape == spec.shape else array.shape,
            dtype=dtype,
            layout=layout,
            memory_config=config,
            padded_shape=padded_shape,
        )
    if device is not None:
        remember_program(device, spec)
    return Tensor.on(device, spec, array)


def _store_in(
    output: Tensor,
    array: Array,
    operands: tuple[Tensor, ...],
    dtype: DataType | None,
    *,
    exact: bool,
) -> Tensor:
    require_tensor(output, "output_tensor")
    if dtype is not None and dtype != output.dtype:
        raise UsageError(
            f"If both output dtype and output tensor provided dtype should match: {dtype} and "
            f"{output.dtype}"
        )
    if array.shape != output.shape:
        raise UsageError(f"output_tensor has {output.shape}, the result Shape({list(array.shape)})")
    storage, device = output.storage, output.device()
    storage.array = rounded(array, operands, output.dtype, device, exact=exact)
    if device is not None:
        remember_program(device, output.spec)
    return output


def rounded(
    array: Array,
    operands: tuple[Tensor, ...],
    dtype: DataType,
    device: MeshDevice | None,
    *,
    exact: bool,
) -> Array:
    """Numbers that a data type has; `exact` where those of an operation need no rounding."""
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


def remember_program(device: MeshDevice, *more: object) -> None:
    """Count a program of the operation that is called, by all that tells it apart.

    Those are the specifications of tensors and the arguments, but of numbers instead of tensors
    only their type, and what is said in `more`.
    """
    running = _RUNNING.get()
    if device.caches_programs and running is not None:
        device.program_cache.add(program_of(*running, *more))


def program_of(
    operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any], *more: object
) -> tuple[object, ...]:
    """What tells the program of a call apart from others."""
    operands: tuple[str, ...] = getattr(operation.entry, "operands", ())
    return (
        operation.name,
        *(_tell_apart(each, i < len(operands)) for i, each in enumerate(args)),
        *((name, _tell_apart(kwargs[name], name in operands)) for name in sorted(kwargs)),
        *more,
    )


def _tell_apart(value: Any, is_operand: bool) -> object:
    if isinstance(value, Tensor):
        return value.spec
    if isinstance(value, list | tuple):
        listed: list[Any] = [*value]
        return tuple(_tell_apart(each, is_operand) for each in listed)
    return spell_type(value) if is_operand else str(value)
