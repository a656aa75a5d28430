"""Operations on elements: how they are declared, how they run, and their tables.

A declaration is the mnemonic of a definition, or `ttnn name = mnemonic`, and the arguments after
the operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.optable import DEFINITIONS, special
from ttmlir.optable.op_definition import broadcast_shape, spell_shape
from ttmlir.runtime.tensor import Array, Numerics
from ttmlir.ttnn.operations import complex_numbers
from ttmlir.ttnn.operations.accepted import Accepted, accepted_by
from ttmlir.ttnn.operations.elementwise import semantics
from ttmlir.ttnn.operations.elementwise.activations import (
    activation_of,
    apply_activations,
    chain_of,
)
from ttmlir.ttnn.operations.elementwise.semantics import Reference, Takes, reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    common_layout,
    is_integer,
    is_strict,
    program_of,
    require_floats,
    require_tensor,
    rounded,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import IGNORED, spell_type
from ttmlir.ttnn.tensor.complex import ComplexTensor
from ttmlir.ttnn.tensor.tensor import LARGE, Tensor, compute_bfloat16, compute_type
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice
    from ttmlir.ttnn.types.spec import TensorSpec

# --- Declaration ----------------------------------------------------------------------------------

UNARY_TAIL = "*, memory_config=None, output_tensor=None, sub_core_grids"
BINARY_TAIL = (
    "*, dtype=None, memory_config=None, output_tensor=None, activations=None, "
    "input_tensor_a_activations=None, input_tensor_b_activations=None, use_legacy, sub_core_grids, "
    "fast_and_approximate_mode"
)


@dataclass(frozen=True)
class Elementwise:
    """An operation on elements: its meaning, and the names of its operands and parameters."""

    name: str
    reference: Reference
    operands: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...] = ()
    """The meaning's keywords and ttnn's names for them."""
    result: DataType | None = None
    """The data type of the result, where it is always the same."""
    integer_result: DataType | None = None
    """The data type of the result of integers, where it is another."""
    typed_by: int = 0
    """The first operand whose data type the result may have."""
    arguments: str = ""
    """What stands between the operands and the tail of its signature."""
    takes: Takes = Takes.ALL
    """The numbers that operands may be."""
    compares: bool = False
    """True where the result is of 0 and 1, which a card keeps in 16 bits where operands have 8."""
    takes_number_first: bool = False
    """True where the first operand may be a number and the second a tensor."""
    is_in_place_too: bool = False
    """True where another operation, of this name and `_`, stores in the first operand."""
    scales: bool = False
    """True where operands may be of integers and floating point; the result is floating point."""
    makes_tiles: bool = False
    """True where the result of rows is in tiles."""
    is_pointwise: bool = False
    """True where every number of the result follows from those at its place."""

    def run(self, values: dict[str, Any]) -> Any:
        """Compute for the arguments of a call: a tensor, or a complex one of complex numbers."""
        operands = [values[name] for name in self.operands]
        tensors = tuple(each for each in operands if isinstance(each, Tensor))
        if isinstance(operands[0], ComplexTensor) and self.name in _COMPLEX_TOO:
            return complex_numbers.compute(values, self.name)
        self._require_tensors(operands[0], tensors)
        device = common_device(*tensors)
        if len(operands) > 1:
            self._check_operands(operands, tensors)
        typed = [each for each in operands[self.typed_by :] if isinstance(each, Tensor)]
        first = self._find_typed(typed or [tensors[0]])
        memory_config = values.get("memory_config")
        if memory_config is None:
            memory_config = self._find_memory(tensors, first)
        arrays = [
            each.array
            if isinstance(each, Tensor)
            else as_number(each, self._type_of_number(each, first), name)
            for each, name in zip(operands, self.operands, strict=True)
        ]
        arguments = read_parameters(self.parameters, values) if self.parameters else {}
        is_scaled = self._scales(first) and any(
            isinstance(each, float) for each in (*operands, *arguments.values())
        )
        with np.errstate(all="ignore"):
            for side, index in (
                ("input_tensor_a_activations", 0),
                ("input_tensor_b_activations", 1),
            ):
                if values.get(side) is not None:
                    arrays[index] = apply_activations(arrays[index], values[side], side)
            dtype, output = values.get("dtype"), values.get("output_tensor")
            if dtype is None and output is None:
                dtype = self._result_type(first, typed[0] if typed else first)
                if is_scaled:
                    dtype = DataType.FLOAT32
            chain = chain_of(values.get("activations"), "activations")
            kept = first.dtype if dtype is None else dtype
            if output is not None:
                kept = output.dtype
            fast = values.get("fast_and_approximate_mode") is True
            result, is_rounded = self._compute_as(
                kept, device, tensors, arrays, arguments, chain, fast=fast
            )
            if chain:
                result = apply_activations(result, chain)
        made = store(
            result,
            tensors,
            device=device,
            dtype=dtype,
            layout=Layout.TILE if self.makes_tiles else common_layout(*tensors),
            memory_config=memory_config,
            output_tensor=output,
            exact=is_rounded,
        )
        return made

    def _require_tensors(self, first: Any, tensors: Sequence[Tensor]) -> None:
        """ArgumentTypeError where no operand is a tensor, or the first has to be and is none."""
        if not tensors or not (isinstance(first, Tensor) or self.takes_number_first):
            require_tensor(first, self.operands[0])

    def _find_memory(self, tensors: Sequence[Tensor], first: Tensor) -> MemoryConfig | None:
        """The memory of the result where it is not that of the first operand."""
        if self.typed_by:
            return first.spec.memory_config
        if len(self.operands) == 2:
            # The shards of the second operand are those of the result, if the first has none.
            return next((each.memory_config() for each in tensors if each.is_sharded()), None)
        return None

    @cached_property
    def _accepted(self) -> Accepted | None:
        return accepted_by(self.name)

    def _check_operands(self, operands: Sequence[Any], tensors: Sequence[Tensor]) -> None:
        """ArgumentError for operands that a card does not take together."""
        accepted = self._accepted
        if accepted is None or not is_strict(tensors[0]):
            return
        if tensors[0] is not operands[0]:
            accepted.check(tensors[0])
        if len(tensors) > 1:
            accepted.check_together(tensors)
        if len(tensors) == len(operands):
            return
        for place, (name, each) in enumerate(zip(self.operands, operands, strict=True)):
            if place and not isinstance(each, Tensor) and accepted.refuses_number(place):
                raise ArgumentError(f"{name} is a ttnn.Tensor, no number; use ttnn.full_like")

    def _find_typed(self, tensors: Sequence[Tensor]) -> Tensor:
        """The operand that the result has its data type from.

        ValueError for integers where only floating point has a meaning, and for two operands of
        integers and floating point, or of different integers.
        """
        first = tensors[0]
        if self.takes is Takes.FLOATS:
            require_floats(first)
        elif self.takes is Takes.INTEGERS and first.dtype.facts.is_float:
            raise ArgumentError(f"{self.name} takes integers, not {first.dtype}")
        if len(self.operands) != 2 or len(tensors) != 2:
            return first
        second = tensors[1]
        kinds = [each.dtype.facts.is_float for each in tensors]
        if all(kinds) or first.dtype == second.dtype or self.compares:
            return first
        if self.scales and any(kinds):
            return tensors[kinds.index(True)]
        raise ArgumentError(
            f"operands of {first.dtype} and {second.dtype} do not go together; use ttnn.typecast"
        )

    def _type_of_number(self, number: Any, first: Tensor) -> DataType:
        """What a number in the place of a tensor is computed in.

        Integers by integers are exact, and lose the bits above the type's, as with a tensor.
        """
        is_exact = self.integer_result is None and isinstance(number, int | np.integer)
        return DataType.FLOAT32 if self._scales(first) and not is_exact else first.dtype

    def _scales(self, first: Tensor) -> bool:
        """Whether a number in floating point makes floating point of integers."""
        scales = self.scales or self.integer_result is DataType.FLOAT32
        return scales and not first.dtype.facts.is_float

    def _compute_as(
        self,
        kept: DataType,
        device: MeshDevice,
        tensors: Sequence[Tensor],
        arrays: list[Array],
        arguments: dict[str, Any],
        chain: Sequence[Any],
        *,
        fast: bool,
    ) -> tuple[Array, bool]:
        """The result, and whether its numbers are already those of the data type that is kept."""
        if device.numerics is not Numerics.DEVICE or chain:
            return self._compute(arrays, arguments), False
        on_card = self._find_on_card(kept, device, tensors, arrays, arguments, fast=fast)
        if on_card is not None:
            if len(arrays) > 1 and any(each.shape != arrays[0].shape for each in arrays):
                self._check_shapes(arrays)
            return on_card(*arrays), True
        if kept is DataType.BFLOAT16 and self._goes_in_parts(arrays):
            return compute_bfloat16(partial(self.reference, np, **arguments), arrays), True
        return self._compute(arrays, arguments), False

    def _find_on_card(
        self,
        kept: DataType,
        device: MeshDevice,
        tensors: Sequence[Tensor],
        arrays: Sequence[Array],
        arguments: dict[str, Any],
        *,
        fast: bool,
    ) -> Callable[..., Array] | None:
        """What computes the bits of a card, where that takes few steps."""
        if not device.card_steps or kept is not tensors[0].dtype:
            return None
        from ttmlir.sim.machine.card_functions import card_function

        if not all(each.dtype.facts.is_float for each in tensors):
            return None
        formats = [each.dtype.facts.storage for each in tensors]
        name = f"{self.name}_approximate" if fast else self.name
        found = card_function(
            name, device.arch(), formats, operands=len(self.operands), parameters=arguments
        )
        size = max(each.size for each in arrays)
        takes_long = found is None or found.steps * size > device.card_steps
        return None if found is None or takes_long else found.function

    def steps_of(self, operation: Operation) -> ElementwiseSteps | None:
        """What is learned of calls, where parameters have no meaning of their own."""
        others = [
            value
            for name, value in operation.signature.defaults.items()
            if name not in self.operands
        ]
        is_plain = (
            operation.function == self.run
            and not self.parameters
            and all(each is None or each is False for each in others)
        )
        return ElementwiseSteps(self, operation) if is_plain else None

    def way(
        self, kept: DataType, device: MeshDevice, tensors: Sequence[Tensor], arrays: list[Array]
    ) -> tuple[Callable[..., Array], bool] | None:
        """How tensors of floating point are computed without arguments, and whether the numbers are
        then those of the data type; None for large ones, which go in parts."""
        on_card = None
        if device.numerics is Numerics.DEVICE:
            on_card = self._find_on_card(kept, device, tensors, arrays, {}, fast=False)
        if on_card is not None:
            return on_card, True
        return (
            None
            if max(each.size for each in arrays) >= LARGE
            else (partial(self.reference, np), False)
        )

    def _compute(self, arrays: list[Array], arguments: dict[str, Any]) -> Array:
        try:
            return self.reference(np, *arrays, **arguments)
        except ValueError:
            more = [each.array for each in arguments.values() if isinstance(each, Tensor)]
            self._check_shapes([*arrays, *more])
            raise
        except OverflowError:
            self._check_numbers(arrays[0].dtype, arguments)
            raise

    def _goes_in_parts(self, arrays: list[Array]) -> bool:
        """Whether the result can be computed and rounded part by part, while it is in the cache."""
        shape = arrays[0].shape
        return (
            self.is_pointwise
            and arrays[0].size >= LARGE
            and all(each.ndim == 0 or each.shape == shape for each in arrays)
            and all(each.dtype == np.float32 and each.flags.c_contiguous for each in arrays)
        )

    def _check_shapes(self, arrays: list[Array]) -> None:
        """RuntimeError if the operands do not broadcast against each other."""
        shapes = [array.shape for array in arrays]
        try:
            broadcast_shape(*shapes)
        except ArgumentError as error:
            raise UsageError(f"{error}: {' and '.join(map(spell_shape, shapes))}") from error

    def _check_numbers(self, dtype: np.dtype[Any], arguments: dict[str, Any]) -> None:
        """ValueError for a parameter that operands of integers do not have."""
        if dtype.kind not in "iu":
            return
        limits = np.iinfo(dtype)
        for keyword, name in self.parameters:
            number = arguments[keyword]
            if is_integer(number) and not limits.min <= number <= limits.max:
                raise ArgumentError(f"{name}={number} is no number of {dtype}")

    def _result_type(self, first: Tensor, operand: Tensor) -> DataType:
        if first is not operand and first.dtype.facts.is_block:
            # Blocks beside integers become bfloat16.
            return DataType.BFLOAT16
        if self.result is not None:
            return self.result
        if self.compares and first.dtype is DataType.UINT8:
            return DataType.UINT16
        if self.integer_result is not None and not first.dtype.facts.is_float:
            return self.integer_result
        return first.dtype

    def run_in_place(self, values: dict[str, Any]) -> Any:
        """Compute, and store the result in the first operand."""
        first = require_tensor(values[self.operands[0]], self.operands[0])
        if self.integer_result is not None and not first.dtype.facts.is_float:
            raise ArgumentError(f"{first.dtype} does not hold {self.name}'s {self.integer_result}")
        second = values[self.operands[1]]
        in_tiles = isinstance(second, Tensor) and second.layout is Layout.TILE
        if first.layout is Layout.ROW_MAJOR and not in_tiles and is_strict(first):
            raise ArgumentError(
                "it stores in a tensor of tiles, not of rows; use ttnn.to_layout(tensor, "
                "ttnn.TILE_LAYOUT)"
            )
        return self.run({**values, "output_tensor": first, "dtype": None})


@dataclass(frozen=True, slots=True)
class _Learned:
    """What follows from the specifications of operands, and from their device."""

    device: ref[MeshDevice]
    """Closed devices are not kept."""
    state: tuple[object, ...]
    numbers: tuple[Array | None, ...]
    """Those of operands that are no tensors."""
    function: Callable[..., Array]
    is_rounded: bool
    spec: TensorSpec
    """Of the result."""
    program: tuple[object, ...]


class ElementwiseSteps:
    """Calls of tensors of one shape in floating point, and of numbers: checks, the type and the
    memory of results follow from specifications, and are not asked again for the same ones."""

    _MOST = 64

    def __init__(self, entry: Elementwise, operation: Operation) -> None:
        """Begin with nothing."""
        self._entry, self._operation = entry, operation
        self._learned: dict[tuple[object, ...], _Learned] = {}

    def repeat(self, args: tuple[Any, ...]) -> Tensor | None:
        """The result of a call whose operands have specifications that are known."""
        key = _key_of(args)
        known = None if key is None else self._learned.get(key)
        device = None if known is None else known.device()
        if known is None or device is None or known.state != _state_of(device):
            return None
        arrays: list[Array] = []
        for each, number in zip(args, known.numbers, strict=True):
            if number is not None:
                arrays.append(number)
            elif each.storage.device is device:
                arrays.append(each.array)
            else:
                return None
        with np.errstate(all="ignore"):
            result = known.function(*arrays)
        dtype = known.spec.dtype
        if dtype is not DataType.FLOAT32 or getattr(result, "dtype", None) != np.float32:
            operands = tuple(each for each in args if isinstance(each, Tensor))
            result = rounded(result, operands, dtype, device, exact=known.is_rounded)
        if device.caches_programs:
            device.program_cache.add(known.program)
        return Tensor.on(device, known.spec, result)

    def learn(self, args: tuple[Any, ...], made: Any) -> None:
        """Keep what a call did, if its operands alone told."""
        key = _key_of(args)
        if key is None or not isinstance(made, Tensor) or len(args) != len(self._entry.operands):
            return
        device = made.storage.device
        tensors = [each for each in args if isinstance(each, Tensor)]
        if device is None or device.is_several or not made.shape:
            return
        for each in tensors:
            is_same = each.shape == made.shape and each.storage.device is device
            if not is_same or each.dtype is not made.dtype or not each.dtype.facts.is_float:
                return
        numbers = [
            None if isinstance(each, Tensor) else as_number(each, made.dtype, name)
            for each, name in zip(args, self._entry.operands, strict=True)
        ]
        arrays = [
            each.array if number is None else number
            for each, number in zip(args, numbers, strict=True)
        ]
        way = self._entry.way(made.dtype, device, tensors, arrays)
        if way is None:
            return
        if len(self._learned) >= self._MOST:
            self._learned.clear()
        program = program_of(self._operation, args, {}, made.spec)
        self._learned[key] = _Learned(
            ref(device), _state_of(device), tuple(numbers), *way, made.spec, program
        )


def _key_of(args: tuple[Any, ...]) -> tuple[object, ...] | None:
    """What results follow from; None where that is not known of an operand. Zeros have a sign that
    comparisons do not see."""
    key: list[object] = []
    for each in args:
        if type(each) is Tensor:
            key.append(each.spec)
        elif type(each) in (float, int) and each:
            key.append((type(each) is float, each))
        else:
            return None
    return tuple(key)


def _state_of(device: MeshDevice) -> tuple[object, ...]:
    """What computing depends on besides specifications."""
    return device.numerics, device.card_steps, device.is_strict


_COMPLEX_TOO = ("abs", "reciprocal")
"""Operations that take complex tensors, too."""
_TENSORS_TOO = {"min", "max", "weight"}
"""Parameters that may be tensors."""


def read_parameters(
    parameters: Sequence[tuple[str, str]], values: dict[str, Any]
) -> dict[str, Any]:
    """The keywords of a meaning; ArgumentTypeError for a tensor in place of a number."""
    found = {keyword: values[name] for keyword, name in parameters}
    for keyword, name in parameters:
        if isinstance(found[keyword], Tensor) and keyword not in _TENSORS_TOO:
            raise ArgumentTypeError(f"{name} is a number, not a ttnn.Tensor")
    return found


def as_number(value: Any, dtype: DataType, name: str) -> Array:
    """A number as an array of the type that the operation computes in."""
    if isinstance(value, bool | int | float | np.generic):
        wanted = compute_type(dtype)
        number = np.asarray(value)
        is_whole = number.dtype.kind != "f" or (
            number == np.trunc(number) and abs(number) < 1 << 32
        )
        if wanted.kind in "iu" and not is_whole:
            raise ArgumentError(
                f"{name}={value} is no number of a tensor of {dtype}; use an integer, or "
                "ttnn.typecast(tensor, ttnn.float32)"
            )
        try:
            with np.errstate(over="ignore"):
                return number.astype(wanted)
        except OverflowError as error:
            raise ArgumentError(f"{name}={value} is no number of a tensor of {dtype}") from error
    raise ArgumentTypeError(
        f"{name} is a ttnn.Tensor or a number, not {spell_type(value)}; ttnn.from_torch and "
        "ttnn.Tensor make tensors of arrays"
    )


def declare(
    text: str,
    operands: tuple[str, ...],
    tail: str,
    *,
    arguments: str = "",
    reference: Reference | None = None,
    **facts: Any,
) -> Iterator[Operation]:
    """Operations of a text such as `abs exp sub=subtract`, which have all else in common.

    `arguments` stand between the operands and the tail, as in a signature; keywords of the meaning
    have their names, or come in `parameters`.
    """
    for item in text.split():
        name, _, mnemonic = item.partition("=")
        mnemonic = mnemonic or name
        if reference is None:
            # Rows of elementwise operations look at one place at a time.
            found = reference_of(mnemonic)
            takes = Takes.FLOATS if DEFINITIONS[mnemonic].ttnn_refuses_integers else Takes.ALL
            own = {"is_pointwise": True, "takes": takes, **facts}
        else:
            found, own = reference, facts
        yield _declare_one(name, found, operands, tail, arguments, own)


def _declare_one(
    name: str,
    reference: Reference,
    operands: tuple[str, ...],
    tail: str,
    arguments: str,
    facts: dict[str, Any],
) -> Operation:
    signature = join_signature(", ".join(operands), arguments, tail)
    own: dict[str, Any] = {
        "parameters": parameter_names(arguments),
        "arguments": arguments,
        **facts,
    }
    entry = Elementwise(name, reference, operands, **own)
    return Operation(name, entry.run, signature, entry)


def join_signature(operands: str, arguments: str, tail: str) -> str:
    """One signature of three parts, with one star."""
    if "*" in arguments:
        tail = tail.removeprefix("*, ")
    return ", ".join(part for part in (operands, arguments, tail) if part)


def parameter_names(arguments: str) -> tuple[tuple[str, str], ...]:
    """Names of the arguments of a text that mean something, each paired with itself."""
    names = [part.partition("=")[0].strip() for part in arguments.split(",")]
    return tuple((name, name) for name in names if name not in ("", "*", *IGNORED))


# --- One operand ----------------------------------------------------------------------------------

_ONE = ("input_tensor",)


def _unary(text: str, arguments: str = "", reference: Reference | None = None, **facts: Any) -> Any:
    return declare(text, _ONE, UNARY_TAIL, arguments=arguments, reference=reference, **facts)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _prelu(xp: Any, x: Any, *, weight: Any) -> Any:
    """x, or the weight of its channel times a negative one."""
    weights = np.asarray(_array(weight), x.dtype)
    while weights.ndim > x.ndim and weights.shape[0] == 1:
        weights = weights[0]
    channels = x.shape[1] if x.ndim > 1 else 1
    is_exact = isinstance(weight, Tensor) and is_strict(weight) and x.ndim > 1
    if (is_exact and weights.size != channels) or (
        weights.ndim == 1 and weights.size not in (1, channels)
    ):
        raise ArgumentError(f"weight has {weights.size} numbers for {channels} channels")
    if weights.ndim == 1 and weights.size > 1 and x.ndim > 1:
        weights = weights.reshape(1, -1, *(1,) * (x.ndim - 2))
    return xp.where(x >= 0, x, weights * x)


def _clamp(xp: Any, x: Any, *, min: Any, max: Any) -> Any:
    if x.dtype.kind in "iu" and (isinstance(min, float) or isinstance(max, float)):
        x = x.astype(np.float64)
    return semantics.clamp(xp, x, min=_array(min), max=_array(max))


def _chain(xp: Any, x: Any, *, ops_chain: Any) -> Any:
    for each in ops_chain:
        x = activation_of(each)(x)
    return x


_APPROXIMATED = "sqrt rsqrt exp erf erfc gelu log log1p tanh sigmoid_accurate=sigmoid"

_NOT_AS_DEFINED = "sigmoid sign round typecast population_count count_leading_zeros"
"""Rows that ttnn does not have, or with arguments of its own."""

_AS_DEFINED = " ".join(
    name
    for name in semantics.UNARY_OPERATIONS
    if name not in f"{_APPROXIMATED} {_NOT_AS_DEFINED}".split()
)

_SELU = "*, scale=1.0507009873554805, alpha=1.6732632423543772"

_UNARY: dict[str, Operation] = table_of(
    _unary(f"{_AS_DEFINED} swish=silu"),
    _unary(_APPROXIMATED, "fast_and_approximate_mode=False"),
    _unary("sigmoid", "*, vector_mode=4, fast_and_approximate_mode=False"),
    *(
        _unary(name, reference=reference, takes=takes)
        for takes, table in semantics.PLAIN.items()
        for name, reference in table.items()
    ),
    *(
        _unary(name, "fast_and_approximate_mode=False", reference, takes=Takes.FLOATS)
        for name, reference in semantics.APPROXIMATED.items()
    ),
    _unary("heaviside", "value", special.heaviside, takes=Takes.FLOATS),
    _unary("leaky_relu", "negative_slope", parameters=(("parameter", "negative_slope"),)),
    _unary("relu_max", "upper_limit", special.relu_max),
    _unary("relu_min", "lower_limit", semantics.relu_min),
    _unary("polygamma", "k", semantics.polygamma, takes=Takes.FLOATS),
    _unary("rpow", "exponent", semantics.raise_number, takes=Takes.FLOATS),
    _unary("fill", "fill_value", semantics.fill),
    _unary("threshold", "threshold, value", semantics.threshold, takes=Takes.FLOATS),
    _unary("rdiv", "value, *, rounding_mode=None", semantics.divide_number, takes=Takes.FLOATS),
    _unary("elu", "*, alpha=1.0", special.elu, takes=Takes.FLOATS),
    _unary("celu", "*, alpha=1.0", semantics.celu, takes=Takes.FLOATS),
    _unary("selu", _SELU, special.selu, takes=Takes.FLOATS),
    _unary("hardtanh", "*, min_val=-1.0, max_val=1.0", semantics.hardtanh, takes=Takes.FLOATS),
    _unary("softplus", "*, beta=1.0, threshold=20.0", special.softplus, takes=Takes.FLOATS),
    _unary("hardshrink", "*, lambd=0.5", semantics.hardshrink, takes=Takes.FLOATS),
    _unary("softshrink", "*, lambd=0.5", semantics.softshrink, takes=Takes.FLOATS),
    _unary("logit", "*, eps=None", semantics.logit, takes=Takes.FLOATS),
    _unary("round", "*, decimals=0", special.round_decimals, takes=Takes.FLOATS),
    _unary("tril", "*, diagonal=0", semantics.triangle("tril"), makes_tiles=True),
    _unary("triu", "*, diagonal=0", semantics.triangle("triu"), makes_tiles=True),
    _unary("clamp clip", "min=None, max=None", _clamp, scales=True),
    _unary("glu", "dim=-1", semantics.glu("sigmoid"), takes=Takes.FLOATS),
    _unary("reglu", "dim=-1", semantics.glu("relu")),
    _unary("geglu", "dim=-1", semantics.glu("gelu"), takes=Takes.FLOATS),
    _unary("swiglu", "dim=-1", semantics.glu("silu"), takes=Takes.FLOATS),
    _unary("softcap", "beta", semantics.softcap, takes=Takes.FLOATS),
    _unary("xielu", "*, alpha_p=0.8, alpha_n=0.8", semantics.xielu, takes=Takes.FLOATS),
    _unary("unary_chain", "ops_chain", _chain),
    _unary("prelu", "weight", _prelu, takes=Takes.FLOATS),
)


# --- Two operands ---------------------------------------------------------------------------------

_TWO = ("input_tensor_a", "input_tensor_b")


def _binary(
    text: str, arguments: str = "", reference: Reference | None = None, **facts: Any
) -> Any:
    return declare(text, _TWO, BINARY_TAIL, arguments=arguments, reference=reference, **facts)


def _plain(text: str, arguments: str = "", reference: Reference | None = None, **facts: Any) -> Any:
    """Operations that have neither a data type nor activations to ask for."""
    return declare(text, _TWO, UNARY_TAIL, arguments=arguments, reference=reference, **facts)


def _declare_plain(
    names: str, declare: Callable[..., Iterator[Operation]] = _binary, **facts: Any
) -> Iterator[Operation]:
    for name in names.split():
        yield from declare(name, reference=semantics.PLAIN_BINARY[name], **facts)


def _in_place(table: dict[str, Operation]) -> Iterator[Operation]:
    """Operations that store their result in the first operand; their names end with `_`."""
    for name, operation in table.items():
        entry = operation.entry
        assert isinstance(entry, Elementwise), "elementwise operations have an entry"
        if entry.is_in_place_too:
            signature = join_signature(", ".join(_TWO), entry.arguments, _TAIL_IN_PLACE)
            yield Operation(f"{name}_", entry.run_in_place, signature, entry)


_TAIL_IN_PLACE = (
    "*, activations=None, input_tensor_a_activations=None, input_tensor_b_activations=None, "
    "use_legacy, sub_core_grids, fast_and_approximate_mode"
)

_IN_PLACE: dict[str, Any] = {"is_in_place_too": True}

_TABLE: dict[str, Operation] = table_of(
    _binary("add subtract sub=subtract", takes_number_first=True, **_IN_PLACE),
    _binary("multiply mul=multiply", takes_number_first=True, scales=True, **_IN_PLACE),
    _binary("eq ne lt le gt ge", compares=True, **_IN_PLACE),
    _binary("logical_and logical_or logical_xor", **_IN_PLACE),
    _binary("logical_right_shift maximum minimum"),
    declare(
        "bitwise_and bitwise_or bitwise_xor bitwise_left_shift=logical_left_shift "
        "logical_left_shift bitwise_right_shift=right_shift",
        _TWO,
        BINARY_TAIL.replace("dtype=None, ", ""),
    ),
    _plain("atan2"),
    _plain("fmod=remainder", scales=True),
    _binary(
        "divide div",
        "*, rounding_mode=None",
        semantics.divide,
        integer_result=DataType.FLOAT32,
        takes_number_first=True,
        scales=True,
        **_IN_PLACE,
    ),
    _declare_plain("div_no_nan floor_div", _plain, integer_result=DataType.FLOAT32, scales=True),
    _declare_plain("bias_gelu ldexp logaddexp logaddexp2", takes=Takes.FLOATS, **_IN_PLACE),
    _declare_plain("xlogy", takes=Takes.FLOATS),
    _declare_plain("hypot nextafter", _plain, takes=Takes.FLOATS),
    _declare_plain("gcd lcm", takes=Takes.INTEGERS),
    _declare_plain("outer", _plain),
    _declare_plain("remainder", scales=True),
    _declare_plain("rsub squared_difference", **_IN_PLACE),
    _binary("addalpha", "alpha=1.0", semantics.add_scaled),
    _binary("subalpha", "alpha=1.0", semantics.subtract_scaled),
    _plain(
        "isclose",
        "*, rtol=1e-5, atol=1e-8, equal_nan=False",
        semantics.isclose,
        integer_result=DataType.FLOAT32,
        scales=True,
    ),
)


def _polynomial(integer_result: DataType | None) -> Elementwise:
    return Elementwise(
        "polyval", semantics.polyval, _ONE, (("coeffs", "coeffs"),), integer_result=integer_result
    )


_POLYNOMIAL, _CONSTANT = _polynomial(DataType.FLOAT32), _polynomial(None)


def _polyval(values: dict[str, Any]) -> Tensor:
    """The value of a polynomial; of one coefficient in the tensor's own data type."""
    entry = _CONSTANT if len(values["coeffs"]) == 1 else _POLYNOMIAL
    return entry.run(values)


_POWER = Elementwise("pow", reference_of("pow"), _TWO)
_POWER_OF_NUMBER = Elementwise(
    "pow", semantics.raise_number, ("input_tensor_a",), (("exponent", "number"),)
)


def _check_power(base: Tensor, exponent: Any, dtype: DataType | None) -> None:
    """ArgumentError for a power by a number that a card does not compute."""
    if dtype is not None:
        raise ArgumentTypeError("dtype is for exponents that are tensors; use ttnn.typecast")
    if base.dtype.facts.is_float:
        return
    if exponent < 0:
        raise ArgumentError(f"exponent={exponent} is negative; use ttnn.typecast to float32")
    if base.layout is Layout.ROW_MAJOR:
        raise ArgumentError("of integers it takes tiles; use ttnn.to_layout")


def _raise_to_power(values: dict[str, Any]) -> Tensor:
    """A tensor to the power of a tensor or a number, or a number to that of a tensor."""
    base, exponent = values["input_tensor"], values["exponent"]
    if isinstance(exponent, Tensor) and is_strict(exponent):
        require_floats(exponent)
    elif isinstance(base, Tensor) and is_strict(base):
        _check_power(base, exponent, values["dtype"])
    if isinstance(base, Tensor):
        return _POWER.run({**values, "input_tensor_a": base, "input_tensor_b": exponent})
    return _POWER_OF_NUMBER.run({**values, "input_tensor_a": exponent, "number": base})


_BINARY: dict[str, Operation] = {
    **_TABLE,
    **table_of(
        _in_place(_TABLE),
        Operation(
            "polyval", _polyval, "input_tensor, coeffs, *, memory_config=None, output_tensor=None"
        ),
        *(
            # ttnn_jit has another name for powers of tensors.
            Operation(name, _raise_to_power, "input_tensor, exponent, " + BINARY_TAIL)
            for name in ("pow", "pow_tensor")
        ),
    ),
}


# --- Three operands -------------------------------------------------------------------------------

_TAIL = f"{UNARY_TAIL}, dtype=None"


def _add_product(xp: Any, a: Any, b: Any, c: Any, *, value: float) -> Any:
    """a + value * b * c."""
    return a + value * (b * c)


def _add_quotient(xp: Any, a: Any, b: Any, c: Any, *, value: float) -> Any:
    """a + value * b / c."""
    return a + value * (b / c)


def _interpolate(xp: Any, a: Any, b: Any, c: Any) -> Any:
    """a + c * (b - a)."""
    return a + c * (b - a)


def _multiply_and_add(xp: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c."""
    return a * b + c


_GATED = ("gate", "up")
_GATED_TAIL = "*, memory_config=None, sub_core_grids, sub_device_id"
_THREE = ("input_tensor_a", "input_tensor_b", "input_tensor_c")

_TERNARY: dict[str, Operation] = table_of(
    declare(
        "where experimental.where=where",
        ("predicate", "true_value", "false_value"),
        UNARY_TAIL,
        typed_by=1,
    ),
    declare("addcmul", _THREE, _TAIL, arguments="*, value=1.0", reference=_add_product),
    declare(
        "addcdiv",
        _THREE,
        _TAIL,
        arguments="*, value=1.0",
        reference=_add_quotient,
        takes=Takes.FLOATS,
    ),
    declare("lerp", ("input_tensor", "end", "weight"), _TAIL, reference=_interpolate),
    declare("mac", _THREE, _TAIL, reference=_multiply_and_add),
    declare(
        "snake_beta",
        ("input_tensor", "alpha", "beta"),
        "*, memory_config=None, output_tensor=None",
        reference=semantics.snake,
        takes=Takes.FLOATS,
    ),
    declare(
        "clamped_silu_glu",
        _GATED,
        _GATED_TAIL,
        arguments="limit",
        reference=semantics.clamped_silu_glu,
    ),
    declare(
        "situ_glu",
        _GATED,
        _GATED_TAIL,
        arguments="beta1, beta2",
        reference=semantics.situ_glu,
        takes=Takes.FLOATS,
    ),
)


def _negate_in_place(values: dict[str, Any]) -> Tensor:
    """1 where the tensor is 0, else 0, stored in the tensor."""
    entry = _UNARY["logical_not"].entry
    assert isinstance(entry, Elementwise), "elementwise operations have an entry"
    return entry.run({**values, "output_tensor": values["input_tensor"]})


OPERATIONS: dict[str, Operation] = {
    **_UNARY,
    **_BINARY,
    **_TERNARY,
    **table_of(
        Operation("logical_not_", _negate_in_place, "input_tensor, *, memory_config=None"),
    ),
}
