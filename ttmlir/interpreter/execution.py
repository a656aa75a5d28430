"""Runs the functions of a module, one operation after the other.

What an operation computes is found in the registry of its dialect. A result is converted to the
element type of its place in the IR (see `ttmlir.interpreter.values`) and must have its shape.
Values are forgotten after their last use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ttmlir.interpreter.registry import function_of, interpreted_operations
from ttmlir.interpreter.values import Function, array_shape, convert_to, host_dtype, tensor_type
from ttmlir.mlir.reporting.diagnostics import LocatedError, OpError
from ttmlir.runtime.element import Array, convert

_PRIVATE = StringAttr("private")
MAIN = "main"
"""The function that is executed unless another is named."""

_DATA_ERRORS = (ValueError, TypeError, IndexError, ArithmeticError)
_MAX_CALL_DEPTH = 100


class Observer(Protocol):
    """Is told of every operation that was executed."""

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
            function.location, f"'{name}' takes {len(types)} inputs; {len(inputs)} were given"
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
