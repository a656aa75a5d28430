"""Runs the functions of a module, one operation after the other.

What an operation computes is found in the registry of its dialect. A result is converted to the
element type of its place in the IR (see `ttmlir.interpreter.execution`) and must have its shape.
Values are forgotten after their last use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Protocol, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IndexType,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ttmlir.dialects.tt.layout import TileType
from ttmlir.errors import plural
from ttmlir.layout.data_format import SCHEMA_NAMES
from ttmlir.layout.enums import DataType
from ttmlir.mlir.attributes import Elements, element_count, raw_bytes, splat_bytes
from ttmlir.mlir.reporting import LocatedError, OpError
from ttmlir.mlir.resources import resource_bytes
from ttmlir.runtime.tensor import ELEMENT_TYPES, Array, ElementType, convert

# --- Values ---------------------------------------------------------------------------------------
# What stands for a value of the IR while a module is interpreted.
#
# Tensors are NumPy arrays of compute types, as in the runtime's exact numerics: floating point
# types up to 32 bits are float32, f64 is float64, complex numbers are NumPy's, integers their own
# type, `i1` is bool. Values of other types are whatever the functions of a dialect make of them.

Function = Callable[["Execution", Operation, Sequence[Any]], Sequence[Any]]
"""Computes the results of an operation from its operands.

Tensors among the results may have a wider element type than the operation's; they are converted.
"""

_COMPLEX = {"f32": np.dtype(np.complex64), "f64": np.dtype(np.complex128)}


@lru_cache(maxsize=256)
def runtime_element(type_: Attribute) -> ElementType | None:
    """The runtime's element type for one of the IR; None if it has none."""
    name = SCHEMA_NAMES.get(str(type_))
    return None if name is None else ELEMENT_TYPES[name]


@lru_cache(maxsize=256)
def compute_dtype(element_type: Attribute) -> np.dtype[Any] | None:
    """Element type of the arrays that stand for tensors of an element type; None if unknown."""
    if isinstance(element_type, TileType):
        return _TILES[element_type.data_type]
    if isinstance(element_type, ComplexType):
        return _COMPLEX.get(str(cast("ComplexType", element_type).element_type))
    if (known := runtime_element(element_type)) is not None:
        return known.compute
    if isinstance(element_type, IntegerType):
        # Integers that no tensor at run time has, such as i4, are computed in the next wider type.
        return _integer(cast("IntegerType", element_type))
    return _SMALL_FLOATS.get(str(element_type)) and np.dtype(np.float32)


_TILES = {
    **dict.fromkeys(DataType, np.dtype(np.float32)),
    DataType.U32: np.dtype(np.uint32),
    DataType.U16: np.dtype(np.uint16),
    DataType.U8: np.dtype(np.uint8),
    DataType.SI32: np.dtype(np.int32),
}
"""Element types of arrays that stand for tiles."""

_SMALL_FLOATS: dict[str, np.dtype[Any]] = {
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
}


def _integer(element_type: IntegerType) -> np.dtype[Any] | None:
    size = 1 << max(0, (element_type.width.data - 1).bit_length() - 3)
    letter = "u" if element_type.signedness.data is Signedness.UNSIGNED else "i"
    return np.dtype(f"{letter}{size}") if size <= 8 else None


def convert_to(array: Array, element_type: Attribute) -> Array | None:
    """The array in the element type that stands for one of the IR; None if nothing does.

    Integers of a width that NumPy lacks wrap, or saturate if they come from floating point, at
    their own width.
    """
    dtype = compute_dtype(element_type)
    if dtype is None:
        return None
    missing = 0
    if dtype.kind in "iu" and isinstance(element_type, IntegerType):
        missing = 8 * dtype.itemsize - cast("IntegerType", element_type).width.data
    if missing and array.dtype.kind == "f":
        limits = np.iinfo(dtype)
        array = np.nan_to_num(array).clip(limits.min >> missing, limits.max >> missing)
    result = convert(array, dtype)
    return (result << missing) >> missing if missing else result


def host_dtype(element_type: Attribute) -> np.dtype[Any] | None:
    """Element type of arrays that come from and go to the caller; None if unknown."""
    known = runtime_element(element_type)
    return compute_dtype(element_type) if known is None else known.host


def tensor_type(type_: Attribute) -> TensorType[Attribute] | None:
    """The type as that of a tensor of a static shape; None if it is something else."""
    if not isinstance(type_, TensorType):
        return None
    tensor = cast("TensorType[Attribute]", type_)
    return tensor if tensor.has_static_shape() else None


def element_of_tensor(type_: Attribute) -> Attribute:
    """The element type of a tensor."""
    return cast("TensorType[Attribute]", type_).element_type


def array_shape(type_: TensorType[Attribute]) -> tuple[int, ...]:
    """The shape of the array that stands for a tensor: tiles add their rows and columns."""
    element = type_.element_type
    shape = tuple(type_.get_shape())
    return (*shape, *element.shape) if isinstance(element, TileType) else shape


def constant_array(op: Operation, value: Attribute) -> Array:
    """The elements of a constant attribute of `op`, in the storage type; never expanded."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        elements = cast("Elements", value)
        dtype = _stored_dtype(op, elements.get_element_type())
        shape = elements.get_shape()
        splat = splat_bytes(elements)
        data = raw_bytes(elements) if splat is None else splat
        array = np.frombuffer(data, dtype)
        if splat is not None and element_count(elements) != 1:
            return np.broadcast_to(array[0], shape)
        return array.reshape(shape)
    if isinstance(value, DenseResourceAttr):
        type_ = cast("TensorType[Attribute]", value.type)
        dtype = _stored_dtype(op, type_.element_type)
        return np.frombuffer(resource_bytes(op, value), dtype).reshape(type_.get_shape())
    raise OpError(op, f"'{value.name}' is not a list of elements; give a dense constant")


def _stored_dtype(op: Operation, element_type: Attribute) -> np.dtype[Any]:
    if (small := _SMALL_FLOATS.get(str(element_type))) is not None:
        return small
    known = runtime_element(element_type)
    if known is not None:
        return known.host.newbyteorder("<")
    dtype = compute_dtype(element_type)
    if dtype is None or not isinstance(
        element_type, (IntegerType, IndexType, AnyFloat, ComplexType)
    ):
        raise OpError(op, f"constants of type '{element_type}' cannot be computed with")
    return dtype.newbyteorder("<")


# --- Registry -------------------------------------------------------------------------------------
# Where the functions of each dialect are: `module:attribute`, imported when first used.
#
# The attribute is a mapping from full names of operations, such as `ttir.add`, to functions.

FUNCTIONS_OF_DIALECT: dict[str, str] = {
    "affine": "ttmlir.interpreter.structure:AFFINE",
    "arith": "ttmlir.interpreter.arithmetic:ARITH_AND_MATH",
    "chlo": "ttmlir.interpreter.stablehlo:FUNCTIONS",
    "d2m": "ttmlir.interpreter.d2m:FUNCTIONS",
    "func": "ttmlir.interpreter.structure:FUNCTIONS",
    "linalg": "ttmlir.interpreter.linalg:FUNCTIONS",
    "math": "ttmlir.interpreter.arithmetic:ARITH_AND_MATH",
    "scf": "ttmlir.interpreter.structure:SCF",
    "sdy": "ttmlir.interpreter.stablehlo:FUNCTIONS",
    "stablehlo": "ttmlir.interpreter.stablehlo:FUNCTIONS",
    "tensor": "ttmlir.interpreter.tensors:FUNCTIONS",
    "tosa": "ttmlir.interpreter.tosa:FUNCTIONS",
    "ttir": "ttmlir.interpreter.ttir:FUNCTIONS",
}
"""One line for each dialect, sorted by name."""


@cache
def functions_of(dialect: str) -> Mapping[str, Function]:
    """The functions of a dialect; none for a dialect that cannot be interpreted."""
    place = FUNCTIONS_OF_DIALECT.get(dialect)
    if place is None:
        return {}
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def function_of(name: str) -> Function | None:
    """The function of an operation by its full name; None if there is none."""
    return functions_of(name.partition(".")[0]).get(name)


def interpreted_operations() -> tuple[str, ...]:
    """Names of all operations that can be interpreted."""
    return tuple(
        sorted({name for dialect in FUNCTIONS_OF_DIALECT for name in functions_of(dialect)})
    )


# --- Execution ------------------------------------------------------------------------------------

_PRIVATE = StringAttr("private")
MAIN = "main"
"""The function that is executed unless another is named."""

_DATA_ERRORS = (ValueError, TypeError, IndexError, ArithmeticError)
_MAX_CALL_DEPTH = 100


class Observer(Protocol):
    """Is called after every operation that was executed."""

    def __call__(self, op: Operation, operands: Sequence[Any], results: Sequence[Any]) -> None:
        """Look at an operation's operands and results, which must not be changed."""
        ...


def execute(
    module: ModuleOp,
    inputs: Sequence[Any],
    *,
    function: str | None = None,
    observer: Observer | None = None,
    poisons_padding: bool = False,
) -> list[Array]:
    """The results of a function of a module on NumPy arrays.

    Without a name the function `main` is executed, or the first public one if there is no `main`.
    Inputs are arrays, or whatever NumPy makes arrays of, in the shapes of the arguments; results
    have the element types of the function's results. With `poisons_padding`, what is beyond tensors
    in tiles
    is NaN and not 0. Raises DiagnosticError for what cannot be executed.
    """
    chosen = find_function(module, function)
    arguments = _arguments(chosen, inputs)
    execution = Execution(module, observer, poisons_padding)
    with np.errstate(all="ignore"):
        results = execution.run(chosen, arguments)
    types = tuple(chosen.function_type.outputs.data)
    return [
        np.array(_returned(result, type_)) for result, type_ in zip(results, types, strict=True)
    ]


def functions_in(module: Operation) -> Iterator[FuncOp]:
    """The functions of a module and of the modules in it, in the order of the text."""
    for op in module.walk():
        if isinstance(op, FuncOp):
            yield op


def find_function(module: ModuleOp, name: str | None) -> FuncOp:
    """The function with a name; without one `main`, or else the first public one with a body."""
    found = {op.sym_name.data: op for op in functions_in(module) if op.body.blocks}
    if not found:
        raise LocatedError(module.location, "the module has no function to execute")
    if name is None:
        public = (name for name, op in found.items() if op.sym_visibility != _PRIVATE)
        name = MAIN if MAIN in found else next(public, next(iter(found)))
    if name not in found:
        # A module that is not written has no place of its own.
        first = next(iter(found.values()))
        raise LocatedError(
            first.location, f"there is no function '{name}'; the module has {', '.join(found)}"
        )
    return found[name]


@dataclass(frozen=True)
class _Step:
    op: Operation
    function: Function
    release: tuple[SSAValue, ...]
    """Values of the block that are not used after the operation."""


@dataclass
class Execution:
    """The execution of a module: what its functions are and what the values in scope hold."""

    module: ModuleOp
    observer: Observer | None = None
    poisons_padding: bool = False
    """True to see what reads the padding of tensors from the host: NaN in place of 0."""
    loops: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    """Where the iterators of the loops over tiles around an operation are, the innermost last."""
    _functions: dict[str, FuncOp] = field(init=False)
    _frames: list[dict[SSAValue, Any]] = field(default_factory=list[dict[SSAValue, Any]])
    _plans: dict[Block, tuple[_Step, ...]] = field(default_factory=dict[Block, tuple[_Step, ...]])

    def __post_init__(self) -> None:
        """Look the functions up."""
        self._functions = {op.sym_name.data: op for op in functions_in(self.module)}

    def call(self, name: str, arguments: Sequence[Any], *, caller: Operation) -> Sequence[Any]:
        """The results of another function of the module."""
        callee = self._functions.get(name)
        if callee is None or not callee.body.blocks:
            raise OpError(caller, f"calls '{name}', which has no body in this module")
        if len(self._frames) >= _MAX_CALL_DEPTH:
            raise OpError(caller, f"calls nest more than {_MAX_CALL_DEPTH} deep")
        return self.run(callee, arguments)

    def value(self, value: SSAValue) -> Any:
        """What a value of an enclosing region holds."""
        return self._frames[-1][value]

    def run(self, function: FuncOp, arguments: Sequence[Any]) -> Sequence[Any]:
        """The results of a function on values of compute types."""
        self._frames.append({})
        try:
            return self.run_region(function.body, arguments)
        finally:
            self._frames.pop()

    def run_iteration(
        self, body: Region, arguments: Sequence[Any], point: Sequence[Any]
    ) -> tuple[Any, ...]:
        """What a region returns while the iterators of the loop around it are at a point."""
        self.loops.append(tuple(point))
        try:
            return self.run_region(body, arguments)
        finally:
            self.loops.pop()

    def run_region(self, region: Region, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """What the terminator of a region of one block returns; values from outside are visible."""
        blocks = tuple(region.blocks)
        if len(blocks) != 1:
            owner = region.parent
            assert owner is not None, "a region belongs to an operation"
            raise OpError(owner, f"has {len(blocks)} blocks; only one can be interpreted")
        block = blocks[0]
        scope = self._frames[-1]
        scope.update(zip(block.args, arguments, strict=True))
        for step in self._plan(block):
            self._run_step(step, scope)
        last = block.last_op
        if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
            return ()
        return tuple(scope[value] for value in last.operands)

    def _run_step(self, step: _Step, scope: dict[SSAValue, Any]) -> None:
        op = step.op
        operands = tuple(scope[value] for value in op.operands)
        try:
            computed = step.function(self, op, operands)
        except _DATA_ERRORS as error:
            raise OpError(op, f"cannot be executed: {error}") from error
        results = tuple(
            store(op, value, result.type)
            for value, result in zip(computed, op.results, strict=True)
        )
        scope.update(zip(op.results, results, strict=True))
        if self.observer is not None:
            self.observer(op, operands, results)
        for value in step.release:
            del scope[value]

    def _plan(self, block: Block) -> tuple[_Step, ...]:
        plan = self._plans.get(block)
        if plan is None:
            plan = self._plans[block] = _plan_of(block)
        return plan


def _plan_of(block: Block) -> tuple[_Step, ...]:
    """The operations of a block but its terminator, and after which one each value is forgotten."""
    ops = tuple(block.ops)
    last = ops[-1] if ops else None
    if last is not None and last.has_trait(IsTerminator, value_if_unregistered=False):
        ops = ops[:-1]
    own = {*block.args, *(result for op in ops for result in op.results)}
    seen: set[SSAValue] = set() if last is None else set(_used_values(last))
    steps: list[_Step] = []
    for op in reversed(ops):
        touched = dict.fromkeys((*_used_values(op), *op.results))
        release = tuple(value for value in touched if value not in seen and value in own)
        seen.update(touched)
        steps.append(_Step(op, _require_function(op), release))
    return tuple(reversed(steps))


def _used_values(op: Operation) -> Iterator[SSAValue]:
    """The operands of an operation and of everything in its regions."""
    yield from op.operands
    for region in op.regions:
        for inner in region.walk():
            yield from inner.operands


def _require_function(op: Operation) -> Function:
    function = function_of(op.name)
    if function is not None:
        return function
    dialect = op.name.partition(".")[0]
    known = [name for name in interpreted_operations() if name.startswith(f"{dialect}.")]
    if known:
        raise OpError(op, f"cannot be interpreted; of {dialect}, {', '.join(known)} can be")
    dialects = sorted({name.partition(".")[0] for name in interpreted_operations()})
    raise OpError(op, f"cannot be interpreted; the dialects that can be are {', '.join(dialects)}")


def store(op: Operation, value: Any, type_: Attribute) -> Any:
    """A result in the element type and shape that its type says; OpError if it does not fit."""
    tensor = tensor_type(type_)
    if tensor is None:
        return value
    array = store_elements(op, value, tensor.element_type)
    shape = array_shape(tensor)
    if array.shape != shape:
        raise OpError(op, f"has a result of shape {array.shape}, but its type says {shape}")
    return array


def store_elements(op: Operation, value: Any, element_type: Attribute) -> Array:
    """A result, of whatever shape, in its element type; OpError if nothing stands for that."""
    array = convert_to(np.asarray(value), element_type)
    if array is None:
        raise OpError(op, f"tensors of '{element_type}' cannot be computed with")
    return array


def _arguments(function: FuncOp, inputs: Sequence[Any]) -> list[Any]:
    types = tuple(function.function_type.inputs.data)
    name = function.sym_name.data
    if len(inputs) != len(types):
        raise LocatedError(
            function.location,
            f"'{name}' takes {plural(len(types), 'input')}; {len(inputs)} were given",
        )
    result: list[Any] = []
    for number, (value, type_) in enumerate(zip(inputs, types, strict=True)):
        tensor = tensor_type(type_)
        if tensor is None:
            result.append(value)
            continue
        array = np.asarray(value)
        given = convert_to(array, tensor.element_type)
        if array.shape != tuple(tensor.get_shape()) or given is None:
            raise LocatedError(
                function.location,
                f"input {number} of '{name}' has shape {array.shape}; its type is {type_}",
            )
        result.append(given)
    return result


def _returned(value: Any, type_: Attribute) -> Any:
    tensor = tensor_type(type_)
    if tensor is None:
        return value
    dtype = host_dtype(tensor.element_type)
    assert dtype is not None, "the value was stored"
    return convert(cast("Array", value), dtype)
